/** The course: every figure shows what its words say, and every exercise has kind words for what others tried. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { leave, visit, type Watched } from "./browser";
import { Engine } from "shapetracker/engine";
import { DIST } from "./server";
import { stage } from "./setup";

const here = stage();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

function course(hash = "", options: BrowserContextOptions = {}): Promise<Watched> {
  return visit(here.browser, `${here.url}course.html${hash}`, options);
}

/** A part of a lesson, once it is there. */
async function part(page: Page, name: string): Promise<Locator> {
  const place = page.locator(`[data-part="${name}"]`);
  await place.scrollIntoViewIfNeeded();
  await place.locator("canvas").first().waitFor();
  await place.locator(".strip").first().waitFor();
  return place;
}

/** What is said, with minus signs as ASCII. */
async function said(place: Locator, what: string): Promise<string> {
  return (await place.locator(what).first().innerText()).replaceAll("\u2212", "-").replace(/\s+/g, " ");
}

/** The addresses of memory that are drawn, and how. */
function memory(place: Locator): Promise<string> {
  return place
    .locator(".strip i")
    .evaluateAll((cells) => cells.map((cell) => `${cell.textContent}${cell.className.slice(0, 1)}`).join(" "));
}

/** The figures: what is chosen, and the address rule and memory that must then be seen, worked out by hand. */
const FIGURES: readonly [part: string, trial: string, rule: RegExp | null, memory: string][] = [
  ["strides", "Row by row", /\[1, 2\] → 1·4 \+ 2·1 = 6$/, "0o 1o 2o 3o 4o 5o 6n 7o 8o 9o 10o 11o"],
  ["strides", "Strides exchanged", /\[1, 2\] → 1·1 \+ 2·4 = 9$/, "0o 1o 2o 3o 4o 5o 6o 7o 8o 9n 10o 11o"],
  ["strides", "Every second column", /\[1, 1\] → 1·4 \+ 1·2 = 6$/, "0o 1h 2o 3h 4o 5h 6n 7h 8o 9h 10o"],
  [
    "strides",
    "A gap after each row",
    /\[1, 2\] → 1·6 \+ 2·1 = 8$/,
    "0o 1o 2o 3o 4h 5h 6o 7o 8n 9o 10h 11h 12o 13o 14o 15o",
  ],
  ["strides", "Backwards", /\[1, 2\] → 8 \+ 1·\(-4\) \+ 2·1 = 6$/, "0o 1o 2o 3o 4o 5o 6n 7o 8o 9o 10o 11o"],
  ["strides", "The same row again", /\[1, 2\] → 1·0 \+ 2·1 = 2$/, "0o 1o 2n 3o 4o"],
  ["moves", "permute", null, "0n 1o 2o 3o 4o 5o"],
  ["moves", "expand", null, "0n 1o 2o 3o"],
  ["moves", "flip", null, "0o 1o 2o 3n 4o 5o 6o 7o"],
  ["moves", "shrink", null, "0h 1h 2h 3h 4h 5h 6n 7o 8o 9h 10h 11o 12o 13o 14h"],
  ["masks", "A border on all sides", /\[0, 2\] → no address: 0 is outside the valid range of axis 0$/, "0o 1o 2o 3o 4o 5o 6o 7o"],
  ["masks", "Two columns behind", /\[0, 2\] → 0·3 \+ 2·1 = 2$/, "0o 1o 2n 3o 4o 5o 6o 7o 8o"],
  ["masks", "Nothing masked", /\[0, 2\] → 0·4 \+ 2·1 = 2$/, "0o 1o 2n 3o 4o 5o 6o 7o"],
  ["masks", "Three axes", /\[0, 2, 0\] → 0·6 \+ 2·2 \+ 0·1 = 4$/, "0h 1h 2o 3o 4n 5o 6h 7h 8o 9o 10o 11o"],
  ["expression", "A triangle", null, "0n 1h 2h 3h 4h 5o 6o"],
  ["expression", "Windows", null, "0n 1o 2o 3o 4o 5o 6o"],
  ["expression", "Around in a ring", null, "0o 1o 2o 3o 4o 5n"],
];

