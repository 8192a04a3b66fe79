import { h, render } from "preact";
import { App } from "./app";
import { begin, engine } from "./ask";
import { followTheme } from "./draw/theme";
import { detail, followFocus, readers } from "./focus";
import { followText, idle, layout, trouble } from "./layout";
import { change, follow, notice, page } from "./page";
import { followAdvice } from "./panes/answer";
import { followElement, gridCanvas, gridView } from "./panes/grid";
import { fetchPresets } from "./presets";
import { stripCanvas, stripView } from "./panes/strip";
import { followThread } from "./thread";
import { followTitle } from "./title";

followTheme();
follow();
followText();
followTitle();
followFocus();
followElement();
followThread();
followAdvice();
fetchPresets().catch(() => undefined);
begin().catch((error: unknown) => {
  engine.value = "failed";
  const why = `The engine could not be fetched (${String(error)}), and nothing can be computed without it.`;
  notice.value = `${why} Reload the page to try again.`;
});
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}

// A link of its own would be another page to the history.
document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.querySelector<HTMLElement>("#grid .canvas-host")?.focus();
});

/** What the pictures are made of, for tests, measurements and whoever is curious. */
export const explorer = {
  page,
  change,
  idle,
  trouble,
  layout,
  detail,
  readers,
  gridCanvas,
  gridView,
  stripCanvas,
  stripView,
};
Object.assign(globalThis, { explorer });
