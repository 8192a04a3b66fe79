/** What can be taken away: the link, pictures, and the layout as data. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import { download } from "../copying";
import { layout, current } from "../layout";
import { flush, notice } from "../page";
import type { GridCanvas, GridView } from "../draw/grid";
import type { Pen } from "../draw/sheet";
import type { StripCanvas } from "../draw/strip";
import { escaped, SvgPen } from "../draw/svg";
import { hatching, type Theme } from "../draw/theme";
import { counted, tuple } from "../numbers";
import { gridCanvas, gridKey, gridView } from "./grid";
import { CopyButton } from "./copybutton";
import { live } from "./live";
import { stripCanvas, stripView, type StripView } from "./memory";
import { stripKey } from "./strip";

/** Room around the pictures. */
const MARGIN = 24;
/** Letters of the fixed-width font are so wide for their size. */
const LETTER = 0.602;
const MOST_LINES = 8;

/** What stands at a place of the picture that is taken away. */
interface Part {
  x: number;
  y: number;
  draw(pen: Pen): void;
}

/** Lines of at most so many letters, broken before an operation where there is one. */
function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = text.replace(/\s+/g, " ");
  while (rest.length > most && lines.length < MOST_LINES - 1) {
    const head = rest.slice(0, most);
    const at = Math.max(head.lastIndexOf(")."), head.lastIndexOf(", ")) + 1;
    lines.push(rest.slice(0, at > most / 3 ? at : most));
    rest = rest.slice(at > most / 3 ? at : most).trimStart();
  }
  return [...lines, rest.length > most ? `${rest.slice(0, most - 1)}\u2026` : rest];
}

/** How wide the cells are in all: beside few of them there is nothing. */
function gridWidth(grid: GridCanvas, view: GridView): number {
  const { left, wide } = grid.frame(view);
  return view.camera === null ? Math.min(left + view.scene.plan.column.extent * wide + 8, grid.width) : grid.width;
}

function stripWidth(strip: StripCanvas, view: StripView): number {
  const { left, row, begin, end, scale } = strip.frame(view);
  return view.camera === null ? Math.min(left + Math.min(row, end - begin) * scale + 10, strip.width) : strip.width;
}

/** The grid above memory, with what they are of and what their colours mean. */
function sheetOf(): { width: number; height: number; parts: Part[]; theme: Theme; title: string } | null {
  const [grid, view, strip, memory] = [gridCanvas.now, gridView.peek(), stripCanvas.now, stripView.peek()];
  const now = layout.peek();
  if (grid === null || view === null || now === null) return null;
  const { theme } = view;
  const { source } = now;
  const title = "chain" in source ? source.chain : source.index;
  const inner = Math.ceil(Math.max(gridWidth(grid, view), strip === null || memory === null ? 0 : stripWidth(strip, memory), 520));
  const parts: Part[] = [];
  let y = MARGIN;
  const line = (text: string, size: number, color: string, bold = false): void => {
    const at = y + size * 0.75;
    parts.push({
      x: MARGIN,
      y: 0,
      draw(pen) {
        pen.font = `${bold ? "600 " : ""}${size}px ${theme.mono}`;
        pen.fillStyle = color;
        pen.textAlign = "left";
        pen.textBaseline = "middle";
        pen.fillText(text, 0, at);
      },
    });
    y += size * 1.5;
  };
  const legend = (entries: readonly { swatch: string; text: string }[]): void => {
    let x = 0;
    for (const { swatch, text } of entries) {
      const wide = (swatch === "" ? 0 : swatch === "ramp" ? 78 : 18) + text.length * 11 * LETTER + 18;
      if (x > 0 && x + wide > inner) [x, y] = [0, y + 18];
      const left = x;
      parts.push({ x: MARGIN + left, y, draw: (pen) => entry(pen, theme, swatch, text) });
      x += wide;
    }
    y += 26;
  };
  for (const text of wrapped(title, Math.floor(inner / (15 * LETTER)))) line(text, 15, theme.ink, true);
  const views = now.chain?.views.length;
  const about = [
    `shape ${tuple(now.shape)}`,
    ...(views === undefined ? [] : [views === 1 ? "one view" : `${views} views`]),
    ...(now.chain?.buffer_len == null ? [] : [`${now.chain.buffer === null ? "buffer" : "copy"} of ${counted(now.chain.buffer_len, "element")}`]),
  ];
  line(about.join(" \u00b7 "), 12, theme.soft);
  y += 6;
  parts.push({ x: MARGIN, y, draw: (pen) => grid.with(pen, () => grid.draw(view)) });
  y += grid.height + 8;
  legend(gridKey.peek());
  if (strip !== null && memory !== null) {
    y += 4;
    line("Memory", 12, theme.ink, true);
    parts.push({ x: MARGIN, y, draw: (pen) => strip.with(pen, () => strip.draw(memory)) });
    y += strip.height + 8;
    legend(stripKey.peek());
  }
  line("shapetracker", 11, theme.soft);
  return { width: inner + 2 * MARGIN, height: y + MARGIN - 8, parts, theme, title };
}

