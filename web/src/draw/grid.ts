/** The tensor grid on a canvas. */
import type { Integer } from "shapetracker/engine";
import type { Lane } from "../lane";
import { signal } from "@preact/signals-core";
import { addressText, clamp, pretty } from "../numbers";
import type { Camera, Label } from "../page";
import { part } from "../parts";
import type { Motion } from "./extras";
import { Sheet } from "./sheet";
import { hatching, type Theme } from "./theme";
import {
  greyness,
  isRanged,
  pictureOf,
  shader,
  SIDE,
  Tiles,
  valuesOf,
  type Domain,
  type Scene,
  type Tile,
} from "./tiles";

/** All that a picture of the grid depends on. */
export interface GridView {
  scene: Scene;
  label: Label;
  theme: Theme;
  camera: Camera | null;
  /** The element in focus, the selected one, and all that read the address in focus. */
  focus: number[] | null;
  selected: number[] | null;
  readers: readonly number[][];
  /** The picture moves: labels are few. */
  moving: boolean;
  /** Without the numbers of rows and columns. */
  bare?: boolean;
  /** Steps and elements that are pointed out: those of a witness. */
  arrows?: readonly Arrow[];
  crossed?: readonly number[][];
  /** Another picture of the same cells: where they differ is marked. */
  against?: GridCanvas | null;
  /** What another picture shows of this one, which is an overview of it. */
  window?: { rows: [number, number]; columns: [number, number] } | null;
}

/** A step from one element to another. */
export interface Arrow {
  from: readonly number[];
  to: readonly number[];
  /** By how much the address moves. */
  moved: string;
  dashed: boolean;
}

/** What one pixel of the picture stands for, where it is more than one element. */
export interface Dot {
  elements: number;
  sampled: boolean;
  /** Some are grey, since what they stand for lies far apart. */
  apart: boolean;
  /** Some stand for masked elements and others. */
  partly: boolean;
}

/** Cells are no taller than this, and no wider for their height. */
const LARGEST = 64;
const LARGEST_ZOOMED = 160;
const WIDEST = 3;
/** Cells that are smaller are squares. */
const SMALLEST_WIDE = 20;
const SMALLEST_LINED = 6;
/** A picture of few rows, or few columns, is no thinner: its cells are longer than they are wide. */
const THINNEST = 44;
/** Nor is it thinner for its length than this. */
const SLENDER = 0.3;
const FEW_LABELS = 260;
const MOST_LABELS = 4000;

/** A ring around a small cell reaches out so far. */
const RING = 7;

/** The least width or height of a picture that is so long the other way, where there is so much room. */
function thinnest(along: number, room: number): number {
  return Math.max(THINNEST, Math.min(along * SLENDER, room));
}

/** The pixel of the screen nearest to a place. */
function whole(at: number): number {
  const ratio = window.devicePixelRatio || 1;
  return Math.round(at * ratio) / ratio;
}

/** What labels and their sizes depend on. */
type GridScene = Pick<GridView, "scene" | "label" | "bare">;

/** A tile by its place. */
interface Place {
  row: number;
  column: number;
  step: number;
}

/** Milliseconds after which a picture that was moved is one that is looked at. */
const SETTLED = 140;

/** Milliseconds for which the last picture stays while the next one is asked for. */
const PATIENCE = 100;

/** What is in view: the camera, and where the cells begin. */
export interface Frame {
  camera: Camera;
  left: number;
  top: number;
  /** How wide and how tall a cell is. */
  wide: number;
  tall: number;
}

/** What pictures have beside their cells, which the first of them does without. */
let extras: typeof import("./extras") | null = null;
/** Whether that has been asked for. */
let asked = false;

/** A cell on the canvas. */
export interface Box {
  x: number;
  y: number;
  wide: number;
  tall: number;
}

export class GridCanvas extends Sheet {
  readonly tiles: Tiles;
  private hatch: { theme: Theme; ratio: number; fill: CanvasPattern | string } | null = null;
  /** How long drawing took, in milliseconds: for whoever measures it. */
  readonly times: number[] = [];
  /** When the picture became one of something else. */
  private since = 0;
  /** What the lightest and the darkest shade say. */
  readonly domain = signal<Domain>([0, 0]);
  readonly dot = signal<Dot | null>(null);
  private motion: Motion | null = null;
  private measured: unknown = null;
  /** What was in sight last, and since when. */
  private sight = "";
  private arrived = 0;
  private timer = 0;

