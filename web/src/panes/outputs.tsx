/** What can be taken away: the link, pictures, and the layout as data. */
import { h } from "preact";
import { useState } from "preact/hooks";
import { ask } from "../ask";
import { download } from "../copying";
import { layout, current } from "../layout";
import { flush, notice } from "../page";
import { picture } from "../draw/svg";
import { gridCanvas, gridView } from "./grid";
import { CopyButton } from "./copybutton";
import { stripCanvas, stripView } from "./strip";

function svg(): void {
  const [grid, view] = [gridCanvas.now, gridView.peek()];
  if (grid === null || view === null) return;
  const strip = stripView.peek();
  const text = picture(grid, view, stripCanvas.now, strip);
  download("layout.svg", new Blob([text], { type: "image/svg+xml" }));
}

/** The grid above the strip, as they are seen. */
function png(): void {
  const parts = [gridCanvas.now?.canvas, stripCanvas.now?.canvas].filter((canvas) => canvas !== undefined);
  const whole = document.createElement("canvas");
  whole.width = Math.max(...parts.map(({ width }) => width), 1);
  whole.height = parts.reduce((all, { height }) => all + height, 0);
  const pen = whole.getContext("2d");
  if (pen === null) return;
  let y = 0;
  for (const part of parts) {
    pen.drawImage(part, 0, y);
    y += part.height;
  }
  whole.toBlob((blob) => {
    if (blob !== null) download("layout.png", blob);
  });
}

function json(): void {
  const now = layout.peek();
  if (now === null) return;
  const { source } = now;
  if (!("chain" in source)) {
    const text = JSON.stringify({ ...source, ...now.free }, null, 2);
    download("layout.json", new Blob([text], { type: "application/json" }));
    return;
  }
  void ask("json", { source }, "json").then((said) => {
    if (said === null) return;
    if (said.ok) download("layout.json", new Blob([said.value.json], { type: "application/json" }));
    else notice.value = said.fault.message;
  });
}

export function Outputs() {
  const [open, setOpen] = useState(false);
  const off = !current.value || layout.value === null;
  const item = (name: string, hint: string, run: () => void) => (
    <button
      type="button"
      title={hint}
      disabled={off}
      onClick={() => {
        setOpen(false);
        run();
      }}
    >
      {name}
    </button>
  );
  return (
    <div class="outputs">
      <CopyButton
        name="Copy link"
        hint="A link to exactly this page"
        text={() => {
          flush();
          return location.href;
        }}
      />
      <div class="menu" onKeyDown={(event) => event.key === "Escape" && setOpen(false)}>
        <button
          type="button"
          data-icon="down"
          aria-expanded={open}
          aria-controls="exports"
          onClick={() => setOpen(!open)}
        >
          Export
        </button>
        {open && (
          <div id="exports" class="menu-list" role="group" aria-label="Export">
            {item("SVG", "The pictures as vectors", svg)}
            {item("PNG", "The pictures as pixels", png)}
            {item("JSON", "Shape, views and expressions as data", json)}
          </div>
        )}
      </div>
    </div>
  );
}
