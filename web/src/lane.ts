/** One direction of the grid: axes joined into a line of cells, with gaps between facets. */
import type { Place } from "./page";

/** Where cells lie is counted in steps of one cell; a gap between facets is some steps wide. */
export class Lane {
  /** The axes, the outermost first: those of the facets, then those within. */
  readonly axes: number[];
  /** The sizes of these axes. */
  private readonly sizes: number[];
  /** Cells within a facet. */
  readonly inner: number;
  /** Cells in all. */
  readonly count: number;
  /** Steps between facets. */
  readonly gap: number;
  /** Steps from the first cell to the end of the last. */
  readonly extent: number;

  constructor(
    shape: readonly number[],
    /** The axes whose facets lie beside each other. */
    readonly facets: readonly number[],
    /** The axes within a facet. */
    readonly within: readonly number[],
  ) {
    this.axes = [...facets, ...within];
    this.sizes = this.axes.map((axis) => shape[axis] ?? 1);
    const product = (axes: readonly number[]): number => axes.reduce((all, axis) => all * (shape[axis] ?? 1), 1);
    this.inner = product(within);
    const outer = product(facets);
    this.count = this.inner * outer;
    this.gap = outer > 1 ? Math.max(1, Math.round(this.inner / 24)) : 0;
    this.extent = this.count === 0 ? 0 : this.count + (outer - 1) * this.gap;
  }

  /** The step at which a cell begins. */
  place(cell: number): number {
    return this.gap === 0 ? cell : cell + Math.floor(cell / this.inner) * this.gap;
  }

  /** The cell at a step; null in a gap and outside. */
  cell(step: number): number | null {
    const at = Math.floor(step);
    if (at < 0 || at >= this.extent) return null;
    if (this.gap === 0) return at;
    const facet = Math.floor(at / (this.inner + this.gap));
    const within = at - facet * (this.inner + this.gap);
    return within < this.inner ? facet * this.inner + within : null;
  }

  /** How many cells begin before a step. */
  cellsBefore(step: number): number {
    const at = Math.min(Math.max(Math.ceil(step), 0), this.extent);
    if (this.gap === 0) return at;
    const pitch = this.inner + this.gap;
    const facet = Math.floor(at / pitch);
    return Math.min(facet * this.inner + Math.min(at - facet * pitch, this.inner), this.count);
  }

  /** The lowest and the highest entry of an axis among the cells from one to another. */
  between(axis: number, first: number, last: number): [number, number] {
    const at = this.axes.indexOf(axis);
    const size = this.sizes[at] ?? 1;
    const inner = this.sizes.slice(at + 1).reduce((all, each) => all * each, 1);
    const [from, to] = [Math.floor(first / inner), Math.floor(last / inner)];
    // From one run of the axis to the next it has both ends.
    return Math.floor(from / size) === Math.floor(to / size) ? [from % size, to % size] : [0, size - 1];
  }

  /** The cell of an index. */
  ofIndex(index: readonly number[]): number {
    return this.axes.reduce((cell, axis, at) => cell * (this.sizes[at] ?? 1) + (index[axis] ?? 0), 0);
  }

  /** Writes the index of a cell. */
  toIndex(cell: number, index: number[]): void {
    let rest = cell;
    for (let at = this.axes.length - 1; at >= 0; at--) {
      const size = this.sizes[at] ?? 1;
      index[this.axes[at]!] = rest % size;
      rest = Math.floor(rest / size);
    }
  }
}

/** The grid: what goes down, what goes across, and what is looked at one slice at a time. */
export interface Plan {
  row: Lane;
  column: Lane;
  sliders: number[];
}

export function plan(shape: readonly number[], places: readonly Place[]): Plan {
  const at = (place: Place): number[] => shape.flatMap((_, axis) => (places[axis] === place ? [axis] : []));
  return {
    row: new Lane(shape, at("down"), at("rows")),
    column: new Lane(shape, at("across"), at("columns")),
    sliders: at("slider"),
  };
}

/** More facets than this are no overview. */
const MOST_FACETS = 1024;

/** Whether the first ratio of width to height is no farther from that of a screen than the second. */
function nearer(one: number, other: number): boolean {
  return Math.abs(Math.log(one / 1.6)) <= Math.abs(Math.log(other / 1.6));
}

/** Of so many elements all are seen at once, unless they would be a strip. */
const MOST_SEEN = 1e7;
/** What is longer or taller than this, for its height or width, is a strip. */
const LONGEST_STRIP = 12;
/** The proportions of the place for the picture, and how slender the picture is drawn at most. */
const SCREEN = 1.6;
const SLENDER = 0.3;
/** What it costs, as a logarithm of the area, that one of the last two axes is no longer the column or the row. */
const UNUSUAL = 0.4;
/** Rows and columns are of axes that have so many elements, where there are some. */
const FEW = 8;

/** All axes as rows, columns and facets, so that the picture is as large as it can be; null where that is a strip. */
function allSeen(shape: readonly number[], long: readonly number[]): Place[] | null {
  if (long.length < 3 || long.length > 10 || shape.reduce((all, size) => all * size, 1) > MOST_SEEN) return null;
  let best: { cost: number; lanes: Lane[] } | null = null;
  for (let set = 1; set < 2 ** long.length - 1; set++) {
    const lanes = [1, 0].map((side) => {
      const axes = long.filter((_, at) => (set >> at) % 2 === side);
      const within = axes.findLast((axis) => shape[axis]! >= FEW) ?? axes.at(-1)!;
      return new Lane(shape, axes.filter((axis) => axis !== within), [within]);
    });
    const [across, down] = lanes as [Lane, Lane];
    const wide = across.extent / down.extent;
    if (Math.max(wide, 1 / wide) > LONGEST_STRIP) continue;
    const area = wide > SCREEN ? SCREEN * Math.max(SCREEN / wide, SCREEN * SLENDER) : Math.max(wide, SLENDER);
    const usual = Number(across.within[0] === long.at(-1)) + Number(down.within[0] === long.at(-2));
    const cost = (2 - usual) * UNUSUAL - Math.log(area);
    if (best === null || cost < best.cost) best = { cost, lanes };
  }
  if (best === null) return null;
  const places: Place[] = shape.map(() => "slider");
  for (const [at, { facets, within }] of best.lanes.entries()) {
    for (const axis of facets) places[axis] = at === 0 ? "across" : "down";
    places[within[0]!] = at === 0 ? "columns" : "rows";
  }
  return places;
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
export function usualPlaces(shape: readonly number[]): Place[] {
  const places: Place[] = shape.map(() => "slider");
  const long = shape.flatMap((size, axis) => (size === 1 ? [] : [axis])).reverse();
  const all = allSeen(shape, [...long].reverse());
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