  constructor(canvas: HTMLCanvasElement, redraw: () => void) {
    super(canvas, redraw);
    this.tiles = new Tiles(() => this.redraw());
  }

  /** Room for the numbers of rows and columns. */
  private gutters({ scene, bare = false }: GridScene): { left: number; top: number } {
    if (bare) return { left: RING, top: RING };
    const { row, column } = scene.plan;
    const letters = (axes: readonly number[]): number => Math.min(lettersOf(axes, scene), 20);
    const left = 14 + 7 * letters(row.within) + (row.facets.length > 0 ? 10 + 7 * letters(row.facets) : 0);
    return { left, top: 20 + (column.facets.length > 0 ? 16 : 0) };
  }

  /** How tall and how wide cells are where everything is seen: they fill the picture, as far as that is of use. */
  private fit(of: GridScene): { tall: number; wide: number } {
    const { left, top } = this.gutters(of);
    const { row, column } = of.scene.plan;
    const end = of.bare === true ? RING : 8;
    const width = (this.width - left - end) / Math.max(column.extent, 1);
    const height = (this.height - top - end) / Math.max(row.extent, 1);
    const tall = Math.max(Math.min(width, height, LARGEST), 1e-9);
    return { tall, wide: tall < (of.bare === true ? 12 : SMALLEST_WIDE) ? tall : Math.min(width, tall * WIDEST) };
  }

  /** A camera without one of its own shows everything. */
  frame(view: GridScene & Pick<GridView, "camera">): Frame {
    const whole = this.fit(view);
    const { row, column } = view.scene.plan;
    const scale = view.camera === null ? whole.tall : this.scaleOf(view.camera.scale, whole.tall);
    const end = view.bare === true ? RING : 8;
    const gutters = this.gutters(view);
    const across = (scale * whole.wide) / whole.tall;
    const size = (lane: Lane, scale: number, along: number, room: number): number =>
      scale < SMALLEST_LINED ? Math.max(scale, thinnest(along, room) / Math.max(lane.extent, 1)) : scale;
    const wide = size(column, across, Math.min(scale * row.extent, this.height), this.width - gutters.left - end);
    const tall = size(row, scale, Math.min(across * column.extent, this.width), this.height - gutters.top - end);
    // Some of the tensor stays in sight.
    const near = (from: number, seen: number, { extent }: Lane): number =>
      clamp(from, -seen * 0.5, extent - seen * 0.2);
    const x = near(view.camera?.x ?? 0, this.width / wide, column);
    const y = near(view.camera?.y ?? 0, this.height / tall, row);
    const { left, top } = gutters;
    // A small picture without headings stands in the middle.
    const middle = view.bare === true ? Math.max(left, (this.width - wide * column.extent) / 2) : left;
    return { camera: view.camera === null ? { scale, x: 0, y: 0 } : { scale, x, y }, left: middle, top, wide, tall };
  }

  private scaleOf(wanted: number, whole: number): number {
    return clamp(wanted, Math.min(whole * 0.5, 4), LARGEST_ZOOMED);
  }

  /** The height that shows everything at the scale that the width allows. */
  wantedHeight(of: GridScene, width: number, most: number): number {
    const { row, column } = of.scene.plan;
    const { left, top } = this.gutters(of);
    const scale = Math.min((width - left - 8) / Math.max(column.extent, 1), LARGEST);
    const rows = Math.max(row.extent * scale, scale < SMALLEST_LINED ? thinnest(column.extent * scale, most) : 0);
    return Math.round(Math.min(Math.max(rows + top + 12, 80), most));
  }

  /** The first and the last place that is seen of each direction. */
  seen(view: GridView): { rows: [number, number]; columns: [number, number] } {
    const { r0, r1, c0, c1 } = this.look(view);
    return { rows: [r0, r1], columns: [c0, c1] };
  }

  /** Whether nothing moves by itself. */
  get still(): boolean {
    return this.motion?.still ?? true;
  }

