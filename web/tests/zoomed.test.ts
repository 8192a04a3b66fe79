/** What is seen from afar: sawteeth and bands are counted in the pixels that are drawn. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

interface Line {
  /** Red, green and blue of each pixel. */
  pixels: [number, number, number][];
  /** Pixels of the canvas for one of the page. */
  ratio: number;
}

/** The pixels along a line of the tensor's picture, `at` being a share of the other direction. */
async function line(page: Page, along: "x" | "y", at: number): Promise<Line> {
  // Drawn as it will stay.
  await page.waitForTimeout(300);
  return page.evaluate(
    ([along, at]) => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const grid = gridCanvas.now!;
      const view = gridView.value!;
      const { left, top, wide, tall, camera } = grid.frame(view);
      const { row, column } = view.scene.plan;
      const ratio = grid.canvas.width / grid.width;
      const clip = (size: number, from: number, extent: number, most: number, begin: number): [number, number] => [
        Math.ceil((begin + Math.max(-from * size, 0)) * ratio),
        Math.floor(Math.min(begin + (extent - from) * size, most) * ratio),
      ];
      const [x0, x1] = clip(wide, camera.x, column.extent, grid.width, left);
      const [y0, y1] = clip(tall, camera.y, row.extent, grid.height, top);
      const pen = grid.canvas.getContext("2d")!;
      const { data } =
        along === "x"
          ? pen.getImageData(x0, Math.floor(y0 + at * (y1 - y0 - 1)), x1 - x0, 1)
          : pen.getImageData(Math.floor(x0 + at * (x1 - x0 - 1)), y0, 1, y1 - y0);
      const pixels: [number, number, number][] = [];
      for (let k = 0; k < data.length; k += 4) pixels.push([data[k]!, data[k + 1]!, data[k + 2]!]);
      return { pixels, ratio };
    },
    [along, at] as const,
  );
}

const light = ([red, green, blue]: [number, number, number]): number => 0.3 * red + 0.6 * green + 0.1 * blue;
const colour = (pixel: [number, number, number]): number => Math.max(...pixel) - Math.min(...pixel);

/** How often the shade falls back from the end of the ramp to its beginning: in the light the end is the dark one. */
function sawteeth(pixels: [number, number, number][]): number {
  let [count, deep] = [0, false];
  for (const pixel of pixels) {
    const now = light(pixel);
    if (now < 130) deep = true;
    else if (deep && now > 190) {
      count++;
      deep = false;
    }
  }
  return count;
}

/** How many stretches of pixels are paler than what is beside them on both sides. */
function bands(pixels: [number, number, number][], reach: number): number {
  const shades = pixels.map(light);
  let [count, inside] = [0, false];
  shades.forEach((shade, at) => {
    const before = shades.slice(Math.max(at - reach, 0), at);
    const after = shades.slice(at + 1, at + 1 + reach);
    // At an end the shades of the ramp alone fall or rise within the reach.
    const above = (part: number[], rest: number[]): boolean =>
      part.length === 0 || shade > Math.min(...(rest.length === 0 ? part.slice(0, 3) : part)) + 6;
    const paler = above(before, after) && above(after, before);
    if (paler && !inside) count++;
    inside = paler;
  });
  return count;
}

const SAW = "(1000,1000).permute(1,0).reshape(1000000)";

test("a thousand sawteeth are as many as there are in sight, or none", async () => {
  const { page, complaints } = await here.shared();
  // Where a pixel stands for more than a whole one, all pixels look alike: no structure that is not there.
  await go(page, { chain: SAW, at: "999999" });
  const { pixels } = await line(page, "x", 0.3);
  // Without the ring around the selected element, the last one.
  const inner = pixels.slice(2, -20);
  expect(sawteeth(inner)).toBe(0);
  expect(new Set(inner.map(String)).size).toBe(1);
  expect(colour(inner[0]!)).toBeLessThan(12);
  expect(await text(page, "#grid .key")).toMatch(/1 pixel = [\d ]+ elements/);
  expect(await text(page, "#grid .key")).toContain("grey: far apart within the pixel");
  // Nearer they can be told apart, and none is missing.
  for (const pixelsEach of [10, 16.7, 40, 90]) {
    await go(page, { chain: SAW, zoom: `${pixelsEach / 1000},20000,0`, at: "999999" });
    const near = await line(page, "x", 0.3);
    const seen = near.pixels.length / near.ratio / pixelsEach;
    // One at each end may be cut off.
    expect(Math.abs(sawteeth(near.pixels) - seen), `${pixelsEach} pixels each`).toBeLessThan(2);
    expect(await text(page, "#grid .key")).toMatch(/1 pixel = \d+ elements, drawn as their mean/);
  }
  // Reading pixels, as tests do, is nothing to complain of.
  expect(complaints.filter((each) => !each.includes("willReadFrequently"))).toEqual([]);
});

