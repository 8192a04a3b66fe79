/** The question that people come with: is it still a view, and if not, what is the least to copy? */
import { Fragment, h } from "preact";
import { computed, effect, signal } from "@preact/signals-core";
import "../adopt";
import { ask, engine } from "../ask";
import type { AdviceAnswer, NamedAdvice, Operation } from "shapetracker/engine";
import { blocks, named, start, stations, trouble } from "../layout";
import { AFRESH, change, page } from "../page";
import { asked } from "./asked";
import { Changed } from "./changed";
import { CopyButton } from "./copybutton";
import { Described } from "./described";
import { later } from "./later";
import { live } from "./live";
import { sentence } from "./mistake";
import { Prose } from "./prose";

/** The advice, and the source that it is about. */
const advice = signal<{ of: string; answer: AdviceAnswer | null; note: string | null } | null>(null);

/** The advice is that of the layout from now on. */
effect(() => {
  const source = asked.value;
  if (source === null) return;
  const of = JSON.stringify(source);
  const known = advice.peek();
  // What there was no answer to is asked again: a part of the page may have come.
  if (known?.of === of && known.answer !== null) return;
  void ask("advice", { source }, "advice").then((said) => {
    if (said === null) return;
    advice.value = said.ok
      ? { of, answer: said.value, note: null }
      : { of, answer: null, note: said.fault.kind === "request" ? null : said.fault.message };
  });
});

/** A layout of CuTe that is no view of its axes, with an axis for each of its modes: as text, and what is said of that. */
const flat = signal<{ of: string; text: string; answer: AdviceAnswer } | null>(null);

effect(() => {
  const known = advice.value;
  const modes = start.value?.modes ?? null;
  const text = page.value.chain;
  if (known?.answer?.one_view !== false || modes === null || !/^[\s\d(),]+:[\s\d(),]+$/.test(text)) return;
  const { of } = known;
  if (flat.peek()?.of === of) return;
  const chain = text.split(":").map((side) => `(${side.replace(/[()\s]/g, "")})`).join(":");
  void ask("advice", { source: { chain } }, "flat").then((said) => {
    if (said?.ok === true && said.value.one_view === true) flat.value = { of, text: chain, answer: said.value };
  });
});

/** An operation as it was written, where that is one call. */
function called({ text, written }: Operation): string {
  return /^\w+\([^()]*\)$/.test(written.trim()) ? written.trim() : text;
}

/** A sentence with operations as they were written, where it has what they were read as. */
function asWritten(text: string): string {
  return blocks.value.reduce((all, { operation }) => all.replaceAll(`\`.${operation.text}\``, `\`.${called(operation)}\``), text);
}

/** What a library does, in a word. */
const DOES: Record<NamedAdvice["does"], string> = {
  view: "a view",
  raises: "raises",
  copies: "copies",
  cannot: "not there",
  undecided: "not known",
};

/** What is known of a library, under its name; its code with what is new in it, where a line of the text is of that library. */
function Library({ of, line }: { of: NamedAdvice; line: string | null }) {
  const { name, does, sentence: says, code } = of;
  return (
    <>
      <p>
        <b>{name}</b> <span class="tag">{DOES[does]}</span> <Prose text={says} />
      </p>
      {code !== null && (
        <p class="remedy">
          <code tabIndex={0}>{line === null ? code : <Changed from={line} to={code} />}</code>
          <CopyButton name="Copy" hint={`Copy this for ${name}`} text={() => code} />
        </p>
      )}
    </>
  );
}

/** The library of the text first and in full; the other one in a word, until it is asked for. */
function Libraries({ all }: { all: readonly NamedAdvice[] }) {
  const own = named.value?.library ?? start.value?.library ?? null;
  const line = page.value.mode === "chain" ? page.value.chain : null;
  const [first, ...others] = [...all].sort((a, b) => Number(b.library === own) - Number(a.library === own));
  if (first === undefined) return null;
  return (
    <ul class="libraries">
      <li class="library" data-does={first.does}>
        <Library of={first} line={line} />
      </li>
      {others.map((other) =>
        own === null ? (
          <li class="library" data-does={other.does}>
            <Library of={other} line={line} />
          </li>
        ) : (
          <li class="library" data-does={other.does}>
            <details>
              <summary>
                {other.name} <span class="tag">{DOES[other.does]}</span>
              </summary>
              <Library of={other} line={null} />
            </details>
          </li>
        ),
      )}
    </ul>
  );
}

/** What people come with, to begin from where nothing stands in the text. */
const WAYS = [
  [
    "An error",
    "x = torch.randn(8, 12, 128, 64)\nx.transpose(1, 2).view(8, 128, 768)\nRuntimeError: view size is not compatible with input tensor's size and stride",
  ],
  ["A line of code", "x.transpose(1, 2).reshape(B, T, H*D)"],
  ["A shape and strides", "size=(2, 3, 4), stride=(12, 1, 3)"],
] as const;

