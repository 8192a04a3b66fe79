/** The controls that several panes have. */
import { h, type ComponentChildren } from "preact";

interface IconButtonProps {
  /** Which of the icons in the style sheet. */
  icon: string;
  /** What it does, for those who do not see it. */
  label: string;
  /** The same for those who point at it. */
  title?: string;
  disabled?: boolean;
  pressed?: boolean;
  /** No stop of the tab key. */
  aside?: boolean;
  click(): void;
}

export function IconButton({ icon, label, title = label, disabled = false, pressed, aside = false, click }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon"
      data-icon={icon}
      aria-label={label}
      title={title}
      disabled={disabled}
      aria-pressed={pressed}
      tabIndex={aside ? -1 : undefined}
      onClick={click}
    />
  );
}

/** The buttons that every picture has. */
export function Zoom({ of, by, all }: { of: string; by(factor: number): void; all(): void }) {
  return (
    <div class="group">
      <IconButton
        icon="plus"
        label={`Zoom in on ${of}`}
        title="Zoom in (+, or Ctrl and wheel)"
        click={() => by(1.5)}
      />
      <IconButton icon="minus" label={`Zoom out of ${of}`} title="Zoom out (-)" click={() => by(1 / 1.5)} />
      <IconButton icon="fit" label={`Show all of ${of}`} title="Show everything (0)" click={all} />
    </div>
  );
}

interface ChoiceProps {
  name: ComponentChildren;
  value: string;
  /** Values and what they are called. */
  options: readonly (readonly [string, string])[];
  choose(value: string): void;
}

export function Choice({ name, value, options, choose }: ChoiceProps) {
  return (
    <label class="beside">
      <span>{name}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option value={each}>{text}</option>
        ))}
      </select>
    </label>
  );
}

/** Follows a pointer from where it went down to where it is let go. */
export function dragged(event: PointerEvent, move: (event: PointerEvent) => void, end: () => void): void {
  const handle = event.currentTarget as HTMLElement;
  const stop = new AbortController();
  const { signal } = stop;
  const done = (): void => {
    stop.abort();
    end();
  };
  handle.addEventListener("pointermove", move, { signal });
  handle.addEventListener("pointerup", done, { signal });
  handle.addEventListener("pointercancel", done, { signal });
}
