/** The faults of the page that learners used before, each by its name. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { settled } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** The validity of all elements in row-major order, as the grid draws them. */
async function lit(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { gridCanvas, gridView } = globalThis.explorer;
    const { plan, fixed, layout } = gridView.value!.scene;
    const tile = gridCanvas.now!.tiles.get(0, 0, 1)!;
    let text = "";
    const total = Number(layout.numel);
    for (let position = 0; position < total; position++) {
      const index = [...fixed];
      let rest = position;
      for (let axis = layout.shape.length - 1; axis >= 0; axis--) {
        index[axis] = rest % layout.shape[axis]!;
        rest = Math.floor(rest / layout.shape[axis]!);
      }
      const row = plan.row.place(plan.row.ofIndex(index));
      const column = plan.column.place(plan.column.ofIndex(index));
      text += Number.isNaN(tile.addresses[row * tile.columns + column]) ? "0" : "1";
    }
    return text;
  });
}

/** The addresses of the grid, row by row; null where masked. */
async function addresses(page: Page): Promise<(number | null)[]> {
  return page.evaluate(() => {
    const tile = globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)!;
    return [...tile.addresses]
      .filter((address) => address !== Infinity)
      .map((address) => (Number.isNaN(address) ? null : address));
  });
}

test("a mask over three axes lights the right elements", async () => {
  const { page } = await here.shared();
  // What was (0,1),(1,2),(0,1) with both ends included.
  await go(page, { mode: "view", size: "2,3,2", stride: "6,2,1", begin: "0,1,0", end: "2,3,2" });
  expect(await lit(page)).toBe("001111001111");
});

test("masks are half-open, and say so", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "view", size: "6", stride: "1", begin: "1", end: "3" });
  expect(await lit(page)).toBe("011000");
  expect(await text(page, "#hand .help")).toContain("half-open");
});

test("products come before sums", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "free", index: "idx1+idx0*4", variables: "idx0:0:2,idx1:0:4" });
  expect(await addresses(page)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("a difference is a difference", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "free", index: "7 - idx0*4 - idx1", variables: "idx0:0:2,idx1:0:4" });
  expect(await addresses(page)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
});

test("a trailing operator is a mistake, pointed at, and the old picture is marked", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "free", index: "idx0*4", variables: "idx0:0:2" });
  await page.getByLabel("index", { exact: true }).fill("idx0*4 +");
  await page.waitForSelector("#index-fault");
  expect(await page.locator("main").getAttribute("data-state")).toBe("wrong");
  expect(await page.locator("#grid").getAttribute("data-stale")).toBe("wrong");
});

test("negative strides are drawn", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "view", size: "2,3", stride: "3,-1", begin: "0,0", end: "2,3", offset: "2" });
  expect(await addresses(page)).toEqual([2, 1, 0, 5, 4, 3]);
});

test("there is an offset", async () => {
  const { page } = await here.shared();
  await go(page, { mode: "view", size: "3", stride: "2", begin: "0", end: "3", offset: "0" });
  await page.getByRole("spinbutton", { name: "offset" }).fill("5");
  await settled(page);
  await page.waitForFunction(() => globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)?.addresses[0] === 5);
  expect(await addresses(page)).toEqual([5, 7, 9]);
});

test("there are chains of operations and stacks of views", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)" });
  expect(await addresses(page)).toEqual([0, 2, 4, 1, 3, 5]);
  expect(await page.locator("#views .view").count()).toBe(2);
});

test("bad input never leaves the old picture as if it were current", async () => {
  const { page } = await here.shared();
  for (const size of ["", "x", "2.5", "-1", "1e3", "99999999999999999999"]) {
    await go(page, { mode: "view", size: "2,3", stride: "3,1" });
    expect(await page.locator("#grid").getAttribute("data-stale")).toBeNull();
    await page.getByRole("spinbutton", { name: "size, axis 0" }).fill(size);
    await page.waitForSelector("main[data-state=wrong]");
    expect(await page.locator("#grid").getAttribute("data-stale"), size).toBe("wrong");
    expect(await page.locator("#memory").getAttribute("data-stale"), size).toBe("wrong");
    expect(await page.locator("#hand-fault").innerText(), size).not.toBe("");
  }
});

test("large tensors and far addresses cost nothing", { timeout: 60_000 }, async () => {
  const { page, complaints } = await here.shared();
  for (const fields of [
    { mode: "view", size: "100,100", stride: "100,1" },
    { mode: "view", size: "300,300", stride: "300,1" },
    { mode: "view", size: "2,2", stride: "1000000000000,1" },
    { mode: "view", size: "1000000,1000000", stride: "1000000,1" },
  ]) {
    const before = Date.now();
    await go(page, fields);
    expect(Date.now() - before, JSON.stringify(fields)).toBeLessThan(3000);
    const last = fields.size.split(",").map((size) => Number(size) - 1);
    await choose(page, last);
    const [a, b] = fields.stride.split(",").map(Number);
    expect(await page.evaluate(() => globalThis.explorer.detail.value!.address)).toBe(last[0]! * a! + last[1]! * b!);
  }
  expect(complaints).toEqual([]);
});

test("the state is in the link, the inputs have labels, and there are exports", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6).flip(1)" });
  expect(
    await page.evaluate(
      () =>
        [...document.querySelectorAll("input, select, textarea")].filter((field) => {
          const input = field as HTMLInputElement;
          return (input.labels?.length ?? 0) === 0 && !input.hasAttribute("aria-label");
        }).length,
    ),
  ).toBe(0);
  await page.getByRole("button", { name: "Export" }).click();
  for (const [name, file] of [
    ["SVG", "layout.svg"],
    ["PNG", "layout.png"],
    ["JSON", "layout.json"],
  ] as const) {
    if (!(await page.locator("#exports").isVisible())) await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name, exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(file);
  }
});
