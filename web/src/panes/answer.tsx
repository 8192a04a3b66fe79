/** The question that people come with: is it still a view, and if not, what is the least to copy? */
import { Fragment, h } from "preact";
import { computed, effect, signal } from "@preact/signals-core";
import { ask, engine } from "../ask";
import type { AdviceAnswer, NamedAdvice, Source } from "../engine";
import { current, layout, named, result, trouble } from "../layout";
import { CopyButton } from "./copybutton";
import { live } from "./live";
import { sentence } from "./mistake";
import { Prose } from "./prose";

/** What the answer is about: the whole chain as far as it is good, whichever tensor of it is shown. */
const asked = computed((): Source | null => (current.value ? (result.value?.source ?? layout.value!.source) : null));

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

/** What a library does, in a word. */
const DOES: Record<NamedAdvice["does"], string> = {
  view: "a view",
  raises: "raises",
  copies: "copies",
  cannot: "not there",
  undecided: "not known",
};

function Library({ of }: { of: NamedAdvice }) {
  const { name, does, sentence: says, code } = of;
  return (
    <li class="library" data-does={does}>
      <p>
        <b>{name}</b> <span class="tag">{DOES[does]}</span> <Prose text={says} />
      </p>
      {code !== null && (
        <p class="remedy">
          <code tabIndex={0}>{code}</code>
          <CopyButton name="Copy" hint={`Copy this for ${name}`} text={() => code} />
        </p>
      )}
    </li>
  );
}

export const Answer = live(() => {
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
  const libraries = symbolic?.libraries ?? answer?.libraries ?? [];
  return (
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
              <i class="lamp" aria-hidden="true" /> <Prose text={sentence(answer.sentence)} />
            </p>
            {/* Of a chain the first operation at fault is named, and a pane of its own has the reason. */}
            {answer.reason !== null && answer.libraries.length === 0 && (
              <p class="least">
                <Prose text={sentence(answer.reason.sentence)} />
              </p>
            )}
            {answer.copy !== null && (
              <p class="least">
                <Prose text={sentence(answer.copy.sentence)} />
              </p>
            )}
            {answer.note !== null && (
              <p class="soft">
                <Prose text={sentence(answer.note)} />
              </p>
            )}
          </div>
          {libraries.length > 0 && (
            <ul class="libraries">
              {libraries.map((each) => (
                <Library of={each} />
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
});
