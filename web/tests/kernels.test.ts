/** Threads and banks: what is drawn and said, against layouts that are worked out here. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BrowserContextOptions, Page } from "playwright-core";
import { leave, visit, type Watched } from "./browser";
import { stage } from "./setup";

const here = stage();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

async function kernels(hash = "", options: BrowserContextOptions = {}): Promise<Watched> {
  const watched = await visit(here.browser, `${here.url}kernels.html${hash}`, options);
  await settled(watched.page);
  return watched;
}

/** Waits until what is said is about what is typed. */
async function settled(page: Page): Promise<void> {
  await page.locator('#say[data-state="current"], #say[role="alert"]').waitFor();
}

type Nested = number | Nested[];

/** A layout's modes, thread and values apart, from a text such as `((8,32),8):((8,64),1)`. */
function parsed(text: string): { threads: [number, number][]; values: [number, number][] } {
  const [shape, stride] = text.split(":").map((part) => JSON.parse(part.replaceAll("(", "[").replaceAll(")", "]")) as Nested);
  const flat = (size: Nested, step: Nested): [number, number][] =>
    Array.isArray(size) ? size.flatMap((each, at) => flat(each, (step as Nested[])[at]!)) : [[size, step as number]];
  const [first, ...others] = (shape as Nested[]).map((size, at) => flat(size, (stride as Nested[])[at]!));
  return { threads: first!, values: others.flat() };
}

function along(modes: [number, number][], number: number): number {
  let [rest, address] = [number, 0];
  for (const [size, step] of modes) {
    address += (rest % size) * step;
    rest = Math.floor(rest / size);
  }
  return address;
}

/** CuTe's swizzle, bit by bit. */
function swizzled(address: number, bits: number, base: number, shift: number): number {
  let moved = address;
  for (let bit = 0; bit < bits; ++bit) moved ^= ((address >> (base + bit + shift)) & 1) << (base + bit);
  return moved;
}

const product = (modes: [number, number][]): number => modes.reduce((all, [size]) => all * size, 1);

/** The threads that access each word of an instruction, and the most words of one bank in one phase. */
function instruction(lanes: [thread: number, address: number][], bytes: number, vector: number) {
  const width = bytes * vector;
  const together = Math.min(32, 128 / Math.max(width, 4));
  const words = new Map<number, number[]>();
  let degree = 0;
  for (let from = 0; from < lanes.length; from += together) {
    const accessed = new Set<number>();
    for (const [thread, address] of lanes.slice(from, from + together)) {
      const [begin, end] = [Math.floor((address * bytes) / 4), Math.floor((address * bytes + width - 1) / 4)];
      for (let word = begin; word <= end; ++word) {
        accessed.add(word);
        words.set(word, [...(words.get(word) ?? []), thread]);
      }
    }
    for (let bank = 0; bank < 32; ++bank) degree = Math.max(degree, [...accessed].filter((word) => word % 32 === bank).length);
  }
  return { words, degree };
}

const CASES: readonly [text: string, bytes: number, vector: number, warp: number, value: number][] = [
  ["(32,32):(32,1)", 4, 1, 0, 5],
  ["(32,32):(33,1)", 4, 1, 0, 0],
  ["((64,8),8):((64,8),1)", 2, 8, 3, 0],
  ["((4,8),(2,2,2)):((32,1),(16,8,128))", 2, 1, 0, 3],
  ["((48,4),2):((1,64),1024)", 4, 1, 1, 1],
  ["(20,3):(2,100)", 8, 1, 0, 2],
];

