/** One direction of the grid: axes joined into a line of cells, with gaps between facets. */
import type { Place } from "./page";

/** An axis that is cut: the picture has so many lines of facets, and so many facets in each. The last line may not be full. */
export interface Wrap {
  axis: number;
  size: number;
  lines: number;
  across: number;
}

/** Where cells lie is counted in steps of one cell; a gap between facets is some steps wide. */
export class Lane {
  /** The axes, the outermost first: the one that is cut, those of the facets, then those within. */
  readonly axes: number[];
  /** The axes whose facets lie beside each other; the one that is cut is the first of them. */
  readonly facets: number[];
  readonly cut: number | undefined;
  /** How many entries each of these axes has here, and how many of its own each of them stands for. */
  private readonly sizes: number[];
  private readonly each: number[];
  /** Cells within a facet, and within an entry of the axis that is cut. */
  readonly inner: number;
  readonly line: number;
  /** Cells in all. */
  readonly count: number;
  /** Steps between facets, and between entries of the axis that is cut. */
  readonly gap: number;
  private readonly wide: number;
  /** Steps from one of these entries to the next. */
  private readonly pitch: number;
  /** Steps from the first cell to the end of the last. */
  readonly extent: number;

  constructor(
    shape: readonly number[],
    facets: readonly number[],
    /** The axes within a facet. */
    readonly within: readonly number[],
    cut: readonly { axis: number; size: number; each: number }[] = [],
  ) {
    const rest = [...facets, ...within];
    this.facets = [...cut.map(({ axis }) => axis), ...facets];
    this.axes = [...this.facets, ...within];
    this.cut = cut[0]?.axis;
    this.sizes = [...cut.map(({ size }) => size), ...rest.map((axis) => shape[axis] ?? 1)];
    this.each = this.axes.map((_, at) => cut[at]?.each ?? 1);
    const product = (axes: readonly number[]): number => axes.reduce((all, axis) => all * (shape[axis] ?? 1), 1);
    // Without elements nothing is drawn, and nothing divided by.
    this.inner = product(within) || 1;
    const outer = product(facets) || 1;
    const lines = cut[0]?.size ?? 1;
    this.line = this.inner * outer;
    this.count = rest.some((axis) => shape[axis] === 0) ? 0 : this.line * lines;
    this.gap = outer > 1 ? Math.max(1, Math.round(this.inner / 24)) : 0;
    this.wide = this.line + (outer - 1) * this.gap;
    // Where a pixel stands for some cells it does not reach from one entry into the next.
    const unit = 2 ** Math.max(Math.floor(Math.log2(this.wide / 8)), 0);
    const apart = this.wide + Math.max(2 * this.gap, 1, Math.round(this.wide / 24));
    this.pitch = lines > 1 ? Math.ceil(apart / unit) * unit : this.wide;
    this.extent = this.count === 0 ? 0 : (lines - 1) * this.pitch + this.wide;
  }

  /** The step at which a cell begins. */
  place(cell: number): number {
    const line = Math.floor(cell / this.line);
    const rest = cell - line * this.line;
    return line * this.pitch + rest + Math.floor(rest / this.inner) * this.gap;
  }

  /** The cell at a step; null in a gap and outside. */
  cell(step: number): number | null {
    const at = Math.floor(step);
    const cell = this.cellsBefore(at);
    return at < this.extent && this.cellsBefore(at + 1) > cell ? cell : null;
  }

  /** How many cells begin before a step. */
  cellsBefore(step: number): number {
    const at = Math.min(Math.max(Math.ceil(step), 0), this.extent);
    const line = Math.floor(at / this.pitch);
    const rest = at - line * this.pitch;
    const facet = Math.floor(rest / (this.inner + this.gap));
    const within = Math.min(rest - facet * (this.inner + this.gap), this.inner);
    return line * this.line + Math.min(facet * this.inner + within, this.line);
  }

  /** The lowest and the highest entry of an axis among the cells from one to another; of an axis that is cut what they add to it. */
  between(axis: number, first: number, last: number): [number, number] {
    const at = this.axes.indexOf(axis);
    const size = this.sizes[at] ?? 1;
    const inner = this.sizes.slice(at + 1).reduce((all, each) => all * each, 1);
    const [from, to] = [Math.floor(first / inner), Math.floor(last / inner)];
    const each = this.each[at] ?? 0;
    // From one run of the axis to the next it has both ends.
    const ends = Math.floor(from / size) === Math.floor(to / size) ? [from % size, to % size] : [0, size - 1];
    return [ends[0]! * each, ends[1]! * each];
  }