test("every figure shows what its words say", async () => {
  const { page, complaints } = await course();
  for (const [name, trial, rule, cells] of FIGURES) {
    const place = await part(page, name);
    await place.getByRole("button", { name: trial, exact: true }).click();
    await expect.poll(() => memory(place), { message: `${name}: ${trial}` }).toMatch(new RegExp(`^${cells}`));
    if (rule !== null) await expect.poll(() => said(place, ".rule"), { message: trial }).toMatch(rule);
    expect((await place.locator(".fault-line").innerText()).trim()).toBe("");
  }
  expect(complaints).toEqual([]);
  await leave(page);
});

test("two views are shown with their reason, and the element through both", async () => {
  const { page } = await course("#views");
  const place = await part(page, "views");
  await expect.poll(() => said(place, ".reason")).toContain("but by -1 from [1, 0] to [2, 0] (4 to 3)");
  await expect.poll(() => said(place, ".rule")).toContain("[2, 0] → 2·2 + 0·1 = 4");
  expect(await said(place, ".rule")).toMatch(/\[1, 1\] → 1·1 \+ 1·2 = 3$/);
  expect(await place.locator(".station-name").allInnerTexts()).toEqual(["(3, 2)", ".permute(1, 0)", ".reshape(3, 2)"]);
  expect(await place.locator(".stations li").last().innerText()).toContain("needs a second view");
  expect(await place.locator(".station-strides").allInnerTexts()).toEqual(["strides (2, 1)", "strides (1, 2)"]);
  // Another element is chosen by keys, and is followed too.
  await place.locator("[role=application]").focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => said(place, ".rule")).toMatch(/\[2, 1\] → 2·2 \+ 1·1 = 5 .* \[1, 2\] → 1·1 \+ 2·2 = 5$/);
  await leave(page);
});

/** What a figure of lesson 4 shows of a rule: whether it is one view, and why not. */
const RULES: readonly [trial: string, result: RegExp, reason: RegExp | null][] = [
  ["Cut", /^One view: shape \(3, 4, 2\), strides \(4, 1, 12\)/, null],
  ["Joined", /^One view: shape \(4, 3\), strides \(1, 4\)/, null],
  ["Not to be joined", /^Two views/, /along axis 1 the address moves by 4/],
  ["A mask that cannot be cut", /^Two views/, /not a box/],
  ["A mask that can", /^One view: shape \(2, 4\)/, null],
];

test("the rules of lesson 4 are shown: what can be cut and joined, and how masks forbid it", async () => {
  const { page, complaints } = await course("#views");
  const place = await part(page, "rules");
  for (const [trial, result, reason] of RULES) {
    await place.getByRole("button", { name: trial, exact: true }).click();
    await expect.poll(() => said(place, ".result"), { message: trial }).toMatch(result);
    if (reason === null) expect(await place.locator(".reason").count(), trial).toBe(0);
    else await expect.poll(() => said(place, ".reason"), { message: trial }).toMatch(reason);
  }
  const words = (await page.locator("#views").innerText()).replace(/\s+/g, " ");
  expect(words).toContain("As long as nothing is masked, cutting an axis in two always works.");
  expect(complaints).toEqual([]);
  await leave(page);
});

test("the general sentences of lesson 4 hold: cuts, joins and masks against the engine, on random views", async () => {
  const engine = new Engine(await WebAssembly.compile(readFileSync(`${DIST}shapetracker.wasm`)));
  const views = (text: string): number => {
    const said = engine.call("chain", { text });
    if (!said.ok || said.value.error !== null || said.value.result === null) throw new Error(text);
    return said.value.result.views.length;
  };
  let seed = 7;
  const below = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const seen = { cut: 0, joined: 0, apart: 0, range: 0, none: 0 };
  for (let k = 0; k < 600; k++) {
    const shape = [below(4) + 1, below(4) + 1, below(4) + 1];
    const strides = shape.map(() => below(7) - 3);
    // Half of them can be joined.
    if (k % 2 === 0) strides[0] = strides[1]! * shape[1]!;
    const view = `View(shape=(${shape.join(", ")}), strides=(${strides.join(", ")}), offset=60)`;
    // Nothing masked: any cut of any axis.
    const axis = below(3);
    const [a, b] = [below(3) + 1, below(3) + 1];
    const long = shape.map((size, at) => (at === axis ? a * b : size));
    const cut = shape.flatMap((size, at) => (at === axis ? [a, b] : [size]));
    expect(views(`View(shape=(${long.join(", ")}), strides=(${strides.join(", ")}), offset=60).reshape(${cut.join(", ")})`)).toBe(1);
    seen.cut++;
    // Neighbours join exactly where the outer stride is the inner one times the inner size, or one of them has no steps.
    const [outer, inner, rest] = shape as [number, number, number];
    const joins = outer === 1 || inner === 1 || strides[0] === strides[1]! * inner;
    expect(views(`${view}.reshape(${outer * inner}, ${rest})`) === 1, view).toBe(joins);
    if (joins) seen.joined++;
    else seen.apart++;
    // A mask can be cut where what is valid is a range of rows times a range of columns.
    const [rows, columns, valid] = [below(3) + 1, below(4) + 1, below(12) + 1];
    if (valid > rows * columns) continue;
    const box = valid <= columns || valid % columns === 0;
    expect(views(`(${valid}).pad((0, ${rows * columns - valid})).reshape(${rows}, ${columns})`) === 1).toBe(box);
    if (box) seen.range++;
    else seen.none++;
  }
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(40);
});