test.each(CASES)("%s of %i bytes: every cell, every word and every bank", async (text, bytes, vector, warp, value) => {
  const hash = `#layouts=${encodeURIComponent(text)}&bytes=${bytes}&vector=${vector}&warp=${warp}&value=${value}&color=bank`;
  const { page, complaints } = await kernels(hash);
  const { threads, values } = parsed(text);
  const [all, each] = [product(threads), product(values)];
  const first = warp * 32;
  const lanes = Array.from({ length: Math.min(32, all - first) }, (_, lane) => first + lane);
  const address = (thread: number, at: number): number => along(threads, thread) + along(values, at);

  const cells = await page
    .locator(".threads tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => [cell.textContent, cell.className])));
  expect(cells.map((row) => row.map(([shown]) => Number(shown)))).toEqual(
    lanes.map((thread) => Array.from({ length: each }, (_, at) => address(thread, at))),
  );
  for (const [row, thread] of lanes.entries()) {
    for (let at = 0; at < each; ++at) {
      const bank = Math.floor((address(thread, at) * bytes) / 4) % 32;
      expect(cells[row]![at]![1]!.split(" ")).toContain(`hue-${bank}`);
    }
  }

  const { words, degree } = instruction(
    lanes.map((thread) => [thread, address(thread, value)]),
    bytes,
    vector,
  );
  const drawn = await page.locator(".banks tbody tr:not(.gap)").evaluateAll((rows) =>
    rows.flatMap((row) => {
      const begin = Number(row.querySelector("th")!.textContent);
      return [...row.querySelectorAll("td")].map((cell, bank) => [begin / 4 + bank, cell.textContent] as const);
    }),
  );
  const shown = drawn.filter(([, who]) => who !== "").map(([word, who]) => `${word} ${who}`);
  const expected = [...words].map(([word, who]) => `${word} ${who.length === 1 ? `t${who[0]}` : `${who.length}×`}`);
  expect(shown.sort()).toEqual(expected.sort());
  const sentence = await page.locator("section:has(.banks) > p[role=status]").innerText();
  expect(sentence).toContain(degree > 1 ? `a ${degree}-way bank conflict` : "no bank conflict");
  expect(complaints).toEqual([]);
  await leave(page);
});

test("the worst is told first, and the swizzle that is offered leaves no conflict", async () => {
  const { page, complaints } = await kernels();
  await expect.poll(() => page.locator(".says").innerText()).toBe("Bank conflicts, up to 8-way.");
  await page.getByRole("button", { name: "Swizzle" }).click();
  await expect.poll(() => page.locator(".says").innerText()).toBe("No bank conflicts, in any warp.");
  expect(await page.locator("#layouts").inputValue()).toBe(
    "Sw<3,3,3> o 0 o ((8,32),8):((8,64),1)\nSw<3,3,3> o 0 o ((64,8),8):((64,8),1)",
  );
  await settled(page);
  const { threads, values } = parsed("((64,8),8):((64,8),1)");
  const cells = await page.locator(".threads tbody tr:nth-child(3) td").allInnerTexts();
  expect(cells.map(Number)).toEqual(
    Array.from({ length: 8 }, (_, at) => swizzled(along(threads, 2) + along(values, at), 3, 3, 3)),
  );
  // Without colours, threads and words are still named.
  await page.getByRole("button", { name: "next warp" }).click();
  await expect.poll(() => page.locator(".threads tbody th").first().innerText()).toBe("t32");
  // A link restores all of it.
  const again = await kernels(new URL(page.url()).hash);
  expect(await again.page.locator("main").innerText()).toBe(await page.locator("main").innerText());
  expect([...complaints, ...again.complaints]).toEqual([]);
});

test("keys choose an element, which is said and marked in both pictures", async () => {
  const { page } = await kernels("#layouts=(32,4):(4,1)&bytes=4&vector=1");
  await page.locator(".scroller:has(.threads)").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  const said = await page.locator(".element").innerText();
  expect(said).toBe("Thread 2, value 1: address 9, in word 9 of 4 bytes, bank 9.");
  expect(await page.locator(".threads td.now").innerText()).toBe("9");
  await page.locator(".threads tbody tr").nth(2).locator("td").nth(1).click();
  await expect.poll(() => page.locator(".banks td.now").innerText()).toBe("t2");
});

test("mistakes are sentences that point at their line, and the last picture stays", async () => {
  const { page, complaints } = await kernels("#layouts=(32,4):(4,1)&bytes=4");
  await page.locator("#layouts").fill("(32,4):(4,1)\n(4,x");
  await page.locator('#say[role="alert"]').waitFor();
  expect(await page.locator("#say").innerText()).toContain("Line 2: expected");
  expect(await page.locator(".threads td").count()).toBe(128);
  for (const [text, words] of [
    ["Sw<3,3,2> o 0 o (8,8):(8,1)", "the shift must be at least the number of bits"],
    ["(8,8):(-1,8)", ""],
    ["(0,8):(1,8)", ""],
    ["9223372036854775807:1", "past the range"],
    ["((((((2))))))", "Expected"],
    ["(1048576,64):(1,1048576)", ""],
  ] as const) {
    await page.locator("#layouts").fill(text);
    await settled(page);
    await expect.poll(() => page.locator("#say").innerText()).toContain(words);
  }
  await page.locator("#layouts").fill("");
  await expect.poll(() => page.locator("#say").innerText()).toContain("Write a layout");
  expect(complaints).toEqual([]);
});

test.each([
  ["wide", { width: 1280, height: 900 }, "light"],
  ["telephone", { width: 390, height: 844 }, "light"],
  ["dark", { width: 1280, height: 900 }, "dark"],
] as const)("%s: nothing overflows, and axe finds nothing", async (_, viewport, colorScheme) => {
  const { page } = await kernels("", { viewport, colorScheme });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.evaluate(readFileSync(AXE, "utf8"));
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html)}`);
  });
  expect(found).toEqual([]);
});

test("memory is drawn before and after the swizzle, beside the answer and in sight", async () => {
  const { page } = await kernels("", { viewport: { width: 1280, height: 720 } });
  const { threads, values } = parsed("((64,8),8):((64,8),1)");
  const lanes = (moved: (address: number) => number) =>
    Array.from({ length: 32 }, (_, thread): [number, number] => [thread, moved(along(threads, thread) + along(values, 0))]);
  const drawn = (): Promise<string[]> =>
    page.locator(".banks tbody tr:not(.gap)").evaluateAll((rows) =>
      rows.flatMap((row) => {
        const begin = Number(row.querySelector("th")!.textContent) / 4;
        return [...row.querySelectorAll("td")].flatMap((cell, bank) => (cell.textContent === "" ? [] : `${begin + bank} ${cell.textContent}`));
      }),
    );
  const expected = (moved: (address: number) => number): string[] =>
    [...instruction(lanes(moved), 2, 8).words].map(([word, who]) => `${word} t${who[0]}`).sort();
  expect((await drawn()).sort()).toEqual(expected((address) => address));
  expect((await page.locator(".banks tbody tr").first().boundingBox())!.y).toBeLessThan(720 - 200);
  await page.getByRole("button", { name: "After Sw<3,3,3>" }).click();
  await expect.poll(async () => (await drawn()).sort()).toEqual(expected((address) => swizzled(address, 3, 3, 3)));
  expect(await page.locator("section:has(.banks) > p[role=status]").innerText()).toContain("no bank conflict");
  // What is asked has not changed.
  expect(await page.locator("#layouts").inputValue()).not.toContain("Sw<");
  await leave(page);
});

test("which mode takes the thread is said, and can be another one", async () => {
  const { page } = await kernels("#layouts=(8,64):(64,1)&bytes=2");
  await expect.poll(() => page.locator("#say").innerText()).toMatch(/assumed that the first mode.*8 threads with 64 values/s);
  await page.getByLabel("Threads are").selectOption("1");
  await expect.poll(() => page.locator("#say").innerText()).toMatch(/assumed that the second mode.*64 threads with 8 values/s);
  const cells = await page.locator(".threads tbody tr:nth-child(3) td").allInnerTexts();
  expect(cells.map(Number)).toEqual(Array.from({ length: 8 }, (_, row) => row * 64 + 2));
  await page.getByLabel("Threads are").selectOption("2");
  await expect.poll(() => page.locator("#say").innerText()).toContain("2 modes, so that mode 3 cannot take the thread");
  await leave(page);
});

test("a tile has in its cells the threads and values of its elements", async () => {
  const { page, complaints } = await visit(here.browser, `${here.url}kernels.html#tab=tile`);
  for (const [name, text, rows, columns] of [
    ["mma.m16n8k16: A", "((4,8),(2,2,2)):((32,1),(16,8,128))", 16, 16],
    ["mma.m16n8k16: C", "((4,8),(2,2)):((32,1),(16,8))", 16, 8],
  ] as const) {
    await page.getByRole("button", { name }).click();
    const { threads, values } = parsed(text);
    const expected = new Map<number, string>();
    for (let thread = 0; thread < product(threads); thread++) {
      for (let at = 0; at < product(values); at++) {
        const element = along(threads, thread) + along(values, at);
        expected.set((element % rows) * columns + Math.floor(element / rows), `T${thread}V${at}`);
      }
    }
    await expect
      .poll(async () => (await page.locator(".tile td").allTextContents()).join(" "), { message: name })
      .toBe(Array.from({ length: rows * columns }, (_, place) => expected.get(place)).join(" "));
  }
  expect(await page.locator("#made").innerText()).toContain("every element once");
  await page.locator(".tile tbody tr").nth(1).locator("td").nth(0).hover();
  expect(await page.locator(".element").innerText()).toBe("Thread 4: V0 [1, 0], V1 [1, 1], V2 [9, 0], V3 [9, 1]");
  expect(await page.locator(".tile td.now").count()).toBe(4);
  await page.locator("#shape").fill("(8,8)");
  await expect.poll(() => page.locator("#made").innerText()).toMatch(/has element \d+ as value \d, but a tile of 8 by 8/);
  expect(complaints).toEqual([]);
  await leave(page);
});