  /** The index at a point of the canvas; null outside and in gaps. */
  indexAt(view: GridView, x: number, y: number): number[] | null {
    const { camera, left, top, wide, tall } = this.frame(view);
    if (x < left || y < top) return null;
    const column = view.scene.plan.column.cell(camera.x + (x - left) / wide);
    const row = view.scene.plan.row.cell(camera.y + (y - top) / tall);
    if (row === null || column === null) return null;
    const index = [...view.scene.fixed];
    view.scene.plan.row.toIndex(row, index);
    view.scene.plan.column.toIndex(column, index);
    // The last line of facets may not be full.
    return index.some((at, axis) => at >= view.scene.layout.shape[axis]!) ? null : index;
  }

  /** What is in view, in steps of the grid, and the tiles that it takes. */
  private look(view: GridView): {
    frame: Frame;
    step: number;
    r0: number;
    r1: number;
    c0: number;
    c1: number;
    wanted: Place[];
  } {
    const frame = this.frame(view);
    const { camera, left, top, wide, tall } = frame;
    const step = camera.scale >= 1 ? 1 : 2 ** Math.ceil(-Math.log2(camera.scale));
    const { row, column } = view.scene.plan;
    const clip = (lane: Lane, from: number, pixels: number, size: number): [number, number] => [
      Math.max(Math.floor(from), 0),
      Math.min(Math.ceil(from + pixels / size), lane.extent),
    ];
    const [c0, c1] = clip(column, camera.x, this.width - left, wide);
    const [r0, r1] = clip(row, camera.y, this.height - top, tall);
    return { frame, step, r0, r1, c0, c1, wanted: this.visible(step, r0, r1, c0, c1) };
  }

  /** Asks for what is in view. Until some of it comes the canvas stays as it is, for a moment. */
  prepare(view: GridView, width: number, height: number): boolean {
    this.width = width;
    this.height = height;
    if (this.tiles.show(view.scene)) {
      this.motion?.begin(view.scene.layout);
      this.since = performance.now();
      setTimeout(this.redraw, PATIENCE + 1);
    }
    this.tiles.want(this.look(view).wanted);
    return this.tiles.any || performance.now() - this.since >= PATIENCE;
  }

  draw(view: GridView): void {
    const began = performance.now();
    const { pen } = this;
    const { frame, step, r0, r1, c0, c1, wanted } = this.look(view);
    const { left, top } = frame;
    this.clear(view.theme.pane);
    pen.save();
    pen.beginPath();
    // Rings around the first cells reach out a little.
    pen.rect(left - RING, top - RING, this.width, this.height);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    pen.save();
    pen.beginPath();
    const { row, column } = view.scene.plan;
    const [x, y] = [left - frame.camera.x * frame.wide, top - frame.camera.y * frame.tall];
    pen.rect(x, y, column.extent * frame.wide, row.extent * frame.tall);
    pen.clip();
    const missing = wanted.some(({ row, column }) => this.tiles.get(row, column, step) === null);
    this.measure(view, step, [r0, r1], [c0, c1], wanted, missing);
    if (missing) {
      // Until they come, what there is of another sharpness stands in.
      for (const tile of this.tiles.all()) if (tile.step !== step) this.paint(tile, view, frame);
    }
    const shown: Tile[] = [];
    for (const { row, column } of wanted) {
      const tile = this.tiles.get(row, column, step);
      if (tile === null) continue;
      shown.push(tile);
      this.paint(tile, view, frame);
    }
    pen.restore();
    const details = step === 1 && frame.tall >= SMALLEST_LINED;
    if (extras === null) this.fetchExtras();
    else this.motion ??= new extras.Motion();
    const domain = this.domain.peek();
    const { motion } = this;
    // What is exported does not move.
    const gliding =
      !missing &&
      pen === this.screen &&
      motion !== null &&
      motion.glides({ view, frame, shown: details ? shown : [], domain, pen: this.screen, redraw: this.redraw });
    if (!gliding) {
      if (details) for (const tile of shown) this.details(tile, view, frame, r0, r1, c0, c1);
      if (view.against != null && extras !== null) {
        for (const tile of shown) extras.differences(this.screen, tile, view, frame, this);
      }
      this.marks(view, frame);
      // Steps between cells that cannot be told apart are only specks.
      if (details) extras?.pointedOut(pen, view, (index) => this.box(view, index, frame));
    }
    if (view.window != null) extras?.windowed(pen, view.window, view.theme, frame);
    pen.restore();
    if (view.bare !== true) this.headers(view, frame, r0, r1, c0, c1);
    this.times.push(performance.now() - began);
    if (this.times.length > 2000) this.times.splice(0, 1000);
  }