const Empty = live(() => (
  <div class="empty-state">
    <p>
      <b>Paste what you have:</b> an error or a traceback of PyTorch or NumPy, a line of code, a session, a shape and strides as
      they are printed, a layout of CuTe, or an index expression. It is read as it is.
    </p>
    <p class="ways">
      {WAYS.map(([name, text]) => (
        <button type="button" onClick={() => change({ chain: text, muted: [], step: null, ...AFRESH, at: [] }, true)}>
          {name}
        </button>
      ))}
    </p>
  </div>
));

const Film = later<{ station: number; by: string; close(): void }>("plays the copy", async () => (await import("./film")).Film);

/** Whether the copy is played: nobody asked for another one. */
const plays = signal(false);

/** The operation that copies the tensor before it. */
const copies = computed((): { station: number; by: string } | null => {
  const source = asked.value;
  const known = advice.value;
  if (source === null || known?.of !== JSON.stringify(source)) return null;
  const step = known.answer?.one_view === false ? known.answer.step : null;
  const block = step === null ? null : (stations.value[step + 1]?.block ?? null);
  return block === null ? null : { station: step!, by: called(blocks.value[block]!.operation) };
});

const Played = live(() => {
  const copy = copies.value;
  if (copy === null || !plays.value) return null;
  const close = (): void => {
    plays.value = false;
    document.querySelector<HTMLElement>(".plays")?.focus();
  };
  return <Film {...copy} close={close} />;
});

export const Answer = live(() => {
  if (page.value.mode === "chain" && page.value.chain.trim() === "") {
    return (
      <section class="answer" aria-label="Answer">
        <Empty />
      </section>
    );
  }
  const source = asked.value;
  const known = advice.value;
  // While the text is read again, the answer that is there stays, and is faint.
  const fresh = source !== null && known?.of === JSON.stringify(source);
  const answer = known?.answer ?? null;
  const one = answer?.one_view ?? null;
  const kind = answer === null ? "unknown" : one === null ? "unknown" : one ? "yes" : "no";
  const waits = engine.value === "awaited" ? "Fetching the engine\u2026" : "\u00a0";
  const symbolic = named.value;
  // With names it is said for all values, and what is written is written in them.
  const modes = flat.value !== null && flat.value.of === known?.of ? flat.value : null;
  const libraries = modes?.answer.libraries ?? symbolic?.libraries ?? answer?.libraries ?? [];
  return (
    <>
    <section
      class="answer"
      aria-label="Answer"
      data-fresh={fresh ? "yes" : "no"}
      data-one-view={kind}
      aria-live="polite"
    >
      {source === null && !fresh ? (
        <p class="verdict-line soft">{waits}</p>
      ) : answer === null ? (
        <p class="verdict-line soft">{known?.note == null ? waits : sentence(known.note)}</p>
      ) : (
        <>
          <div class="verdict-line">
            {trouble.value !== null && source !== null && "chain" in source && (
              <p class="soft so-far">
                So far, <code>{source.chain}</code>:
              </p>
            )}
            {symbolic !== null && (
              <p class="formula">
                <Prose text={sentence(symbolic.sentence)} />
              </p>
            )}
            <p class="headline-answer">
              <i class="lamp" aria-hidden="true" /> <Prose text={asWritten(sentence(answer.sentence))} />
            </p>
            {/* Of a chain the first operation at fault is named, and a pane of its own has the reason. */}
            {answer.reason !== null && answer.libraries.length === 0 && (
              <p class="least">
                <Prose text={sentence(answer.reason.sentence)} />
              </p>
            )}
            {answer.copy !== null && (
              <p class="least">
                <Prose text={sentence(answer.copy.sentence)} />{" "}
                {copies.value !== null && (
                  <button
                    class="plays"
                    type="button"
                    aria-label="Play the copy"
                    aria-expanded={plays.value}
                    onClick={() => (plays.value = !plays.value)}
                  >
                    Play
                  </button>
                )}
              </p>
            )}
            {modes !== null && (
              <p class="least">
                With an axis for each of its modes it is one view:{" "}
                <button type="button" onClick={() => change({ chain: modes.text, muted: [], step: null, ...AFRESH, at: [] }, true)}>
                  {modes.text}
                </button>
              </p>
            )}
            {answer.note !== null && (
              <p class="soft">
                <Prose text={sentence(answer.note)} />
              </p>
            )}
          </div>
          <Libraries all={libraries} />
          <Described />
        </>
      )}
    </section>
    <Played />
    </>
  );
});