test("two layouts are composed, divided and repeated, and why not is said", async () => {
  const { page, complaints } = await visit(here.browser, `${here.url}kernels.html#tab=composition`);
  const numbers = (name: string): Promise<number[]> =>
    page.locator(`section[aria-label="${name}"] td`).evaluateAll((cells) => cells.map((cell) => Number(cell.textContent)));
  // A o B at (m, n) is A at 3*m + n, which is taken apart by 6.
  const a = (x: number): number => (x % 6) * 8 + Math.floor(x / 6) * 2;
  await expect.poll(() => numbers("Result")).toEqual([0, 1, 2, 3].flatMap((row) => [0, 1, 2].map((column) => a(3 * row + column))));
  await page.locator("#b").fill("(3,2):(2,3)");
  await page.locator("#a").fill("(6,2):(1,7)");
  await expect.poll(() => page.locator("#made").innerText()).toContain("At coordinate (2,1) the value is 8");
  await page.locator("#a").fill("(6,2):(1,");
  await expect.poll(() => page.locator("#a").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Division" }).click();
  // Down a column there is a tile of 4 by 2, of rows of 8.
  const tile = [0, 1].flatMap((column) => [0, 1, 2, 3].map((row) => 8 * row + column));
  const first = [0, 2, 4, 6].flatMap((column) => [0, 4].map((row) => 8 * row + column));
  await expect.poll(() => numbers("Result")).toEqual(tile.flatMap((value) => first.map((begin) => begin + value)));
  await page.getByRole("button", { name: "Product" }).click();
  await expect.poll(async () => (await numbers("Result")).length).toBe(32);
  expect([...(await numbers("Result"))].sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, value) => value));
  await page.getByLabel("Form").selectOption("raked_product");
  await expect.poll(() => new URL(page.url()).hash).toContain("raked");
  const { page: again } = await visit(here.browser, page.url());
  await again.locator('section[aria-label="Result"] td').first().waitFor();
  expect(await again.locator("main").innerText()).toBe(await page.locator("main").innerText());
  expect(complaints).toEqual([]);
  await leave(again);
  await leave(page);
});