  /** The tiles in view, from the middle outwards. */
  private visible(step: number, r0: number, r1: number, c0: number, c1: number): Place[] {
    if (r1 <= r0 || c1 <= c0) return [];
    const side = SIDE * step;
    const list = [];
    for (let row = Math.floor(r0 / side); row * side < r1; row++) {
      for (let column = Math.floor(c0 / side); column * side < c1; column++) list.push({ row, column, step });
    }
    const [r, c] = [(r0 + r1) / 2 / side - 0.5, (c0 + c1) / 2 / side - 0.5];
    const away = (tile: { row: number; column: number }): number => Math.hypot(tile.row - r, tile.column - c);
    return list.sort((a, b) => away(a) - away(b));
  }

  private fetchExtras(): void {
    if (asked) return;
    asked = true;
    const take = (module: typeof import("./extras")): void => {
      extras = module;
      this.redraw();
    };
    void part("moves and marks cells", () => import("./extras"), take);
  }

  private paint(tile: Tile, view: GridView, { camera, left, top, wide, tall }: Frame): void {
    const { step } = tile;
    const [r0, c0] = [tile.row * SIDE * step, tile.column * SIDE * step];
    // Edges between pixels would show as lines between tiles.
    const x = whole(left + (c0 - camera.x) * wide);
    const y = whole(top + (r0 - camera.y) * tall);
    // The last sample may stand for less than the others: what is beyond the end is cut off.
    const right = whole(left + (c0 + tile.columns * step - camera.x) * wide);
    const bottom = whole(top + (r0 + tile.rows * step - camera.y) * tall);
    if (x > this.width || y > this.height || right < 0 || bottom < 0) return;
    this.pen.drawImage(pictureOf(tile, view.scene, view.theme, this.domain.peek()), x, y, right - x, bottom - y);
  }

  /** Whether something else has just come into sight: shades that change all the time say nothing, and take time. */
  private moves(camera: Camera | null): boolean {
    const [sight, now] = [JSON.stringify(camera), performance.now()];
    if (sight !== this.sight) {
      this.sight = sight;
      this.arrived = now;
      clearTimeout(this.timer);
      this.timer = window.setTimeout(this.redraw, SETTLED + 1);
    }
    return now - this.arrived < SETTLED;
  }

  /** Between what the shades lie, and what a pixel stands for. While the picture moves or is not whole they stay. */
  private measure(
    view: GridView,
    step: number,
    rows: [number, number],
    columns: [number, number],
    wanted: readonly Place[],
    missing: boolean,
  ): void {
    const { scene, camera } = view;
    const { layout, color } = scene;
    const fits = layout.addresses !== null && camera === null && scene.plan.sliders.length === 0;
    const known = fits && color === "address" ? layout.addresses!.map(Number) : null;
    let domain = known !== null ? ([known[0]!, known[1]!] as const) : null;
    if (this.measured === scene.layout && (missing || this.moves(camera)) && domain === null) return;
    let [low, high] = [Infinity, -Infinity];
    let [apart, partly, sampled] = [false, false, false];
    for (const place of wanted) {
      const tile = this.tiles.get(place.row, place.column, step);
      if (tile === null) continue;
      sampled ||= tile.sampled;
      if (tile.step > 1) partly ||= tile.valid?.some((share) => share > 0 && share < 1) === true;
      const values = valuesOf(tile, color);
      if (values === null || domain !== null || !isRanged(color)) continue;
      const clip = ([from, to]: [number, number], at: number, count: number): [number, number] => [
        clamp(Math.floor(from / step) - at * SIDE, 0, count),
        clamp(Math.ceil(to / step) - at * SIDE, 0, count),
      ];
      const [r0, r1] = clip(rows, tile.row, tile.rows);
      const [c0, c1] = clip(columns, tile.column, tile.columns);
      for (let row = r0; row < r1; row++) {
        for (let at = row * tile.columns + c0; at < row * tile.columns + c1; at++) {
          const [least, most] = [values.low[at]!, values.high[at]!];
          // Gaps and what is masked have none.
          if (!(most < Infinity)) continue;
          if (least < low) low = least;
          if (most > high) high = most;
        }
      }
    }
    domain ??= high >= low ? [low, high] : isRanged(color) && known === null ? [0, 0] : [0, 1];
    this.measured = scene.layout;
    if (this.domain.peek().join() !== domain.join()) this.domain.value = domain;
    if (step > 1) {
      const shades = domain;
      apart = wanted.some((place) => {
        const tile = this.tiles.get(place.row, place.column, step);
        const far = tile === null ? null : shader(tile, scene, shades).apart;
        return far !== null && tile!.addresses.some((mean, at) => mean < Infinity && greyness(far(at)) > 0.05);
      });
    }
    const { row, column } = scene.plan;
    const elements = Math.min(step, row.count) * Math.min(step, column.count);
    const dot = step === 1 ? null : { elements, sampled, apart, partly };
    if (JSON.stringify(dot) !== JSON.stringify(this.dot.peek())) this.dot.value = dot;
  }

