import { h } from "preact";
import { useState } from "preact/hooks";
import { copy } from "../copying";

/** A button that copies a text and says so. */
export function CopyButton({
  text,
  name,
  hint,
  disabled = false,
}: {
  text(): string;
  name: string;
  hint?: string;
  disabled?: boolean;
}) {
  const [said, setSaid] = useState<string | null>(null);
  return (
    <button
      type="button"
      title={hint}
      disabled={disabled}
      onClick={() => {
        void copy(text()).then((done) => {
          setSaid(done ? "Copied" : "Not allowed");
          setTimeout(() => setSaid(null), 1500);
        });
      }}
    >
      <span aria-live="polite">{said ?? name}</span>
    </button>
  );
}
