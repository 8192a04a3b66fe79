/** Keyboard, screen readers, colour schemes and small screens. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open, settled } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Axe {
  run(
    context: unknown,
    options: unknown,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** What axe finds, in a word each: by all of its rules, or by those about colours. */
async function violations(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  // The policy of the page allows no scripts but its own, so the checker is put in by the browser itself.
  if (!(await page.evaluate(() => "axe" in globalThis)))
    await page.evaluate((await import("node:fs")).readFileSync(AXE, "utf8"));
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const only = rules === "all" ? {} : { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
    const { violations } = await axe.run(document, { resultTypes: ["violations"], ...only });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
  }, rules);
}

const STATES: readonly Record<string, string>[] = [
  {},
  { chain: "(5, 6).pad((1, 1), (1, 1)).as_strided((5, 6, 3, 3), (8, 1, 8, 1))", other: "(5, 6)", at: "0,0,0,0" },
  { chain: "(6).reshape(2, 3).flip(0)", muted: "1" },
  { chain: "(6).reshape(4, 3).flip(0)" },
  { chain: "(6).reshap(4, 3)" },
  { chain: "(2, 3, 4, 5, 6)", strip: "wrapped" },
  { chain: "(0, 3)" },
  { chain: "()" },
  { mode: "view", size: "2,3", stride: "3,1", begin: "0,1", end: "2,3" },
  { mode: "view", size: "2,x", stride: "3,1" },
  { mode: "free", index: "x*3 + y // 2", valid: "x < 2", variables: "x:0:3,y:-1:3", other: "(3, 4)" },
  { mode: "free", index: "x*3 +", variables: "x:0:3" },
];

for (const width of [1360, 360]) {
  test(`axe has nothing to say: light and dark, ${width} pixels`, { timeout: 180_000 }, async () => {
    const { page, complaints } = await open(here.browser, here.url, { viewport: { width, height: 800 }, bypassCSP: true });
    // What is on the page is the same in both: in the dark only colours can be wrong.
    const both = async (state: object): Promise<void> => {
      expect(await violations(page), JSON.stringify(state)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)).toBe(true);
      expect(await violations(page, "colours"), `dark: ${JSON.stringify(state)}`).toEqual([]);
      await page.emulateMedia({ colorScheme: "light" });
    };
    for (const state of STATES) {
      if (Object.keys(state).length > 0) await go(page, state);
      await page
        .locator(".terms summary")
        .first()
        .click({ timeout: 300 })
        .catch(() => undefined);
      await both(state);
    }
    await page.getByRole("button", { name: "Export" }).click();
    await both({});
    expect(complaints).toEqual([]);
    await leave(page);
  });
}

test("the grid is one tab stop, and the arrow keys move the element", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,6)&at=0,0`);
  const grid = page.getByRole("application", { name: /Tensor grid/ });
  await grid.focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "End", "ArrowLeft"]) await page.keyboard.press(key);
  await page.waitForFunction(() => globalThis.explorer.detail.value?.index?.join() === "1,4");
  expect(await text(page, "#element .linked")).toMatch(/\[1, 4\]\s*→\s*10/);
  await page.waitForFunction(
    () =>
      document.querySelector(".spoken[role=status]")?.textContent ===
      "Element [1, 4]: address 10, read by 1 element.",
  );
  await page.keyboard.press("Control+End");
  await page.waitForFunction(() => globalThis.explorer.detail.value?.index?.join() === "3,5");
  await page.keyboard.press("+");
  await page.waitForFunction(() => globalThis.explorer.page.value.camera !== null);
  await page.keyboard.press("0");
  await page.waitForFunction(() => globalThis.explorer.page.value.camera === null);
  await page.keyboard.press("Tab");
  expect(await grid.evaluate((host) => host.contains(document.activeElement))).toBe(false);
  await leave(page);
});

test("memory is one tab stop, and pointing at an address lights its readers", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(1,4).expand(3,4)&at=0,0`);
  const strip = page.getByRole("application", { name: /Memory/ });
  await strip.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  // The readers are known before the element that is shown.
  await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 2);
  expect(await page.evaluate(() => globalThis.explorer.gridView.value!.readers)).toEqual([
    [0, 2],
    [1, 2],
    [2, 2],
  ]);
  await page.waitForFunction(
    () => document.querySelector(".spoken[role=status]")?.textContent === "Address 2: read by 3 elements.",
  );
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.explorer.page.value.at.join() === "0,2");
  await leave(page);
});

test("everything can be done with the keyboard alone", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,+6).flip(0)`);
  const press = async (name: string): Promise<void> => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    await settled(page);
  };
  await page.getByLabel("Add an operation").focus();
  await page.getByLabel("Add an operation").selectOption("permute");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6).flip(0).permute(1, 0)");
  await settled(page);
  await press("Move permute, operation 2 earlier");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6).permute(1, 0).flip(0)");
  await press("Mute flip, operation 2");
  await page.waitForFunction(() => globalThis.explorer.page.value.muted.join() === "1");
  await choose(page, [0, 1]);
  expect(await page.evaluate(() => globalThis.explorer.detail.value!.address)).toBe(6);
  await press("Delete flip, operation 2");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6).permute(1, 0)");
  const index = page.getByRole("spinbutton", { name: "index along axis 0" });
  await index.focus();
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => globalThis.explorer.page.value.at.join() === "1,1");
  // Whatever can be reached shows that it is.
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  for (let k = 0; k < 40; k++) {
    await page.keyboard.press("Tab");
    const shown = await page.evaluate(() => {
      const style = getComputedStyle(document.activeElement!);
      return document.activeElement === document.body || style.outlineStyle !== "none";
    });
    expect(shown).toBe(true);
  }
  await leave(page);
});

test("a block that is moved keeps the focus", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,+6).flip(0).permute(1,+0).reshape(24)`);
  await page.getByRole("button", { name: "Move flip, operation 1 later" }).focus();
  for (const [chain, name] of [
    ["(4, 6).permute(1, 0).flip(0).reshape(24)", "Move flip, operation 2 later"],
    ["(4, 6).permute(1, 0).reshape(24).flip(0)", "Move flip, operation 3 earlier"],
    ["(4, 6).permute(1, 0).flip(0).reshape(24)", "Move flip, operation 2 earlier"],
    ["(4, 6).flip(0).permute(1, 0).reshape(24)", "Move flip, operation 1 later"],
  ]) {
    await page.keyboard.press("Enter");
    await page.waitForFunction((chain) => globalThis.explorer.page.value.chain === chain, chain);
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(name);
  }
  await leave(page);
});

