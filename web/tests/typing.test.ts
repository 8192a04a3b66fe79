/** Typing is forgiven: what is not finished is no mistake, what is good stays, and nothing moves. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open, settled } from "./browser";
import { go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** Waits for the answer to the text as it stands. */
async function answered(page: Page): Promise<void> {
  await page.waitForFunction(() => globalThis.explorer.idle.value);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(null))));
}

test("a chain that is typed letter by letter shows no mistake, keeps the last good tensor, and moves nothing", async () => {
  const { page, complaints } = await open(here.browser, `${here.url}#(3,2)`);
  await page.getByLabel("Chain as text").click();
  await page.keyboard.press("End");
  const top = (): Promise<number[]> =>
    page.evaluate(() =>
      ["#chain", "#flow", "#grid"].map((id) => document.querySelector(id)!.getBoundingClientRect().top + scrollY),
    );
  await page.waitForFunction(() => document.querySelector(".answer[data-fresh=yes]") !== null);
  const before = await top();
  const good = ["(3, 2)", "(3, 2).permute(1, 0)", "(3, 2).permute(1, 0).reshape(3, 2)"];
  let written = "(3, 2)";
  for (const letter of ".permute(1, 0).reshape(3, 2)") {
    await page.keyboard.type(letter);
    written += letter;
    await answered(page);
    const shown = await page.evaluate(() => {
      const source = globalThis.explorer.layout.value?.source;
      return {
        chain: source !== undefined && "chain" in source ? source.chain : null,
        badges: document.querySelectorAll(".badge").length,
        stale: document.querySelectorAll("[data-stale]").length,
        invalid: document.querySelector("#chain textarea")!.getAttribute("aria-invalid"),
        alerts: document.querySelectorAll("#chain [role=alert]").length,
      };
    });
    const last = good.filter((chain) => written.startsWith(chain)).at(-1);
    expect(shown, written).toEqual({ chain: last, badges: 0, stale: 0, invalid: "false", alerts: 0 });
    expect(await top(), written).toEqual(before);
  }
  expect(complaints).toEqual([]);
  await leave(page);
});

test("what is not finished stays neutral as long as it is being written, and is a mistake when it is left", async () => {
  const { page } = await open(here.browser, `${here.url}#(3,2)`);
  const field = page.getByLabel("Chain as text");
  await field.click();
  await page.keyboard.press("End");
  await page.keyboard.type(".permute(1");
  await page.waitForTimeout(1600);
  expect(await page.locator(".badge").count()).toBe(0);
  expect(await field.getAttribute("aria-invalid")).toBe("false");
  await field.blur();
  await page.waitForSelector(".badge");
  expect(await page.locator(".badge").count()).toBe(1);
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  await leave(page);
});

test("a real mistake is told of after a pause, in its place, with a mark and a suggestion that is taken by a press", async () => {
  const { page } = await open(here.browser, `${here.url}#(3,2)`);
  const field = page.getByLabel("Chain as text");
  const top = (): Promise<number> => page.evaluate(() => document.querySelector("#flow")!.getBoundingClientRect().top);
  await page.waitForFunction(() => document.querySelector(".answer[data-fresh=yes]") !== null);
  const before = await top();
  await field.click();
  await page.keyboard.press("End");
  await page.keyboard.type(".permut(1, 0)");
  await answered(page);
  expect(await page.locator(".badge").count()).toBe(0);
  await page.waitForSelector(".badge");
  expect(await page.locator("#chain .mirror mark").innerText()).toBe("permut");
  expect(await top()).toBe(before);
  // The mark lies under the letters that it is about: the text above it is no wider and no narrower.
  const [mark, area] = await page.evaluate(() => {
    const mark = document.querySelector("#chain .mirror mark")!.getBoundingClientRect();
    const area = document.querySelector("#chain textarea")!.getBoundingClientRect();
    const style = getComputedStyle(document.querySelector("#chain textarea")!);
    const pen = document.createElement("canvas").getContext("2d")!;
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const inset = parseFloat(style.paddingLeft) + parseFloat(style.borderLeftWidth);
    return [mark.left, area.left + inset + pen.measureText("(3, 2).").width];
  });
  expect(Math.abs(mark! - area!)).toBeLessThan(1.5);
  await page.getByRole("button", { name: /Write permute instead/ }).click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(3, 2).permute(1, 0)");
  await settled(page);
  expect(await page.locator(".badge").count()).toBe(0);
  await leave(page);
});

test("after a mistake the picture is that of the text before it, never that of an earlier text", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0)" });
  const field = page.getByLabel("Chain as text");
  await field.fill("(2, 3).reshape(4, 2)");
  await field.blur();
  await page.waitForSelector(".badge");
  await page.waitForFunction(() => globalThis.explorer.gridCanvas.now!.tiles.complete(globalThis.explorer.layout.value));
  const cells = await page.evaluate(() => [...globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)!.addresses]);
  expect(cells).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await text(page, ".so-far")).toContain("(2, 3)");
});