  /** The cell of an index. */
  ofIndex(index: readonly number[]): number {
    return this.axes.reduce((cell, axis, at) => {
      const size = this.sizes[at]!;
      return cell * size + (Math.floor((index[axis] ?? 0) / this.each[at]!) % (size || 1));
    }, 0);
  }

  /** Adds the index of a cell to one that is 0 along these axes. */
  toIndex(cell: number, index: number[]): void {
    let rest = cell;
    for (let at = this.axes.length - 1; at >= 0; at--) {
      const [axis, size] = [this.axes[at]!, this.sizes[at]!];
      index[axis] = (index[axis] ?? 0) + (rest % size) * this.each[at]!;
      rest = Math.floor(rest / size);
    }
  }
}

/** The grid: what goes down, what goes across, and what is looked at one slice at a time. */
export interface Plan {
  row: Lane;
  column: Lane;
  sliders: number[];
  wrap: Wrap | null;
}

/** The proportions of the place for the picture. */
const SCREEN = 1.6;
/** A picture has no more lines of facets. */
const MOST_LINES = 64;

/** How many of so many facets stand in a line, so that all of them are as large as they can be in the place for them. */
function wrapped(axis: number, size: number, [wide, tall]: readonly [number, number], screen: number): Wrap {
  const best = { axis, size, lines: size, across: 1, cells: 0 };
  const about = Math.sqrt((size * screen * tall) / wide);
  for (let across = Math.max(Math.floor(about * 0.6), Math.ceil(size / MOST_LINES), 1); across <= about * 1.6 + 1; across++) {
    const lines = Math.ceil(size / Math.min(across, size));
    // What is left free at the end is not only small, but also looks unfinished.
    const scale = Math.min(screen / (wide * across), 1 / (tall * lines)) ** 2 * (1 + size / (lines * across));
    if (scale > best.cells * (1 + 1e-9)) Object.assign(best, { lines, across: Math.min(across, size), cells: scale });
  }
  return best;
}

export function plan(shape: readonly number[], places: readonly Place[], screen = SCREEN): Plan {
  const at = (...names: Place[]): number[] => shape.flatMap((_, axis) => (names.includes(places[axis]!) ? [axis] : []));
  // One axis is cut; where more are said to be, they lie beside each other as others do.
  const [cut, ...more] = at("wrapped");
  const lanes = (["down", "across"] as const).map((facets, side) => {
    const beside = side === 0 ? at(facets) : [...more, ...at(facets)];
    return (cuts?: { axis: number; size: number; each: number }) =>
      new Lane(shape, beside, at(side === 0 ? "rows" : "columns"), cuts && [cuts]);
  });
  const [row, column] = [lanes[0]!(), lanes[1]!()];
  const sliders = at("slider");
  if (cut === undefined || row.count * column.count === 0) return { row, column, sliders, wrap: null };
  const wrap = wrapped(cut, shape[cut]!, [column.extent, row.extent], screen);
  const { axis, lines, across } = wrap;
  return {
    row: lanes[0]!({ axis, size: lines, each: across }),
    column: lanes[1]!({ axis, size: across, each: 1 }),
    sliders,
    wrap,
  };
}

/** More facets than this are no overview. */
const MOST_FACETS = 1024;

/** Whether the first ratio of width to height is no farther from that of a screen than the second. */
function nearer(one: number, other: number): boolean {
  return Math.abs(Math.log(one / 1.6)) <= Math.abs(Math.log(other / 1.6));
}

/** Of so many elements all are seen at once. */
const MOST_SEEN = 1e7;
/** What it costs, as a logarithm of the area: that one of the last two axes is no longer the row or the column; a cut; one of these. */
const UNUSUAL = 0.4;
const CUT = 0.5;
const FIRST = 1;
/** Rows and columns are of axes that have so many elements, where there are some. */
const FEW = 8;
/** For so many axes all places are tried; those before them lie down and across in turn. */
const MOST_TRIED = 7;

