/** The tensor grid on a canvas. */
import type { Lane } from "../lane";
import { clamp, plain } from "../numbers";
import type { Camera, Label } from "../page";
import { Sheet } from "./sheet";
import { hatching, type Theme } from "./theme";
import { pictureOf, SIDE, Tiles, type Scene, type Tile } from "./tiles";

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
}

/** Cells are no larger than this unless their labels need it. */
const LARGEST = 56;
const LARGEST_LABELLED = 128;
const LARGEST_ZOOMED = 160;
const SMALLEST_LINED = 6;
/** A picture of few rows, or few columns, is no thinner: its cells are longer than they are wide. */
const THINNEST = 14;
const FEW_LABELS = 260;
const MOST_LABELS = 4000;

/** What labels and their sizes depend on. */
type GridScene = Pick<GridView, "scene" | "label" | "bare">;

/** A tile by its place. */
interface Place {
  row: number;
  column: number;
  step: number;
}

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

/** Where a place of a lane is drawn, from the first cell in view. */
function pixel(place: number, from: number, scale: number, size: number): number {
  return (place - from) * scale + place * (size - scale);
}

/** The place that is drawn there. */
function placeAt(pixel: number, from: number, scale: number, size: number): number {
  return size === scale ? from + pixel / scale : (pixel + from * scale) / size;
}

export class GridCanvas extends Sheet {
  readonly tiles: Tiles;
  private hatch: { theme: Theme; ratio: number; fill: CanvasPattern | string } | null = null;
  /** How long drawing took, in milliseconds: for whoever measures it. */
  readonly times: number[] = [];
  /** When the picture became one of something else. */
  private since = 0;

  constructor(canvas: HTMLCanvasElement, redraw: () => void) {
    super(canvas, redraw);
    this.tiles = new Tiles(() => this.redraw());
  }

  /** Room for the numbers of rows and columns. */
  private gutters({ scene, bare = false }: GridScene): { left: number; top: number } {
    if (bare) return { left: 3, top: 3 };
    const { row, column } = scene.plan;
    const letters = (axes: readonly number[]): number => Math.min(lettersOf(axes, scene), 20);
    const left = 14 + 7 * letters(row.within) + (row.gap > 0 ? 10 + 7 * letters(row.facets) : 0);
    return { left, top: 20 + (column.gap > 0 ? 16 : 0) };
  }

  /** The camera that shows everything. */
  private fit(of: GridScene): Camera {
    const { scene } = of;
    const { left, top } = this.gutters(of);
    const { row, column } = scene.plan;
    const end = of.bare === true ? 3 : 8;
    const [width, height] = [this.width - left - end, this.height - top - end];
    const scale = Math.min(
      width / Math.max(column.extent, 1),
      height / Math.max(row.extent, 1),
      largest(of),
    );
    return { scale: Math.max(scale, 1e-9), x: 0, y: 0 };
  }

  frame(view: GridScene & Pick<GridView, "camera">): Frame {
    const whole = this.fit(view);
    const { row, column } = view.scene.plan;
    const camera = view.camera === null ? whole : this.within(view, view.camera, whole.scale);
    const { scale } = camera;
    const size = ({ extent }: Lane): number =>
      scale < SMALLEST_LINED ? Math.max(scale, THINNEST / Math.max(extent, 1)) : scale;
    return { camera, ...this.gutters(view), wide: size(column), tall: size(row) };
  }

  /** The camera nearest to another that leaves some of the tensor in sight. */
  within({ scene }: Pick<GridView, "scene">, { scale: wanted, x, y }: Camera, whole: number): Camera {
    const scale = clamp(wanted, Math.min(whole * 0.5, 4), LARGEST_ZOOMED);
    const near = (from: number, seen: number, { extent }: Lane): number =>
      clamp(from, -seen * 0.5, extent - seen * 0.2);
    const { row, column } = scene.plan;
    return { scale, x: near(x, this.width / scale, column), y: near(y, this.height / scale, row) };
  }