test("the tabs are narrow enough for a telephone, and axe finds nothing there", async () => {
  const { page } = await visit(here.browser, `${here.url}kernels.html#tab=tile`, { viewport: { width: 390, height: 844 } });
  await page.evaluate(readFileSync(AXE, "utf8"));
  for (const [tab, colorScheme] of [["Threads on a tile", "dark"], ["Division", "light"]] as const) {
    await page.emulateMedia({ colorScheme });
    await page.getByRole("button", { name: tab }).click();
    await page.locator("table td").first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), tab).toBeLessThanOrEqual(0);
    expect(
      await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
        return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html)}`);
      }),
      tab,
    ).toEqual([]);
  }
  await leave(page);
});

test("the first page and this one lead to each other, and to the course", async () => {
  const { page } = await visit(here.browser, here.url);
  await page.locator(".top").getByRole("link", { name: "Kernels" }).click();
  await settled(page);
  expect(await page.locator(".top a").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual(["./", "./course.html", "./"]);
  await leave(page);
});

test("a layout of CuTe in the explorer leads here", async () => {
  const { page } = await here.shared();
  await page.goto(`${here.url}#c=${encodeURIComponent("((8,4),2):((1,64),8)")}`);
  await page.getByRole("link", { name: "Its threads and banks" }).click();
  await settled(page);
  expect(await page.locator("#layouts").inputValue()).toBe("((8,4),2):((1,64),8)");
});