/** All axes as rows, columns and facets, one of them cut into lines where that makes the picture larger. */
function allSeen(shape: readonly number[], long: readonly number[], screen: number): Place[] | null {
  if (long.length < 3 || shape.reduce((all, size) => all * size, 1) > MOST_SEEN) return null;
  const big = long.filter((axis) => shape[axis]! >= FEW);
  const [row, column] = (big.length < 2 ? long : big).slice(-2);
  const first = Math.max(long.length - MOST_TRIED, 0);
  const cuts = [-1, ...long.filter((axis) => shape[axis]! > 3)];
  const count = long.reduce((all, axis) => all * shape[axis]!, 1);
  let [best, least]: [Place[] | null, number] = [null, Infinity];
  for (let set = 0; set < 2 ** Math.min(long.length, MOST_TRIED); set++) {
    const isAcross = (_: number, at: number): boolean => (at < first ? at : set >> (at - first)) % 2 === 1;
    const sides = [long.filter((axis, at) => !isAcross(axis, at)), long.filter(isAcross)];
    for (const cut of cuts) {
      // An axis that is cut goes both ways.
      if (cut >= 0 && !sides[1]!.includes(cut)) continue;
      const places: Place[] = shape.map(() => "slider");
      const within = sides.map((axes, side) => {
        for (const axis of axes) places[axis] = side === 0 ? "down" : "across";
        const rest = axes.filter((axis) => axis !== cut);
        const last = rest.findLast((axis) => shape[axis]! >= FEW) ?? rest.at(-1);
        if (last !== undefined) places[last] = side === 0 ? "rows" : "columns";
        return last;
      });
      if (within.includes(undefined)) continue;
      if (cut >= 0) places[cut] = "wrapped";
      const lanes = plan(shape, places, screen);
      const [across, down] = [lanes.column.extent, lanes.row.extent];
      const wide = across / down;
      let cost = -Math.log(wide > screen ? (screen * screen) / wide : wide);
      if (within[0] !== row) cost += UNUSUAL;
      if (within[1] !== column) cost += UNUSUAL;
      if (cut >= 0) cost += CUT - Math.log(count / (across * down));
      if (cut === row || cut === column) cost += FIRST;
      if (cost < least) [best, least] = [places, cost];
    }
  }
  return best;
}

/** Where axes go by their place alone: the last two are a matrix, those before it facets. They stay there through all steps. */
export function fixedPlaces(shape: readonly number[]): Place[] {
  const long = shape.flatMap((size, axis) => (size === 1 ? [] : [axis])).reverse();
  const places: Place[] = shape.map(() => "slider");
  for (const [at, axis] of long.entries()) {
    places[axis] = at === 0 ? "columns" : at === 1 ? "rows" : at % 2 === 0 ? "across" : "down";
  }
  return places;
}

/** Where axes go unless someone says otherwise: the last two are a matrix, those before it facets, then sliders. */
export function usualPlaces(shape: readonly number[], screen = SCREEN): Place[] {
  const places: Place[] = shape.map(() => "slider");
  const long = shape.flatMap((size, axis) => (size === 1 ? [] : [axis])).reverse();
  const all = allSeen(shape, [...long].reverse(), screen);
  if (all !== null) return all;
  const [last, second, third, fourth] = long;
  // A tensor of one element is one cell, wherever its axes go.
  if (last === undefined) return places;
  places[last] = "columns";
  if (second === undefined) return places;
  places[second] = "rows";
  const size = (axis: number): number => shape[axis] ?? 1;
  if (third === undefined || size(third) > MOST_FACETS / 16) return places;
  if (fourth === undefined || size(fourth) * size(third) > MOST_FACETS) {
    // One row of facets or one column of them.
    places[third] = nearer((size(third) * size(last)) / size(second), size(last) / (size(third) * size(second)))
      ? "across"
      : "down";
    return places;
  }
  const wide = (size(third) * size(last)) / (size(fourth) * size(second));
  const tall = (size(fourth) * size(last)) / (size(third) * size(second));
  const across = nearer(wide, tall);
  places[third] = across ? "across" : "down";
  places[fourth] = across ? "down" : "across";
  return places;
}
