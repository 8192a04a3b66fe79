/** The answer first: what the libraries do, the least copy, and code that can be copied. */
import { expect, test } from "vitest";
import { leave, open } from "./browser";
import { go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

test("the first screen says what the page is for and answers the question", async () => {
  const { page } = await open(here.browser, here.url, { viewport: { width: 1440, height: 900 } });
  await page.waitForSelector(".answer[data-fresh=yes]");
  expect(await text(page, ".headline")).toMatch(/view.*memory/s);
  const bottoms = await page.evaluate(() =>
    [".headline", "#chain textarea", ".answer", "#flow", "#memory canvas"].map(
      (part) => document.querySelector(part)!.getBoundingClientRect().bottom,
    ),
  );
  for (const bottom of bottoms) expect(bottom).toBeLessThanOrEqual(900);
  expect(await page.evaluate(() => document.querySelector("#grid canvas")!.getBoundingClientRect().top)).toBeLessThan(700);
  await leave(page);
});

test("a chain of one view needs no copy, and its strides are said", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(2, 6, 12).reshape(2, 6, 3, 4).permute(0, 2, 1, 3)" });
  await page.waitForSelector(".answer[data-fresh=yes][data-one-view=yes]");
  expect(await text(page, ".headline-answer")).toContain("strides (72, 4, 12, 1)");
  expect(await page.locator(".library[data-does=view]").count()).toBe(2);
  expect(await page.locator(".remedy").count()).toBe(0);
});

test("a chain of two views says where the second begins, what is copied at least, and gives the code", async () => {
  const { page } = await open(here.browser, `${here.url}#(3,2).permute(1,0).reshape(3,2)`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.waitForSelector(".answer[data-fresh=yes][data-one-view=no]");
  expect(await text(page, ".headline-answer")).toContain("reshape(3, 2)");
  expect(await text(page, ".least")).toContain("6");
  const code = await text(page, ".library .remedy code");
  expect(code).toMatch(/contiguous\(\)/);
  await page.locator(".library .remedy button").first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  // The copy is gone through with the keyboard: what is read is what the tensor before the operation has, in its order.
  await page.getByRole("button", { name: "Play the copy" }).press("Enter");
  await page.waitForFunction(() => document.querySelector(".film-says")?.textContent?.startsWith("6 elements"));
  for (const [position, address] of [0, 2, 4, 1, 3, 5].entries()) {
    await page.keyboard.press("ArrowRight");
    expect(await text(page, ".film-says")).toContain(`address ${address} is read, ${position} is written`);
    await page.waitForFunction((address) => globalThis.explorer.detail.value?.address === address, address);
  }
  expect(await text(page, ".film-says")).toContain("All is copied");
  await page.keyboard.press("Home");
  expect(await text(page, ".film-says")).toContain("6 elements of shape (2, 3)");
  await page.keyboard.press("Escape");
  expect(await page.locator(".film").count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.className)).toBe("plays");
  await leave(page);
});

test("with names it is said for which values libraries copy, and the code is written in them", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(B, T, C).transpose(1, 2).view(B, T*C)" });
  await page.waitForSelector(".answer[data-fresh=yes] .formula");
  await page.waitForSelector(".library[data-does=raises]");
  const pytorch = await text(page, ".library[data-does=raises]");
  const told = "Unless T == 1 or C == 1: .view(B, T*C) raises a RuntimeError; .reshape(B, T*C) copies all B*T*C elements.";
  expect(pytorch).toContain(told);
  expect(await text(page, ".library[data-does=raises] .remedy code")).toBe("x.transpose(1, 2).contiguous().view(B, T*C)");
  await go(page, { chain: "(B, T, C).reshape(B*T, C)" });
  await page.waitForSelector(".library[data-does=view]");
  expect(await page.locator(".remedy").count()).toBe(0);
});

