/** A mistake in a text, with the place pointed at. */
import { h } from "preact";
import type { Fault } from "../engine";

/** Letters shown before and after the place. */
const AROUND = 36;

export function Mistake({ id, fault, text }: { id: string; fault: Fault; text: string | null }) {
  const span = text === null ? null : fault.span;
  return (
    <div class="mistake" id={id} role="alert">
      <p>{sentence(fault.message)}</p>
      {span !== null && text !== null && (
        <code>
          {span[0] > AROUND && "\u2026"}
          {text.slice(Math.max(span[0] - AROUND, 0), span[0])}
          <mark>{text.slice(span[0], span[1]) || "\u2038"}</mark>
          {text.slice(span[1], span[1] + AROUND)}
          {span[1] + AROUND < text.length && "\u2026"}
        </code>
      )}
    </div>
  );
}

/** The engine's messages begin small, as they may follow a prefix. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
