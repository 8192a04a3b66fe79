/** Tiles of the grid: only those that are seen are asked for, a few at a time, the nearest to the middle first. */
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import { addressOf, type Integer, type Source } from "shapetracker/engine";
import type { Lane, Plan } from "../lane";
import type { Layout } from "../layout";
import { mixed, type Theme } from "./theme";

/** Samples along each side of a tile. */
export const SIDE = 256;
const MOST_TILES = 160;
const MOST_ASKED = 2;

/** Of each sample: the mean of a value over the elements that it stands for, and between what it lies. */
interface Values {
  mean: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

/** A square of samples: every sample stands for `step` by `step` places of the grid, gaps included. */
export interface Tile {
  row: number;
  column: number;
  step: number;
  rows: number;
  columns: number;
  /** Addresses, or their mean, exact up to 2^53; NaN is masked, and infinity is a gap. */
  addresses: Float64Array;
  /** Between what the addresses of a sample lie; null where a sample is one element. */
  range: Values | null;
  /** The share of the elements that are not masked; null where a sample is one element. */
  valid: Float64Array | null;
  /** The exact addresses where some are larger: 0 for what is masked and for gaps. */
  exact: BigInt64Array | null;
  /** What the colour says where it is not the address: NaN where it is not known. */
  shades: Values | null;
  /** What is shown of more than one element is that of some of them. */
  sampled: boolean;
  /** The first cell of each sample and the end of them, for both directions; equal in a gap. */
  rowCells: Span;
  columnCells: Span;
  picture: HTMLCanvasElement | null;
  /** What the picture is painted with. */
  painted: string;
  theme: Theme | null;
}

interface Span {
  begins: number[];
  ends: number[];
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
  /** What the colour of an operation takes positions from: the operations after it, on a tensor of their own. */
  positions?: Source | null;
  /** The mesh that the colour of devices is about. */
  devices?: string;
  /** Where the colour of an address is on the ramp, if that is not where the address is in its range. */
  shade?: ((address: number) => number) | null;
}

/** The cells that the samples of a tile stand for. */
function spanOf(lane: Lane, begin: number, step: number): Span {
  const span: Span = { begins: [], ends: [] };
  const last = Math.min(begin + SIDE * step, lane.extent);
  for (let place = begin; place < last; place += step) {
    span.begins.push(lane.cellsBefore(place));
    span.ends.push(lane.cellsBefore(Math.min(place + step, lane.extent)));
  }
  return span;
}

/** Blocks of cells: their edges, and which block each sample is; -1 where it is none. */
interface Blocks {
  edges: number[];
  block: number[];
}

/** The blocks of a span without its gaps, of the cells from `from` to `until`, as cells so many farther. */
function blocksOf({ begins, ends }: Span, from: number, until: number, farther: number): Blocks {
  const edges: number[] = [];
  const block = begins.map((first, at) => {
    const [begin, end] = [Math.max(first, from), Math.min(ends[at]!, until)];
    if (first >= ends[at]! || begin !== first || begin >= end) return -1;
    if (edges.length === 0) edges.push(begin + farther);
    return edges.push(end + farther) - 2;
  });
  return { edges, block };
}

/** Colours that only single elements have: of more than one an element is taken for all. */
function isSampled(color: string): boolean {
  return color === "reads" || color === "device";
}

export class Tiles {
  private readonly tiles = new Map<string, Tile | "asked">();
  private scene: Scene | null = null;
  private wanted: { row: number; column: number; step: number }[] = [];
  private asked = 0;
  /** Why there are no cells, or why their colour does not say what it should. */
  readonly note = signal<string | null>(null);
  /** How many tiles have come, for whoever looks at them as well. */
  readonly arrivals = signal(0);

  constructor(private readonly arrived: () => void) {}

  /** The picture is of this from now on. Says whether that is something else. */
  show(scene: Scene): boolean {
    const old = this.scene;
    const alike =
      old !== null &&
      old.layout === scene.layout &&
      old.color === scene.color &&
      old.devices === scene.devices &&
      old.fixed.join() === scene.fixed.join() &&
      old.plan.row.axes.join() === scene.plan.row.axes.join() &&
      old.plan.row.inner === scene.plan.row.inner &&
      old.plan.column.axes.join() === scene.plan.column.axes.join() &&
      old.plan.column.inner === scene.plan.column.inner &&
      old.plan.wrap?.across === scene.plan.wrap?.across;
    if (alike) return false;
    this.scene = scene;
    this.tiles.clear();
    this.note.value = null;
    return true;
  }