  /** The height that shows everything at the scale that the width allows. */
  wantedHeight(of: GridScene, width: number, most: number): number {
    const { scene } = of;
    const { left, top } = this.gutters(of);
    const scale = Math.min((width - left - 8) / Math.max(scene.plan.column.extent, 1), largest(of));
    return Math.round(Math.min(Math.max(scene.plan.row.extent * scale + top + 12, 80), most));
  }

  /** The index at a point of the canvas; null outside and in gaps. */
  indexAt(view: GridView, x: number, y: number): number[] | null {
    const { camera, left, top, wide, tall } = this.frame(view);
    if (x < left || y < top) return null;
    const column = view.scene.plan.column.cell(placeAt(x - left, camera.x, camera.scale, wide));
    const row = view.scene.plan.row.cell(placeAt(y - top, camera.y, camera.scale, tall));
    if (row === null || column === null) return null;
    const index = [...view.scene.fixed];
    view.scene.plan.row.toIndex(row, index);
    view.scene.plan.column.toIndex(column, index);
    return index;
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
      Math.max(Math.floor(placeAt(0, from, camera.scale, size)), 0),
      Math.min(Math.ceil(placeAt(pixels, from, camera.scale, size)), lane.extent),
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
    pen.rect(left - 3, top - 3, this.width, this.height);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    const missing = wanted.some(({ row, column }) => this.tiles.get(row, column, step) === null);
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
    if (step === 1) {
      for (const tile of shown) this.details(tile, view, frame, r0, r1, c0, c1);
    }
    this.marks(view, frame);
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

  private paint(tile: Tile, view: GridView, { camera, left, top, wide, tall }: Frame): void {
    const { step } = tile;
    const { row, column } = view.scene.plan;
    const [r0, c0] = [tile.row * SIDE * step, tile.column * SIDE * step];
    const x = left + pixel(c0, camera.x, camera.scale, wide);
    const y = top + pixel(r0, camera.y, camera.scale, tall);
    // The last sample may stand for less than the others.
    const width = wide * Math.min(tile.columns * step, wide > camera.scale ? column.extent - c0 : Infinity);
    const height = tall * Math.min(tile.rows * step, tall > camera.scale ? row.extent - r0 : Infinity);
    if (x > this.width || y > this.height || x + width < 0 || y + height < 0) return;
    this.pen.drawImage(pictureOf(tile, view.scene, view.theme), x, y, width, height);
  }

  private hatched(theme: Theme): CanvasPattern | string {
    const ratio = window.devicePixelRatio || 1;
    if (this.hatch?.theme !== theme || this.hatch.ratio !== ratio) {
      this.hatch = { theme, ratio, fill: hatching(this.screen, theme.hatch, ratio) };
    }
    return this.hatch.fill;
  }

  /** Lines, hatching and labels, where cells are large enough. */
  private details(tile: Tile, view: GridView, frame: Frame, r0: number, r1: number, c0: number, c1: number): void {
    const { camera, left, top } = frame;
    const { pen } = this;
    const { scale } = camera;
    if (scale < SMALLEST_LINED) return;
    const [firstRow, firstColumn] = [tile.row * SIDE, tile.column * SIDE];
    const rows: [number, number] = [Math.max(r0 - firstRow, 0), Math.min(r1 - firstRow, tile.rows)];
    const columns: [number, number] = [Math.max(c0 - firstColumn, 0), Math.min(c1 - firstColumn, tile.columns)];
    const px = (column: number): number => left + (firstColumn + column - camera.x) * scale;
    const py = (row: number): number => top + (firstRow + row - camera.y) * scale;
    // Masked cells, a run at a time.
    pen.beginPath();
    for (let row = rows[0]; row < rows[1]; row++) {
      let from = -1;
      for (let column = columns[0]; column <= columns[1]; column++) {
        const masked = column < columns[1] && Number.isNaN(tile.addresses[row * tile.columns + column]);
        if (masked && from < 0) from = column;
        if (!masked && from >= 0) {
          pen.rect(px(from), py(row), (column - from) * scale, scale);
          from = -1;
        }
      }
    }
    pen.fillStyle = view.theme.blank;
    pen.fill();
    pen.fillStyle = this.hatched(view.theme);
    pen.fill();
    pen.fillStyle = view.theme.pane;
    const line = scale >= 14 ? 2 : 1;
    for (let column = columns[0]; column <= columns[1]; column++) {
      pen.fillRect(px(column) - line / 2, py(rows[0]), line, (rows[1] - rows[0]) * scale);
    }
    for (let row = rows[0]; row <= rows[1]; row++) {
      pen.fillRect(px(columns[0]), py(row) - line / 2, (columns[1] - columns[0]) * scale, line);
    }
    this.labels(tile, view, rows, columns, px, py, scale);
  }

  private labels(
    tile: Tile,
    view: GridView,
    rows: [number, number],
    columns: [number, number],
    px: (column: number) => number,
    py: (row: number) => number,
    scale: number,
  ): void {
    const size = labelSize(view, scale);
    if (size === null) return;
    const total = (rows[1] - rows[0]) * (columns[1] - columns[0]);
    if (total > (view.moving ? FEW_LABELS : MOST_LABELS)) return;
    const { pen } = this;
    this.letters(`${size}px ${view.theme.mono}`, view.theme.ink, "center");
    for (let row = rows[0]; row < rows[1]; row++) {
      for (let column = columns[0]; column < columns[1]; column++) {
        const text = labelOf(tile, row * tile.columns + column, view);
        if (text !== "") pen.fillText(text, px(column) + scale / 2, py(row) + scale / 2 + 0.5);
      }
    }
  }

  /** The square of an index, if it is in this slice. */
  private square(
    view: GridView,
    index: readonly number[],
    { camera, left, top, wide, tall }: Frame,
  ): [number, number, number] | null {
    const { plan, fixed } = view.scene;
    if (plan.sliders.some((axis) => index[axis] !== fixed[axis])) return null;
    const { scale } = camera;
    // In the middle of the cell, where that is no square.
    const at = (lane: Lane, from: number, size: number): number =>
      pixel(lane.place(lane.ofIndex(index)), from, scale, size) + (size - scale) / 2;
    const [x, y] = [left + at(plan.column, camera.x, wide), top + at(plan.row, camera.y, tall)];
    if (x + scale < -20 || y + scale < -20 || x > this.width + 20 || y > this.height + 20) return null;
    return [x, y, scale];
  }

  private marks(view: GridView, frame: Frame): void {
    const { pen } = this;
    const { theme } = view;
    const { scale } = frame.camera;
    const inset = scale >= 14 ? 1 : 0;
    for (const index of view.readers) {
      const square = this.square(view, index, frame);
      if (square === null) continue;
      const [x, y] = square;
      const side = Math.max(scale - 2 * inset, 5);
      const [left, top] = [x + scale / 2 - side / 2, y + scale / 2 - side / 2];
      pen.fillStyle = theme.accentSoft;
      pen.strokeStyle = theme.accent;
      pen.lineWidth = scale >= 14 ? 2 : 1;
      if (scale >= 6) {
        pen.fillRect(left, top, side, side);
        const half = pen.lineWidth / 2;
        pen.strokeRect(left + half, top + half, side - 2 * half, side - 2 * half);
        this.labelAt(view, index, x, y, scale, theme.ink);
      } else {
        pen.fillStyle = theme.accent;
        pen.fillRect(left, top, side, side);
      }
    }
    // Where the selected element is in focus too, it is filled: a ring would only hide its neighbours.
    if (view.selected !== null && (scale < 6 || view.selected.join() !== view.focus?.join())) {
      const square = this.square(view, view.selected, frame);
      if (square !== null) this.ring(square, theme);
    }
    if (view.focus === null) return;
    const square = this.square(view, view.focus, frame);
    if (square === null) return;
    const [x, y] = square;
    if (scale >= 6) {
      pen.fillStyle = theme.accent;
      pen.beginPath();
      pen.roundRect(x + inset, y + inset, scale - 2 * inset, scale - 2 * inset, Math.min(4, scale / 6));
      pen.fill();
      this.labelAt(view, view.focus, x, y, scale, theme.accentInk);
    } else {
      this.ring(square, theme);
    }
  }

  /** A ring that can be seen however small the cell is. */
  private ring([x, y, scale]: [number, number, number], theme: Theme): void {
    const { pen } = this;
    const side = Math.max(scale + 2, 13);
    const [left, top] = [x + scale / 2 - side / 2, y + scale / 2 - side / 2];
    for (const [color, width] of [
      [theme.pane, 4],
      [theme.accent, 2],
    ] as const) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.strokeRect(left, top, side, side);
    }
  }

