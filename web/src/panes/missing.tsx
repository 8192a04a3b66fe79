/** What could not be loaded, in words, and a way to try again. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { again, missing, missingText } from "../parts";
import { live } from "./live";

const trying = signal(false);
/** How often it was tried again and did not come. */
const vain = signal(0);

export const MissingNotice = live(() => {
  if (missing.value.length === 0) return null;
  const tried = vain.value === 0 ? "" : ` Tried again ${vain.value === 1 ? "once" : `${vain.value} times`}, in vain.`;
  return (
    <p class="notice missing" role="alert">
      {missingText()} What needs {missing.value.length === 1 ? "it" : "them"} waits.{navigator.onLine ? "" : " There is no network."}
      {tried}{" "}
      <button
        type="button"
        aria-busy={trying.value}
        onClick={() => {
          if (trying.value) return;
          trying.value = true;
          void again().then((all) => {
            trying.value = false;
            vain.value = all ? 0 : vain.peek() + 1;
          });
        }}
      >
        Try again
      </button>
    </p>
  );
});
