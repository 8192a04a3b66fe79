/** How far a step along an axis goes in memory, as an arrow: its length is that of the logarithm of the stride. */
import { h } from "preact";

/** Pixels of the shortest arrow, and for each doubling of the stride. */
const LEAST = 8;
const DOUBLING = 2.6;
const MOST = 84;

export function Arrow({ stride }: { stride: number }) {
  const wide = Math.min(LEAST + DOUBLING * Math.log2(Math.max(Math.abs(stride), 1)), MOST);
  // A stride of 0 stays where it is.
  const line = stride === 0 ? "M4 1v8" : stride > 0 ? `M1 5H${wide}M${wide - 4} 1l4 4-4 4` : `M${wide} 5H1M5 1L1 5l4 4`;
  return (
    <svg class="stride" width={MOST + 2} height={10} aria-hidden="true">
      <path d={line} />
    </svg>
  );
}
