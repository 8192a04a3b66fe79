/** A few words for the first visit: they stand in `index.html`. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { live } from "./live";

const KEY = "shapetracker-guide";

function seen(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    // Storage may be switched off; then there is no telling.
    return false;
  }
}

/** Whoever follows a link wants to see what it shows. */
const open = signal(location.hash.length <= 1 && !seen());

function close(): void {
  open.value = false;
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // It will be shown again.
  }
}

const text = document.getElementById("guide");

export const Guide = live(() => {
  if (!open.value || text === null) return null;
  text.hidden = false;
  return (
    <section class="guide" aria-label="How to begin" ref={(box) => box?.prepend(text)}>
      <button type="button" onClick={close}>
        Close
      </button>
    </section>
  );
});
