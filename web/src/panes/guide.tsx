/** A few words about how to read the page: they stand in `index.html`. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { live } from "./live";

const open = signal(false);
const text = document.getElementById("guide");

export const GuideButton = live(() => (
  <button type="button" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
    How to read it
  </button>
));

export const Guide = live(() => {
  if (!open.value || text === null) return null;
  text.hidden = false;
  return (
    <section class="guide" aria-label="How to read the page" ref={(box) => box?.prepend(text)}>
      <button type="button" onClick={() => (open.value = false)}>
        Close
      </button>
    </section>
  );
});
