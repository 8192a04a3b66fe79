/** A sentence of the engine, in which code stands between backticks. */
import { Fragment, h } from "preact";

export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, at, parts) =>
        // An odd one out at the end is a backtick, and no code.
        at % 2 === 1 && at < parts.length - 1 ? <code>{part}</code> : at % 2 === 1 ? `\`${part}` : part,
      )}
    </>
  );
}