test("operations are completed: found by their beginning, chosen with keys, described, and put in with brackets", async () => {
  const { page, complaints } = await open(here.browser, `${here.url}#(3,2)`);
  const field = page.getByLabel("Chain as text");
  await field.click();
  await page.keyboard.press("End");
  await page.keyboard.type(".");
  await page.waitForSelector("[role=listbox] [role=option]");
  expect(await page.locator("[role=option]").count()).toBeGreaterThan(10);
  await page.keyboard.type("s");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("[role=option] code")].every((code) => code.textContent!.toLowerCase().startsWith("s")),
  );
  const first = await field.getAttribute("aria-activedescendant");
  await page.keyboard.press("ArrowDown");
  expect(await field.getAttribute("aria-activedescendant")).not.toBe(first);
  await page.keyboard.press("ArrowUp");
  expect(await field.getAttribute("aria-activedescendant")).toBe(first);
  expect(await page.locator(`#${first}`).getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("[role=listbox]") === null);
  await page.keyboard.press("Backspace");
  await page.keyboard.type("perm");
  await page.waitForSelector("[role=option]");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(3, 2).permute()");
  await page.waitForFunction(() => document.querySelector("textarea")!.selectionStart === "(3, 2).permute(".length);
  await page.keyboard.type("1, 0");
  expect(await text(page, "#chain-help")).toMatch(/^permute\(.*\)/);
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([2, 3]);
  // Enter only ends the text where no list is open.
  await page.keyboard.press("Enter");
  expect(await field.inputValue()).toBe("(3, 2).permute(1, 0)");
  expect(complaints).toEqual([]);
  await leave(page);
});

test("Ctrl+Z in the text is the page's undo: it takes back whole words, and blocks that were moved", async () => {
  const { page } = await open(here.browser, `${here.url}#(3,2)`);
  const field = page.getByLabel("Chain as text");
  const chain = (text: string): Promise<unknown> =>
    page.waitForFunction((text) => globalThis.explorer.page.value.chain === text, text);
  await field.click();
  await page.keyboard.press("End");
  await page.keyboard.type(".flip(0)");
  await field.blur();
  await settled(page);
  await page.getByRole("button", { name: "Delete flip, operation 1" }).click();
  await chain("(3, 2)");
  await field.click();
  await page.keyboard.press("Control+z");
  await chain("(3, 2).flip(0)");
  await page.keyboard.press("Control+z");
  await chain("(3, 2)");
  expect(await field.inputValue()).toBe("(3, 2)");
  await page.keyboard.press("Control+Shift+z");
  await chain("(3, 2).flip(0)");
  expect(await field.inputValue()).toBe("(3, 2).flip(0)");
  await leave(page);
});

test("the shape of an array of which only the name is known is asked for", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "x.transpose(1, 2).reshape(2, -1)" });
  expect(await page.locator(".badge").count()).toBe(0);
  await page.getByLabel("Shape of x").fill("2, 3, 4");
  await page.waitForFunction(() => globalThis.explorer.layout.value?.shape.join() === "2,12");
  await settled(page);
  const cells = await page.evaluate(() => [...globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)!.addresses]);
  expect(cells.slice(0, 6)).toEqual([0, 4, 8, 1, 5, 9]);
  expect(await page.evaluate(() => location.hash)).toContain("base=");
});

test("code whose sizes are names asks for the shape of its array, which may have names too", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "x.view(B, T, H, D).transpose(1, 2).reshape(B, T, H*D)" });
  expect(await page.locator(".badge").count()).toBe(0);
  const shape = page.getByLabel("Shape of x");
  await shape.fill("B, T, C");
  await page.waitForSelector(".formula");
  expect(await text(page, ".formula")).toMatch(/^One view if and only if .*T == 1/);
  // B, T, H, D and C.
  expect(await page.locator(".names input[type=range]").count()).toBe(5);
  // The field stays, and other sizes can be entered.
  await shape.fill("5, 6, 8");
  await page.waitForFunction(() => globalThis.explorer.stations.value[0]?.shape.join() === "5,6,8");
  await settled(page);
  const sizes = await page.evaluate(() => globalThis.explorer.layout.value!.shape.map(Number));
  expect(sizes.reduce((all, size) => all * size, 1)).toBe(240);
});

test("sizes that are names have sliders, and the formula says when it is one view", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(T, H, 4).permute(1, 0, 2).reshape(T*H, 4)" });
  await page.waitForSelector(".formula");
  expect(await text(page, ".formula")).toMatch(/^One view if and only if .*T == 1/);
  const oneView = (): Promise<string | null> => page.locator(".answer").getAttribute("data-one-view");
  const set = async (name: string, value: string): Promise<void> => {
    await page.locator(".names label", { hasText: name }).locator("input[type=range]").fill(value);
    await page.waitForFunction(
      ([name, value]) => globalThis.explorer.page.value.values[name!] === Number(value),
      [name, value],
    );
    await settled(page);
    await page.waitForSelector(".answer[data-fresh=yes]");
  };
  await set("T", "3");
  await set("H", "2");
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([6, 4]);
  expect(await oneView()).toBe("no");
  await set("H", "1");
  expect(await oneView()).toBe("yes");
});