test("a number that is changed is what the picture shows", async () => {
  const { page } = await course();
  const place = await part(page, "strides");
  await place.getByRole("spinbutton", { name: "axis 0: stride" }).fill("5");
  await expect.poll(() => said(place, ".rule")).toMatch(/\[1, 2\] → 1·5 \+ 2·1 = 7$/);
  expect(await said(place, ".trials p")).toContain("Your own numbers");
  // It goes on in the explorer.
  await place.getByRole("link", { name: "Open in the explorer" }).click();
  await page.waitForFunction(() => globalThis.explorer?.layout.value != null);
  expect(await page.evaluate(() => globalThis.explorer.layout.value?.chain?.views[0]?.strides)).toEqual([5, 1]);
  await leave(page);
});

/** The exercises that are answered with a line of text: what is tried, and what is said. */
const ANSWERS: readonly [part: string, answer: string, says: RegExp][] = [
  ["moves-exercise", "(2, 3).permute(1, 0)", /good beginning/],
  ["moves-exercise", "(2, 3).permute(1, 0).reshape(3, 2, 1)", /longer, without a copy/],
  ["moves-exercise", "(2, 3).reshape(2, 3, 1).expand(2, 3, 2)", /have to change places first/],
  ["moves-exercise", "(12).reshape(3, 2, 2)", /only six numbers/],
  ["moves-exercise", "(2, 3).permute(1, 0", /Not yet a layout/],
  ["moves-exercise", "(2, 3).permute(1, 0).expand(3, 2, 2)", /Not yet a layout: expand/],
  ["moves-exercise", "(2, 3).permute(1, 0).reshape(3, 1, 2).expand(3, 2, 2)", /Close: the element \[0, 0, 1\] .* 3; it should read 0/],
  ["moves-exercise", "(2, 3).permute(1, 0).reshape(3, 2, 1).expand(3, 2, 2)", /^Yes\..*\(1, 3, 0\)/],
  ["moves-exercise", "torch.arange(6).view(2, 3).t().unsqueeze(-1).expand(3, 2, 2)", /^Yes\./],
  // The same as layouts, however they are written.
  ["moves-exercise", "(2,3).permute(1,0).reshape(3,2,1).expand(3,2,2)", /^Yes\./],
  ["moves-exercise", "(2,3).permute((1,0)).reshape((3,2,1)).expand((3,2,2))", /^Yes\./],
  ["moves-exercise", "(2, 3).permute(-1, 0).reshape(3, -1, 1).expand(3, 2, 2)", /^Yes\./],
  ["moves-exercise", "np.broadcast_to(np.arange(6).reshape(2, 3).transpose()[..., None], (3, 2, 2))", /^Yes\./],
  ["moves-exercise", "torch.arange(6).reshape(2,3).mT.unsqueeze(2).expand(-1,-1,2)", /^Yes\./],
  ["moves-exercise", "(2, 3).reshape(2, 3, 1).expand(2, 3, 2).permute(1, 0, 2)", /^Yes\./],
  ["broadcast-exercise", "(4, 1)", /from the last axis on/],
  ["broadcast-exercise", "(4, 1).expand(4, 3)", /one more, in front/],
  ["broadcast-exercise", "(2, 1, 3).expand(2, 4, 3)", /So the sum reads `?a/],
  ["broadcast-exercise", "(4, 1).reshape(4, 1, 1).expand(4, 2, 3)", /comes in front/],
  ["broadcast-exercise", "(12).reshape(1, 4, 3).expand(2, 4, 3)", /Close: the element/],
  ["broadcast-exercise", "(4, 1).reshape(1, 4, 1).expand(2, 4, 3)", /^Yes\..*none of it is copied/],
  ["broadcast-exercise", "np.broadcast_to(np.arange(4).reshape(4, 1), (2, 4, 3))", /^Yes\./],
  ["broadcast-exercise", "torch.arange(4)[None, :, None].expand(2, -1, 3)", /^Yes\./],
  ["broadcast-exercise", "(4,1).broadcast_to(2,4,3)", /^Yes\./],
  ["masks-exercise", "(2, 3).pad((1, 1), (1, 1))", /none behind/],
  ["masks-exercise", "(2, 3).pad((0, 2), (0, 2))", /upper left corner/],
  ["masks-exercise", "(2, 3).pad((2, 0), (0, 2))", /The rows are right/],
  ["masks-exercise", "(2, 3).pad((0, 2), (2, 0))", /The columns are right/],
  ["masks-exercise", "(4, 5)", /There are only six/],
  ["masks-exercise", "(2, 3).pad((2, 0), (1, 0))", /shape \(4, 4\); asked for is \(4, 5\)/],
  ["masks-exercise", "(2, 3).pad((2, 0), (2, 0))", /^Yes\..*offset is -8/],
  ["masks-exercise", "(2,3).pad((2,0),(2,0))", /^Yes\./],
  ["masks-exercise", "(2,3).pad(((2,0),(2,0)))", /^Yes\./],
  ["masks-exercise", "np.pad(np.arange(6).reshape(2, 3), ((2, 0), (2, 0)))", /^Yes\./],
  ["masks-exercise", "F.pad(torch.arange(6).view(2, 3), (2, 0, 2, 0))", /^Yes\./],
  ["masks-exercise", "(2, 3).pad((2, 0), (0, 0)).pad((0, 0), (2, 0))", /^Yes\./],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).reshape(8, 3)", /needs a second view.*Which two neighbours/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).reshape(2, 12)", /needs a second view/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).reshape(24)", /is not two axes/],
  ["views-exercise", "(2, 3, 4).reshape(4, 6)", /Leave .* as it is/],
  ["views-exercise", "(4, 6)", /Leave .* as it is/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).reshape(5, 5)", /Not yet a layout: reshape/],
  ["views-exercise", "(2,3,4).permute(2,0,1).reshape(8,3)", /needs a second view/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).contiguous().reshape(8, 3)", /contiguous\(\) copies/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1)", /is not two axes/],
  ["views-exercise", "(2, 4, 3).permute(1, 0, 2).reshape(4, 6)", /Leave .* as it is/],
  ["views-exercise", "(2, 3, 4).permute(1, 0, 2).reshape(4, 6)", /Leave .* as it is/],
  ["views-exercise", "(2, 3).permute(1, 0).reshape(2, 3)", /Leave .* as it is/],
  ["views-exercise", "(2, 3, 4).permute(2, 0, 1).reshape(4, 6)", /^Yes\..*12 is 3·4/],
  ["views-exercise", "(2,3,4).permute(2,0,1).reshape(4,6)", /^Yes\./],
  ["views-exercise", " ( 2,3, 4 ) . permute( 2,0,1 ) . reshape( 4,6 ) ", /^Yes\./],
  ["views-exercise", "(2, 3, 4).permute((2, 0, 1)).reshape((4, 6))", /^Yes\./],
  ["views-exercise", "(2,3,4).permute([2,0,1]).reshape([4,6])", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(2,0,1).reshape(4,-1)", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(-1,0,1).view(-1,6)", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(2,0,1).view(4,6)", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(2,0,1).flatten(1)", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(2,0,1).reshape(4,2,3).reshape(4,6)", /^Yes\./],
  ["views-exercise", "(2,3,4).permute(0,2,1).permute(1,0,2).reshape(4,6)", /^Yes\./],
  ["views-exercise", "(2,3,4).moveaxis(2,0).reshape(4,6)", /^Yes\./],
  ["views-exercise", "np.arange(24).reshape(2,3,4).transpose(2,0,1).reshape(4,6)", /^Yes\./],
  ["views-exercise", "np.transpose(np.arange(24).reshape(2, 3, 4), (2, 0, 1)).reshape(4, 6)", /^Yes\./],
  ["views-exercise", "torch.arange(24).view(2, 3, 4).permute(2, 0, 1).view(4, 6)", /^Yes\./],
  ["views-exercise", "torch.permute(torch.arange(24).view(2, 3, 4), (2, 0, 1)).reshape(4, 6)", /^Yes\./],
  ["views-exercise", "rearrange(torch.arange(24).view(2, 3, 4), 'a b c -> c (a b)')", /^Yes\./],
  ["expression-exercise", "i", /walks along the rows/],
  ["expression-exercise", "i//3*4 + i%3", /right parts, exchanged/],
  ["expression-exercise", "i%4*3 + i//4", /4 rows of 3/],
  ["expression-exercise", "i%3*4", /begins again/],
  ["expression-exercise", "i*4", /never go back up/],
  ["expression-exercise", "i*", /Not yet a layout/],
  ["expression-exercise", "i%3*4 + i//3 + i//11", /Close: the element \[11\] of yours reads address 12; it should read 11/],
  ["expression-exercise", "i%3*4 + i//3", /^Yes\./],
  // Another way to the same.
  ["expression-exercise", "i*4 - i//3*11", /^Yes\./],
  ["expression-exercise", "i%3*4+i//3", /^Yes\./],
  ["expression-exercise", " ( i % 3 ) * 4 + ( i // 3 ) ", /^Yes\./],
  ["expression-exercise", "4*(i % 3) + i//3", /^Yes\./],
  ["expression-exercise", "i//3 - -(i%3*4)", /^Yes\./],
];

test("exercises: what is wrong has kind words, what is right is known, however it is written", { timeout: 300_000 }, async () => {
  const { page, complaints } = await course();
  for (const [name, answer, says] of ANSWERS) {
    const place = await part(page, name);
    const form = place.locator("form");
    await place.locator("textarea").fill(answer);
    const before = await form.getAttribute("data-judged");
    await place.getByRole("button", { name: "Check" }).click();
    await expect.poll(() => form.getAttribute("data-judged"), { message: answer }).not.toBe(before);
    await expect.soft(said(place, ".judgement"), `${name}: ${answer}`).resolves.toMatch(says);
    const right = (await said(place, ".judgement")).startsWith("Yes.");
    expect(await form.getAttribute("data-right"), answer).toBe(right ? "yes" : "no");
  }
  expect(complaints).toEqual([]);
  await leave(page);
});

test("the first exercise is done with the keyboard alone", async () => {
  const { page } = await course();
  const place = await part(page, "strides-exercise");
  const stride = (axis: number): Locator => place.getByRole("spinbutton", { name: `axis ${axis}: stride` });
  const check = async (says: RegExp): Promise<void> => {
    await page.keyboard.press("Enter");
    await expect.poll(() => said(place, ".judgement")).toMatch(says);
  };
  await stride(0).focus();
  await check(/rows one after the other/);
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => stride(0).inputValue()).toBe("3");
  await check(/for the wrong axes/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await expect.poll(() => stride(1).inputValue()).toBe("3");
  await check(/^Yes\..*order F/);
  await leave(page);
});

/** Strides that are tried where an exercise asks for them, and what is said. */
const STRIDES: [string, number[], RegExp][] = [
  ["gaps", [2, 1], /what is read of a row, and the gap/],
  ["gaps", [1, 6], /for the wrong axes/],
  ["repeat", [0, 1], /which axis must not move/],
  ["repeat", [1, 1], /To stay where one is/],
  ["windows", [4, 1, 2, 1], /how far is that/],
  ["windows", [8, 2, 4, 1], /do not overlap/],
  ["windows", [12, 4, 2, 1], /the windows share them/],
  ["rule", [12, 4, 1], /begins at 20/],
  ["rule", [20, 5, 1], /raises an error/],
  ["rule", [20, 1, 3], /one stride cannot/],
];
const EXERCISES = ["strides", "gaps", "repeat", "moves", "broadcast", "masks", "windows", "views", "rule", "expression"];

test("after two wrong tries one way is shown, and it is right; answers are there after a reload", async () => {
  const { page } = await course();
  expect(await page.locator(".progress").count()).toBe(0);
  for (const [name, strides, says] of STRIDES) {
    const place = await part(page, `${name}-exercise`);
    for (const [axis, stride] of strides.entries()) {
      await place.getByRole("spinbutton", { name: `axis ${axis}: stride` }).fill(String(stride));
    }
    await place.getByRole("button", { name: "Check" }).click();
    await expect.poll(() => said(place, ".judgement"), { message: name }).toMatch(says);
  }
  await page.reload();
  expect(await (await part(page, "rule-exercise")).getByRole("spinbutton", { name: "axis 1: stride" }).inputValue()).toBe("1");
  for (const name of EXERCISES) {
    const place = await part(page, `${name}-exercise`);
    const way = place.getByRole("button", { name: /^Show one way/ });
    expect(await way.count()).toBe(0);
    for (let k = 0; k < 2; k++) {
      await place.getByRole("button", { name: "Check" }).click();
      await expect.poll(() => said(place, ".judgement")).toMatch(/^Not yet\./);
    }
    await way.click();
    await expect.poll(() => said(place, ".judgement"), { message: name }).toMatch(/^Yes\./);
    expect(await way.count()).toBe(0);
  }
  // What is right stays so, with what was typed, until it is forgotten.
  const progress = (): Promise<string> => said(page.locator("main"), ".progress");
  await expect.poll(progress).toContain("10 of 10 exercises done");
  await page.reload();
  await expect.poll(progress).toContain("10 of 10 exercises done");
  const place = await part(page, "moves-exercise");
  await expect.poll(() => said(place, ".judgement")).toMatch(/^Yes\./);
  expect(await place.locator("textarea").inputValue()).toContain("expand(3, 2, 2)");
  await page.getByRole("button", { name: "Begin anew" }).click();
  await expect.poll(() => page.locator(".progress").count()).toBe(0);
  expect(await (await part(page, "moves-exercise")).locator("textarea").inputValue()).toBe("(2, 3).permute(1, 0)");
  await leave(page);
});

test("nothing is wrong for those who do not see it, and nothing is too wide for a telephone", async () => {
  for (const [width, colorScheme] of [
    [1280, "light"],
    [1280, "dark"],
    [360, "light"],
  ] as const) {
    const { page, complaints } = await course("", { viewport: { width, height: 800 }, colorScheme });
    for (const name of ["strides", "moves", "masks", "views", "expression"]) await part(page, name);
    for (const name of EXERCISES) await part(page, `${name}-exercise`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.evaluate(readFileSync(AXE, "utf8"));
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(of: unknown, options: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
    });
    expect(violations).toEqual([]);
    expect(complaints).toEqual([]);
    await leave(page);
  }
});

test("a lesson that a link names is there, and stays where it is while figures above it come", async () => {
  for (const width of [1280, 390]) {
    const { page } = await course("#expression", { viewport: { width, height: 844 } });
    await part(page, "expression");
    await page.evaluate(() => document.getElementById("expression")!.scrollIntoView());
    const top = (): Promise<number> =>
      page.evaluate(() => document.getElementById("expression")!.getBoundingClientRect().top);
    await page.locator('[data-part="views-exercise"] canvas').first().waitFor();
    await page.waitForTimeout(300);
    expect(Math.abs((await top()) - 20)).toBeLessThan(4);
    await leave(page);
  }
});

test("without the engine the course says so", async () => {
  const context = await here.browser.newContext();
  const page = await context.newPage();
  await page.route("**/*.wasm", (route) => route.fulfill({ status: 404 }));
  await page.goto(`${here.url}course.html`);
  await page.locator(".notice[role=alert]").waitFor();
  expect(await page.locator(".notice[role=alert]").innerText()).toContain("404");
  expect(await page.locator("h2").count()).toBe(6);
  await context.close();
});

test("the words are there without scripts, and nothing comes from elsewhere", async () => {
  const context = await here.browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${here.url}course.html`);
  expect(await page.locator("h2").allInnerTexts()).toHaveLength(6);
  expect(await page.locator("noscript").innerText()).toContain("switched off");
  await context.close();
  const { page: live } = await course();
  await part(live, "strides");
  const from = await live.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  for (const name of from) expect(name.startsWith(here.url), name).toBe(true);
  await leave(live);
});
