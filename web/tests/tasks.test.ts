/**
 * What real people come for, each as a visit from the first page, with the number of actions that it takes: a text that
 * is pasted, a press, and a key are one each. The numbers are limits; they are printed too.
 */
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open, settled } from "./browser";
import { text } from "./explorer";
import { stage } from "./setup";

const here = stage();
const taken: string[] = [];

afterAll(() => console.log(taken.join("\n")));

/** A visit that counts what the visitor does. */
class Visit {
  actions = 0;

  constructor(readonly page: Page) {}

  async paste(label: string, text: string): Promise<void> {
    this.actions++;
    await this.page.getByLabel(label, { exact: true }).fill(text);
    await settled(this.page);
  }

  async press(name: string | RegExp): Promise<void> {
    this.actions++;
    await this.page.getByRole("button", { name }).first().click();
  }

  async key(key: string): Promise<void> {
    this.actions++;
    await this.page.keyboard.press(key);
  }

  /** The answer to the text as it stands. */
  async answer(): Promise<string> {
    await this.page.waitForSelector(".answer[data-fresh=yes]");
    return text(this.page, ".answer");
  }
}

let visit: Visit;

beforeEach(async () => {
  if (visit !== undefined) await leave(visit.page);
  visit = new Visit((await open(here.browser, here.url, { viewport: { width: 1440, height: 900 } })).page);
});

function within(task: string, most: number): void {
  taken.push(`${task.padEnd(60)} ${visit.actions} action${visit.actions === 1 ? "" : "s"} (at most ${most})`);
  expect(visit.actions).toBeLessThanOrEqual(most);
}

/** The addresses of the tensor in the picture, row by row. */
function cells(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const { layout, gridCanvas } = globalThis.explorer;
    while (gridCanvas.now?.tiles.complete(layout.value) !== true) await new Promise((done) => setTimeout(done, 20));
    return [...gridCanvas.now.tiles.get(0, 0, 1)!.addresses].map(Number);
  });
}

