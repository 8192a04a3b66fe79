/** The grid and the strip as an SVG text, of what is in view. */
import { plain } from "../numbers";
import { labelOf, labelSize, type GridCanvas, type GridView } from "./grid";
import type { StripCanvas, StripView } from "./strip";
import { bounds } from "./strip";
import { shader, SIDE } from "./tiles";

/** More cells are no drawing but a picture. */
const MOST_CELLS = 6000;

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** A cell with a text in its middle. */
function cell(
  x: number,
  y: number,
  width: number,
  height: number,
  paint: string,
  text: string,
  size: number | null,
  color: string,
): string {
  const at = (value: number): string => value.toFixed(1);
  const box = `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" ${paint}/>`;
  if (text === "" || size === null) return box;
  return `${box}<text x="${at(x + width / 2)}" y="${at(y + height / 2)}" dy=".35em" font-size="${at(size)}" text-anchor="middle" fill="${color}">${escape(text)}</text>`;
}

/** What is in view as pixels. */
function pixels({ canvas, width, height }: { canvas: HTMLCanvasElement; width: number; height: number }): string[] {
  return [`<image href="${canvas.toDataURL()}" width="${width}" height="${height}"/>`];
}

function gridParts(grid: GridCanvas, view: GridView): string[] {
  const { scene, theme } = view;
  const { camera, left, top } = grid.frame(view);
  const { row, column } = scene.plan;
  const { scale } = camera;
  const r0 = Math.max(Math.floor(camera.y), 0);
  const r1 = Math.min(Math.ceil(camera.y + (grid.height - top) / scale), row.extent);
  const c0 = Math.max(Math.floor(camera.x), 0);
  const c1 = Math.min(Math.ceil(camera.x + (grid.width - left) / scale), column.extent);
  if ((r1 - r0) * (c1 - c0) > MOST_CELLS || scale < 2) {
    return pixels(grid);
  }
  const size = labelSize(view, scale);
  const parts: string[] = [];
  const focus = view.selected;
  for (let r = r0; r < r1; r++) {
    for (let c = c0; c < c1; c++) {
      const tile = grid.tiles.get(Math.floor(r / SIDE), Math.floor(c / SIDE), 1);
      if (tile === null) continue;
      const sample = (r % SIDE) * tile.columns + (c % SIDE);
      const address = tile.addresses[sample];
      if (address === undefined || address === Infinity) continue;
      const x = left + (c - camera.x) * scale;
      const y = top + (r - camera.y) * scale;
      const masked = Number.isNaN(address);
      const on = focus !== null && row.place(row.ofIndex(focus)) === r && column.place(column.ofIndex(focus)) === c;
      const fill = on
        ? theme.accent
        : masked
          ? "url(#masked)"
          : theme.rampText[Math.round(shader(tile, scene)(sample) * 255)]!;
      const side = Math.max(scale - 2, scale * 0.8);
      parts.push(
        cell(
          x + 1,
          y + 1,
          side,
          side,
          `fill="${fill}"`,
          labelOf(tile, sample, view),
          size,
          on ? theme.accentInk : theme.ink,
        ),
      );
    }
  }
  return parts;
}

function stripParts(strip: StripCanvas, view: StripView): string[] {
  const { theme } = view;
  const known = strip.known;
  const [begin, end] = bounds(view.layout);
  const { scale, left, row } = strip.frame({ ...view, camera: null });
  if (known === null || Number(known.width) !== 1 || end - begin > MOST_CELLS || scale < 3) {
    return pixels(strip);
  }
  const parts: string[] = [];
  for (let address = begin; address < end; address++) {
    const at = address - begin;
    const x = left + (Number.isFinite(row) ? at % row : at) * scale;
    const y = Number.isFinite(row) ? 8 + Math.floor(at / row) * scale : 22;
    const height = Number.isFinite(row) ? scale - 2 : 34;
    const reads = known.reads[address - Number(known.begin)] ?? 0;
    const on = address === view.focus;
    const share = reads > 1 ? Math.min(Math.log2(reads) / 6 + 0.35, 1) : 0.15;
    const fill = on ? theme.accent : reads === 0 ? "none" : theme.rampText[Math.round(share * 255)]!;
    const dashed = reads === 0 ? ` stroke="${theme.hatch}" stroke-dasharray="2 2"` : "";
    const size = Math.min(12, (scale - 5) / (0.61 * String(end - 1).length));
    const text = size >= 8 ? plain(address) : "";
    parts.push(
      cell(
        x,
        y,
        Math.max(scale - 2, 1),
        height,
        `fill="${fill}"${dashed}`,
        text,
        size,
        on ? theme.accentInk : theme.ink,
      ),
    );
  }
  return parts;
}

/** What is in view, as a document of its own. */
export function picture(
  grid: GridCanvas,
  view: GridView,
  strip: StripCanvas | null,
  stripView: StripView | null,
): string {
  const { theme } = view;
  const below = strip !== null && stripView !== null ? strip.height : 0;
  const source = view.scene.layout.source;
  const title = "chain" in source ? source.chain : source.index;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${grid.width} ${grid.height + below}" font-family="${escape(theme.mono)}">`,
    `<title>${escape(title)}</title>`,
    `<defs><pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${theme.blank}"/><path d="M-1 7 7 -1M-4 4 4 -4M2 10 10 2" stroke="${theme.hatch}"/></pattern></defs>`,
    `<rect width="100%" height="100%" fill="${theme.pane}"/>`,
    "<g>",
    ...gridParts(grid, view),
    "</g>",
    ...(strip !== null && stripView !== null
      ? [`<g transform="translate(0 ${grid.height})">`, ...stripParts(strip, stripView), "</g>"]
      : []),
    "</svg>",
  ].join("\n");
}
