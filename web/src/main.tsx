import { h, render } from "preact";
import { App } from "./app";
import { begin } from "./ask";
import { followTheme } from "./draw/theme";
import { detail, followFocus, readers } from "./focus";
import { followText, idle, layout, trouble } from "./layout";
import { change, follow, notice, page } from "./page";
import { gridCanvas, gridView } from "./panes/grid";
import { fetchPresets } from "./presets";
import { stripCanvas, stripView } from "./panes/strip";

followTheme();
follow();
followText();
followFocus();
fetchPresets().catch(() => undefined);
begin().catch((error: unknown) => {
  notice.value = `The engine could not be loaded (${String(error)}), so nothing can be computed.`;
});
const root = document.getElementById("page");
if (root !== null) render(<App />, root);

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