test("a telephone is wide enough", async () => {
  const { page, complaints } = await open(here.browser, here.url, {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  });
  for (const state of STATES) {
    if (Object.keys(state).length > 0) await go(page, state);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide, JSON.stringify(state)).toBeLessThanOrEqual(360);
  }
  await go(page, { chain: "(4, 6)" });
  const box = (await page.locator("#grid canvas").boundingBox())!;
  await page.locator("#grid canvas").scrollIntoViewIfNeeded();
  const now = (await page.locator("#grid canvas").boundingBox())!;
  await page.touchscreen.tap(now.x + box.width - 30, now.y + 40);
  await page.waitForFunction(() => globalThis.explorer.page.value.at.join() === "0,5");

  // A finger that taps an address selects an element that reads it.
  await page.locator("#memory canvas").scrollIntoViewIfNeeded();
  const memory = (await page.locator("#memory canvas").boundingBox())!;
  const x = await page.evaluate(() => {
    const { stripCanvas, stripView } = globalThis.explorer;
    const { left, scale } = stripCanvas.now!.frame(stripView.value!);
    return left + 13.5 * scale;
  });
  await page.touchscreen.tap(memory.x + x, memory.y + 38);
  await page.waitForFunction(() => globalThis.explorer.page.value.at.join() === "2,1");

  // One finger scrolls the page over a picture that is seen as a whole, two zoom it, up and down too.
  const touch = await page.context().newCDPSession(page);
  const fingers = (type: "touchStart" | "touchMove" | "touchEnd", ...points: [number, number][]): Promise<unknown> =>
    touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await go(page, { chain: "(40, 30)" });
  await page.locator("#grid canvas").scrollIntoViewIfNeeded();
  const grid = (await page.locator("#grid canvas").boundingBox())!;
  const [middle, level] = [grid.x + 150, grid.y + 150];
  await fingers("touchStart", [middle, level - 20]);
  await fingers("touchStart", [middle, level - 20], [middle, level + 20]);
  for (let apart = 20; apart <= 70; apart += 5) {
    await fingers("touchMove", [middle, level - apart], [middle, level + apart]);
  }
  await fingers("touchEnd");
  await page.waitForFunction(() => (globalThis.explorer.page.value.camera?.scale ?? 0) > 15);
  expect(complaints).toEqual([]);
  await leave(page);
});

test("dark mode changes the pictures too, and a masked cell has a pattern", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,6).pad((1,1),(1,1))`, { colorScheme: "light" });
  const pixels = (): Promise<number[][]> =>
    page.evaluate(() => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const grid = gridCanvas.now!;
      const { camera, left, top } = grid.frame(gridView.value!);
      const pen = grid.canvas.getContext("2d")!;
      // A part of the masked cell in the corner.
      const { data } = pen.getImageData(left + 4, top + 4, camera.scale - 8, camera.scale - 8);
      const colors = new Set<string>();
      for (let at = 0; at < data.length; at += 4) colors.add([...data.slice(at, at + 3)].join());
      return [...colors].map((color) => color.split(",").map(Number));
    });
  await page.waitForTimeout(300);
  const light = await pixels();
  expect(light.length).toBeGreaterThan(1);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(300);
  const dark = await pixels();
  expect(dark.length).toBeGreaterThan(1);
  const mean = (colors: number[][]): number => colors.flat().reduce((a, b) => a + b, 0) / colors.flat().length;
  expect(mean(dark)).toBeLessThan(120);
  expect(mean(light)).toBeGreaterThan(160);
  await leave(page);
});

test("reduced motion moves nothing", async () => {
  const { page } = await open(here.browser, here.url, { reducedMotion: "reduce" });
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll("*")].filter((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element);
        return animationName !== "none" || transitionDuration.split(",").some((time) => parseFloat(time) > 0);
      }).length,
  );
  expect(moving).toBe(0);
  await leave(page);
});

test("where the system chooses the colours icons and keys are still seen", async () => {
  const { page } = await open(here.browser, here.url, { forcedColors: "active" });
  const hidden = await page.evaluate(() => {
    const painted = (element: Element, part: string | null, behind: Element): boolean => {
      const style = getComputedStyle(element, part);
      return (
        style.backgroundImage !== "none" || style.backgroundColor !== getComputedStyle(behind).backgroundColor
      );
    };
    const icons = [...document.querySelectorAll("button[data-icon]")].filter(
      (icon) => getComputedStyle(icon, "::before").forcedColorAdjust !== "none" || !painted(icon, "::before", icon),
    );
    const swatches = [...document.querySelectorAll(".swatch:not(.hole)")].filter(
      (swatch) => getComputedStyle(swatch).forcedColorAdjust !== "none" || !painted(swatch, null, document.body),
    );
    return [...icons, ...swatches].map((element) => element.outerHTML);
  });
  expect(hidden).toEqual([]);
  await leave(page);
});
