/** The chain as a line of text, what is wrong with it, and what else must be known to read it. */
import { Fragment, h } from "preact";
import { signal } from "@preact/signals-core";
import { named, start, trouble } from "../layout";
import { AFRESH, chain, change, muted, page, travel } from "../page";
import { part } from "../parts";
import { presets } from "../presets";
import { calm, finished, refusal, typed } from "../typing";
import { Editor, placeOf } from "./editor";
import { later } from "./later";
import { live } from "./live";
import { Mistake, sentence } from "./mistake";
import { Prose } from "./prose";
import type { Completion } from "./complete";

/** The list of operations under the caret, and what it does with keys: fetched when the text gets the focus. */
const completion = signal<Completion | null>(null);
let fetched = false;

function fetchCompletion(): void {
  if (fetched) return;
  fetched = true;
  void part("completes names of operations", () => import("./complete"), ({ completes }) => (completion.value = completes));
}

/** Whether the examples are seen. */
const examplesOpen = signal(false);
const Examples = later("shows the examples", async () => (await import("./examples")).Examples);

function closeExamples(): void {
  examplesOpen.value = false;
  document.querySelector<HTMLElement>(".examples-button")?.focus({ preventScroll: true });
}

const Names = later("has the sliders of names", async () => (await import("./names")).Names);

function put(text: string): void {
  refusal.value = null;
  change({ chain: text, muted: [], step: null, ...AFRESH }, "chain text");
}

/** The shape of an array of which the text has only the name. */
const Base = live(() => {
  const name = start.value?.name ?? "it";
  const wrong = trouble.value !== null && !calm.value && page.value.base.trim() !== "";
  return (
    <label class="base-field">
      <span>
        Shape of <code>{name}</code>
      </span>
      <input
        class="text"
        type="text"
        value={page.value.base}
        placeholder="such as 2, 3, 4 or B, T, 64"
        aria-invalid={wrong}
        aria-describedby={wrong ? "chain-fault" : undefined}
        spellcheck={false}
        autocomplete="off"
        maxLength={400}
        onInput={(event) => {
          typed();
          change({ base: event.currentTarget.value, step: null, ...AFRESH }, "base shape");
        }}
        onBlur={finished}
      />
    </label>
  );
});

/** To the page on which a layout of CuTe is one of a GPU kernel. */
const Kernel = live(() => (
  <a href={`./kernels.html#layouts=${encodeURIComponent(chain.value.trim())}`}>Its threads and banks</a>
));

/** Below the text: what is wrong, what helps while typing, or what the example shows. Its place is always there. */
const Slot = live(() => {
  const fault = trouble.value?.fault ?? null;
  const hint = completion.value?.hint.value ?? null;
  const refused = refusal.value?.chain === chain.value ? refusal.value.message : null;
  const preset = presets.value.find(({ chain: each }) => each === chain.value && muted.value.length === 0);
  // Whoever chooses from the list, or fills in brackets, is told what helps, and not what is missing yet.
  const helped = calm.value && (hint !== null || completion.value?.list.value !== undefined);
  const take = (text: string): void => {
    finished();
    change({ chain: text, muted: [], ...AFRESH }, true);
  };
  const mistake = fault !== null && fault.kind !== "question" && !helped && (
    <Mistake id="chain-fault" fault={fault} text={named.value === null ? chain.value : null} take={take} />
  );
  // A name asks for its shape, and goes on asking when it is known, so that it can be changed: the field stays where it is,
  // whatever is said of what is typed there.
  if (start.value?.name != null && hint === null) {
    return (
      <div class="asks" id={mistake === false ? "chain-help" : undefined}>
        <Base />
        {mistake}
      </div>
    );
  }
  if (mistake !== false) {
    if (fault?.message.includes("swizzle") !== true) return mistake;
    return (
      <div>
        {mistake}
        <Kernel />
      </div>
    );
  }
  // Of a layout of CuTe there is more to ask, as long as nothing has been done to it.
  if (hint === null && refused === null && start.value?.modes != null && !/\)\s*\./.test(chain.value)) {
    return (
      <p class="help" id="chain-help">
        A layout of CuTe: each axis has modes. <Kernel />
      </p>
    );
  }
  return (
    <p class="help" id="chain-help">
      {hint !== null ? (
        <>
          <code>{hint.signature}</code> {sentence(hint.says)}
        </>
      ) : refused !== null ? (
        <span role="status">
          That number cannot be: <Prose text={sentence(refused).replace(/^./, (letter) => letter.toLowerCase())} />
        </span>
      ) : (
        (preset?.text ??
        "Code, an error, a session, strides, a layout of CuTe, an expression.")
      )}
    </p>
  );
});

export const ChainPane = live(() => {
  const text = chain.value;
  const fault = trouble.value?.fault ?? null;
  // Of the shape that is asked for beside it the text is not at fault.
  const wrong = fault !== null && !calm.value && fault.kind !== "shape";
  const completes = completion.value;
  return (
    <section class="input" id="chain" aria-labelledby="chain-title" onFocusIn={fetchCompletion}>
      <h2 id="chain-title" class="spoken-label">
        Operations, or code
      </h2>
      <Editor
        name="Chain as text"
        value={text}
        placeholder="Paste a line of code, an error, or a layout"
        mark={wrong && named.value === null ? placeOf(fault, text) : null}
        invalid={wrong}
        describedBy={wrong ? "chain-fault" : "chain-help"}
        change={put}
        history={travel}
        pressed={completes?.pressed}
        caret={completes?.moved}
        list={completes?.list.value}
        option={completes?.option.value}
      >
        {completes !== null && <completes.List />}
      </Editor>
      <div class="slot">
        <Slot />
        <button
          type="button"
          class="examples-button"
          aria-expanded={examplesOpen.value}
          aria-controls="examples"
          onClick={() => (examplesOpen.value = !examplesOpen.value)}
        >
          Examples <span aria-hidden="true">{examplesOpen.value ? "\u25b4" : "\u25be"}</span>
        </button>
      </div>
      {examplesOpen.value && <Examples close={closeExamples} />}
      {named.value !== null && <Names />}
    </section>
  );
});
