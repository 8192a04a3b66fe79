/** Mistakes in every field: a sentence, at the right place, and nothing that looks current. */
import { expect, test } from "vitest";
import { settled } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** What is wrong, where it is marked, and the good beginning that is shown: null where there is none. */
const CHAINS: readonly { text: string; says: RegExp; mark?: string; shows: number[] | null }[] = [
  { text: "", says: /./, shows: null },
  { text: "(", says: /./, shows: null },
  { text: "(2, 3", says: /./, shows: null },
  { text: "(2, 3).permut(1, 0)", says: /did you mean permute/, mark: "permut", shows: [2, 3] },
  { text: "(2, 3).reshape(4)", says: /./, mark: "reshape(4)", shows: [2, 3] },
  { text: "(2, 3).permute(1, 0).permute(0, 0)", says: /./, mark: "permute(0, 0)", shows: [3, 2] },
  { text: "(2, -3)", says: /./, shows: null },
  { text: "(9223372036854775807, 9223372036854775807)", says: /./, shows: null },
  { text: "(2, 3).pad((1, 1))", says: /./, shows: [2, 3] },
  { text: "(2).expand(3)", says: /./, shows: [2] },
  { text: "\u0000\u202e\ud83d\ude00", says: /./, shows: null },
];

test("mistakes in a chain are pointed at, and what is shown is what stands before them", async () => {
  const { page, complaints } = await here.shared();
  for (const { text: chain, says, mark, shows } of CHAINS) {
    await go(page, { chain: "(4, 6)" });
    const field = page.getByLabel("Chain as text");
    await field.fill(chain);
    await field.blur();
    await page.waitForSelector("main[data-state=wrong]:not([data-calm])");
    await settled(page);
    expect(await text(page, "#chain-fault p"), chain).toMatch(says);
    expect(await page.locator(".badge").count(), chain).toBe(1);
    expect(await page.locator("#grid").getAttribute("data-stale"), chain).toBeNull();
    const shape = await page.evaluate(() => globalThis.explorer.layout.value?.shape ?? null);
    expect(shape, chain).toEqual(shows);
    expect(await page.locator("#grid canvas").count(), chain).toBe(shows === null ? 0 : 1);
    if (mark !== undefined) expect(await page.locator("#chain .mirror mark").innerText(), chain).toBe(mark);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
  }
  expect(complaints).toEqual([]);
});

test("the mistake sits at its block, which can be muted, and what follows is kept", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(6).reshape(2, 3).reshape(4).flip(0)" });
  expect(await page.locator(".block[data-verdict=failed]").count()).toBe(1);
  expect(await text(page, ".block[data-verdict=failed]")).toContain("reshape");
  await page.getByRole("button", { name: "Mute reshape, operation 2" }).click();
  await page.waitForFunction(() => globalThis.explorer.idle.value && globalThis.explorer.trouble.value === null);
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([2, 3]);
  await choose(page, [0, 0]);
  expect(await page.evaluate(() => globalThis.explorer.detail.value!.address)).toBe(3);

  const chain = (): Promise<string> => page.evaluate(() => globalThis.explorer.page.value.chain);
  const fixed = async (): Promise<string> => {
    await page.waitForFunction(() => globalThis.explorer.idle.value && globalThis.explorer.trouble.value === null);
    return chain();
  };
  const broken = async (): Promise<void> => {
    await go(page, { chain: "(6).reshape(2, 3).reshape(4).flip(0)" });
    expect(await text(page, ".block[data-verdict=later]")).toContain("flip");
  };
  await broken();
  await page.getByRole("spinbutton", { name: "reshape, operation 2, number 1" }).fill("6");
  expect(await fixed()).toBe("(6).reshape(2, 3).reshape(6).flip(0)");
  await broken();
  await page.getByRole("button", { name: "Delete reshape, operation 2" }).click();
  expect(await fixed()).toBe("(6).reshape(2, 3).flip(0)");
  await broken();
  await page.getByRole("button", { name: "Move flip, operation 3 earlier" }).click();
  await page.waitForFunction(() => globalThis.explorer.idle.value && globalThis.explorer.trouble.value?.block === 2);
  expect(await chain()).toBe("(6).reshape(2, 3).flip(0).reshape(4)");
  expect(await page.locator(".block[data-verdict=later]").count()).toBe(0);
  // What stands before the mistake is drawn, and one badge says that it is not all.
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([2, 3]);
  const tile = await page.evaluate(() => [...globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)!.addresses]);
  expect(tile).toEqual([3, 4, 5, 0, 1, 2]);
  expect(await page.locator(".badge").count()).toBe(1);
});