  private hatched(theme: Theme): CanvasPattern | string {
    const ratio = window.devicePixelRatio || 1;
    if (this.hatch?.theme !== theme || this.hatch.ratio !== ratio) {
      this.hatch = { theme, ratio, fill: hatching(this.screen, theme.hatch, ratio) };
    }
    return this.hatch.fill;
  }

  /** Lines, hatching and labels. */
  private details(tile: Tile, view: GridView, frame: Frame, r0: number, r1: number, c0: number, c1: number): void {
    const { camera, left, top, wide, tall } = frame;
    const { pen } = this;
    const [firstRow, firstColumn] = [tile.row * SIDE, tile.column * SIDE];
    const rows: [number, number] = [Math.max(r0 - firstRow, 0), Math.min(r1 - firstRow, tile.rows)];
    const columns: [number, number] = [Math.max(c0 - firstColumn, 0), Math.min(c1 - firstColumn, tile.columns)];
    const px = (column: number): number => left + (firstColumn + column - camera.x) * wide;
    const py = (row: number): number => top + (firstRow + row - camera.y) * tall;
    // Masked cells, a run at a time.
    pen.beginPath();
    for (let row = rows[0]; row < rows[1]; row++) {
      let from = -1;
      for (let column = columns[0]; column <= columns[1]; column++) {
        const masked = column < columns[1] && Number.isNaN(tile.addresses[row * tile.columns + column]);
        if (masked && from < 0) from = column;
        if (!masked && from >= 0) {
          pen.rect(px(from), py(row), (column - from) * wide, tall);
          from = -1;
        }
      }
    }
    pen.fillStyle = view.theme.blank;
    pen.fill();
    pen.fillStyle = this.hatched(view.theme);
    pen.fill();
    pen.fillStyle = view.theme.pane;
    const { plan, layout } = view.scene;
    const lined = (lane: Lane): ((place: number) => number) => {
      const line = tall >= 14 ? 2 : 1;
      const marks = modesOf(lane, layout.modes ?? null, layout.shape);
      if (marks.length === 0) return () => line;
      return (place) => {
        const cell = lane.cell(place);
        return cell === null ? line : line + 2 * marks.filter((every) => cell % every === 0).length;
      };
    };
    const [across, down] = [lined(plan.column), lined(plan.row)];
    for (let column = columns[0]; column <= columns[1]; column++) {
      const line = across(firstColumn + column);
      pen.fillRect(whole(px(column) - line / 2), py(rows[0]), line, (rows[1] - rows[0]) * tall);
    }
    for (let row = rows[0]; row <= rows[1]; row++) {
      const line = down(firstRow + row);
      pen.fillRect(px(columns[0]), whole(py(row) - line / 2), (columns[1] - columns[0]) * wide, line);
    }
    this.labels(tile, view, rows, columns, px, py, frame);
  }

  private labels(
    tile: Tile,
    view: GridView,
    rows: [number, number],
    columns: [number, number],
    px: (column: number) => number,
    py: (row: number) => number,
    { wide, tall }: Frame,
  ): void {
    const size = labelSize(view, wide, tall, this.domain.peek());
    if (size === null) return;
    const total = (rows[1] - rows[0]) * (columns[1] - columns[0]);
    if (total > (view.moving ? FEW_LABELS : MOST_LABELS)) return;
    const { pen } = this;
    const { theme } = view;
    this.letters(`${size}px ${theme.mono}`, theme.ink, "center");
    const ink = inkOf(tile, view, this.domain.peek());
    for (let row = rows[0]; row < rows[1]; row++) {
      for (let column = columns[0]; column < columns[1]; column++) {
        const sample = row * tile.columns + column;
        const text = labelOf(tile, sample, view);
        if (text === "") continue;
        pen.fillStyle = ink(sample);
        pen.fillText(text, px(column) + wide / 2, py(row) + tall / 2 + 0.5);
      }
    }
  }

