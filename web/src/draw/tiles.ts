/** Tiles of the grid: only those that are seen are asked for, a few at a time, the nearest to the middle first. */
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import { addressOf, type Integer, type Source } from "../engine";
import type { Lane, Plan } from "../lane";
import type { Layout } from "../layout";
import type { Theme } from "./theme";

/** Samples along each side of a tile. */
export const SIDE = 256;
const MOST_TILES = 160;
const MOST_ASKED = 2;

/** A square of samples: every `step`-th place of the grid, gaps included. */
export interface Tile {
  row: number;
  column: number;
  step: number;
  rows: number;
  columns: number;
  /** Addresses, exact up to 2^53; NaN is masked, and infinity is a gap. */
  addresses: Float64Array;
  /** The exact addresses where some are larger: 0 for what is masked and for gaps. */
  exact: BigInt64Array | null;
  /** What the colour says where it is not the address: NaN where it is not known. */
  shades: Float64Array | null;
  /** The cell of each sample, for both directions; -1 in a gap. */
  rowCells: number[];
  columnCells: number[];
  picture: HTMLCanvasElement | null;
  /** The theme that the picture is painted in. */
  theme: Theme | null;
}

/** What a picture needs to know of a layout. */
export type Drawn = Pick<Layout, "source" | "shape" | "numel" | "names" | "begins" | "addresses"> & {
  /** The shapes of the views, for colours. */
  chain?: { views: readonly { shape: Integer[] }[] } | null;
  /** The sizes of the modes inside each axis, the fastest first. */
  modes?: Integer[][] | null;
};

/** What tiles are of: a change of it makes all of them useless. */
export interface Scene {
  layout: Drawn;
  plan: Plan;
  fixed: number[];
  color: string;
}

/** The samples of one direction of a tile, and the range of cells that is asked for. */
function samples(lane: Lane, begin: number, step: number): { cells: number[]; first: number; end: number } {
  const cells: number[] = [];
  const last = Math.min(begin + SIDE * step, lane.extent);
  for (let place = begin; place < last; place += step) {
    cells.push(lane.cell(place) ?? (step > 1 ? lane.cellBefore(place) : -1));
  }
  const real = cells.filter((cell) => cell >= 0);
  return { cells, first: real[0] ?? 0, end: (real[real.length - 1] ?? -1) + 1 };
}

export class Tiles {
  private readonly tiles = new Map<string, Tile | "asked">();
  private scene: Scene | null = null;
  private wanted: { row: number; column: number; step: number }[] = [];
  private asked = 0;
  /** Why there are no cells, or why their colour does not say what it should. */
  readonly note = signal<string | null>(null);

  constructor(private readonly arrived: () => void) {}

  /** The picture is of this from now on. Says whether that is something else. */
  show(scene: Scene): boolean {
    const old = this.scene;
    const alike =
      old !== null &&
      old.layout === scene.layout &&
      old.color === scene.color &&
      old.fixed.join() === scene.fixed.join() &&
      old.plan.row.axes.join() === scene.plan.row.axes.join() &&
      old.plan.row.inner === scene.plan.row.inner &&
      old.plan.column.axes.join() === scene.plan.column.axes.join() &&
      old.plan.column.inner === scene.plan.column.inner;
    if (alike) return false;
    this.scene = scene;
    this.tiles.clear();
    this.note.value = null;
    return true;
  }

  /** Whether there is something to draw, or nothing to wait for. */
  get any(): boolean {
    return this.asked === 0 || [...this.tiles.values()].some((tile) => tile !== "asked");
  }

  /** The tile at a place if it is there. */
  get(row: number, column: number, step: number): Tile | null {
    const tile = this.tiles.get(`${step}/${row}/${column}`);
    return tile === undefined || tile === "asked" ? null : tile;
  }

  /** All tiles that are there, the coarsest first. */
  all(): Tile[] {
    const there = [...this.tiles.values()].filter((tile) => tile !== "asked");
    return there.sort((a, b) => b.step - a.step);
  }

  /** These tiles are seen, the most wanted first. */
  want(list: { row: number; column: number; step: number }[]): void {
    this.wanted = list.filter(({ row, column, step }) => !this.tiles.has(`${step}/${row}/${column}`));
    this.pump();
  }

  /** Whether everything that is seen of a layout is there. */
  complete(layout: Drawn | null): boolean {
    return this.scene?.layout === layout && this.wanted.length === 0 && this.asked === 0;
  }

  private pump(): void {
    while (this.asked < MOST_ASKED) {
      const next = this.wanted.shift();
      if (next === undefined || this.scene === null) return;
      this.asked++;
      void this.load(this.scene, next.row, next.column, next.step).finally(() => {
        this.asked--;
        this.pump();
      });
    }
  }

