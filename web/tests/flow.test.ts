/** The flow: the tensor after each operation, the element threaded through, and blocks that can be changed. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open, settled } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** The colours that differ from the background in the small grid of a station. */
async function painted(page: Page, station: number): Promise<number> {
  return page.evaluate((station) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`[data-station="${station}"] canvas`)!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set<number>();
    for (let at = 0; at < data.length; at += 4) colors.add((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!);
    return colors.size;
  }, station);
}

test("every step has its picture, from the base to the result", async () => {
  const { page, complaints } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)", at: "2,0" });
  expect(await page.locator("[data-station] canvas").count()).toBe(3);
  await page.waitForTimeout(400);
  for (const station of [0, 1, 2]) expect(await painted(page, station)).toBeGreaterThan(5);
  expect(await page.locator("[data-station]").evaluateAll((list) => list.map((each) => each.querySelector(".foot")!.textContent))).toEqual([
    "base",
    expect.stringContaining("1 view"),
    expect.stringContaining("2 views"),
  ]);
  expect(complaints).toEqual([]);
});

test("the element is threaded through all of them, and the line goes through its cells", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)", at: "2,0" });
  // The element at [2, 0] has position 4, which is [1, 1] in two rows of three, and [1, 1] in the base: address 3.
  await page.waitForFunction(() => JSON.stringify(globalThis.explorer.thread.value?.indices) === "[[1,1],[1,1],[2,0]]");
  expect(await text(page, ".memory-end output")).toBe("3");
  await page.waitForFunction(
    () => (document.querySelector(".thread path")!.getAttribute("d")!.match(/M/g) ?? []).length === 3,
  );
  const ends = await page.evaluate(() => {
    const d = document.querySelector(".thread path")!.getAttribute("d")!;
    const list = document.querySelector(".blocks")!.getBoundingClientRect();
    const boxes = [...document.querySelectorAll("[data-station] canvas")].map((canvas) => {
      const box = canvas.getBoundingClientRect();
      return [box.left - list.left, box.top - list.top, box.right - list.left, box.bottom - list.top];
    });
    const points = [...d.matchAll(/M([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
    return points.map(([x, y], at) => {
      const [left, top, right, bottom] = boxes[at]!;
      return x! >= left! && x! <= right! && y! >= top! && y! <= bottom!;
    });
  });
  expect(ends).toEqual([true, true, true]);
  await choose(page, [0, 1]);
  await page.waitForFunction(() => JSON.stringify(globalThis.explorer.thread.value?.indices) === "[[1,0],[0,1],[0,1]]");
});

test("an element of padding has no place before it was padded", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(2).pad((1, 1)).reshape(2, 2)", at: "0,0" });
  await page.waitForFunction(() => JSON.stringify(globalThis.explorer.thread.value?.indices) === "[null,[0],[0,0]]");
  expect(await text(page, ".memory-end output")).toBe("masked");
});

test("a step that is pressed shows its tensor in full with the same element, by keys too", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)", at: "2,0" });
  await page.waitForFunction(() => globalThis.explorer.thread.value?.indices.length === 3);
  await page.getByRole("button", { name: /^Show the tensor after permute/ }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.explorer.layout.value?.shape.join() === "2,3");
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.page.value.at)).toEqual([1, 1]);
  await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 3);
  // The answer is still about the whole chain.
  expect(await page.locator(".answer").getAttribute("data-one-view")).toBe("no");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => globalThis.explorer.page.value.step === 0);
  await settled(page);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(/^Show the base/);
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([3, 2]);
  expect(await page.evaluate(() => location.hash.includes("step=0") || globalThis.explorer.page.value.step === 0)).toBe(true);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => globalThis.explorer.page.value.step === null);
});

test("the views are stations too, and the element goes through them as positions", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)", at: "2,0", flow: "views" });
  expect(await page.locator("#flow [data-station]").count()).toBe(2);
  expect(await text(page, '#flow [data-station="0"]')).toMatch(/View 2.*position 4/s);
  await page.waitForFunction(
    () => (document.querySelector(".thread path")!.getAttribute("d")!.match(/M/g) ?? []).length === 2,
  );
});

test("numbers that are dragged take what comes after them along, or stay and say why", async () => {
  const { page } = await here.shared();
  const chain = (text: string): Promise<unknown> =>
    page.waitForFunction((text) => globalThis.explorer.page.value.chain === text && globalThis.explorer.idle.value, text);
  const press = async (name: string, key: string): Promise<void> => {
    await page.getByRole("spinbutton", { name, exact: true }).focus();
    await page.keyboard.press(key);
  };
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)" });
  await press("base, number 1", "ArrowUp");
  await chain("(4, 2).permute(1, 0).reshape(4, 2)");
  // What has followed goes back with it, and half a number that is typed is no harm.
  await press("base, number 1", "ArrowDown");
  await chain("(3, 2).permute(1, 0).reshape(3, 2)");
  await press("base, number 1", "End");
  await page.keyboard.type("0");
  await chain("(30, 2).permute(1, 0).reshape(3, 20)");
  await page.getByRole("spinbutton", { name: "base, number 1", exact: true }).fill("4");
  await chain("(4, 2).permute(1, 0).reshape(4, 2)");
  await press("base, number 2", "ArrowUp");
  await chain("(4, 3).permute(1, 0).reshape(4, 3)");
  // Of twelve elements there are no rows of five: the next number that can be is six.
  await press("reshape, operation 2, number 1", "ArrowUp");
  await chain("(4, 3).permute(1, 0).reshape(6, 2)");
  await press("permute, operation 1, number 1", "ArrowDown");
  await chain("(4, 3).permute(0, 1).reshape(6, 2)");
  await press("permute, operation 1, number 2", "ArrowUp");
  await page.waitForFunction(() => document.querySelector("#chain-help")!.textContent!.startsWith("That number cannot be"));
  expect(await page.evaluate(() => globalThis.explorer.page.value.chain)).toBe("(4, 3).permute(0, 1).reshape(6, 2)");
  expect(await page.evaluate(() => globalThis.explorer.trouble.value)).toBeNull();
  expect(await page.locator(".badge").count()).toBe(0);
});

