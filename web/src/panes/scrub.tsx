/** A number that is typed, stepped with the arrow keys, or dragged to the left and right. */
import { Component, h } from "preact";
import { settle } from "../page";
import { dragged } from "./controls";

interface Props {
  value: string;
  label: string;
  /**
   * `stepped`: with an arrow key or by dragging, so that a number beyond the next one will do too. Where that takes a
   * while, the answer is the number that it became, null where it stays as it was.
   */
  change(value: string, stepped: boolean): void | Promise<string | null>;
  /** No stop of the tab key. */
  aside?: boolean;
  /** Field styles instead of those of a number within a text. */
  field?: boolean;
  invalid?: boolean;
  /** Nothing is a value too. */
  optional?: boolean;
}

/** Pixels of dragging for a step of one. */
const PIXELS = 9;

export class Scrub extends Component<Props> {
  /** What was typed last stands until it comes back as the value: numbers may change faster than the engine answers. */
  private draft: string | null = null;

  override componentDidUpdate(): void {
    if (this.draft === this.props.value) this.draft = null;
  }

  override render({ value, label, change, field = false, invalid = false, optional = false, aside = false }: Props) {
    const shown = this.draft ?? value;
    const setDraft = (draft: string | null): void => {
      this.draft = draft;
      this.setState({});
    };
    const number = /^[+-]?\d+$/.test(shown.trim()) ? Number(shown) : null;
    const put = (next: string, shown: boolean): void => {
      setDraft(shown ? next : null);
      const becomes = change(next, true);
      void becomes?.then((number) => {
        if (this.draft === next) setDraft(number);
      });
    };
    const step = (by: number): void => {
      if (number === null || !Number.isSafeInteger(number + by)) return;
      put(String(number + by), true);
    };
    const drag = (event: PointerEvent): void => {
      if (number === null || event.button !== 0 || event.pointerType === "touch") return;
      const input = event.currentTarget as HTMLInputElement;
      const from = event.clientX;
      let last = 0;
      // The number may be narrower than a step.
      input.setPointerCapture(event.pointerId);
      const move = (now: PointerEvent): void => {
        const steps = Math.trunc((now.clientX - from) / PIXELS);
        if (steps === last) return;
        last = steps;
        input.blur();
        put(String(number + steps), false);
      };
      dragged(event, move, () => {
        if (last !== 0) settle();
      });
    };
    return (
      <input
        class={field ? "scrub field" : "scrub"}
        ref={(input) => input?.style.setProperty("--letters", String(Math.max(shown.length, 1)))}
        type="text"
        role="spinbutton"
        tabIndex={aside ? -1 : undefined}
        autocomplete="off"
        aria-label={label}
        aria-valuenow={number ?? undefined}
        aria-invalid={invalid || (number === null && !(optional && shown === ""))}
        value={shown}
        maxLength={20}
        onPointerDown={drag}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (field || /^[+-]?\d+$/.test(text.trim())) {
            setDraft(text.trim());
            change(text.trim(), false);
          } else {
            setDraft(text);
          }
        }}
        onBlur={() => {
          setDraft(null);
          settle();
        }}
        onKeyDown={(event) => {
          const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          step(by);
        }}
      />
    );
  }
}
