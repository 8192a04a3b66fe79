/** A sentence of the engine, in which code stands between backticks. */
import { Fragment, h } from "preact";
import { pretty } from "../numbers";

/** Numbers of five digits and more are read in groups of three. */
function grouped(text: string): string {
  return text.replace(/(?<![\w.])\d{5,}(?![\w.])/g, (digits) => pretty(digits));
}

export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, at, parts) =>
        // An odd one out at the end is a backtick, and no code.
        at % 2 === 1 && at < parts.length - 1 ? <code>{part}</code> : at % 2 === 1 ? `\`${part}` : grouped(part),
      )}
    </>
  );
}
