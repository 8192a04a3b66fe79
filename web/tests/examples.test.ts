/** The examples: small pictures, each of one thing, and all of them without a mistake. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { leave, open, settled } from "./browser";
import { DIST } from "./server";
import { stage } from "./setup";

const here = stage();

interface Preset {
  name: string;
  chain: string;
  text: string;
  at: number[];
}

const PRESETS = JSON.parse(readFileSync(`${DIST}presets.json`, "utf8")) as Preset[];

test("each example is a picture of its own, and begins at an element that has an address", { timeout: 120_000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  const button = page.getByRole("button", { name: "Examples" });
  const pictures = new Set<string>();
  for (const { name, chain, text, at } of PRESETS) {
    await button.click();
    const example = page.locator("button.example", { hasText: name }).first();
    const canvas = example.locator("canvas");
    await canvas.waitFor();
    // Something is drawn: more than one colour.
    await page.waitForFunction((name) => {
      const example = [...document.querySelectorAll("button.example")].find((each) => each.textContent.startsWith(name));
      const canvas = example?.querySelector("canvas");
      if (canvas == null || canvas.width === 0) return false;
      const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true })!;
      pen.drawImage(canvas, 0, 0);
      const words = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return new Set(words).size > 3;
    }, name);
    pictures.add(await canvas.evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL()));
    expect(await example.innerText()).toContain(text);
    await example.click();
    await settled(page);
    await page.waitForFunction((at) => globalThis.explorer.detail.value?.index?.join() === at, at.join());
    const now = await page.evaluate(() => ({
      chain: globalThis.explorer.page.value.chain,
      trouble: globalThis.explorer.trouble.value,
      address: globalThis.explorer.detail.value?.address,
    }));
    expect(now).toMatchObject({ chain, trouble: null });
    expect(now.address, name).not.toBeNull();
    expect(await page.locator("#chain-help").innerText()).toBe(text);
    expect(await page.locator(".examples").count()).toBe(0);
  }
  expect(pictures.size).toBe(PRESETS.length);
  expect(complaints).toEqual([]);
  await leave(page);
});

test("the examples are chosen with keys, and the course is found", async () => {
  const { page } = await open(here.browser, here.url);
  const button = page.getByRole("button", { name: "Examples" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator("button.example canvas").first().waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain(PRESETS[0]!.name);
  await page.keyboard.press("Escape");
  expect(await page.locator(".examples").count()).toBe(0);
  expect(await button.evaluate((button) => document.activeElement === button)).toBe(true);
  await page.keyboard.press("Enter");
  await page.locator("button.example canvas").nth(1).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction((chain) => globalThis.explorer.page.value.chain === chain, PRESETS[1]!.chain);
  await page.getByRole("link", { name: "Course" }).click();
  await page.waitForURL("**/course.html");
  expect(await page.locator("h1").innerText()).toBe("How a tensor lies in memory");
  await page.goBack();
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.page.value.chain)).toBe(PRESETS[1]!.chain);
  await leave(page);
});