test("memory stays in sight, and few stops of the tab key come before the tensor", async () => {
  const { page } = await open(here.browser, `${here.url}#(4,6).pad((1,1),(2,1)).flip(1).reshape(6,3,3)`, {
    viewport: { width: 1440, height: 900 },
  });
  const seen = (): Promise<boolean> =>
    page.evaluate(() => {
      const { top, bottom } = document.querySelector("#memory canvas")!.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
  await page.waitForSelector("#memory canvas");
  await page.waitForTimeout(300);
  expect(await seen()).toBe(true);
  await page.evaluate(() => scrollTo(0, 400));
  expect(await seen()).toBe(true);
  await page.evaluate(() => scrollTo(0, 0));
  let stops = 0;
  for (; stops < 40; stops++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.closest("#grid .canvas-host") !== null)) break;
    if (await page.evaluate(() => document.activeElement?.closest("#grid") !== null)) break;
  }
  expect(stops).toBeLessThan(28);
  await leave(page);
});

test("on the screens of laptops the head of the page is one row, and the tensor begins above memory", async () => {
  const { page } = await open(here.browser, here.url);
  await page.waitForSelector("#memory canvas");
  for (const [width, height] of [
    [1270, 780],
    [1280, 670],
    [1339, 700],
    [1340, 700],
    [1366, 650],
    [1419, 760],
    [1420, 760],
    [1440, 790],
    [1920, 950],
  ] as const) {
    await page.setViewportSize({ width, height });
    await settled(page);
    const { row, wide, above } = await page.evaluate(() => {
      const parts = document.querySelectorAll(".top :is(h1, .headline, button, a)");
      const boxes = [...parts].map((part) => part.getBoundingClientRect()).filter((box) => box.width > 0);
      const top = (of: string): number => document.querySelector(of)!.getBoundingClientRect().top;
      return {
        row: Math.max(...boxes.map((box) => box.top)) < Math.min(...boxes.map((box) => box.bottom)),
        wide: document.documentElement.scrollWidth > innerWidth,
        above: top("#memory") - top("#grid canvas"),
      };
    });
    expect({ row, wide }, `${width} by ${height}`).toEqual({ row: true, wide: false });
    expect(above, `${width} by ${height}`).toBeGreaterThan(25);
  }
  await leave(page);
});

test("a window that becomes narrow leaves nothing of the flow beyond the page", async () => {
  const { page } = await open(here.browser, here.url, { viewport: { width: 1360, height: 900 } });
  await page.waitForSelector(".thread path[d]");
  await settled(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, undefined, { timeout: 3000 });
  await leave(page);
});

test("without a choice the selected element is one that has an address", async () => {
  const { page } = await here.shared();
  for (const chain of ["(4, 6).pad((1, 1), (2, 1))", "(5).pad((0, 3)).flip(0).reshape(2, 4)", "(4, 6)"]) {
    await go(page, { chain });
    await page.waitForFunction(() => globalThis.explorer.detail.value?.layout === globalThis.explorer.layout.value);
    await page.waitForFunction(() => globalThis.explorer.detail.value!.address !== null, undefined, { timeout: 3000 });
    expect(await page.evaluate(() => globalThis.explorer.detail.value!.address), chain).toBe(0);
  }
});

test("while an address is pointed at, heading and fields say the same index", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0)", at: "1,2" });
  await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 5);
  await page.getByRole("application", { name: /Memory/ }).focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 0);
  expect(await text(page, "#element .linked")).toMatch(/^\[0, 0\]/);
  const fields = await page.locator("#element .index input").evaluateAll((list) => list.map((each) => (each as HTMLInputElement).value));
  expect(fields).toEqual(["0", "0"]);
});

test("devices: where the base lies, which operations are free, and colours by device", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6).permute(1, 0)" });
  await page.getByRole("button", { name: "+ devices" }).click();
  await page.waitForFunction(() => /^2 devices\./.test(document.querySelector("#devices-say")?.textContent ?? ""));
  expect(await text(page, '.block[data-block="0"]')).toContain("free");
  expect(await page.evaluate(() => globalThis.explorer.gridView.value!.scene.color)).toBe("device");
  await page.locator(".devices input").fill("2 : S(3)");
  await page.waitForSelector(".devices .wrong");
  await page.getByRole("button", { name: "No devices" }).click();
  await page.waitForFunction(() => document.querySelector(".devices") === null);
});