  private labelAt(
    view: GridView,
    index: readonly number[],
    x: number,
    y: number,
    scale: number,
    color: string,
  ): void {
    const size = labelSize(view, scale);
    if (size === null) return;
    const { plan } = view.scene;
    const row = plan.row.place(plan.row.ofIndex(index));
    const column = plan.column.place(plan.column.ofIndex(index));
    const tile = this.tiles.get(Math.floor(row / SIDE), Math.floor(column / SIDE), 1);
    if (tile === null) return;
    const { pen } = this;
    this.letters(`600 ${size}px ${view.theme.mono}`, color, "center");
    const text = labelOf(tile, (row % SIDE) * tile.columns + (column % SIDE), view);
    pen.fillText(text === "" ? "\u00d7" : text, x + scale / 2, y + scale / 2 + 0.5);
  }

  /** The numbers of rows, columns and facets, as many as have room. */
  private headers(view: GridView, frame: Frame, r0: number, r1: number, c0: number, c1: number): void {
    const { pen } = this;
    const { theme, scene, focus } = view;
    const { camera, left, top, wide, tall } = frame;
    const { scale } = camera;
    const { row, column } = scene.plan;
    pen.fillStyle = theme.pane;
    pen.fillRect(0, 0, this.width, top - 3);
    pen.fillRect(0, 0, left - 3, this.height);
    pen.textBaseline = "middle";
    const inSlice = focus !== null && this.square(view, focus, frame) !== null;
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
      const x = (place: number): number => left + pixel(place, camera.x, scale, wide);
      const room = Math.max(14, String(column.inner).length * 7 + 6);
      const on = inSlice ? column.ofIndex(focus) : null;
      for (const cell of ticks(column, c0, c1, room / wide, on)) {
        const name = nameOf(column.within, column, cell, scene);
        const least = left - 6 + name.length * 3.5;
        write(name, Math.max(x(column.place(cell) + 0.5), least), top - 9, cell === on);
      }
      for (const { cell, middle } of facetTicks(column, c0, c1, 24 / wide)) {
        write(nameOf(column.facets, column, cell, scene), x(middle), 9, false);
      }
    });
    clipped(0, top - 6, left, this.height, () => {
      const y = (place: number): number => top + pixel(place, camera.y, scale, tall);
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
    return Math.max(...[begin, begin + (layout.shape[axis] ?? 1) - 1].map((end) => String(end).length));
  });
  return ends.length === 0 ? 1 : ends.reduce((all, letters) => all + letters + 1, -1);
}