  /** What the tiles are of. */
  get of(): Scene | null {
    return this.scene;
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
        // Whoever waits for everything learns of the end as well.
        if (this.asked === 0) this.arrived();
      });
    }
  }

  private async load(scene: Scene, row: number, column: number, step: number): Promise<void> {
    const key = `${step}/${row}/${column}`;
    this.tiles.set(key, "asked");
    const rowCells = spanOf(scene.plan.row, row * SIDE * step, step);
    const columnCells = spanOf(scene.plan.column, column * SIDE * step, step);
    const [rows, columns] = [rowCells.begins.length, columnCells.begins.length];
    const tile: Tile = {
      row,
      column,
      step,
      rows,
      columns,
      addresses: new Float64Array(rows * columns).fill(Infinity),
      range: null,
      valid: null,
      exact: null,
      shades: null,
      sampled: false,
      rowCells,
      columnCells,
      picture: null,
      painted: "",
      theme: null,
    };
    const { row: lane, column: other, wrap } = scene.plan;
    // A sample that reaches into the next line of facets is drawn as what it is of the first.
    rowCells.ends.forEach((end, at) => {
      const last = (Math.floor(rowCells.begins[at]! / lane.line) + 1) * lane.line;
      if (end <= last) return;
      rowCells.ends[at] = last;
      tile.sampled = true;
    });
    // Each line is asked for by itself: its cells are those of the axes joined, from some cell on.
    const asked: Promise<boolean>[] = [];
    for (let line = 0; line < (wrap?.lines ?? 1); line++) {
      const from = line * lane.line;
      const down = blocksOf(rowCells, from, from + lane.line, -from);
      if (down.edges.length === 0) continue;
      const left = wrap === null ? other.count : (wrap.size - line * wrap.across) * other.line;
      const across = blocksOf(columnCells, 0, Math.min(other.count, left), line * other.count);
      if (across.edges.length > 0) asked.push(this.fill(scene, tile, down, across));
    }
    if ((await Promise.all(asked)).includes(false) || this.scene !== scene) return;
    this.tiles.set(key, tile);
    this.forget();
    this.arrivals.value++;
    this.arrived();
  }

  /** Asks for some rows and columns of a tile. Says whether they have come. */
  private async fill(scene: Scene, tile: Tile, down: Blocks, across: Blocks): Promise<boolean> {
    const { step } = tile;
    const { plan, color, layout } = scene;
    const rows = plan.wrap === null ? plan.row.axes : plan.row.axes.slice(1);
    const lanes = { rows, columns: plan.column.axes, fixed: scene.fixed as Integer[] };
    const wide = across.edges.length - 1;
    const fill = <T extends Float64Array | BigInt64Array>(into: T, value: (block: number) => T[number]): T => {
      down.block.forEach((row, r) => {
        if (row < 0) return;
        across.block.forEach((column, c) => {
          if (column >= 0) into[r * tile.columns + c] = value(row * wide + column);
        });
      });
      return into;
    };
    const numbers = (value: (block: number) => number, into?: Float64Array): Float64Array =>
      fill(into ?? new Float64Array(tile.addresses.length).fill(Infinity), value);
    const fail = (message: string | null): false => {
      this.note.value = message;
      this.arrived();
      return false;
    };
    const view = /^view(\d+)$/.exec(color)?.[1];
    const other = view !== undefined ? layout.source : color.startsWith("op") ? (scene.positions ?? null) : null;
    const stop = view === undefined ? {} : { view: Number(view) };
    const range = ({ edges }: Blocks) => ({ begin: edges[0]!, end: edges.at(-1)! });
    const shade = (value: (block: number) => number): void => {
      const mean = numbers(value, tile.shades?.mean);
      tile.shades = { mean, low: mean, high: mean };
    };
    if (step === 1) {
      const request = { ...lanes, row: range(down), column: range(across) };
      const beside = other === null ? null : ask("tile", { ...request, source: other, ...stop });
      const counting = color === "reads" ? ask("tile", { ...request, source: layout.source, counts: true }) : null;
      const base = await ask("tile", { ...request, source: layout.source });
      const [shaded, counted] = [await beside, await counting];
      if (this.scene !== scene) return false;
      if (base === null || !base.ok) return fail(base?.fault.message ?? null);
      const { addresses } = base.value;
      numbers((cell) => Number(addressOf(addresses, cell) ?? NaN), tile.addresses);
      if (addresses instanceof BigInt64Array) {
        const exact = tile.exact ?? new BigInt64Array(tile.addresses.length);
        tile.exact = fill(exact, (cell) => BigInt(addressOf(addresses, cell) ?? 0));
      }
      if (shaded?.ok === true) shade((cell) => Number(addressOf(shaded.value.addresses, cell) ?? NaN));
      else if (shaded !== null) this.note.value = shaded.fault.message;
      if (counted?.ok === true) {
        const { counts: many, counts_note } = counted.value;
        this.note.value = many === null ? counts_note : null;
        shade((cell) => many?.[cell] ?? NaN);
      } else if (counted !== null) this.note.value = counted.fault.message;
    } else {
      const request = { ...lanes, row: down.edges, column: across.edges };
      const beside = other === null ? null : ask("summary", { ...request, source: other, ...stop });
      const base = await ask("summary", { ...request, source: layout.source });
      const shaded = await beside;
      if (this.scene !== scene) return false;
      if (base === null || !base.ok) return fail(base?.fault.message ?? null);
      const spread = ({ mean, low, high }: Values, into: Values | null): Values => ({
        mean: numbers((block) => mean[block]!, into?.mean),
        low: numbers((block) => low[block]!, into?.low),
        high: numbers((block) => high[block]!, into?.high),
      });
      const { valid, exact } = base.value;
      tile.range = spread(base.value, tile.range);
      tile.addresses = tile.range.mean;
      tile.valid = numbers((block) => valid[block]!, tile.valid ?? undefined);
      tile.sampled ||= !exact;
      if (shaded?.ok === true) {
        tile.shades = spread(shaded.value, tile.shades);
        tile.sampled ||= !shaded.value.exact;
      } else if (shaded !== null) this.note.value = shaded.fault.message;
    }
    if (isSampled(color) && (step > 1 || color === "device")) {
      tile.sampled ||= step > 1;
      const of = await this.sample(scene, step, lanes, down, across);
      if (this.scene !== scene) return false;
      if (of !== null) shade(of);
    }
    return true;
  }

  /** How often the address of the first element of each block is read, or which device holds it. */
  private async sample(
    scene: Scene,
    step: number,
    lanes: { rows: number[]; columns: number[]; fixed: Integer[] },
    down: Blocks,
    across: Blocks,
  ): Promise<((block: number) => number) | null> {
    const [[first = 0], [left = 0]] = [down.edges, across.edges];
    const request = {
      ...lanes,
      source: scene.layout.source,
      row: { begin: first, end: down.edges.at(-1)!, step },
      column: { begin: left, end: across.edges.at(-1)!, step },
      counts: scene.color === "reads",
    };
    const said = await ask("tile", request);
    if (said === null || !said.ok) {
      this.note.value = said?.fault.message ?? null;
      return null;
    }
    const { counts, counts_note, addresses, columns } = said.value;
    let of: Float64Array | null = counts;
    if (scene.color === "device") {
      const list = Array.from({ length: addresses.length }, (_, cell) => addressOf(addresses, cell));
      // What is masked lies on no device: it is asked as address 0 and not shown.
      const asked = list.map((address): Integer => (typeof address === "bigint" ? String(address) : (address ?? 0)));
      const held = await ask("devices", { text: scene.devices ?? "", chain: "", addresses: asked });
      if (held?.ok === true) of = held.value.holders;
      else this.note.value = held?.fault.message ?? null;
    } else {
      this.note.value = counts === null ? counts_note : null;
    }
    if (of === null) return null;
    const wide = across.edges.length - 1;
    const at = (edge: number, from: number): number => Math.floor((edge - from) / step);
    return (block) =>
      of[at(down.edges[Math.floor(block / wide)]!, first) * columns + at(across.edges[block % wide]!, left)] ?? NaN;
  }

  /** Drops the tiles that came first when there are too many. */
  private forget(): void {
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES) return;
      this.tiles.delete(key);
    }
  }
}

