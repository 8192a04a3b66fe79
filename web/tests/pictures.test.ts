/** What the pictures say: exact numbers, cells of any size, and the same in what is exported. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** The words of the SVG that the page exports. */
async function exported(page: Page): Promise<{ text: string; words: string[] }> {
  await page.getByRole("button", { name: "Export" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "SVG", exact: true }).click(),
  ]);
  const text = readFileSync((await download.path())!, "utf8");
  const words = await page.evaluate((source) => {
    const document = new DOMParser().parseFromString(source, "image/svg+xml");
    if (document.querySelector("parsererror") !== null) throw new Error("This is no SVG.");
    return [...document.querySelectorAll("text")].map((each) => each.textContent!.replace("\u2212", "-").replaceAll("\u202f", ""));
  }, text);
  return { text, words };
}

test("addresses past 2^53 are drawn exactly", async () => {
  const { page, complaints } = await here.shared();
  const far = 2n ** 62n;
  await go(page, { chain: `View(shape=(3, 4), strides=(${far}, 1), offset=-${far - 1n})` });
  const { words } = await exported(page);
  for (let row = 0n; row < 3n; row++) {
    for (let column = 0n; column < 4n; column++) {
      expect(words).toContain(String(row * far + column - far + 1n));
    }
  }
  await choose(page, [2, 3]);
  expect(await text(page, "#element .to")).toBe(String(far + 4n));

  // One step along memory is one step, however far away.
  await page.getByRole("application", { name: /Memory/ }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((to) => String(globalThis.explorer.readers.value?.address) === to, String(far + 3n));
  await page.waitForFunction(() => globalThis.explorer.detail.value?.index?.join() === "2,2");
  expect(complaints).toEqual([]);
});

test("what is exported is what is seen", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6).pad((1, 1), (2, 1))", at: "1,2" });
  await page.waitForFunction(() => globalThis.explorer.stripCanvas.now!.known !== null);
  const { text, words } = await exported(page);
  for (let address = 0; address < 24; address++) {
    // Once in its cell, and once in memory.
    expect(words.filter((word) => word === String(address)).length, String(address)).toBeGreaterThanOrEqual(2);
  }
  expect(text).toContain("url(#masked)");
  expect(text).toContain("<title>(4, 6).pad((1, 1), (2, 1))</title>");
  expect(text).not.toContain("NaN");
});

test("rings around narrow cells are exported too", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(88)", at: "7" });
  await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 7);
  const { text } = await exported(page);
  const paths = [...text.matchAll(/ d="([^"]*)"/g)].map(([, path]) => path!);
  expect(paths.some((path) => path.includes("a"))).toBe(true);
  expect(paths.filter((path) => /--|NaN/.test(path))).toEqual([]);
});

test("what has no picture is exported as data only", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(0, 3)" });
  await page.getByRole("button", { name: "Export" }).click();
  const off = (name: string): Promise<boolean> => page.getByRole("button", { name, exact: true }).isDisabled();
  expect([await off("SVG"), await off("PNG"), await off("JSON")]).toEqual([true, true, false]);
  await page.keyboard.press("Escape");
});

test("a long line can be seen and pointed at, and names of joined axes have room", async () => {
  const { page } = await here.shared();
  for (const [shape, places] of [
    ["(3000)", "columns"],
    ["(3000)", "rows"],
    ["(2, 3000)", "rows,columns"],
  ] as const) {
    await go(page, { chain: shape, axes: places });
    const { small, inside } = await page.evaluate(() => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const view = gridView.value!;
      const { left, top, wide, tall } = gridCanvas.now!.frame(view);
      const { row, column } = view.scene.plan;
      const [x, y] = [column.extent * wide, row.extent * tall];
      return {
        small: Math.min(x, y),
        inside: gridCanvas.now!.indexAt(view, left + x - 1e-6, top + y - 1e-6),
      };
    });
    expect(small, shape).toBeGreaterThanOrEqual(13.9);
    // The last element lies in the last corner.
    expect(inside, shape).toEqual(shape === "(3000)" ? [2999] : [1, 2999]);
  }
  await go(page, { chain: "(12, 13, 14, 5)", axes: "down,rows,rows,columns" });
  const left = await page.evaluate(() => {
    const { gridCanvas, gridView } = globalThis.explorer;
    return gridCanvas.now!.frame(gridView.value!).left;
  });
  // "11" and "12,13" beside each other, seven pixels a letter.
  expect(left).toBeGreaterThanOrEqual(7 * 7);
});

