/** What pictures have beside their cells: what moves, what differs, and what is pointed out. */
import { inkOf, labelOf, labelSize, type Box, type Frame, type GridView } from "./grid";
import type { Pen } from "./sheet";
import type { Theme } from "./theme";
import { shader, SIDE, type Domain, type Tile } from "./tiles";

/** A cell as it is drawn while it moves. */
interface Cell {
  x: number;
  y: number;
  wide: number;
  tall: number;
  fill: string;
  ink: string;
  text: string;
}

/** Where the elements that read an address are drawn. */
type Places = Map<string, Cell[]>;

/** Slow, fast, slow. */
function ease(part: number): number {
  return part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
}

/** Draws the cells after a part of their way, and says where that is. What was nowhere appears. */
function glide(
  pen: CanvasRenderingContext2D,
  before: Places,
  now: Places,
  part: number,
  font: string | null,
): Places {
  const share = ease(part);
  const way = (from: number, to: number): number => from + (to - from) * share;
  const at: Places = new Map();
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (font !== null) pen.font = font;
  for (const [address, cells] of now) {
    const old = before.get(address);
    const there = cells.map((cell, place): Cell => {
      const from = old?.[Math.min(place, old.length - 1)];
      if (from === undefined) return cell;
      const [x, y] = [way(from.x, cell.x), way(from.y, cell.y)];
      return { ...cell, x, y, wide: way(from.wide, cell.wide), tall: way(from.tall, cell.tall) };
    });
    at.set(address, there);
    pen.globalAlpha = old === undefined ? share : 1;
    for (const { x, y, wide, tall, fill, ink, text } of there) {
      pen.fillStyle = fill;
      pen.fillRect(x + 1, y + 1, wide - 2, tall - 2);
      if (font === null) continue;
      pen.fillStyle = ink;
      pen.fillText(text, x + wide / 2, y + tall / 2 + 0.5);
    }
  }
  pen.globalAlpha = 1;
  return at;
}

/** What of a tensor is drawn, and with what. */
interface Drawing {
  view: GridView;
  frame: Frame;
  shown: readonly Tile[];
  domain: Domain;
  pen: CanvasRenderingContext2D;
  redraw(): void;
}

/** Nobody follows more cells than this with their eyes. */
const MOST_MOVED = 1024;
/** Milliseconds that cells are on their way. */
const WAY = 420;

/** Moves cells from where they were when another tensor was drawn. */
export class Motion {
  /** Where cells were when something else was drawn, by address, and when they set out from there. */
  private before: Places | null = null;
  private since = 0;
  private places: Places = new Map();
  private placedOf: unknown = null;
  private placedKey = "";

  /** Something else is drawn from now on. What is drawn of another tensor sets out from where its elements are now. */
  begin(layout: unknown): void {
    this.before = this.placedOf === null || this.placedOf === layout ? null : this.places;
    this.since = 0;
  }

  get still(): boolean {
    return this.before === null;
  }

  /** Draws cells on their way. Says whether they are not yet there. */
  glides({ view, frame, shown, domain, pen, redraw }: Drawing): boolean {
    const key = JSON.stringify([frame, domain, view.label]);
    if (this.before === null && this.placedOf === view.scene.layout && this.placedKey === key) return false;
    const now = placesOf(view, frame, shown, domain);
    const { before } = this;
    if (before !== null && before.size > 0 && now.size > 0) {
      this.since ||= performance.now();
      const part = (performance.now() - this.since) / WAY;
      if (part < 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        const size = labelSize(view, frame.wide, frame.tall, domain);
        pen.fillStyle = view.theme.pane;
        pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
        this.places = glide(pen, before, now, part, size === null ? null : `${size}px ${view.theme.mono}`);
        requestAnimationFrame(redraw);
        return true;
      }
    }
    this.before = null;
    this.places = now;
    this.placedOf = view.scene.layout;
    this.placedKey = key;
    return false;
  }
}

/** Where the elements that read each address are drawn; nothing where they are too many. */
function placesOf(view: GridView, frame: Frame, shown: readonly Tile[], domain: Domain): Places {
  const { camera, left, top, wide, tall } = frame;
  const places: Places = new Map();
  const { theme, scene } = view;
  if (shown.reduce((all, { rows, columns }) => all + rows * columns, 0) > MOST_MOVED) return places;
  for (const tile of shown) {
    const ink = inkOf(tile, view, domain);
    const { share } = shader(tile, scene, domain);
    for (let sample = 0; sample < tile.addresses.length; sample++) {
      const address = tile.addresses[sample]!;
      // Gaps and masked cells are nowhere in memory.
      if (!(address < Infinity)) continue;
      const [row, column] = [Math.floor(sample / tile.columns), sample % tile.columns];
      const x = left + (tile.column * SIDE + column - camera.x) * wide;
      const y = top + (tile.row * SIDE + row - camera.y) * tall;
      const read = String(tile.exact?.[sample] ?? address);
      const fill = theme.rampText[Math.round(share(sample) * 255)] ?? theme.pane;
      const cell = { x, y, wide, tall, fill, ink: ink(sample), text: labelOf(tile, sample, view) };
      const same = places.get(read);
      if (same === undefined) places.set(read, [cell]);
      else same.push(cell);
    }
  }
  return places;
}

