/** A mistake in a text: one badge, a sentence, and what the text could be instead. */
import { h } from "preact";
import type { Fault } from "shapetracker/engine";
import { isMistake } from "../faults";
import { calm } from "../typing";
import { live } from "./live";
import { Prose } from "./prose";

interface Props {
  id: string;
  fault: Fault;
  /** The text that the place and the suggestion are about; null where it is not one text. */
  text: string | null;
  /** Takes the suggestion. */
  take?: (text: string) => void;
}

export const Mistake = live(({ id, fault, text, take }: Props) => {
  const { suggestion = null } = fault;
  const fixed =
    suggestion === null || text === null
      ? null
      : text.slice(0, suggestion.span[0]) + suggestion.text + text.slice(suggestion.span[1]);
  // What is wrong with the page is no mistake of whoever types.
  const told = !calm.value && isMistake(fault);
  return (
    <div class="mistake" id={id} role={told ? "alert" : undefined} data-calm={told ? undefined : "yes"}>
      <p>
        {told && <span class="badge">Mistake</span>} <Prose text={sentence(fault.message)} />
      </p>
      {fixed !== null && take !== undefined && (
        <button type="button" class="suggestion" onClick={() => take(fixed)}>
          Write <code>{suggestion!.text}</code> instead
        </button>
      )}
    </div>
  );
});

/** The engine's messages begin small, as they may follow a prefix. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