test("all masked bands of a padded batch of images are seen, however thin", async () => {
  const { page } = await here.shared();
  for (const [pad, shape, count] of [
    ["(1,0)", "(912, 3584)", 16],
    ["(1,1)", "(928, 3584)", 17],
    ["(0,1)", "(912, 3584)", 16],
  ] as const) {
    await go(page, { chain: `(16, 56, 56, 64).pad((0,0),${pad},(0,0),(0,0)).reshape${shape}`, at: "1,1" });
    const { pixels } = await line(page, "y", 0.6);
    expect(bands(pixels, 9), pad).toBe(count);
    expect(await text(page, "#grid .key")).toContain("paler: some of them masked");
  }
  // Without padding there are none.
  await go(page, { chain: "(16, 56, 56, 64).reshape(896, 3584)", at: "1,1" });
  expect(bands((await line(page, "y", 0.6)).pixels, 9)).toBe(0);
});

test("memory of a permutation of a million million elements looks the same everywhere", async () => {
  const { page } = await here.shared();
  for (const chain of [
    "(1000000,1000000).permute(1,0)",
    "(1000000,1000000).permute(1,0).reshape(1000000000000)",
    "(999983,1000003).flip(0).permute(1,0)",
  ]) {
    await go(page, { chain });
    await page.waitForFunction(() => {
      const strip = globalThis.explorer.stripCanvas.now;
      return strip?.knownOf === globalThis.explorer.layout.value && strip?.known !== null;
    });
    await page.waitForTimeout(300);
    const shades = await page.evaluate(() => {
      const { canvas, width } = globalThis.explorer.stripCanvas.now!;
      const ratio = canvas.width / width;
      const { data } = canvas.getContext("2d")!.getImageData(24 * ratio, 40 * ratio, canvas.width - 48 * ratio, 1);
      const all = new Set<string>();
      for (let k = 0; k < data.length; k += 4) all.add([data[k], data[k + 1], data[k + 2]].join());
      return [...all];
    });
    expect(shades, chain).toHaveLength(1);
    // What is known of it is never that it is read more than once.
    const { reads, distinct } = await page.evaluate(() => {
      const { reads, distinct } = globalThis.explorer.stripCanvas.now!.known!;
      return { reads: [...reads], distinct: distinct === null ? null : [...distinct] };
    });
    if (distinct !== null) expect(reads.every((count, at) => count === distinct[at]), chain).toBe(true);
  }
});

test("a transposed matrix is a slope across, not stripes", async () => {
  const { page } = await here.shared();
  for (const chain of ["(1000,1000).permute(1,0)", "(1000000,1000000).permute(1,0)"]) {
    await go(page, { chain, at: "0,0" });
    const across = (await line(page, "x", 0.5)).pixels.map(light);
    // From pale to deep without ever going back by more than rounding.
    across.forEach((shade, at) => at > 0 && expect(shade).toBeLessThanOrEqual(across[at - 1]! + 2));
    expect(across[0]! - across.at(-1)!).toBeGreaterThan(80);
    const down = (await line(page, "y", 0.5)).pixels.map(light);
    expect(Math.max(...down) - Math.min(...down)).toBeLessThan(3);
  }
});

test("the ramp is over what is in sight", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(1000, 1000)", at: "0,0" });
  expect(await text(page, "#grid .key")).toContain("address from 0 to 999999");
  await go(page, { chain: "(1000, 1000)", zoom: "30,500,500", at: "0,0" });
  await page.waitForTimeout(400);
  const key = await text(page, "#grid .key");
  const [, low, high] = /address from (\d+) to (\d+)/.exec(key)!.map(Number);
  expect(low).toBeGreaterThanOrEqual(500_400);
  expect(high! - low!).toBeLessThan(20_000);
  const pixels = (await line(page, "y", 0.5)).pixels.map(light);
  expect(Math.max(...pixels) - Math.min(...pixels)).toBeGreaterThan(100);
});

test("rests of addresses that differ within a pixel are not averaged", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(1000,1000).permute(1,0)", color: "mod7", at: "0,0" });
  const { pixels } = await line(page, "x", 0.5);
  expect(new Set(pixels.map(String)).size).toBe(1);
  expect(colour(pixels[0]!)).toBeLessThan(12);
  expect(await text(page, "#grid .key")).toContain("grey: far apart within the pixel");
  // Where those of a pixel lie between two multiples of n, it shows their rest, which falls back at 9,999, at
  // 19,998 and at 29,997; what comes after 39,996 is below the ring of the last element.
  await go(page, { chain: "(40000)", color: "mod9999", at: "39999" });
  expect(sawteeth((await line(page, "x", 0.3)).pixels.slice(0, -20))).toBe(3);
});