test("mistakes in an expression and its variables", async () => {
  const { page, complaints } = await here.shared();
  const fields = { mode: "free", index: "x + y", valid: "x < 2", variables: "x:0:3,y:0:2" };
  for (const [label, value, place] of [
    ["index", "x + ", "#index-fault"],
    ["index", "x / / y", "#index-fault"],
    ["index", "z", "#index-fault"],
    ["index", "", "#index-fault"],
    ["index", "x // (y - y)", "#index-fault"],
    ["valid", "x <", "#valid-fault"],
    ["valid", "y + + 1 <", "#valid-fault"],
  ] as const) {
    await go(page, fields);
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.waitForSelector("main[data-state=wrong]");
    await settled(page);
    expect(
      (await page.locator(`${place}, #variables-fault`).first().innerText()).length,
      `${label} ${value}`,
    ).toBeGreaterThan(5);
    expect(await page.locator("#grid").getAttribute("data-stale")).toBe("wrong");
  }
  for (const [label, value] of [
    ["x from", "a"],
    ["x to before", ""],
    ["x to before", "99999999999999999999"],
    ["Name of variable 1", "1x"],
    ["Name of variable 2", "x"],
    ["Name of variable 1", ""],
  ] as const) {
    await go(page, fields);
    const input = page.getByLabel(label, { exact: true });
    await input.fill(value);
    await page.waitForSelector("main[data-state=wrong]");
    await settled(page);
    expect((await page.locator(".mistake").first().innerText()).length, `${label} ${value}`).toBeGreaterThan(5);
  }
  expect(complaints).toEqual([]);
});

test("mistakes in the view by hand are at their field", async () => {
  const { page, complaints } = await here.shared();
  for (const [label, value] of [
    ["size, axis 0", "x"],
    ["stride, axis 1", ""],
    ["valid from, axis 0", "3"],
    ["valid to, axis 1", "9"],
    ["offset", "1.5"],
    ["size, axis 1", "-2"],
    ["stride, axis 0", "9223372036854775807"],
  ] as const) {
    await go(page, { mode: "view", size: "2,3", stride: "3,1", begin: "0,0", end: "2,3" });
    await page.getByRole("spinbutton", { name: label, exact: true }).fill(value);
    await page.waitForFunction(() => globalThis.explorer.idle.value);
    await settled(page);
    const wrong = await page.evaluate(() => globalThis.explorer.trouble.value !== null);
    // A mask that is cut to nothing or to the shape may be fine; what is not says so.
    if (wrong) expect((await page.locator("#hand-fault").innerText()).length, `${label} ${value}`).toBeGreaterThan(5);
    else expect(await page.locator("#grid").getAttribute("data-stale"), `${label} ${value}`).toBeNull();
  }
  expect(complaints).toEqual([]);
});

test("mistakes in the other chain, and in the index of the element", async () => {
  const { page, complaints } = await here.shared();
  await go(page, { chain: "(4, 6)" });
  await page.getByLabel("The other chain").fill("(4, 6).flp(0)");
  await page.waitForSelector("#compare-fault");
  expect(await text(page, "#compare-fault")).toContain("flip");
  await page.getByLabel("The other chain").fill("(4, 6).flip(0)");
  await page.waitForSelector(".outcome");
  expect(await text(page, ".outcome")).toContain("[0, 0]");
  await page.getByLabel("The other chain").fill("(4, 6).flip(0).flip(0)");
  await page.waitForSelector(".outcome[data-equal=yes]");
  await page.getByLabel("The other chain").fill("(6, 4)");
  await page.waitForSelector(".outcome[data-equal=no]");
  expect(await text(page, ".outcome")).toMatch(/^Different\. The shapes .* are not the same\.$/);
  const index = page.getByRole("spinbutton", { name: "index along axis 0" });
  for (const value of ["99", "-5", "x", ""]) {
    await index.fill(value);
    await index.blur();
    await page.waitForTimeout(50);
    const at = await page.evaluate(() => globalThis.explorer.detail.value!.index!);
    expect(at[0]).toBeGreaterThanOrEqual(0);
    expect(at[0]).toBeLessThan(4);
  }
  expect(complaints).toEqual([]);
});

test("a difference is called the first only where it is", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(1000, 1000)", other: "(1000, 1000).permute(1, 0)" });
  await page.waitForSelector(".outcome");
  expect(await text(page, ".outcome")).toMatch(/^Different\. The first difference is at\s+\[0, 1\]/);
  await go(page, { chain: "(9999999999).pad((0, 1))", other: "(10000000000)" });
  await page.waitForSelector(".outcome");
  expect(await text(page, ".outcome")).toMatch(/^Different\. A difference is at .* earlier/s);
});

test("what cannot be compared is said not to be decided", async () => {
  const { page } = await here.shared();
  const many = { mode: "free", index: "x * 100000 + y", variables: "x:0:100000,y:0:100000" };
  await go(page, { ...many, other: "(100000, 100000)" });
  await page.waitForSelector(".outcome[data-equal=unknown]");
  expect(await text(page, ".outcome")).toMatch(/^Not decided\. .*too many/);
});

test("foreign notations are read", async () => {
  const { page } = await here.shared();
  for (const [chain, shape] of [
    ["ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False),))", [2, 3]],
    ["View(shape=(2, 3), strides=(1, 2))", [2, 3]],
    ["(2, 3):(1, 2)", [2, 3]],
    ["(6).view(2, -1).transpose(0, 1)", [3, 2]],
  ] as const) {
    await go(page, { chain });
    expect(await page.evaluate(() => globalThis.explorer.trouble.value), chain).toBeNull();
    expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape), chain).toEqual(shape);
  }
});