  /** The cell of an index, if it is in this slice and in sight. */
  private box(view: GridView, index: readonly number[], { camera, left, top, wide, tall }: Frame): Box | null {
    const { plan, fixed } = view.scene;
    if (plan.sliders.some((axis) => index[axis] !== fixed[axis])) return null;
    const x = left + (plan.column.place(plan.column.ofIndex(index)) - camera.x) * wide;
    const y = top + (plan.row.place(plan.row.ofIndex(index)) - camera.y) * tall;
    if (x + wide < -20 || y + tall < -20 || x > this.width + 20 || y > this.height + 20) return null;
    return { x, y, wide, tall };
  }

  private marks(view: GridView, frame: Frame): void {
    const { pen } = this;
    const { theme } = view;
    const large = Math.min(frame.wide, frame.tall) >= SMALLEST_LINED;
    const thick = frame.tall >= 14;
    const inset = thick ? 1 : 0;
    for (const index of view.readers) {
      const box = this.box(view, index, frame);
      if (box === null) continue;
      const { x, y, wide, tall } = box;
      const [dx, dy] = [Math.max(wide - 2 * inset, 5), Math.max(tall - 2 * inset, 5)];
      const [left, top] = [x + wide / 2 - dx / 2, y + tall / 2 - dy / 2];
      if (!large) {
        pen.fillStyle = theme.accent;
        pen.fillRect(left, top, dx, dy);
        continue;
      }
      pen.fillStyle = theme.accentSoft;
      pen.fillRect(left, top, dx, dy);
      pen.strokeStyle = theme.accent;
      pen.lineWidth = thick ? 2 : 1;
      const half = pen.lineWidth / 2;
      pen.strokeRect(left + half, top + half, dx - 2 * half, dy - 2 * half);
      this.labelAt(view, index, box, theme.ink);
    }
    // Where the selected element is in focus too, it is filled: a ring would only hide its neighbours.
    if (view.selected !== null && (!large || view.selected.join() !== view.focus?.join())) {
      const box = this.box(view, view.selected, frame);
      if (box !== null) this.ring(box, theme);
    }
    const box = view.focus === null ? null : this.box(view, view.focus, frame);
    if (box !== null && view.focus !== null) {
      if (large) {
        const { x, y, wide, tall } = box;
        const round = (more: number, color: string): void => {
          pen.fillStyle = color;
          pen.beginPath();
          pen.roundRect(x - more, y - more, wide + 2 * more, tall + 2 * more, Math.min(6, tall / 5) + more);
          pen.fill();
        };
        round(thick ? 2 : 1, theme.pane);
        round(-inset, theme.accent);
        this.labelAt(view, view.focus, box, theme.accentInk);
      } else {
        this.ring(box, theme);
      }
    }
  }

