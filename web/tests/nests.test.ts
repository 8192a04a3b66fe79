/** Loops over several tensors: what a step touches and which steps touch an element, against loops that are gone through here. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open } from "./browser";
import { text } from "./explorer";
import { stage } from "./setup";

const here = stage();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

async function link(page: Page, chain: string, at: readonly number[]): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#c=${encodeURIComponent(chain)}&at=${at.join(",")}&n=${Math.random()}`);
  await page.waitForFunction((text) => globalThis.explorer.idle.value && globalThis.explorer.page.value.chain === text, chain);
}

/** Goes to a kernel by its link, and waits until its loops, or what they are split into, are at these values. */
async function kernel(page: Page, chain: string, at: readonly number[]): Promise<void> {
  await link(page, chain, at);
  const first = chain.split("\n")[0]!;
  await page.waitForFunction(
    ([first, at]) =>
      document.querySelector(".nest .statement")?.textContent === first &&
      [...document.querySelectorAll(".nest output")].map((each) => each.textContent).join() === at,
    [first, at.join()] as const,
  );
}

/** The same where the loops may be split, and stand in another order: the values are those of the loops. */
async function unsplit(page: Page, chain: string, values: Record<string, number>): Promise<void> {
  await link(page, chain, []);
  const [first, ...lines] = chain.split("\n");
  const sizes = lines.flatMap((line) => /^(\w+ = 0\.\.\d+)$/.exec(line)?.[1] ?? []);
  const parts = await page.waitForFunction(
    ([first, sizes]) => {
      const there = [...document.querySelectorAll(".nest .loops > li")].map((each) => ({
        name: each.querySelector("b")?.textContent ?? "",
        parts: [...each.querySelectorAll("input")].map((input) => Number(input.max) + 1),
      }));
      const texts = there.map(({ name, parts }) => `${name} = 0..${parts.reduce((all, size) => all * size, 1)}`);
      return document.querySelector(".nest .statement")?.textContent === first && texts.sort().join() === sizes ? there : null;
    },
    [first, sizes.sort().join()] as const,
  );
  const digits = (await parts.jsonValue())!.flatMap(({ name, parts }) => {
    let rest = values[name]!;
    const found: number[] = [];
    for (const size of parts.toReversed()) {
      found.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    return found;
  });
  await kernel(page, chain, digits);
}

interface Axis {
  text: string;
  at(values: Record<string, number>): number;
  size: number;
}

interface Tensor {
  name: string;
  axes: Axis[];
  /** How much padding is before and after each axis. */
  pad: number;
}

interface Kernel {
  loops: { name: string; size: number }[];
  tensors: Tensor[];
  condition: { text: string; holds(values: Record<string, number>): boolean } | null;
}

let seed = 12345;
function below(end: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 2 ** 32) * end);
}

function random(): Kernel {
  const loops = ["i", "j", "u", "v"].slice(0, 2 + below(3)).map((name) => ({ name, size: 2 + below(4) }));
  const left = 1 + below(loops.length);
  const alone = ({ name, size }: { name: string; size: number }): Axis => ({ text: name, at: (values) => values[name]!, size });
  const mixed = (): Axis => {
    const [a, b] = [loops[below(loops.length)]!, loops[below(loops.length)]!];
    const factor = 1 + below(3);
    switch (below(3)) {
      case 0:
        return alone(a);
      case 1: {
        const size = factor * (a.size - 1) + b.size;
        return { text: `${a.name}*${factor} + ${b.name}`, at: (values) => values[a.name]! * factor + values[b.name]!, size };
      }
      default:
        return { text: `${a.name} // 2`, at: (values) => Math.floor(values[a.name]! / 2), size: Math.floor((a.size - 1) / 2) + 1 };
    }
  };
  const pad = below(2);
  const rest = loops.slice(left).map(alone);
  const tensors: Tensor[] = [
    { name: "Y", axes: loops.slice(0, left).map(alone), pad: 0 },
    { name: "X", axes: [mixed(), mixed(), ...rest], pad },
    { name: "W", axes: [mixed()], pad: 0 },
  ];
  const [a, b] = [loops[0]!.name, loops.at(-1)!.name];
  const conditions = [
    null,
    { text: `${a} <= ${b}`, holds: (values: Record<string, number>) => values[a]! <= values[b]! },
    { text: `(${a} + ${b}) % 2 == 0`, holds: (values: Record<string, number>) => (values[a]! + values[b]!) % 2 === 0 },
    { text: `${a} == 0 or ${b} > 0`, holds: (values: Record<string, number>) => values[a] === 0 || values[b]! > 0 },
  ];
  return { loops, tensors, condition: conditions[below(conditions.length)]! };
}