/** Whether two samples of the same cells are known to read something else. */
function differs(one: Tile, other: Tile, sample: number): boolean {
  const same = (a: number, b: number): boolean => Object.is(a, b) || a === b;
  if (one.exact?.[sample] !== other.exact?.[sample]) return one.addresses[sample] !== Infinity;
  if (!same(one.addresses[sample]!, other.addresses[sample]!)) return true;
  if (one.range === null || other.range === null || one.sampled || other.sampled) return false;
  return (
    !same(one.valid![sample]!, other.valid![sample]!) ||
    !same(one.range.low[sample]!, other.range.low[sample]!) ||
    !same(one.range.high[sample]!, other.range.high[sample]!)
  );
}

/** What of another picture has another address here. */
export function differences(
  pen: CanvasRenderingContext2D,
  tile: Tile,
  view: GridView,
  { camera, left, top, wide, tall }: Frame,
  { width, height }: { width: number; height: number },
): void {
  const other = view.against!.tiles.get(tile.row, tile.column, tile.step);
  if (other === null || other.addresses.length !== tile.addresses.length) return;
  const { step } = tile;
  const [dx, dy] = [wide * step, tall * step];
  pen.strokeStyle = pen.fillStyle = view.theme.bad;
  const ratio = window.devicePixelRatio || 1;
  const whole = (at: number): number => Math.round(at * ratio) / ratio;
  for (let sample = 0; sample < tile.addresses.length; sample++) {
    if (!differs(tile, other, sample)) continue;
    const [row, column] = [Math.floor(sample / tile.columns), sample % tile.columns];
    const x = left + (tile.column * SIDE * step + column * step - camera.x) * wide;
    const y = top + (tile.row * SIDE * step + row * step - camera.y) * tall;
    if (x + dx < 0 || y + dy < 0 || x > width || y > height) continue;
    if (Math.min(dx, dy) < 10) {
      // Whole pixels, so that no pattern comes of what lies between them; the shades are still seen below.
      const [from, until] = [whole(x), whole(y)];
      pen.globalAlpha = 0.55;
      pen.fillRect(from, until, Math.max(whole(x + dx) - from, 1 / ratio), Math.max(whole(y + dy) - until, 1 / ratio));
      pen.globalAlpha = 1;
      continue;
    }
    pen.lineWidth = 2;
    pen.strokeRect(x + 2, y + 2, dx - 4, dy - 4);
    // A corner as well, for those who do not see the colour.
    const corner = Math.min(dx, dy) / 3.5;
    pen.beginPath();
    pen.moveTo(x + dx - 1, y + 1);
    pen.lineTo(x + dx - 1, y + 1 + corner);
    pen.lineTo(x + dx - 1 - corner, y + 1);
    pen.fill();
  }
}

/** What another picture shows of this one. */
export function windowed(
  pen: Pen,
  { rows, columns }: NonNullable<GridView["window"]>,
  theme: Theme,
  { camera, left, top, wide, tall }: Frame,
): void {
  const [x, y] = [left + (columns[0] - camera.x) * wide, top + (rows[0] - camera.y) * tall];
  const [dx, dy] = [(columns[1] - columns[0]) * wide, (rows[1] - rows[0]) * tall];
  const side = (length: number): number => Math.max(length, 5);
  for (const [color, width] of [
    [theme.pane, 4],
    [theme.accent, 2],
  ] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.strokeRect(x + dx / 2 - side(dx) / 2, y + dy / 2 - side(dy) / 2, side(dx), side(dy));
  }
}

/** The steps and the elements of a witness. */
export function pointedOut(pen: Pen, view: GridView, place: (index: readonly number[]) => Box | null): void {
  const { theme } = view;
  for (const index of view.crossed ?? []) {
    const box = place(index);
    if (box === null) continue;
    pen.strokeStyle = theme.bad;
    pen.lineWidth = 2;
    pen.setLineDash([4, 3]);
    pen.strokeRect(box.x + 2, box.y + 2, Math.max(box.wide - 4, 4), Math.max(box.tall - 4, 4));
    pen.setLineDash([]);
  }
  for (const { from, to, moved, dashed } of view.arrows ?? []) {
    const [a, b] = [place(from), place(to)];
    if (a === null || b === null) continue;
    const down = a.x === b.x;
    // Beside the numbers of the cells, not through them.
    const at = ({ x, y, wide, tall }: Box): [number, number] =>
      down ? [x + Math.min(wide * 0.16, 16), y + tall / 2] : [x + wide / 2, y + Math.min(tall * 0.18, 14)];
    const [[x0, y0], [x1, y1]] = [at(a), at(b)];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 4) continue;
    const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
    const head = Math.min(7, length / 2);
    for (const [color, width] of [
      [theme.pane, 5],
      [theme.bad, 2],
    ] as const) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.setLineDash(dashed && width === 2 ? [5, 3] : []);
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(x1 - head * (ux + 0.7 * uy), y1 - head * (uy - 0.7 * ux));
      pen.lineTo(x1, y1);
      pen.lineTo(x1 - head * (ux - 0.7 * uy), y1 - head * (uy + 0.7 * ux));
      pen.stroke();
    }
    const wide = moved.length * 7.4 + 8;
    if (Math.max(down ? a.tall : a.wide - wide, 0) < 22) continue;
    const [x, y] = down ? [x0 + 6 + wide / 2, (y0 + y1) / 2] : [(x0 + x1) / 2, y0];
    pen.fillStyle = theme.pane;
    pen.beginPath();
    pen.roundRect(x - wide / 2, y - 9, wide, 18, 4);
    pen.fill();
    pen.font = `600 12px ${theme.mono}`;
    pen.fillStyle = theme.bad;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(moved, x, y + 0.5);
  }
}
