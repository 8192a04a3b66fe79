/** The page of threads and banks: layouts of GPU kernels, the answer first, and then the pictures. */
import { Fragment, h, render } from "preact";
import { isMistake } from "../faults";
import { live } from "../panes/live";
import { Prose } from "../panes/prose";
import { sentence } from "../panes/mistake";
import { MissingNotice } from "../panes/missing";
import { answer, BYTES, change, lines, LONGEST_TEXT, picture, pointed, PRESETS, selected, state } from "./model";
import { conflicts, Memory, sectors, Table } from "./pictures";
import { Other, Tabs } from "./tabs";
import "../style.css";
import "./kernels.css";

const Input = live(() => {
  const { text, bytes, vector, threads } = state.value;
  const { fault } = answer.value;
  const preset = PRESETS.find((each) => each.text === text && each.bytes === bytes);
  return (
    <section class="pane ask" aria-label="The layouts">
      <label for="layouts">
        Layouts as CuTe prints them, one a line: all in which one tile is written and read.
      </label>
      <textarea
        id="layouts"
        class="text"
        rows={Math.min(Math.max(text.split("\n").length, 2), 8)}
        value={text}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        maxLength={LONGEST_TEXT}
        aria-invalid={fault !== null && isMistake(fault)}
        aria-describedby="say"
        onInput={(event) => change({ text: event.currentTarget.value, shown: 0, warp: 0, value: 0 })}
      />
      <div class="choices">
        <label>
          Threads are{" "}
          <select value={String(threads)} onChange={(event) => change({ threads: Number(event.currentTarget.value), warp: 0, value: 0 })}>
            {["the first", "the second", "the third", "the fourth"].map((name, mode) => (
              <option value={String(mode)}>{name} mode</option>
            ))}
          </select>
        </label>
        <label>
          Bytes an element{" "}
          <select value={String(bytes)} onChange={(event) => change({ bytes: Number(event.currentTarget.value), value: 0 })}>
            {BYTES.map((each) => (
              <option value={String(each)}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Values an instruction{" "}
          <select value={String(vector)} onChange={(event) => change({ vector: Number(event.currentTarget.value), value: 0 })}>
            <option value="0">as many as it can</option>
            {[1, 2, 4, 8, 16].map((each) => (
              <option value={String(each)}>{each === 1 ? "1" : `at most ${each}`}</option>
            ))}
          </select>
        </label>
      </div>
      <div class="presets" role="group" aria-label="Examples">
        {PRESETS.map((each) => (
          <button
            type="button"
            aria-pressed={each === preset}
            onClick={() => {
              selected.value = pointed.value = null;
              const { text, bytes, vector, shown } = each;
              change({ text, bytes, vector, shown, threads: 0, warp: 0, value: 0 });
            }}
          >
            {each.name}
          </button>
        ))}
      </div>
      {preset !== undefined && <p class="help">{preset.says}</p>}
    </section>
  );
});

const Said = live(() => {
  const { fault, current } = answer.value;
  const known = picture.value;
  if (fault !== null && !isMistake(fault)) {
    return (
      <section class="answer" id="say" role="status">
        <p class="soft">{sentence(fault.message)}</p>
      </section>
    );
  }
  if (fault !== null) {
    const line = fault.variable !== undefined && lines.value.length > 1 ? `Line ${fault.variable + 1}: ` : "";
    const about = fault.span !== null ? lines.value[fault.variable ?? 0] : undefined;
    return (
      <section class="answer" id="say" role="alert">
        <p class="wrong">
          <Prose text={line + (line === "" ? sentence(fault.message) : fault.message)} />
        </p>
        {about !== undefined && fault.span !== null && (
          <pre class="fault">
            {about.slice(0, fault.span[0])}
            <mark>{about.slice(...fault.span) || " "}</mark>
            {about.slice(fault.span[1])}
          </pre>
        )}
      </section>
    );
  }
  if (known === null || lines.value.length === 0) {
    return (
      <section class="answer" id="say" role="status">
        <p class="soft">{lines.value.length === 0 ? "Write a layout such as (32,32):(32,1)." : "Counting…"}</p>
      </section>
    );
  }
  const worst = Math.max(...known.accesses.map(({ banks }) => Number(banks.most)), 0);
  const { shown } = state.value;
  return (
    <section class="answer" id="say" role="status" data-state={current ? "current" : "waiting"}>
      <p class={worst > 1 ? "says wrong" : "says right"}>
        {worst > 1 ? `Bank conflicts, up to ${worst}-way.` : "No bank conflicts, in any warp."}
      </p>
      <p class="help">
        It is assumed that the {["first", "second", "third", "fourth"][state.value.threads] ?? "chosen"} mode of each layout takes
        the thread, in warps of 32, and that the other modes take its values.
      </p>
      <ul class="accesses">
        {known.accesses.map((access, number) => (
          <li data-shown={number === shown ? "yes" : undefined}>
            <button type="button" aria-pressed={number === shown} onClick={() => change({ shown: number, warp: 0, value: 0 })}>
              <code>{access.text}</code>
            </button>
            <p>
              {String(access.threads)} threads with {String(access.values)} values each, moved {String(access.vector)} at a time
              {Number(access.vector) < Number(access.widest) ? `, where ${access.widest} would do` : ""}. Shared memory:{" "}
              {conflicts(access.banks.counts)}. Global memory: {sectors(access.sectors.counts)}.
              {Number(access.banks.most) > 1 && (
                <>
                  {" "}
                  <button
                    type="button"
                    class="link"
                    onClick={() => change({ shown: number, warp: Number(access.banks.warp), value: Number(access.banks.value) })}
                  >
                    Show the worst
                  </button>
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
      {known.swizzle !== null ? (
        <p class="swizzle">
          <code>{known.swizzle.text}</code> leaves no conflict in any warp{known.accesses.length > 1 ? " of any of them" : ""}.{" "}
          {known.elements !== null && Number(known.elements.with) > Number(known.elements.without) && (
            <>
              It needs {known.elements.with} elements of shared memory in place of {known.elements.without}.{" "}
            </>
          )}
          <button
            type="button"
            onClick={() =>
              change({ threads: 0, text: known.accesses.map(({ swizzled, text }) => swizzled ?? text).join("\n") })
            }
          >
            Swizzle
          </button>
        </p>
      ) : (
        known.no_swizzle !== null &&
        known.no_swizzle.kind !== "no_conflict" && (
          <p class="swizzle">{`${known.no_swizzle.sentence[0]!.toUpperCase()}${known.no_swizzle.sentence.slice(1)}.`}</p>
        )
      )}
    </section>
  );
});

const Page = live(() => (
  <>
    <h1>Layouts of GPU kernels</h1>
    <Tabs />
    <MissingNotice />
    {state.value.tab === "banks" ? (
      <>
        <p class="lead">
          Which bytes do the threads of a GPU kernel touch, and do they get in each other's way? Conflicts are counted over all
          warps, exactly.
        </p>
        <div class="front">
          <div>
            <Input />
            <Said />
          </div>
          <Memory />
        </div>
        <Table />
      </>
    ) : (
      <Other />
    )}
  </>
));

const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<Page />, root);
}

document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.querySelector<HTMLElement>("#layouts, #owners, #a")?.focus();
});