test("the answer has its place from the beginning, and with a mistake it is about what stands before it", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6)" });
  await page.waitForSelector(".answer[data-fresh=yes]");
  const tall = (): Promise<number> => page.evaluate(() => document.querySelector(".answer")!.getBoundingClientRect().height);
  const before = await tall();
  await go(page, { chain: "(4, 6).permute(1, 0).reshape(24)" });
  await page.waitForSelector(".answer[data-fresh=yes][data-one-view=no]");
  expect(await tall()).toBe(before);
  await go(page, { chain: "(4, 6).permute(1, 0).reshape(25)" });
  await page.waitForSelector(".answer[data-fresh=yes][data-one-view=yes]");
  expect(await text(page, ".so-far")).toContain("(4, 6).permute(1, 0)");
  expect(await tall()).toBe(before);
});

test("a layout goes with the mode, and back as it was", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6).pad((1, 1), (2, 1)).flip(1)", at: "2,3" });
  const addresses = (): Promise<(number | null)[]> =>
    page.evaluate(async () => {
      const { layout, gridCanvas } = globalThis.explorer;
      while (!gridCanvas.now!.tiles.complete(layout.value)) await new Promise((done) => setTimeout(done, 20));
      return [...gridCanvas.now!.tiles.get(0, 0, 1)!.addresses].map((address) => (Number.isNaN(address) ? null : Number(address)));
    });
  const before = await addresses();
  for (const [name, mode] of [
    ["One view", "view"],
    ["Expression", "free"],
    ["One view", "view"],
    ["Operations", "chain"],
  ] as const) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.waitForFunction(
      (mode) => globalThis.explorer.page.value.mode === mode && globalThis.explorer.idle.value,
      mode,
    );
    expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape), name).toEqual([6, 9]);
    expect(await addresses(), name).toEqual(before);
    expect(await page.evaluate(() => globalThis.explorer.page.value.at), name).toEqual([2, 3]);
    expect(await page.locator(".notice").count(), name).toBe(0);
  }
});

test("a chain of two views becomes one expression, which is the same tensor; as one view it is said how far it goes", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)" });
  await page.getByRole("button", { name: "Expression", exact: true }).click();
  await page.waitForFunction(() => globalThis.explorer.layout.value?.free != null && globalThis.explorer.idle.value);
  const cells = await page.evaluate(async () => {
    const { layout, gridCanvas } = globalThis.explorer;
    while (gridCanvas.now?.tiles.complete(layout.value) !== true) await new Promise((done) => setTimeout(done, 20));
    return [...gridCanvas.now.tiles.get(0, 0, 1)!.addresses];
  });
  expect(cells).toEqual([0, 2, 4, 1, 3, 5]);
  await page.getByRole("button", { name: "Operations", exact: true }).click();
  await page.waitForFunction(() => globalThis.explorer.page.value.mode === "chain");
  expect(await page.evaluate(() => globalThis.explorer.page.value.chain)).toBe("(3, 2).permute(1, 0).reshape(3, 2)");
  await settledMode(page);
  await page.getByRole("button", { name: "One view", exact: true }).click();
  await page.waitForSelector(".notice");
  expect(await text(page, ".notice")).toContain("(2, 3):(1, 2)");
});

async function settledMode(page: import("playwright-core").Page): Promise<void> {
  await page.waitForFunction(() => globalThis.explorer.idle.value && globalThis.explorer.stations.value.length > 0);
}

test("how the result lies in memory is said, and what takes it once the size of an element is", async () => {
  const { page } = await here.shared();
  const said = (): Promise<string> => text(page, ".described[data-fresh=yes]");
  await go(page, { chain: "(8, 32, 32, 3).permute(0, 3, 1, 2)" });
  await expect.poll(said).toMatch(/In memory dense, .*BLAS/s);
  await go(page, { chain: "(6).as_strided((4, 3), (1, 1))" });
  await expect.poll(said).toContain("elements (0, 1) and (1, 0) both lie at address 1");
  await go(page, { chain: "(6, 8)[:, :5]" });
  await expect.poll(said).toMatch(/not dense, 15 addresses in between not read.*leading dimension 8/s);
  // Nothing is said of bytes that nobody has named.
  await page.locator(".described summary").click();
  expect(await page.locator(".described dt").allInnerTexts()).not.toContain("TMA");
  expect(await said()).not.toContain("bytes)");
  await page.locator(".described select").selectOption("2");
  await expect.poll(() => page.locator(".described dt").allInnerTexts()).toContain("TMA");
});