/** Of padding on both sides the outer elements are none: the axis has as many entries as before, so that the index stays inside. */
function written({ loops, tensors, condition }: Kernel): string {
  const element = ({ name, axes }: Tensor): string => `${name}[${axes.map((axis) => axis.text).join(", ")}]`;
  const [y, x, w] = tensors.map(element);
  const statement = `${y} += ${x} * ${w}${condition === null ? "" : ` if ${condition.text}`}`;
  const layouts = tensors.map(({ name, axes, pad }) => {
    const inner = axes.map(({ size }) => Math.max(size - 2 * pad, 1));
    const after = axes.map(({ size }, axis) => size - inner[axis]! - (size > 1 ? pad : 0));
    const pads = axes.map(({ size }, axis) => `(${size > 1 ? pad : 0}, ${after[axis]})`);
    return `${name} = (${inner.join(", ")},)${pad > 0 ? `.pad(${pads.join(", ")})` : ""}`;
  });
  return [statement, ...loops.map(({ name, size }) => `${name} = 0..${size}`), ...layouts].join("\n");
}

/** All steps, one after the other, with what each touches. */
function steps({ loops, tensors, condition }: Kernel) {
  let all: Record<string, number>[] = [{}];
  for (const { name, size } of loops) {
    all = all.flatMap((values) => Array.from({ length: size }, (_, value) => ({ ...values, [name]: value })));
  }
  return all.map((values) => {
    const touched = tensors.map(({ axes }) => axes.map((axis) => axis.at(values)));
    const isPadding = tensors.map(({ axes, pad }, tensor) =>
      axes.some(({ size }, axis) => {
        const inner = Math.max(size - 2 * pad, 1);
        const before = size > 1 ? pad : 0;
        return touched[tensor]![axis]! < before || touched[tensor]![axis]! >= before + inner;
      }),
    );
    const runs = !isPadding.includes(true) && (condition === null || condition.holds(values));
    return { values, touched, isPadding, runs };
  });
}

test("a step touches what the loops say, and an element the steps that they say: random kernels", { timeout: 240_000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  for (let round = 0; round < 14; ++round) {
    const made = random();
    const chain = written(made);
    const all = steps(made);
    const step = all[below(all.length)]!;
    await unsplit(page, chain, step.values);
    const running = all.filter(({ runs }) => runs).length;
    const guards = await text(page, ".nest .guards > p");
    if (running === all.length) expect(guards, chain).toContain(`${all.length} steps, at all of which`);
    else expect(guards, chain).toContain(`runs at ${running} of ${all.length} steps`);
    const figures = page.locator(".nest figure");
    expect(await figures.count(), chain).toBe(3);
    for (const [tensor, { name }] of made.tensors.entries()) {
      const index = step.touched[tensor]!.join(", ");
      const caption = await figures.nth(tensor).locator("figcaption").innerText();
      expect(caption, chain).toContain(`${name}[${index}]`);
      expect(caption.includes("padding"), `${chain} ${caption}`).toBe(step.isPadding[tensor]);
      expect(caption.includes("left out"), `${chain} ${caption}`).toBe(!step.runs);
      // The steps that touch the same element.
      await figures.nth(tensor).getByRole("button", { name: "Which steps touch" }).click();
      const touching = all.filter(({ runs, touched }) => runs && touched[tensor]!.join(", ") === index);
      const status = page.locator(".nest .touching [role=status]", { hasText: `${name}[${index}]` });
      await status.waitFor();
      const said = (await status.innerText()).replaceAll("\u202f", "");
      const count = touching.length === 0 ? "no step" : `${touching.length} step${touching.length === 1 ? "" : "s"} of ${all.length}`;
      expect(said, chain).toContain(`is touched at ${count}`);
      for (const { name: loop, size } of touching.length === 0 ? [] : made.loops) {
        const values = touching.map(({ values }) => values[loop]!);
        const [from, to] = [Math.min(...values), Math.max(...values)];
        if (said.includes(`${loop} runs freely`)) expect(new Set(values).size, `${chain} ${said}`).toBe(size);
        else expect(said, chain).toContain(from === to ? `${loop} = ${from}` : `${loop} from ${from} to ${to}`);
      }
    }
  }
  expect(complaints).toEqual([]);
  await leave(page);
});

