/** One screen, one picture: what is in sight on the screens that people have, and what can be told apart in it. */
import { afterAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open, settled } from "./browser";
import { go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();
const shares: string[] = [];

afterAll(() => console.log(shares.join("\n")));

/** The share of a canvas that can be seen: in the window, and with nothing over it. */
function inSight(page: Page, canvas: string): Promise<number> {
  return page.evaluate((canvas) => {
    const of = document.querySelector(canvas)!;
    const { left, top, width, height } = of.getBoundingClientRect();
    let [seen, all] = [0, 0];
    for (let row = 0.5; row < 40; row++) {
      for (let column = 0.5; column < 40; column++) {
        const found = document.elementFromPoint(left + (column * width) / 40, top + (row * height) / 40);
        all++;
        if (found === of) seen++;
      }
    }
    return seen / all;
  }, canvas);
}

const TENSORS = ["(3, 2).permute(1, 0).reshape(3, 2)", "(1000, 1000).permute(1, 0)", "(8, 1).expand(8, 40).flip(0)"];

test.each([
  [1280, 720],
  [1366, 657],
  [1440, 900],
])("at %i by %i the tensor and memory are in sight as wholes, wherever one reads", async (width, height) => {
  const { page } = await open(here.browser, here.url, { viewport: { width, height } });
  await page.waitForSelector("#memory canvas");
  for (const chain of TENSORS) {
    await go(page, { chain });
    await page.waitForSelector(".answer[data-fresh=yes]");
    await settled(page);
    for (const down of [0, 300]) {
      await page.evaluate((down) => scrollTo(0, down), down);
      await settled(page);
      const [tensor, memory] = [await inSight(page, "#grid canvas"), await inSight(page, "#memory canvas")];
      shares.push(`${width} x ${height}, scrolled by ${down}, ${chain}: tensor ${tensor}, memory ${memory}`);
      expect(tensor, chain).toBeGreaterThanOrEqual(0.95);
      expect(memory, chain).toBeGreaterThanOrEqual(0.95);
    }
    // A picture that is in sight because it is tiny would be none.
    expect(await page.evaluate(() => document.querySelector("#grid canvas")!.clientHeight), chain).toBeGreaterThan(150);
    await page.evaluate(() => scrollTo(0, 0));
    // The text and its answer are beside it.
    expect(await page.evaluate(() => document.querySelector(".answer")!.getBoundingClientRect().bottom)).toBeLessThan(height);
  }
  await leave(page);
});

test("on a telephone answer, steps, tensor and memory follow each other, and nothing lies over them", async () => {
  const { page } = await open(here.browser, here.url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await page.waitForSelector("#memory canvas");
  await page.waitForSelector(".answer[data-fresh=yes]");
  const tops = await page.evaluate(() =>
    [".answer", "#flow", "#grid", "#memory", "#element"].map((part) => document.querySelector(part)!.getBoundingClientRect().top),
  );
  expect(tops).toEqual([...tops].sort((a, b) => a - b));
  for (const canvas of ["#grid canvas", "#memory canvas"]) {
    await page.evaluate((canvas) => document.querySelector(canvas)!.scrollIntoView({ block: "center" }), canvas);
    const share = await inSight(page, canvas);
    shares.push(`390 x 844, ${canvas}: ${share}`);
    expect(share, canvas).toBeGreaterThanOrEqual(0.95);
  }
  await leave(page);
});

/** The colours in the picture of a step, each with how many pixels have it. */
function colours(page: Page, station: number): Promise<[number, number][]> {
  return page.evaluate((station) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`[data-station="${station}"] canvas`)!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map<number, number>();
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    return [...counts];
  }, station);
}

test.each(["(32, 3, 224, 224).permute(0, 2, 3, 1)", "(100, 100, 100).permute(2, 0, 1)", "(10, 20, 10, 50, 10).permute(4, 2, 0, 3, 1)"])(
  "%s is seen: in shades that differ before and after, and none of them grey",
  async (chain) => {
    const { page } = await here.shared();
    await go(page, { chain });
    await page.waitForFunction(() => document.querySelectorAll("[data-station] canvas").length === 2);
    await expect.poll(async () => (await colours(page, 1)).length).toBeGreaterThan(8);
    const [before, after] = [await colours(page, 0), await colours(page, 1)];
    for (const list of [before, after]) {
      const [cells, grey] = [list.filter(([colour]) => colour !== 0xffffff), list.filter(([colour]) => colour === 0xacaeb2)];
      const count = (of: [number, number][]): number => of.reduce((all, [, many]) => all + many, 0);
      expect(count(grey) / count(cells)).toBeLessThan(0.01);
      expect(cells.length).toBeGreaterThan(8);
    }
    // And in the large picture: all of it at once, as large as its place allows.
    const large = await page.evaluate(() => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const [grid, view] = [gridCanvas.now!, gridView.value!];
      const { wide, tall } = grid.frame(view);
      const { row, column, sliders } = view.scene.plan;
      const shape = view.scene.layout.shape;
      const last = shape.map((size) => size - 1);
      const middle = shape.map((size) => Math.floor(size / 2));
      const back = [last, middle].map((index) => {
        const { left, top } = grid.frame(view);
        const x = left + (column.place(column.ofIndex(index)) + 0.5) * wide;
        const y = top + (row.place(row.ofIndex(index)) + 0.5) * tall;
        return [index.join(), grid.indexAt(view, x, y)?.join()];
      });
      const seen = (wide * column.extent * tall * row.extent) / (grid.width * grid.height);
      return { sliders, seen, back, sampled: grid.tiles.all().some(({ sampled }) => sampled) };
    });
    expect(large.sliders).toEqual([]);
    expect(large.seen).toBeGreaterThan(0.5);
    expect(large.sampled).toBe(false);
    for (const [index, found] of large.back) expect(found).toBe(index);
    // The pictures of the steps themselves are other ones.
    const pictures = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLCanvasElement>("[data-station] canvas")].map((canvas) => canvas.toDataURL()),
    );
    expect(pictures[0]).not.toBe(pictures[1]);
  },
);

