/** Which elements of a copy are shown, without a browser. */
import { expect, test } from "vitest";
import { indexAt, reelOf } from "../src/reel";

test("few elements are all shown, many ones evenly, and none takes for ever", () => {
  expect(reelOf(6)).toEqual({ step: 1, count: 6, each: 700 });
  for (const numel of [0, 1, 3999, 4000, 4001, 1e6, 999_983, 1e12]) {
    const { step, count, each } = reelOf(numel);
    expect(count).toBeLessThanOrEqual(4000);
    expect((count - 1) * step).toBeLessThan(Math.max(numel, 1));
    expect(count * step).toBeGreaterThanOrEqual(numel);
    expect(each * count).toBeLessThanOrEqual(14_001);
  }
});

test("positions are in row-major order", () => {
  const shape = [2, 3, 1, 2];
  const all = Array.from({ length: 12 }, (_, position) => indexAt(position, shape));
  expect(all[7]).toEqual([1, 0, 0, 1]);
  expect(all.map(([a, b, c, d]) => ((a! * 3 + b!) + c!) * 2 + d!)).toEqual(all.map((_, position) => position));
});
