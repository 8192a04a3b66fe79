/** A few words for the first visit. */
import { h } from "preact";
import { signal } from "@preact/signals";

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

export function Guide() {
  if (!open.value) return null;
  return (
    <section class="guide" aria-label="How to begin">
      <ol>
        <li>
          <span>
            A tensor is a strip of memory plus a rule from index to address. The <b>chain</b> changes the rule and
            moves nothing.
          </span>
        </li>
        <li>
          <span>
            <b>Point at a cell</b>, or use the arrow keys: the address that it reads lights up in memory, and the
            numbers in the expression follow.
          </span>
        </li>
        <li>
          <span>
            <b>Drag a dashed number</b>, move or mute a block, or type: each block says whether it still fits into one
            view.
          </span>
        </li>
        <li>
          <span>
            It does not here. Below the picture is <b>why</b>: two steps that one stride cannot both do.
          </span>
        </li>
      </ol>
      <button type="button" onClick={close}>
        Close
      </button>
    </section>
  );
}