/** The lowest and the highest value that a ramp is for. */
export type Domain = readonly [number, number];

/** What samples show: a share of the ramp, and how far the elements that each stands for lie apart, as such a share. */
interface Shader {
  share(sample: number): number;
  /** Null where nothing lies apart, since each is one element. */
  apart: ((sample: number) => number) | null;
}

/** Devices are told apart by steps through the ramp that lie far from each other. */
const GOLDEN = 0.618034;

/** Whether the colour is a ramp over the values that are in sight. */
export function isRanged(color: string): boolean {
  return color === "address" || color.startsWith("view") || color.startsWith("op");
}

/** The values that the colour of a tile says. */
export function valuesOf(tile: Tile, color: string): Values | null {
  if (color !== "address" && !color.startsWith("mod")) return tile.shades;
  return tile.range ?? { mean: tile.addresses, low: tile.addresses, high: tile.addresses };
}

export function shader(tile: Tile, scene: Scene, [low, high]: Domain): Shader {
  const { layout, color } = scene;
  const plain: Shader = { share: () => 0.25, apart: null };
  if (color.startsWith("axis")) {
    const axis = Number(color.slice(4));
    const { row, column } = scene.plan;
    if (![row, column].some(({ axes }) => axes.includes(axis))) return plain;
    const last = Math.max((layout.shape[axis] ?? 1) - 1, 1);
    const entries = (lane: Lane, { begins, ends }: Span) =>
      begins.map((begin, at) => lane.between(axis, begin, Math.max(ends[at]! - 1, begin)));
    const [down, across] = [entries(row, tile.rowCells), entries(column, tile.columnCells)];
    const { columns } = tile;
    // Of an axis that is cut both say a part.
    const of = (sample: number, end: 0 | 1): number =>
      down[Math.floor(sample / columns)]![end] + across[sample % columns]![end];
    return {
      share: (sample) => Math.min((of(sample, 0) + of(sample, 1)) / 2 / last, 1),
      apart: (sample) => (of(sample, 1) - of(sample, 0)) / last,
    };
  }
  const values = valuesOf(tile, color);
  if (values === null) return plain;
  const { mean, low: lows, high: highs } = values;
  if (color === "reads") {
    // Each doubling is a step, so that 1, 2 and 9 can be told apart whatever the highest count is.
    const share = (sample: number): number => {
      const count = mean[sample]!;
      return count > 1 ? Math.min(Math.log2(count) / 7.5 + 0.2, 1) : 0;
    };
    return { share, apart: null };
  }
  if (color === "device") {
    return {
      share: (sample) => (mean[sample]! * GOLDEN) % 1 || 0,
      apart: (sample) => (Number.isNaN(mean[sample]!) ? 1 : 0),
    };
  }
  if (color.startsWith("mod")) {
    const n = Math.max(Number(color.slice(3)), 2);
    const rest = (value: number): number => value - Math.floor(value / n) * n;
    return {
      share: (sample) => rest(mean[sample]!) / (n - 1),
      // Only addresses between two multiples of n have the rest of their mean.
      apart: (sample) => {
        const apart = highs[sample]! - lows[sample]!;
        return rest(lows[sample]!) + apart >= n ? 1 : apart / n;
      },
    };
  }
  const { shade } = scene;
  if (shade != null) return { share: (sample) => shade(mean[sample]!), apart: null };
  const wide = high - low;
  if (!(wide > 0)) return plain;
  return {
    share: (sample) => {
      const share = (mean[sample]! - low) / wide;
      return share > 0 ? (share < 1 ? share : 1) : 0;
    },
    apart: lows === highs || tile.step === 1 ? null : (sample) => (highs[sample]! - lows[sample]!) / wide,
  };
}