  private async load(scene: Scene, row: number, column: number, step: number): Promise<void> {
    const key = `${step}/${row}/${column}`;
    this.tiles.set(key, "asked");
    const down = samples(scene.plan.row, row * SIDE * step, step);
    const across = samples(scene.plan.column, column * SIDE * step, step);
    const request = {
      source: scene.layout.source as Source,
      rows: scene.plan.row.axes,
      columns: scene.plan.column.axes,
      fixed: scene.fixed as Integer[],
      row: { begin: down.first, end: down.end, step },
      column: { begin: across.first, end: across.end, step },
    };
    const view = /^view(\d+)$/.exec(scene.color)?.[1];
    const extra =
      scene.color === "reads"
        ? ask("tile", { ...request, counts: true })
        : view === undefined
          ? null
          : ask("tile", { ...request, view: Number(view) });
    const base = await ask("tile", request);
    const shaded = await extra;
    if (this.scene !== scene) return;
    if (base === null || !base.ok) {
      this.note.value = base?.fault.message ?? null;
      this.arrived();
      return;
    }
    const [rows, columns] = [down.cells.length, across.cells.length];
    const spread = <T extends Float64Array | BigInt64Array>(values: T, value: (cell: number) => T[number]): T => {
      for (let r = 0; r < rows; r++) {
        if (down.cells[r]! < 0) continue;
        const from = Math.floor((down.cells[r]! - down.first) / step) * base.value.columns;
        for (let c = 0; c < columns; c++) {
          if (across.cells[c]! < 0) continue;
          values[r * columns + c] = value(from + Math.floor((across.cells[c]! - across.first) / step));
        }
      }
      return values;
    };
    const numbers = (value: (cell: number) => number): Float64Array =>
      spread(new Float64Array(rows * columns).fill(Infinity), value);
    const addresses = (answer: typeof base.value): Float64Array =>
      numbers((cell) => Number(addressOf(answer.addresses, cell) ?? NaN));
    const exact = base.value.addresses;
    let shades: Float64Array | null = null;
    if (shaded?.ok === true) {
      const { counts, counts_note } = shaded.value;
      if (scene.color === "reads") {
        this.note.value = counts === null ? counts_note : null;
        shades = numbers((cell) => counts?.[cell] ?? NaN);
      } else {
        shades = addresses(shaded.value);
      }
    } else if (shaded !== null) {
      this.note.value = shaded.fault.message;
    }
    this.tiles.set(key, {
      row,
      column,
      step,
      rows,
      columns,
      addresses: addresses(base.value),
      exact:
        exact instanceof BigInt64Array
          ? spread(new BigInt64Array(rows * columns), (cell) => BigInt(addressOf(exact, cell) ?? 0))
          : null,
      shades,
      rowCells: down.cells,
      columnCells: across.cells,
      picture: null,
      theme: null,
    });
    this.forget();
    this.arrived();
  }

  /** Drops the tiles that came first when there are too many. */
  private forget(): void {
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES) return;
      this.tiles.delete(key);
    }
  }
}

/** What shade each sample of a tile has, as a share of the ramp. */
export function shader(tile: Tile, scene: Scene): (sample: number) => number {
  const { layout, color } = scene;
  const scale = (low: number, high: number): ((value: number) => number) =>
    high > low ? (value) => Math.min(Math.max((value - low) / (high - low), 0), 1) : () => 0.25;
  if (color.startsWith("axis")) {
    const axis = Number(color.slice(4));
    const down = scene.plan.row.axes.includes(axis);
    if (!down && !scene.plan.column.axes.includes(axis)) return () => 0.25;
    const lane = down ? scene.plan.row : scene.plan.column;
    const share = scale(0, (layout.shape[axis] ?? 1) - 1);
    const shares = (down ? tile.rowCells : tile.columnCells).map((cell) => {
      const index: number[] = [];
      lane.toIndex(Math.max(cell, 0), index);
      return share(index[axis] ?? 0);
    });
    const { columns } = tile;
    return down ? (sample) => shares[Math.floor(sample / columns)]! : (sample) => shares[sample % columns]!;
  }
  const { addresses, shades } = tile;
  if (color === "reads") {
    // Each doubling is a step, so that 1, 2 and 9 can be told apart whatever the highest count is.
    return (sample) => {
      const count = shades?.[sample] ?? NaN;
      return count > 1 ? Math.min(Math.log2(count) / 7.5 + 0.2, 1) : 0;
    };
  }
  if (color.startsWith("view")) {
    const shape = layout.chain?.views[Number(color.slice(4)) - 1]?.shape ?? [];
    const share = scale(0, shape.reduce<number>((all, size) => all * Number(size), 1) - 1);
    return (sample) => share(shades?.[sample] ?? 0);
  }
  const [low, high] = layout.addresses ?? [0, 0];
  const share = scale(Number(low), Number(high));
  return (sample) => share(addresses[sample]!);
}

/** A pixel a sample. */
export function pictureOf(tile: Tile, scene: Scene, theme: Theme): HTMLCanvasElement {
  if (tile.picture !== null && tile.theme === theme) return tile.picture;
  const picture = document.createElement("canvas");
  picture.width = Math.max(tile.columns, 1);
  picture.height = Math.max(tile.rows, 1);
  const pen = picture.getContext("2d")!;
  const image = pen.createImageData(picture.width, picture.height);
  const pixels = new Uint32Array(image.data.buffer);
  const shade = shader(tile, scene);
  for (let sample = 0; sample < tile.addresses.length; sample++) {
    const address = tile.addresses[sample]!;
    if (address === Infinity) continue;
    if (Number.isNaN(address)) {
      const stripe = ((sample % tile.columns) + Math.floor(sample / tile.columns)) % 4 === 0 ? 1 : 0;
      pixels[sample] = theme.masked[stripe]!;
      continue;
    }
    pixels[sample] = theme.ramp[Math.round(shade(sample) * 255)]!;
  }
  pen.putImageData(image, 0, 0);
  tile.picture = picture;
  tile.theme = theme;
  return picture;
}
