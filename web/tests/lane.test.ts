/** Where axes go and where elements are drawn, without a browser: each at a place of its own, and all of them seen at once. */
import { expect, test } from "vitest";
import { Lane, plan, usualPlaces } from "../src/lane";

/** The same numbers every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function shapes(count: number, most: number): number[][] {
  const next = numbers(7);
  const list: number[][] = [];
  while (list.length < count) {
    const shape = Array.from({ length: 1 + next(6) }, () => [1, 2, 3, 7, 8, 30, 100, 224, 1000][next(9)]!);
    if (shape.reduce((all, size) => all * size, 1) <= most) list.push(shape);
  }
  return list;
}

/** Places of a line of cells as they are counted one by one: facets end where the cells of one are there. */
function counted(lane: Lane): (number | null)[] {
  const places: (number | null)[] = [];
  for (let cell = 0; cell < lane.count; cell++) {
    while (places.length < lane.place(cell)) places.push(null);
    places.push(cell);
  }
  return places;
}

test("each element has a place of its own, and no place has two", () => {
  let cut = 0;
  const small = [[20, 8, 9], [13, 7, 8], [40, 3, 8], [3, 11, 12], [9, 5, 8, 10], [8, 1, 10, 12]];
  for (const shape of [...small, ...shapes(40, 1000)]) {
    const { row, column, sliders, wrap } = plan(shape, usualPlaces(shape));
    expect(sliders.filter((axis) => shape[axis]! > 1)).toEqual([]);
    if (wrap !== null) cut++;
    for (const lane of [row, column]) {
      const places = counted(lane);
      expect(lane.extent).toBe(places.length);
      let before = 0;
      const wrong = [...places, null].filter((cell, step) => {
        const good = lane.cell(step) === cell && lane.cellsBefore(step) === before;
        if (cell !== null) before++;
        return !good;
      });
      expect(wrong).toEqual([]);
    }
    const seen = new Set<string>();
    for (let r = 0; r < row.count; r++) {
      for (let c = 0; c < column.count; c++) {
        const index = shape.map(() => 0);
        row.toIndex(r, index);
        column.toIndex(c, index);
        if (index.some((at, axis) => at >= shape[axis]!)) continue;
        if (row.ofIndex(index) === r && column.ofIndex(index) === c) seen.add(index.join());
      }
    }
    expect(seen.size).toBe(shape.reduce((all, size) => all * size, 1));
  }
  expect(cut).toBeGreaterThan(2);
});

test("below 10^7 elements all are seen at once, in the proportions of a screen where there is an axis to cut", () => {
  const named = [[100, 100, 100], [32, 224, 224, 3], [32, 3, 224, 224], [20, 30, 40], [64, 3, 3, 3], [8, 12, 64, 128], [3, 1000, 1000]];
  const strips: string[] = [];
  for (const shape of [...named, ...shapes(100, 1e7)]) {
    const { row, column, sliders } = plan(shape, usualPlaces(shape));
    expect(sliders.filter((axis) => shape[axis]! > 1), shape.join()).toEqual([]);
    const wide = column.extent / row.extent;
    // Those that people have fill the place for the picture.
    if (named.includes(shape) && (wide > 3.5 || wide < 0.7)) strips.push(`${shape.join()}: ${wide}`);
    if (shape.filter((size) => size > 1).length >= 3 && (wide > 25 || wide < 0.2)) strips.push(`${shape.join()}: ${wide}`);
  }
  expect(strips).toEqual([]);
  for (const axes of [12, 16, 23]) {
    const shape = Array.from({ length: axes }, () => 2);
    expect(plan(shape, usualPlaces(shape)).sliders).toEqual([]);
  }
});

test("one axis too many of a tensor that is too large for one picture is a slider, and so is what is said to be one", () => {
  expect(plan([1000, 1000, 1000], usualPlaces([1000, 1000, 1000])).sliders).toEqual([0]);
  expect(plan([4, 5, 6], ["slider", "rows", "columns"]).sliders).toEqual([0]);
});

test("a telephone has more lines of facets with fewer in each", () => {
  const [wide, narrow] = [1.6, 0.8].map((screen) => plan([100, 50, 50], usualPlaces([100, 50, 50], screen), screen).wrap!);
  expect(wide!.across).toBeGreaterThan(wide!.lines);
  expect(narrow!.across).toBeLessThan(narrow!.lines);
});
