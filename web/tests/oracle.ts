/** A chain of the corpus, one element at a time and with no help from the library: operations undone from the last. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

type Operation =
  | ["reshape" | "permute" | "expand" | "step", number[]]
  | ["pad" | "shrink", [number, number][]]
  | ["flip", boolean[]];

export interface Recorded {
  id: string;
  base: number[];
  ops: Operation[];
  /** What another library needs; not recorded for all. */
  reference_views?: number;
}

/** Chains from all over the corpus, whose numbers can be counted in without big integers. */
export function recorded(count: number): Recorded[] {
  const file = new URL("../../crates/shapetracker/tests/corpus/chains.jsonl.gz", import.meta.url);
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  const chains = lines.map((line) => JSON.parse(line) as Recorded);
  const small = chains.filter((chain) =>
    shapes(chain).every((shape) => shape.reduce((a, b) => a * b, 1) <= Number.MAX_SAFE_INTEGER),
  );
  const every = Math.floor(small.length / count);
  return Array.from({ length: count }, (_, at) => small[at * every]!);
}

const tuple = (values: readonly number[]): string => `(${values.join(", ")}${values.length === 1 ? "," : ""})`;

export function chainText({ base, ops }: Recorded): string {
  const texts = ops.map(([name, list]) => {
    if (name === "pad" || name === "shrink")
      return `${name}(${list.map((pair) => `(${pair.join(", ")})`).join(", ")})`;
    if (name === "flip") return `flip(${list.flatMap((turned, axis) => (turned ? [axis] : [])).join(", ")})`;
    return `${name}(${list.join(", ")})`;
  });
  return [tuple(base), ...texts].join(".");
}

function ravel(index: readonly number[], shape: readonly number[]): number {
  return index.reduce((position, at, axis) => position * shape[axis]! + at, 0);
}

export function unravel(position: number, shape: readonly number[]): number[] {
  const index = shape.map(() => 0);
  for (let axis = shape.length - 1, rest = position; axis >= 0; axis--) {
    index[axis] = rest % shape[axis]!;
    rest = Math.floor(rest / shape[axis]!);
  }
  return index;
}

/** The shapes before and after each operation. */
export function shapes({ base, ops }: Recorded): number[][] {
  const list = [base];
  for (const [name, values] of ops) {
    const shape = list.at(-1)!;
    switch (name) {
      case "reshape":
      case "expand":
        list.push(values);
        break;
      case "permute":
        list.push(values.map((axis) => shape[axis]!));
        break;
      case "pad":
        list.push(shape.map((size, axis) => size + values[axis]![0] + values[axis]![1]));
        break;
      case "shrink":
        list.push(values.map(([begin, end]) => end - begin));
        break;
      case "step":
        list.push(shape.map((size, axis) => Math.ceil(size / Math.abs(values[axis]!))));
        break;
      case "flip":
        list.push(shape);
    }
  }
  return list;
}

/** The address of an element; null where it is masked. */
export function address(chain: Recorded, index: readonly number[]): number | null {
  const all = shapes(chain);
  let at = [...index];
  for (let op = chain.ops.length - 1; op >= 0; op--) {
    const [name, values] = chain.ops[op]!;
    const before = all[op]!;
    const after = all[op + 1]!;
    switch (name) {
      case "reshape":
        at = unravel(ravel(at, after), before);
        break;
      case "permute": {
        const from = before.map(() => 0);
        values.forEach((axis, place) => (from[axis] = at[place]!));
        at = from;
        break;
      }
      case "expand":
        at = at.map((entry, axis) => (before[axis] === 1 ? 0 : entry));
        break;
      case "pad":
        at = at.map((entry, axis) => entry - values[axis]![0]);
        if (at.some((entry, axis) => entry < 0 || entry >= before[axis]!)) return null;
        break;
      case "shrink":
        at = at.map((entry, axis) => entry + values[axis]![0]);
        break;
      case "step":
        at = at.map((entry, axis) => (values[axis]! < 0 ? before[axis]! - 1 : 0) + entry * values[axis]!);
        break;
      case "flip":
        at = at.map((entry, axis) => (values[axis]! ? before[axis]! - 1 - entry : entry));
    }
  }
  return ravel(at, all[0]!);
}
