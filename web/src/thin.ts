/** Small pictures of large tensors: which elements they show, and in which colours. */
import type { Integer } from "shapetracker/engine";
import { fixedPlaces } from "./lane";
import type { Place } from "./page";

/** Every how-manieth element along each axis is shown, so that no direction has more cells than there is room for. */
export function thinned(shape: readonly number[], wide: number, tall: number): number[] {
  const places = fixedPlaces(shape);
  const steps = shape.map(() => 1);
  for (const [names, room] of [
    [["columns", "across"], wide],
    [["rows", "down"], tall],
  ] as const) {
    const axes = shape.flatMap((_, axis) => ((names as readonly Place[]).includes(places[axis]!) ? [axis] : []));
    axes.sort((a, b) => shape[a]! - shape[b]!);
    let rest: number = room;
    for (const [at, axis] of axes.entries()) {
      const most = Math.max(Math.floor(rest ** (1 / (axes.length - at)) + 1e-9), 2);
      steps[axis] = Math.ceil(shape[axis]! / Math.min(shape[axis]!, most));
      rest /= Math.ceil(shape[axis]! / steps[axis]!);
    }
  }
  return steps;
}

/**
 * A colour that tells steps along every axis apart, however small they are: the strides of the base, from the largest, are scales,
 * and how far an address is on each of them counts less and less. It is where an address is on the ramp.
 */
export function scaled(
  [first, last]: readonly [Integer, Integer],
  strides: readonly Integer[],
): (address: number) => number {
  const low = Number(first);
  const periods = [...new Set(strides.map((stride) => Math.abs(Number(stride))))].filter((stride) => stride > 0);
  const widths = [Number(last) + 1 - low, ...periods.sort((a, b) => b - a)];
  const scales = widths.flatMap((width, at) => {
    const unit = widths[at + 1] ?? 1;
    const most = Math.ceil(width / unit) - 1;
    return most > 0 ? [{ width, unit, most }] : [];
  });
  const total = (scales.length * (scales.length + 1)) / 2;
  return (address) =>
    scales.reduce((share, { width, unit, most }, at) => {
      const digit = Math.min(Math.floor((((address - low) % width) + width) % width / unit), most);
      return share + ((scales.length - at) / total) * (digit / most);
    }, 0);
}
