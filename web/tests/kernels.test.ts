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
  await page.locator(".scroller").first().focus();
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

test("a layout of CuTe in the explorer leads here", async () => {
  const { page } = await here.shared();
  await page.goto(`${here.url}#c=${encodeURIComponent("((8,4),2):((1,64),8)")}`);
  await page.getByRole("link", { name: "Its threads and banks" }).click();
  await settled(page);
  expect(await page.locator("#layouts").inputValue()).toBe("((8,4),2):((1,64),8)");
});