test("one address has one shade through all steps", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(32, 3, 224, 224).permute(0, 2, 3, 1).permute(0, 3, 1, 2)" });
  await page.waitForFunction(() => document.querySelectorAll("[data-station] canvas").length === 3);
  await expect.poll(async () => (await colours(page, 2)).length).toBeGreaterThan(8);
  // There and back: the first and the last picture are the same tensor. The mark of the element is in both.
  await expect
    .poll(() =>
      page.evaluate(() => {
        const [first, , last] = [...document.querySelectorAll<HTMLCanvasElement>("[data-station] canvas")];
        return first!.toDataURL() === last!.toDataURL();
      }),
    )
    .toBe(true);
});

test("how far each axis steps in memory is drawn and said for every step", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(32, 3, 224, 224).permute(0, 2, 3, 1).flip(2).unsqueeze(0).expand(5, 32, 224, 224, 3)" });
  const said = async (station: number): Promise<string[]> => {
    const list = page.locator(`[data-station="${station}"] .strides b`);
    await list.first().waitFor();
    return (await list.allInnerTexts()).map((each) => each.replaceAll("\u202f", "").replaceAll("\u2212", "-"));
  };
  expect(await said(0)).toEqual(["150528", "50176", "224", "1"]);
  expect(await said(1)).toEqual(["150528", "224", "1", "50176"]);
  expect(await said(2)).toEqual(["150528", "224", "-1", "50176"]);
  expect((await said(4))[0]).toBe("0");
  // A longer stride has a longer arrow, and that of a negative one points back.
  const lines = await page
    .locator('[data-station="1"] .stride path')
    .evaluateAll((list) => list.map((path) => (path as SVGPathElement).getBBox().width));
  expect(lines[0]).toBeGreaterThan(lines[3]!);
  expect(lines[3]).toBeGreaterThan(lines[1]!);
  expect(lines[1]).toBeGreaterThan(lines[2]!);
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)" });
  expect(await text(page, '[data-station="2"] .strides')).toContain("several views");
});

test("the way of the element is drawn beside the cells, and again when anything moves", async () => {
  const { page } = await open(here.browser, `${here.url}#(3,2).permute(1,0).reshape(3,2)&at=2,0`);
  await page.waitForFunction(() => (document.querySelector(".thread path")?.getAttribute("d")?.match(/M/g) ?? []).length === 3);
  const apart = (): Promise<{ over: number; ends: number }> =>
    page.evaluate(() => {
      const path = document.querySelector<SVGPathElement>(".thread path")!;
      const list = document.querySelector(".blocks")!.getBoundingClientRect();
      const cells = [...document.querySelectorAll<HTMLCanvasElement>("[data-station] canvas")].map((canvas) => {
        const box = canvas.getBoundingClientRect();
        return { left: box.left - list.left, right: box.right - list.left, top: box.top - list.top, bottom: box.bottom - list.top };
      });
      // A cell is more than 12 pixels away from the edge of its picture.
      const over = Array.from({ length: 400 }, (_, at) => path.getPointAtLength((at * path.getTotalLength()) / 400)).filter(
        ({ x, y }) => cells.some(({ left, right, top, bottom }) => x > left + 40 && x < right - 40 && y > top && y < bottom),
      ).length;
      const end = path.getPointAtLength(path.getTotalLength());
      const memory = document.querySelector(".memory-end output")!.getBoundingClientRect();
      return { over, ends: Math.abs(end.y - (memory.top + memory.height / 2 - list.top)) };
    });
  expect((await apart()).over).toBe(0);
  expect((await apart()).ends).toBeLessThan(3);
  await page.getByRole("button", { name: "+ devices" }).click();
  await page.waitForSelector(".devices");
  await settled(page);
  await expect.poll(async () => (await apart()).ends).toBeLessThan(3);
  await leave(page);
});
