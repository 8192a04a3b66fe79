/** What the pictures say: exact numbers, cells of any size, and the same in what is exported. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { choose, go } from "./explorer";
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
    return [...document.querySelectorAll("text")].map((each) => each.textContent!.replace("\u2212", "-"));
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
  expect(await page.locator("#element .to").innerText()).toBe(String(far + 4n));

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