test("a scalar can be given an axis", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "()" });
  await page.getByLabel("Add an operation").selectOption("unsqueeze");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "().unsqueeze(0)");
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([1]);
});

/** What is typed as the shape of an array, with a chain: the shape of the result, or what is said; there is no third. */
const SHAPES: readonly [chain: string, base: string, shape: number[] | null, says: RegExp][] = [
  ["x.transpose(1, 2).reshape(2, 12)", "", null, /^Which shape has x\?$/],
  ["x[:, ::2]", "", null, /^Which shape has x\?$/],
  ["x.transpose(1, 2).reshape(2, 12)", "B, T, 64", null, /64\*B\*T elements, but shape \(2, 12\) needs 24, whatever values the names have/],
  ["x.transpose(1, 2).view(8, 128, 768)", "B, T, 64", [8, 128, 768], /^Element/],
  ["x.transpose(1, 2).view(-1)", "B, T, 64", [384], /^Element/],
  ["x.transpose(1, 2).view(B, -1)", "B, T, 64", [3, 128], /^Element/],
  ["x.transpose(1, 2).view(B, -1)", "2, 3, 4", null, /cannot be inferred: 24 elements are not divisible by B.*give the size/],
  ["x[:, ::2]", "B, T, 64", null, /size T, whose remainder modulo 2 is not known.*write the size with a multiple of 2, such as 2\*k/],
  ["x[:, ::2]", "B, 2*k, 64", [3, 2, 64], /^Element/],
  ["x.transpose(1, 2)", "B, T", null, /axis 2 does not exist/],
  ["x.transpose(1, 2)", "2, 3", null, /axis 2 does not exist/],
  ["x.reshape(8)", "B, B, B", [8], /^Element/],
  ["x.transpose(1, 2).reshape(2, 12)", "B, B, B", null, /B\*\*3 == 24 does not hold/],
  ["x.reshape(24)", "2, 3, 4", [24], /^Element/],
  ["x.reshape(24)", "torch.Size([2, 3, 4])", [24], /^Element/],
  ["x.reshape(24)", "2*3, 4", [24], /^Element/],
  ["x.reshape(-1)", "0, 3", [0], /no elements/],
  ["x.reshape(24)", "2x3x4", null, /2x3x4 is no size: write numbers or names with commas/],
  ["x.reshape(24)", "2 3 4", null, /2 3 4 is no size/],
  ["x.reshape(24)", "B T", null, /B T is no size/],
  ["x.reshape(24)", "-1, 3", null, /-1 is no size/],
  ["x.reshape(24)", "2.5", null, /2\.5 is no size/],
  ["x.reshape(24)", "2, , 3", null, /Between two commas there is no size/],
  ["x.reshape(24)", "2).flip(0", null, /2\).flip\(0 is no size/],
  ["x.reshape(24)", "B//2, 3", null, /B\/\/2 is no size/],
  ["x.reshape(24)", "99999999999999999999", null, /99999999999999999999/],
  ["x.contiguous().view(-1)", "B, T", [6], /^Element/],
];

test("the shape field: whatever is typed, there is a tensor or a sentence, also for those who hear the page", { timeout: 180_000 }, async () => {
  const { page, complaints } = await here.shared();
  for (const [chain, base, shape, says] of SHAPES) {
    const what = `${chain} of ${base}`;
    await go(page, { chain, ...(base === "" ? {} : { base }), at: "" });
    const found = await page.evaluate(() => globalThis.explorer.layout.value?.shape ?? null);
    // What cannot be done leaves what stands before it, or nothing.
    if (shape !== null) expect(found, what).toEqual(shape);
    await expect.poll(() => text(page, ".spoken"), { message: what }).toMatch(says);
    const field = page.getByLabel("Shape of x");
    expect(await field.count(), what).toBe(1);
    const wrong = shape === null && base !== "";
    expect(await field.getAttribute("aria-invalid"), what).toBe(String(wrong));
    expect(await page.locator("#chain-fault").count(), what).toBe(wrong ? 1 : 0);
    if (wrong) expect(await text(page, "#chain-fault"), what).toMatch(says);
    expect(await page.locator("#chain .badge").count(), what).toBe(wrong ? 1 : 0);
  }
  expect(complaints).toEqual([]);
});

test("the shape field keeps the focus while what is typed is not yet a shape that fits", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "x.transpose(1, 2).reshape(2, 12)" });
  const field = page.getByLabel("Shape of x");
  await field.focus();
  for (const letter of "2, 3, 4") {
    await page.keyboard.type(letter);
    await page.waitForTimeout(150);
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    // No one is told of a mistake between two letters.
    expect(await page.locator("#chain .badge").count(), letter).toBe(0);
  }
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value?.shape)).toEqual([2, 12]);
  expect(await field.inputValue()).toBe("2, 3, 4");
});
