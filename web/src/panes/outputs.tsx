/** What can be taken away: the link, pictures, and the layout as data. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import { download } from "../copying";
import { layout, current } from "../layout";
import { flush, notice } from "../page";
import { escaped } from "../draw/svg";
import { gridCanvas, gridView } from "./grid";
import { CopyButton } from "./copybutton";
import { live } from "./live";
import { stripCanvas, stripView } from "./strip";

/** The grid above the strip as vectors: drawn once more, by a pen that writes SVG. */
function svg(): void {
  const [grid, view, strip, memory] = [gridCanvas.now, gridView.peek(), stripCanvas.now, stripView.peek()];
  if (grid === null || view === null) return;
  const { theme } = view;
  const { source } = view.scene.layout;
  const below = strip !== null && memory !== null ? strip.record(() => strip.draw(memory)) : "";
  const size = `${grid.width} ${grid.height + (strip?.height ?? 0)}`;
  const style = `font-family="${escaped(theme.mono)}" shape-rendering="crispEdges"`;
  const stripes = `<path d="M-1 7 7 -1M-4 4 4 -4M2 10 10 2" stroke="${theme.hatch}"/>`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" ${style}>`,
    `<title>${escaped("chain" in source ? source.chain : source.index)}</title>`,
    `<defs><pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse">${stripes}</pattern></defs>`,
    grid.record(() => grid.draw(view)),
    `<g transform="translate(0 ${grid.height})">${below}</g></svg>`,
  ];
  download("layout.svg", new Blob([parts.join("\n")], { type: "image/svg+xml" }));
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

/** Whether the menu is open. */
const open = signal(false);

addEventListener("pointerdown", ({ target }) => {
  if (!(target instanceof Element && target.closest(".menu"))) open.value = false;
});

export const Outputs = live(() => {
  const now = layout.value;
  const off = !current.value || now === null;
  const blank = off || now.tooLong || now.shape.includes(0);
  const item = (name: string, hint: string, off: boolean, run: () => void) => (
    <button
      type="button"
      title={hint}
      disabled={off}
      onClick={() => {
        open.value = false;
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
      <div class="menu" onKeyDown={(event) => event.key === "Escape" && (open.value = false)}>
        <button
          type="button"
          data-icon="down"
          aria-expanded={open.value}
          aria-controls="exports"
          onClick={() => (open.value = !open.value)}
        >
          Export
        </button>
        {open.value && (
          <div id="exports" class="menu-list" role="group" aria-label="Export">
            {item("SVG", "The pictures as vectors", blank, svg)}
            {item("PNG", "The pictures as pixels", blank, png)}
            {item("JSON", "The layout as data", off, json)}
          </div>
        )}
      </div>
    </div>
  );
});