const MATMUL = "C[i, j] += A[i, k] * B[k, j]\nA = (4096, 4096)\nB = (4096, 4096).T\nC = (4096, 4096)";

test("a product of 4096^3 steps is counted exactly, drawn, and stays quick", async () => {
  const { page } = await open(here.browser, here.url);
  await kernel(page, MATMUL, [1, 2, 3]);
  expect(await text(page, ".nest .guards > p")).toContain("68719476736 steps");
  const begun = Date.now();
  await page.getByRole("slider", { name: "Loop k" }).press("ArrowRight");
  await page.locator(".nest figcaption", { hasText: "A[1, 4]" }).waitFor();
  await page.locator(".nest figcaption", { hasText: "B[4, 2]" }).waitFor();
  expect(Date.now() - begun).toBeLessThan(3000);
  await page.getByRole("button", { name: "Which steps touch A[1, 4]?" }).press("Enter");
  const said = page.locator(".nest .touching [role=status]", { hasText: "4\u202f096 steps" });
  await said.waitFor();
  expect(await said.innerText()).toContain("i = 1, j runs freely, which is reuse, k = 4");
  await page.locator("canvas.minigrid").nth(2).waitFor();
  await leave(page);
});

test("split loops are drawn with their parts, which are stepped by keys", async () => {
  const { page } = await open(here.browser, here.url);
  await kernel(page, "Y[r, c] = X[r, c]\nX = (2, 3, 4, 5).permute(0, 2, 1, 3).reshape(8, 15)\nY = (8, 15)", [1, 2, 1, 3]);
  expect(await page.getByRole("slider").count()).toBe(4);
  // r = 1*4 + 2, c = 1*5 + 3: in memory batch 1, head 1, row 2, column 3.
  expect(await text(page, ".nest figure:nth-child(2) figcaption")).toContain(`X[6, 8]: address ${((1 * 3 + 1) * 4 + 2) * 5 + 3}`);
  await page.getByRole("slider", { name: "Loop r1" }).press("ArrowLeft");
  await page.locator(".nest figcaption", { hasText: "X[5, 8]" }).waitFor();
  await leave(page);
});

test("a kernel that is pasted is one, a mistake in it is marked, and a chain after it is a chain again", async () => {
  const { page } = await open(here.browser, here.url);
  const field = page.getByRole("textbox", { name: "Chain as text" });
  await field.fill("C[i, j] += A[i, k] * B[k, j]; A = (64, 16); B = (17, 32); C = (64, 32)");
  await page.locator(".mistake", { hasText: "a loop has one size" }).waitFor();
  expect(await page.locator(".nest").count()).toBe(0);
  await field.fill("C[i, j] += A[i, k] * B[k, j]; A = (64, 16); B = (16, 32); C = (64, 32)");
  await page.locator(".nest .statement").waitFor();
  expect(await page.locator(".mistake").count()).toBe(0);
  expect(await page.locator("#grid").isVisible()).toBe(false);
  await field.fill("(3, 2).permute(1, 0)");
  await page.locator("#grid").waitFor({ state: "visible" });
  expect(await page.locator(".nest").count()).toBe(0);
  await leave(page);
});

test("pointing at an element of a picture says which steps touch it", async () => {
  const { page } = await open(here.browser, here.url);
  await kernel(page, "C[i, j] += A[i, k] * B[k, j]\nA = (4, 3)\nB = (3, 5)\nC = (4, 5)", [0, 0, 0]);
  const canvas = page.locator(".nest figure canvas").nth(0);
  await canvas.hover();
  // Its middle is in some element of C, each of which is touched once for each k.
  await page.locator(".nest .touching [role=status]", { hasText: "is touched at 3 steps of 60" }).waitFor();
  await canvas.click();
  await page.getByRole("button", { name: "Forget the element" }).waitFor();
  await leave(page);
});