  /** A ring that can be seen however small the cell is. */
  private ring({ x, y, wide, tall }: Box, theme: Theme): void {
    const { pen } = this;
    const [dx, dy] = [Math.max(Math.min(wide, 1e5) + 2, 13), Math.max(Math.min(tall, 1e5) + 2, 13)];
    const [left, top] = [x + wide / 2 - dx / 2, y + tall / 2 - dy / 2];
    for (const [color, width] of [
      [theme.pane, 4],
      [theme.accent, 2],
    ] as const) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.strokeRect(left, top, dx, dy);
    }
  }

  private labelAt(view: GridView, index: readonly number[], { x, y, wide, tall }: Box, color: string): void {
    const size = labelSize(view, wide, tall, this.domain.peek());
    if (size === null) return;
    const { plan } = view.scene;
    const row = plan.row.place(plan.row.ofIndex(index));
    const column = plan.column.place(plan.column.ofIndex(index));
    const tile = this.tiles.get(Math.floor(row / SIDE), Math.floor(column / SIDE), 1);
    if (tile === null) return;
    const { pen } = this;
    this.letters(`600 ${size}px ${view.theme.mono}`, color, "center");
    const text = labelOf(tile, (row % SIDE) * tile.columns + (column % SIDE), view);
    pen.fillText(text === "" ? "\u00d7" : text, x + wide / 2, y + tall / 2 + 0.5);
  }

  /** The numbers of rows, columns and facets, as many as have room. */
  private headers(view: GridView, frame: Frame, r0: number, r1: number, c0: number, c1: number): void {
    const { pen } = this;
    const { theme, scene, focus } = view;
    const { camera, left, top, wide, tall } = frame;
    const { row, column } = scene.plan;
    pen.fillStyle = theme.pane;
    pen.fillRect(0, 0, this.width, top - 3);
    pen.fillRect(0, 0, left - 3, this.height);
    pen.textBaseline = "middle";
    const inSlice = focus !== null && this.box(view, focus, frame) !== null;
    const write = (text: string, x: number, y: number, on: boolean): void => {
      pen.font = `${on ? "600 " : ""}10.5px ${theme.mono}`;
      pen.fillStyle = on ? theme.accent : theme.soft;
      pen.fillText(text, x, y);
    };
    const clipped = (x: number, y: number, width: number, height: number, draw: () => void): void => {
      pen.save();
      pen.beginPath();
      pen.rect(x, y, width, height);
      pen.clip();
      draw();
      pen.restore();
    };
    clipped(left - 6, 0, this.width, top, () => {
      pen.textAlign = "center";
      const x = (place: number): number => left + (place - camera.x) * wide;
      const room = Math.max(14, pretty(column.inner).length * 7 + 6);
      const on = inSlice ? column.ofIndex(focus) : null;
      for (const cell of ticks(column, c0, c1, room / wide, on)) {
        const name = nameOf(column.within, column, cell, scene);
        const least = left - 6 + name.length * 3.5;
        // The first and the last number are not cut off.
        const middle = Math.min(x(column.place(cell) + 0.5), this.width - name.length * 3.5);
        write(name, Math.max(middle, least), top - 9, cell === on);
      }
      for (const { cell, middle } of facetTicks(column, c0, c1, 24 / wide)) {
        write(nameOf(column.facets, column, cell, scene), x(middle), 9, false);
      }
    });
    clipped(0, top - 6, left, this.height, () => {
      const y = (place: number): number => top + (place - camera.y) * tall;
      pen.textAlign = "right";
      const on = inSlice ? row.ofIndex(focus) : null;
      for (const cell of ticks(row, r0, r1, 14 / tall, on)) {
        write(nameOf(row.within, row, cell, scene), left - 6, y(row.place(cell) + 0.5), cell === on);
      }
      pen.textAlign = "left";
      for (const { cell, middle } of facetTicks(row, r0, r1, 16 / tall)) {
        write(nameOf(row.facets, row, cell, scene), 2, y(middle), false);
      }
    });
  }
}

/** The letters of the longest name along some axes. */
function lettersOf(axes: readonly number[], { layout }: Scene): number {
  const ends = axes.map((axis) => {
    const begin = layout.begins[axis] ?? 0;
    return Math.max(...[begin, begin + (layout.shape[axis] ?? 1) - 1].map((end) => pretty(end).length));
  });
  return ends.length === 0 ? 1 : ends.reduce((all, letters) => all + letters + 1, -1);
}

/** The entries of the index of a cell along some axes. */
function nameOf(axes: readonly number[], lane: Lane, cell: number, { layout }: Scene): string {
  const index: number[] = [];
  lane.toIndex(cell, index);
  return axes.map((axis) => pretty((index[axis] ?? 0) + (layout.begins[axis] ?? 0))).join(",");
}

/** The facets of which something is in sight, with the first cell of each and where it begins. */
function* facetsOf(lane: Lane, from: number, to: number): Generator<{ facet: number; cell: number; begin: number }> {
  for (let facet = Math.floor(lane.cellsBefore(from) / lane.inner); facet * lane.inner < lane.count; facet++) {
    const cell = facet * lane.inner;
    const begin = lane.place(cell);
    if (begin >= to) return;
    yield { facet, cell, begin };
  }
}

