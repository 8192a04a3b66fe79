/** A line of text that is typed. */
import { h } from "preact";
import { LONGEST_TEXT, settle } from "../page";

interface TextProps {
  name: string;
  /** The name is seen. */
  named?: boolean;
  value: string;
  /** Letters of a row. */
  wide?: number;
  placeholder?: string;
  invalid: boolean;
  /** What says more: the mistake, or help. */
  describedBy: string | undefined;
  change(text: string): void;
}

/** A line of text that grows with what is in it; Enter only ends it. */
export function Text({
  name,
  named = false,
  value,
  wide = 110,
  placeholder,
  invalid,
  describedBy,
  change,
}: TextProps) {
  return (
    <label class={named ? "line named" : "line"}>
      <span class={named ? "" : "spoken-label"}>{name}</span>
      <textarea
        class="text"
        rows={Math.min(Math.max(Math.ceil(value.length / wide), value.split("\n").length), 6)}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        maxLength={LONGEST_TEXT + 1000}
        aria-invalid={invalid}
        aria-describedby={describedBy}
        onInput={(event) => change(event.currentTarget.value)}
        onBlur={settle}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          settle();
        }}
      />
    </label>
  );
}
