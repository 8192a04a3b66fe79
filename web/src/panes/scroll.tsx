/** What may be wider than its pane: it scrolls, with the keyboard too. */
import { h } from "preact";
import type { ComponentChildren } from "preact";

export function Scroll({
  label,
  always = false,
  children,
}: {
  label: string;
  always?: boolean;
  children: ComponentChildren;
}) {
  const fit = (box: HTMLDivElement | null): void => {
    // Only what scrolls is a tab stop.
    if (box !== null) box.tabIndex = always || box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight ? 0 : -1;
  };
  return (
    <div class="scroll" ref={fit} role="region" aria-label={label}>
      {children}
    </div>
  );
}