test("a link that zooms to where nothing is shows some of the tensor", async () => {
  const { page } = await here.shared();
  for (const zoom of ["20,1e9,1e9", "20,-1e9,-1e9", "0.0001,0,0"]) {
    await go(page, { chain: "(4, 6)", zoom });
    const { from, to, scale, width, height } = await page.evaluate(() => {
      const grid = globalThis.explorer.gridCanvas.now!;
      const { camera, left, top } = grid.frame(globalThis.explorer.gridView.value!);
      const { scale, x, y } = camera;
      const from = [left - x * scale, top - y * scale];
      const to = [left + (6 - x) * scale, top + (4 - y) * scale];
      return { from, to, scale, width: grid.width, height: grid.height };
    });
    expect(scale, zoom).toBeGreaterThanOrEqual(4);
    expect(from[0], zoom).toBeLessThan(width - 10);
    expect(from[1], zoom).toBeLessThan(height - 10);
    expect(to[0], zoom).toBeGreaterThan(10);
    expect(to[1], zoom).toBeGreaterThan(10);
  }
});

test("rows of memory that are shorter than was asked for say so", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(64, 512)", strip: "wrapped", row: "512" });
  const row = await page.evaluate(() => {
    const { stripCanvas, stripView } = globalThis.explorer;
    return stripCanvas.now!.frame(stripView.value!).row;
  });
  expect(row).toBeLessThan(512);
  expect(await page.locator("#memory").innerText()).toContain(`No more than ${row} addresses fit into a row here.`);
  await go(page, { chain: "(64, 512)", strip: "wrapped", row: "64" });
  expect(await page.locator("#memory").innerText()).not.toContain("No more than");
});

test("the menu of exports closes where someone presses elsewhere", async () => {
  const { page } = await here.shared();
  await page.getByRole("button", { name: "Export" }).click();
  expect(await page.locator("#exports").count()).toBe(1);
  await page.locator("h1").click();
  await page.waitForSelector("#exports", { state: "detached" });
});

test("no line of the expression is explained by itself", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(5).pad((0, 3)).reshape(2, 4)", at: "1,1" });
  await page.locator(".code-line").nth(2).waitFor();
  const lines = await page
    .locator(".code-line")
    .evaluateAll((all) =>
      all.map((line) => [
        line.getAttribute("data-line"),
        line.querySelector("dd > code:not(.substituted)")!.textContent,
      ]),
    );
  expect(lines.length).toBeGreaterThan(2);
  for (const [name, text] of lines) expect(text).not.toBe(name);
});

test("memory in rows zooms", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(64, 64)", strip: "wrapped", row: "64", at: "10,20" });
  const frame = (): Promise<{ scale: number; under: unknown }> =>
    page.evaluate(() => {
      const strip = globalThis.explorer.stripCanvas.now!;
      const view = globalThis.explorer.stripView.value!;
      return { scale: strip.frame(view).scale, under: strip.addressAt(view, strip.width / 2, strip.height / 2) };
    });
  const before = await frame();
  const memory = page.getByRole("application", { name: /Memory/ });
  await memory.focus();
  for (let k = 0; k < 4; k++) await page.keyboard.press("+");
  await page.waitForFunction(() => globalThis.explorer.page.value.stripCamera !== null);
  const near = await frame();
  expect(near.scale).toBeGreaterThan(before.scale * 2);
  // What was in the middle still is.
  expect(near.under).toBe(before.under);
  // The address in focus is followed, to the side too.
  await page.keyboard.press("End");
  await page.waitForFunction(() => {
    const { stripCanvas, stripView } = globalThis.explorer;
    const strip = stripCanvas.now!;
    const { begin, scale, from, row, top } = strip.frame(stripView.value!);
    const column = (4095 - begin) % row;
    const line = Math.floor((4095 - begin) / row);
    return column >= from && column < from + strip.width / scale && line >= top && line < top + strip.height / scale;
  });
  for (let k = 0; k < 12; k++) await page.keyboard.press("-");
  expect((await frame()).scale).toBeLessThan(before.scale);
  await page.keyboard.press("0");
  expect((await frame()).scale).toBe(before.scale);
});

test("what the colours mean is written below", async () => {
  const { page } = await here.shared();
  for (const [color, says] of [
    ["address", "address from 0 to 23"],
    ["axis1", "axis 1 from 0 to 8"],
    ["reads", "read once to 64 times or more"],
  ] as const) {
    await go(page, { chain: "(4, 6).pad((1, 1), (2, 1))", color });
    expect(await page.locator("#grid .key").innerText()).toContain(says);
  }
});

test("a colour that is not there is that of addresses", async () => {
  const { page } = await here.shared();
  for (const color of ["axis7", "view1", "view12"]) {
    await go(page, { chain: "(4, 6)", color });
    expect(await page.getByLabel("Colour").inputValue()).toBe("address");
    expect(await page.locator("#grid .key").innerText()).toContain("address from 0 to 23");
  }
  // A language that is not there says why, and is still the one that is chosen.
  await go(page, { mode: "free", index: "a", variables: "a:0:3", code: "numpy" });
  expect(await page.getByLabel("Code in").inputValue()).toBe("numpy");
});
