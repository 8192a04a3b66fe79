/** A line of code to type: with the place of a mistake marked, and help while typing. */
import { Component, createRef, h } from "preact";
import type { Fault, Span } from "shapetracker/engine";
import { LONGEST_TEXT, settle } from "../page";
import { editing, finished, typed } from "../typing";

interface Props {
  name: string;
  /** The name is seen. */
  named?: boolean;
  value: string;
  placeholder?: string;
  /** Where the mistake is; null for none. */
  mark: Span | null;
  invalid: boolean;
  describedBy: string | undefined;
  change(text: string): void;
  /** Undo and redo, which are those of the page. */
  history(by: -1 | 1): void;
  /** What a list that is open does with a key; whether it means anything to it. */
  pressed?: ((event: KeyboardEvent) => boolean) | undefined;
  /** Where the caret is, whenever it has moved. */
  caret?: ((at: number | null) => void) | undefined;
  /** The list that is open, and the option that Enter takes. */
  list?: string | undefined;
  option?: string | undefined;
  /** What is drawn over the letters of the text: a list under the caret. */
  children?: preact.ComponentChildren;
}

/** What stands under the letters: the same letters, unseen, with the mistake underlined. */
function Mirror({ value, mark }: { value: string; mark: Span | null }) {
  // As one text, so that the place of a letter can be found in it.
  if (mark === null) {
    return (
      <div class="mirror" aria-hidden="true">
        {value}
      </div>
    );
  }
  const [begin, end] = mark;
  return (
    <div class="mirror" aria-hidden="true">
      {value.slice(0, begin)}
      {begin === end ? <mark class="place" /> : <mark>{value.slice(begin, end)}</mark>}
      {value.slice(end)}
    </div>
  );
}

export class Editor extends Component<Props> {
  readonly area = createRef<HTMLTextAreaElement>();

  private readonly look = (): void => {
    const area = this.area.current;
    if (area === null || this.props.caret === undefined) return;
    const there = document.activeElement === area && area.selectionStart === area.selectionEnd;
    this.props.caret(there ? area.selectionStart : null);
  };

  override render({ name, named = false, value, placeholder, mark, invalid, describedBy, ...props }: Props) {
    const { change, history, pressed, list, option, children } = props;
    return (
      <div class={named ? "editor named" : "editor"}>
        <div class="frame">
          {named && (
            <span class="name-of" aria-hidden="true">
              {name}
            </span>
          )}
          <Mirror value={value} mark={mark} />
          <textarea
            ref={this.area}
            class="text"
            rows={Math.min(value.split("\n").length, 8)}
            value={value}
            placeholder={placeholder}
            aria-label={name}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            maxLength={LONGEST_TEXT + 1000}
            aria-invalid={invalid}
            aria-describedby={describedBy}
            aria-autocomplete={pressed === undefined ? undefined : "list"}
            aria-controls={list}
            aria-activedescendant={option}
            onInput={(event) => {
              const text = event.currentTarget.value;
              typed(text, value);
              change(text);
              this.look();
            }}
            onFocus={() => (editing.value = name)}
            onBlur={() => {
              editing.value = null;
              finished();
              settle();
              this.look();
            }}
            onKeyUp={this.look}
            onClick={this.look}
            onKeyDown={(event) => {
              if (pressed?.(event) === true) {
                event.preventDefault();
                return;
              }
              const letter = event.key.toLowerCase();
              if ((event.ctrlKey || event.metaKey) && !event.altKey && (letter === "z" || letter === "y")) {
                // The text's own undo knows nothing of blocks, and of texts that were chosen.
                event.preventDefault();
                history(letter === "y" || event.shiftKey ? 1 : -1);
                return;
              }
              if (event.key !== "Enter" || event.shiftKey) return;
              event.preventDefault();
              finished();
              settle();
            }}
          />
        </div>
        {children}
      </div>
    );
  }
}

/** The place of a mistake in a text that may have become shorter. */
export function placeOf(fault: Fault | null, text: string): Span | null {
  const span = fault?.span ?? null;
  return span === null || span[1] > text.length ? null : span;
}