/** What a colour or a mark means. */
function entry(pen: Pen, theme: Theme, swatch: string, text: string): void {
  const box = (x: number, wide: number, color: string | CanvasPattern): void => {
    pen.fillStyle = color;
    pen.beginPath();
    pen.rect(x, 0, wide, 12);
    pen.fill();
  };
  const framed = (color: string, dash: number[]): void => {
    pen.strokeStyle = color;
    pen.lineWidth = dash.length > 0 && swatch === "hole" ? 1 : 2;
    pen.setLineDash(dash);
    pen.strokeRect(1, 1, 10, 10);
    pen.setLineDash([]);
  };
  const shade = (share: number): string => theme.rampText[Math.round(share * 255)]!;
  const grey = [0, 8, 16].map((shift) => (theme.neutral >> shift) & 255).join();
  const fills: Record<string, [number, number, string | CanvasPattern][]> = {
    ramp: Array.from({ length: 24 }, (_, at) => [3 * at, 3, shade(at / 23)]),
    mask: [
      [0, 12, theme.blank],
      [0, 12, hatching(document.createElement("canvas").getContext("2d")!, theme.hatch, 1)],
    ],
    apart: [[0, 12, `rgb(${grey})`]],
    partly: [
      [0, 6, shade(0.5)],
      [6, 6, theme.blank],
    ],
    lit: [[0, 12, theme.accent]],
    same: [[0, 12, theme.accentSoft]],
    once: [[0, 12, shade(0.15)]],
    often: [[0, 12, shade(0.66)]],
    uncounted: [[0, 12, theme.hatch]],
  };
  for (const [x, wide, color] of fills[swatch] ?? []) box(x, wide, color);
  if (swatch === "same") framed(theme.accent, []);
  if (swatch === "crossed") framed(theme.bad, [3, 2]);
  if (swatch === "hole") framed(theme.hatch, [2, 2]);
  if (swatch === "steps") {
    pen.fillStyle = theme.bad;
    pen.fillRect(0, 5, 14, 2);
  }
  pen.font = `11px ${theme.mono}`;
  pen.fillStyle = theme.soft;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillText(text, swatch === "" ? 0 : swatch === "ramp" ? 78 : 18, 6.5);
}

/** As vectors: drawn once more, by a pen that writes SVG. */
function svg(): void {
  const sheet = sheetOf();
  if (sheet === null) return;
  const { width, height, parts, theme, title } = sheet;
  const style = `font-family="${escaped(theme.mono)}" shape-rendering="crispEdges"`;
  const stripes = `<path d="M-1 7 7 -1M-4 4 4 -4M2 10 10 2" stroke="${theme.hatch}"/>`;
  const groups = parts.map(({ x, y, draw }) => {
    const pen = new SvgPen({ width: width - x, height });
    draw(pen);
    return `<g transform="translate(${x} ${y})">${pen.text()}</g>`;
  });
  const text = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${style}>`,
    `<title>${escaped(title)}</title>`,
    `<defs><pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse">${stripes}</pattern></defs>`,
    `<path d="M0 0h${width}v${height}h${-width}z" fill="${theme.pane}"/>`,
    ...groups,
    "</svg>",
  ];
  download("layout.svg", new Blob([text.join("\n")], { type: "image/svg+xml" }));
}

/** As pixels: two for each of the page, so that it can be printed and shown large. */
const SHARP = 2;

function png(): void {
  const sheet = sheetOf();
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  if (sheet === null || pen === null) return;
  canvas.width = Math.ceil(sheet.width * SHARP);
  canvas.height = Math.ceil(sheet.height * SHARP);
  pen.fillStyle = sheet.theme.pane;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  for (const { x, y, draw } of sheet.parts) {
    pen.setTransform(SHARP, 0, 0, SHARP, x * SHARP, y * SHARP);
    draw(pen);
  }
  canvas.toBlob((blob) => {
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

/** The tensor in a frame, as HTML for another page. */
function frame(): string {
  flush();
  const link = new URL(location.href);
  link.search = "?embed=tensor";
  return `<iframe src="${escaped(link.href)}" width="720" height="480" title="A tensor in memory"></iframe>`;
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
      <a class="to-course" href="./kernels.html">
        Kernels
      </a>
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
            {item("SVG", "The pictures as vectors, with title and legend", blank, svg)}
            {item("PNG", "The pictures as pixels, two for one, with title and legend", blank, png)}
            {item("JSON", "The layout as data", off, json)}
            <CopyButton name="Embed" hint="Copy HTML that shows the tensor in a frame of another page" text={frame} />
          </div>
        )}
      </div>
    </div>
  );
});