/** The entries of the index of a cell along some axes. */
function nameOf(axes: readonly number[], lane: Lane, cell: number, { layout }: Scene): string {
  const index: number[] = [];
  lane.toIndex(cell, index);
  return axes.map((axis) => plain((index[axis] ?? 0) + (layout.begins[axis] ?? 0))).join(",");
}

/** The cells whose number is shown, the one in focus last and with none beside it; `apart` is the room of a number in cells. */
function ticks(lane: Lane, from: number, to: number, apart: number, on: number | null): number[] {
  const cells: number[] = [];
  if (lane.within.length === 0 || lane.inner <= 1) return cells;
  const pitch = lane.inner + lane.gap;
  const every = niceStep(apart);
  // Facets that are too narrow for two numbers have none.
  if (every < lane.inner) {
    for (let facet = Math.floor(from / pitch); facet * pitch < to && facet * lane.inner < lane.count; facet++) {
      const begin = Math.floor(Math.max(from - facet * pitch, 0) / every) * every;
      for (let within = begin; within < lane.inner && facet * pitch + within < to; within += every) {
        const cell = facet * lane.inner + within;
        // The number of the next facet needs room as well.
        if (within > 0 && lane.gap > 0 && pitch - within < apart) continue;
        if (on !== null && Math.abs(lane.place(cell) - lane.place(on)) < apart) continue;
        if (lane.place(cell) + 1 > from) cells.push(cell);
      }
    }
  }
  if (on !== null && lane.place(on) + 1 > from && lane.place(on) < to) cells.push(on);
  return cells;
}

