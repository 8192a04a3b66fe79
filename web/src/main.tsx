import { Fragment, h, render } from "preact";
import { App } from "./app";
import { begin, engine } from "./ask";
import { followTheme } from "./draw/theme";
import { detail, followFocus, readers } from "./focus";
import { followText, idle, layout, stations, trouble } from "./layout";
import { change, follow, page } from "./page";
import { followElement, gridCanvas, gridView } from "./panes/grid";
import { fetchPresets } from "./presets";
import { later, pictured } from "./panes/later";
import { MissingNotice } from "./panes/missing";
import { stripCanvas, stripView } from "./panes/memory";
import { thread } from "./thread";
import { followTitle } from "./title";
import "./embed.css";
import "./panes/examples.css";
import "./panes/nest.css";

followTheme();
follow();
followText();
followTitle();
followFocus();
followElement();
begin();
/** Waits for the first picture, or for what is wrong instead of one. */
function look(): void {
  const now = layout.peek();
  const none = trouble.peek() !== null || engine.peek() === "failed" || now?.tooLong === true || now?.shape.includes(0);
  if (none !== true && (now === null || gridCanvas.now?.tiles.complete(now) === false)) {
    requestAnimationFrame(look);
    return;
  }
  pictured.value = true;
  fetchPresets();
}
requestAnimationFrame(look);

/** The one pane that is shown in the frame of another page; null for the whole page. */
const embedded = new URLSearchParams(location.search).get("embed");
const Embed = later("shows one pane", async () => (await import("./embed")).Embed);
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  // Of what is missing the one pane may be a part.
  const framed = (
    <>
      <MissingNotice />
      <Embed pane={embedded ?? ""} />
    </>
  );
  render(embedded === null ? <App /> : framed, root);
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
  stations,
  thread,
  detail,
  readers,
  gridCanvas,
  gridView,
  stripCanvas,
  stripView,
};
Object.assign(globalThis, { explorer });