test("why does my view raise, and what do I write instead?", async () => {
  await visit.paste("Chain as text", "torch.arange(24).view(2, 3, 4).transpose(1, 2).view(2, 12)");
  const said = await visit.answer();
  expect(said).toMatch(/PyTorch\s*raises/);
  expect(said).toMatch(/contiguous\(\)|reshape\(/);
  // Why, in the picture and in a sentence.
  expect(await text(visit.page, "#witness")).toMatch(/moves the address/);
  within("why does .view() raise, and the code instead", 1);
});

test("what does the shape of x have to be? only the name is known", async () => {
  await visit.paste("Chain as text", "x.transpose(1, 2).reshape(2, 12)");
  await visit.paste("Shape of x", "2, 3, 4");
  expect(await visit.answer()).toMatch(/copies/);
  within("a chain of which only a name is known", 2);
});

test("the windows of a convolution", async () => {
  await visit.paste("Chain as text", "torch.arange(30).view(5, 6).unfold(0, 3, 1).unfold(1, 3, 1)");
  expect(await visit.page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([3, 4, 3, 3]);
  expect(await visit.answer()).toMatch(/^\s*One view/);
  within("windows without strides by hand", 1);
});

test("attention heads, and for which sizes it stays a view", async () => {
  await visit.paste("Chain as text", "(B, T, H*64).reshape(B, T, H, 64).permute(0, 2, 1, 3).reshape(B, H*T, 64)");
  await visit.page.waitForSelector(".formula");
  expect(await text(visit.page, ".formula")).toMatch(/One view if and only if T == 1 or H == 1/);
  within("for which sizes heads are one view", 1);
});

test("the tensor before the last operation", async () => {
  await visit.page.waitForSelector("#flow canvas");
  await visit.press(/^Show the tensor after permute/);
  await visit.page.waitForFunction(() => globalThis.explorer.layout.value?.shape.join() === "2,3");
  expect(await cells(visit.page)).toEqual([0, 2, 4, 1, 3, 5]);
  within("the tensor at a step", 1);
});

test("are two chains the same, and where do they differ?", async () => {
  await visit.paste("Chain as text", "(4, 6).flip(0).permute(1, 0)");
  await visit.paste("The other chain", "(4, 6).permute(1, 0).flip(1)");
  await visit.page.waitForSelector(".outcome[data-equal=yes]");
  await visit.paste("The other chain", "(4, 6).permute(1, 0).flip(0)");
  await visit.page.waitForSelector(".outcome[data-equal=no]");
  within("two chains compared, twice", 3);
});

test("a layout of CuTe", async () => {
  await visit.paste("Chain as text", "((2, 4), 8):((1, 16), 2)");
  expect(await visit.page.evaluate(() => globalThis.explorer.trouble.value)).toBeNull();
  expect(await visit.page.evaluate(() => globalThis.explorer.layout.value!.modes)).toEqual([[2, 4], [8]]);
  // Not one view of two axes, and one of three; the element of the first example is nobody's choice here.
  await expect.poll(() => visit.answer()).toMatch(/an axis for each of its modes it is one view/);
  expect(await visit.answer()).toContain("as_strided((2, 4, 8), (1, 16, 2))");
  expect(await visit.page.evaluate(() => globalThis.explorer.page.value.at)).not.toEqual([2, 0]);
  within("a nested layout", 1);
});

test("is this expression one view?", async () => {
  await visit.press("Expression");
  await visit.page.getByLabel("index", { exact: true }).waitFor();
  await visit.paste("index", "idx0*4 + idx1");
  await visit.paste("valid", "");
  expect(await visit.answer()).toMatch(/One view: shape \(3, 2\), strides \(4, 1\)/);
  within("is an expression one view", 3);
  await visit.paste("index", "idx0*idx1");
  expect(await visit.answer()).toMatch(/Not one view\..*one stride cannot do both/s);
});

test("an operation is added without knowing how it is written", async () => {
  await visit.page.getByLabel("Chain as text").click();
  visit.actions++;
  await visit.key("End");
  for (const letter of ".fli") await visit.key(letter);
  await visit.page.waitForSelector("[role=option]");
  await visit.key("Enter");
  await visit.key("0");
  await visit.page.waitForFunction(() => globalThis.explorer.page.value.chain.endsWith(".flip(0)"));
  await settled(visit.page);
  expect(await visit.page.evaluate(() => globalThis.explorer.trouble.value)).toBeNull();
  within("an operation completed", 8);
});

test("what is shown is sent to someone else", async () => {
  await visit.paste("Chain as text", "(2, 6, 12).reshape(2, 6, 3, 4).permute(0, 2, 1, 3)");
  await visit.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await visit.press("Copy link");
  const link = await visit.page.evaluate(() => navigator.clipboard.readText());
  expect(link.length).toBeLessThan(here.url.length + 80);
  const { page } = await open(here.browser, link);
  expect(await page.evaluate(() => globalThis.explorer.layout.value!.shape)).toEqual([2, 3, 6, 4]);
  await leave(page);
  within("a link to what is shown", 2);
});

test("on a telephone the answer and the flow come before anything else", async () => {
  const { page } = await open(here.browser, here.url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await page.waitForSelector(".answer[data-fresh=yes]");
  const tops = await page.evaluate(() =>
    [".answer", "#flow", "#grid"].map((part) => document.querySelector(part)!.getBoundingClientRect().top),
  );
  expect(tops[0]).toBeLessThan(500);
  expect(tops[1]).toBeLessThan(844);
  expect(tops[2]).toBeLessThan(1100);
  // The flow is stacked: nothing of it has to be scrolled to from the side.
  const flow = await page.evaluate(() => {
    const list = document.querySelector("#flow .blocks")!;
    const boxes = [...list.querySelectorAll(".block")].map((block) => block.getBoundingClientRect());
    return { wide: list.scrollWidth - list.clientWidth, boxes: boxes.map(({ left, top, right }) => [left, top, right]) };
  });
  expect(flow.wide).toBe(0);
  expect(flow.boxes.length).toBe(3);
  for (const [at, [left, top, right]] of flow.boxes.entries()) {
    expect([left, right]).toEqual([flow.boxes[0]![0], flow.boxes[0]![2]]);
    if (at > 0) expect(top).toBeGreaterThan(flow.boxes[at - 1]![1]!);
  }
  await leave(page);
});