/** The cells whose number is shown, the one in focus last and with none beside it; `apart` is the room of a number in cells. */
function ticks(lane: Lane, from: number, to: number, apart: number, on: number | null): number[] {
  const cells: number[] = [];
  if (lane.within.length === 0 || lane.inner <= 1) return cells;
  const every = niceStep(apart);
  // Facets that are too narrow for two numbers have none.
  if (every < lane.inner) {
    for (const { cell: first, begin } of facetsOf(lane, from, to)) {
      const until = lane.place(first + lane.inner);
      for (let within = 0; within < lane.inner && begin + within < to; within += every) {
        const cell = first + within;
        // The number of the next facet needs room as well.
        if (within > 0 && first + lane.inner < lane.count && until - begin - within < apart) continue;
        if (on !== null && Math.abs(lane.place(cell) - lane.place(on)) < apart) continue;
        if (begin + within + 1 > from) cells.push(cell);
      }
    }
  }
  if (on !== null && lane.place(on) + 1 > from && lane.place(on) < to) cells.push(on);
  return cells;
}

/** The facets whose number is shown, and the middle of what is seen of them. */
function facetTicks(lane: Lane, from: number, to: number, apart: number): { cell: number; middle: number }[] {
  const list: { cell: number; middle: number }[] = [];
  if (lane.facets.length === 0 || lane.count === lane.inner) return list;
  const every = niceStep((apart * lane.count) / lane.inner / lane.extent);
  for (const { facet, cell, begin } of facetsOf(lane, from, to)) {
    const end = Math.min(begin + lane.inner, to);
    if (facet % every === 0 && end > from) list.push({ cell, middle: (Math.max(begin, from) + end) / 2 });
  }
  return list;
}

/** The smallest of 1, 2, 5, 10, .. that is not below a number. */
export function niceStep(least: number): number {
  if (least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/** After how many cells a mode of an axis begins anew, for each level of nesting. */
function modesOf(lane: Lane, modes: readonly Integer[][] | null, shape: readonly number[]): number[] {
  const marks: number[] = [];
  let inner = 1;
  for (const axis of [...lane.axes].reverse()) {
    if (axis === lane.cut) break;
    let size = inner;
    for (const mode of modes?.[axis]?.slice(0, -1) ?? []) {
      size *= Number(mode);
      if (size > inner) marks.push(size);
    }
    inner *= shape[axis] ?? 1;
  }
  return marks;
}

/** What is written on a cell can be told apart from its colour. */
export function inkOf(tile: Tile, { scene, theme }: GridView, domain: Domain): (sample: number) => string {
  const { share, apart } = shader(tile, scene, domain);
  return (sample) => {
    if (Number.isNaN(tile.addresses[sample]!) || (apart !== null && greyness(apart(sample)) > 0)) return theme.ink;
    return theme.rampInk[Math.round(share(sample) * 255)] ?? theme.ink;
  };
}

/** The longest label that a cell can have, in letters. */
function longest(view: GridScene, domain: Domain): number {
  const { layout, plan } = view.scene;
  const digits = (value: Integer): number => pretty(value).length;
  switch (view.label) {
    case "position":
      return digits(layout.numel);
    case "index":
      return lettersOf([...plan.row.axes, ...plan.column.axes, ...plan.sliders], view.scene);
    case "valid":
      return 1;
    default:
      // Without addresses being known, those that are seen.
      return Math.max(...(layout.addresses ?? domain.map(Math.round)).map((end) => addressText(end, view.label).length));
  }
}

/** The size of the letters that fits a label into a cell; null where none does. */
export function labelSize(view: GridScene, wide: number, tall: number, domain: Domain): number | null {
  const size = Math.min(22, (wide - 4) / (0.61 * Math.max(longest(view, domain), 1)), tall * 0.5);
  return size >= 8 ? Math.floor(size * 2) / 2 : null;
}

export function labelOf(tile: Tile, sample: number, view: GridScene): string {
  const address = tile.addresses[sample];
  if (address === undefined || address === Infinity) return "";
  const masked = Number.isNaN(address);
  switch (view.label) {
    case "address":
    case "hex":
      return masked ? "" : addressText(tile.exact?.[sample] ?? address, view.label);
    case "valid":
      return masked ? "0" : "1";
    case "position":
    case "index": {
      const { plan, fixed, layout } = view.scene;
      const index = [...fixed];
      plan.row.toIndex(tile.rowCells.begins[Math.floor(sample / tile.columns)] ?? 0, index);
      plan.column.toIndex(tile.columnCells.begins[sample % tile.columns] ?? 0, index);
      // The number of the element in row-major order.
      if (view.label === "position") return pretty(index.reduce((all, at, axis) => all * layout.shape[axis]! + at, 0));
      return index.map((at, axis) => pretty(at + (layout.begins[axis] ?? 0))).join(",");
    }
  }
}