/** The facets whose number is shown, and the middle of what is seen of them. */
function facetTicks(lane: Lane, from: number, to: number, apart: number): { cell: number; middle: number }[] {
  const list: { cell: number; middle: number }[] = [];
  if (lane.gap === 0) return list;
  const pitch = lane.inner + lane.gap;
  const every = niceStep(apart / pitch);
  for (let facet = Math.floor(from / pitch / every) * every; facet * pitch < to; facet += every) {
    const [begin, end] = [Math.max(facet * pitch, from), Math.min(facet * pitch + lane.inner, to)];
    if (end > begin && facet * lane.inner < lane.count)
      list.push({ cell: facet * lane.inner, middle: (begin + end) / 2 });
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

/** The longest label that a cell can have, in letters. */
function longest(view: GridScene): number {
  const { layout, plan } = view.scene;
  const digits = (value: unknown): number => String(value).length;
  switch (view.label) {
    case "address":
      return Math.max(...(layout.addresses ?? [0]).map(digits));
    case "position":
      return digits(layout.numel);
    case "index":
      return lettersOf([...plan.row.axes, ...plan.column.axes, ...plan.sliders], view.scene);
    case "valid":
      return 1;
  }
}

/** The size of the letters that fits a label into a cell; null where none does. */
function labelSize(view: GridScene, scale: number): number | null {
  const size = Math.min(14, (scale - 4) / (0.61 * Math.max(longest(view), 1)), scale * 0.5);
  return size >= 8 ? Math.floor(size * 2) / 2 : null;
}

/** How large cells are where there is room. */
function largest(view: GridScene): number {
  return clamp(longest(view) * 0.61 * 10 + 4, LARGEST, LARGEST_LABELLED);
}

function labelOf(tile: Tile, sample: number, view: GridScene): string {
  const address = tile.addresses[sample];
  if (address === undefined || address === Infinity) return "";
  const masked = Number.isNaN(address);
  switch (view.label) {
    case "address":
      return masked ? "" : plain(tile.exact?.[sample] ?? address);
    case "valid":
      return masked ? "0" : "1";
    case "position":
    case "index": {
      const { plan, fixed, layout } = view.scene;
      const index = [...fixed];
      plan.row.toIndex(tile.rowCells[Math.floor(sample / tile.columns)] ?? 0, index);
      plan.column.toIndex(tile.columnCells[sample % tile.columns] ?? 0, index);
      // The number of the element in row-major order.
      if (view.label === "position") return plain(index.reduce((all, at, axis) => all * layout.shape[axis]! + at, 0));
      return index.map((at, axis) => plain(at + (layout.begins[axis] ?? 0))).join(",");
    }
  }
}