/** How grey a sample is whose elements lie so far apart, as a share of the ramp. */
export function greyness(apart: number): number {
  return Math.min(Math.max((apart - 0.15) / 0.35, 0), 1);
}

/** A pixel a sample. */
export function pictureOf(tile: Tile, scene: Scene, theme: Theme, domain: Domain): HTMLCanvasElement {
  const painted = domain.join();
  if (tile.picture !== null && tile.theme === theme && tile.painted === painted) return tile.picture;
  const picture = tile.picture ?? document.createElement("canvas");
  picture.width = Math.max(tile.columns, 1);
  picture.height = Math.max(tile.rows, 1);
  const pen = picture.getContext("2d")!;
  const image = pen.createImageData(picture.width, picture.height);
  const pixels = new Uint32Array(image.data.buffer);
  const { share, apart } = shader(tile, scene, domain);
  const { addresses, valid, columns } = tile;
  const { ramp, neutral } = theme;
  for (let sample = 0; sample < addresses.length; sample++) {
    const address = addresses[sample]!;
    if (address === Infinity) continue;
    if (Number.isNaN(address)) {
      const stripe = ((sample % columns) + Math.floor(sample / columns)) % 4 === 0 ? 1 : 0;
      pixels[sample] = theme.masked[stripe]!;
      continue;
    }
    let color = ramp[Math.round(share(sample) * 255)]!;
    if (apart !== null) {
      const grey = greyness(apart(sample));
      if (grey > 0) color = mixed(color, neutral, grey);
    }
    const masked = valid === null ? 0 : 1 - valid[sample]!;
    // However little of it is masked can be seen.
    if (masked > 0) color = mixed(color, theme.masked[0], 0.3 + 0.7 * masked);
    pixels[sample] = color;
  }
  pen.putImageData(image, 0, 0);
  tile.picture = picture;
  tile.painted = painted;
  tile.theme = theme;
  return picture;
}
