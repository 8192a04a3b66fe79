/** The copy as a film: which elements are shown of it, when, and where each stands in its tensor. */

/** So many elements are shown at most: of more every how-manieth. */
const MOST = 4000;
/** Milliseconds for which an element is seen, where there are few, and milliseconds that all of them take at most. */
const EACH = 700;
const WHOLE = 14_000;

export interface Reel {
  /** Every how-manieth element is shown, and how many that are. */
  step: number;
  count: number;
  /** Milliseconds for each of them. */
  each: number;
}

export function reelOf(numel: number): Reel {
  const step = Math.max(Math.ceil(numel / MOST), 1);
  const count = Math.ceil(numel / step);
  return { step, count, each: Math.min(EACH, WHOLE / Math.max(count, 1)) };
}

/** The index of the element at a position in row-major order. */
export function indexAt(position: number, shape: readonly number[]): number[] {
  const index = shape.map(() => 0);
  let rest = position;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = rest % shape[axis]!;
    rest = Math.floor(rest / shape[axis]!);
  }
  return index;
}