test("sizes that are names have values, which are changed, and what is counted and drawn follows", { timeout: 60_000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  const chain = "C[i, j] += A[i, k] * B[k, j]\nA = (M, K)\nB = (2*N, K).T\nC = (M, 2*N)";
  await link(page, chain, [1, 2, 1]);
  const guards = page.locator(".nest .guards > p", { hasText: "At M =" });
  await guards.waitFor();
  const slider = (name: string) => page.getByRole("group", { name: "Sizes that are names" }).getByRole("slider", { name: `Value of ${name}` });
  for (const [name, value] of [["M", 5], ["K", 3], ["N", 4]] as const) await slider(name).fill(String(value));
  await page.locator(".nest .guards > p", { hasText: "At M = 5, K = 3, N = 4: 120 steps" }).waitFor();
  const loops = await page.locator(".nest .loops > li > p").allInnerTexts();
  expect(loops.map((line) => line.replaceAll(/\s+/g, " "))).toEqual([
    "i = 1 of M = 5",
    "j = 2 of 2 * N = 8",
    "k = 1 of K = 3, summed over",
  ]);
  const figure = (number: number) => page.locator(".nest figure").nth(number);
  await figure(2).locator("canvas.minigrid").waitFor();
  expect(await figure(2).locator("canvas").getAttribute("aria-label")).toContain("B, shape [3, 8]");
  // B is transposed: one of 8 rows of 3.
  expect(await figure(2).locator("figcaption").innerText()).toContain("B[1, 2]: address 7");
  expect(await figure(2).innerText()).toContain("(2*N, K).T, here (8, 3).T");
  await page.getByRole("button", { name: "Which steps touch A[1, 1]?" }).click();
  const touching = page.locator(".nest .touching [role=status]", { hasText: "A[1, 1]" });
  await touching.waitFor();
  expect(await touching.innerText()).toContain("8 steps of 120: i = 1, j runs freely, which is reuse, k = 1");
  await slider("K").fill("6");
  await page.locator(".nest .guards > p", { hasText: "At M = 5, K = 6, N = 4: 240 steps" }).waitFor();
  await figure(2).locator("figcaption", { hasText: "B[1, 2]: address 13" }).waitFor();
  expect(await page.locator(".mistake").count()).toBe(0);

  // What does not meet what is said of the names is told, and the loops stay as they were.
  const where = page.getByRole("textbox", { name: "where" });
  await where.fill("K % 3 == 0");
  await slider("K").fill("7");
  await page.locator(".mistake", { hasText: "K = 7, N = 4: at these values K % 3 == 0 does not hold" }).waitFor();
  await page.locator(".nest .guards > p", { hasText: "At M = 5, K = 6, N = 4: 240 steps" }).waitFor();
  await page.getByRole("slider", { name: "Loop k" }).press("ArrowRight");
  await page.locator(".nest figcaption", { hasText: "A[1, 2]" }).waitFor();
  await slider("K").fill("9");
  await page.locator(".nest .guards > p", { hasText: "At M = 5, K = 9, N = 4: 360 steps" }).waitFor();
  expect(await page.locator(".mistake").count()).toBe(0);
  await where.fill("K % ");
  await page.locator(".mistake").waitFor();
  await where.fill("");
  await page.locator(".mistake").waitFor({ state: "detached" });

  // A link has the values; one that may not be is told beside values that may.
  await page.evaluate((hash) => (location.hash = hash), `#c=${encodeURIComponent(`${chain} # anew`)}&values=M:0`);
  await page.locator(".mistake", { hasText: "0 is not a value of M, which is 1 or more" }).waitFor();
  await page.locator(".nest .guards > p", { hasText: "At M = 3, " }).waitFor();
  expect(complaints).toEqual([]);
  await leave(page);
});

interface Axe {
  run(context: unknown, options: unknown): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe has nothing to say of the loops: ${colorScheme}`, async () => {
    const options = { viewport: { width: 1280, height: 720 }, colorScheme, bypassCSP: true };
    const { page } = await open(here.browser, here.url, options);
    await kernel(page, "y[i, j] += x[i + u, j + v] * w[u, v]\nx = (8, 10).pad((1, 1), (1, 1))\nw = (3, 3)\ny = (8, 10)", [3, 4, 0, 2]);
    await page.getByRole("button", { name: "Which steps touch x" }).click();
    await page.getByRole("button", { name: "Forget the element" }).waitFor();
    await page.evaluate(readFileSync(AXE, "utf8"));
    const found = await page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(document, { resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`));
    });
    expect(found).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await leave(page);
  });
}
