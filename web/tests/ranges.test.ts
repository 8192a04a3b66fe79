/** What is said of the values of an expression: exactly those that there are, or a bound that is called one. */
import { expect, test } from "vitest";
import { go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** A layout, and the range that stands beside its index. */
const INDICES: readonly [fields: Record<string, string>, says: RegExp][] = [
  // Addresses are 0 to 5, of which interval analysis knows -2 to 7.
  [{ chain: "(3, 2).permute(1, 0).reshape(3, 2)" }, /^0 … 5$/],
  [{ chain: "(3, 4).permute(1, 0).reshape(12)" }, /^0 … 11$/],
  // What is masked has no address.
  [{ chain: "(5).pad((0, 3)).reshape(2, 4)" }, /^0 … 4 where valid$/],
  [{ chain: "(2, 3).pad((1, 1), (1, 1))" }, /^0 … 5 where valid$/],
  [{ f: "x // 7 + x % 7", for: "x:102" }, /^0 … 19$/],
  [{ f: "x - x // 7 * 7", for: "x:1000000000000" }, /^0 … 6$/],
];

test("the range of the index is that of the addresses", { timeout: 180_000 }, async () => {
  const { page, complaints } = await here.shared();
  for (const [fields, says] of INDICES) {
    await go(page, fields);
    await page.locator("#expression").scrollIntoViewIfNeeded();
    const what = JSON.stringify(fields);
    await expect.poll(() => text(page, '#expression [data-line="index"] .range'), { message: what }).toMatch(says);
  }
  // As it comes about: the position, and what is taken of it along each axis; the values are those of the element all the same.
  await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)", at: "1,1", label: "hex" });
  await page.locator("#expression").scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "By views" }).click();
  const line = (name: string): Promise<string> => text(page, `#expression [data-line="${name}"] dd > code`);
  await expect.poll(() => line("index")).toBe("t0 // 3 + t0 % 3 * 2");
  expect(await line("t0")).toBe("idx0 * 2 + idx1");
  await expect.poll(() => text(page, '#expression [data-line="index"] .substituted')).toBe("= 3 // 3 + 3 % 3 * 2 = 1");
  expect(await text(page, '#expression [data-line="index"] .range')).toMatch(/^0 … 5$/);
  await page.getByRole("button", { name: "Simplified" }).click();
  await expect.poll(() => line("index")).toBe("t0 + idx1 - t0 // 3 * 5");
  // The same between the views: an arrow for each position, and axis by axis.
  expect(await page.locator("#views .derivation path").count()).toBe(6);
  expect(await page.locator("#views .derivation path[data-on]").count()).toBe(1);
  expect(await page.locator("#views .digits tbody tr").allInnerTexts()).toEqual([
    expect.stringMatching(/1\s+1\s+3 \/\/ 1 → 3 % 3 → 0/),
    expect.stringMatching(/0\s+3\s+3 \/\/ 3 → 1 % 2 → 1/),
  ]);
  expect(await text(page, "#element .to")).toBe("0x1");
  expect(complaints).toEqual([]);
});

test("every range that is not marked as a bound is that of the values, element by element", { timeout: 180_000 }, async () => {
  const { page } = await here.shared();
  for (const chain of ["(3, 2).permute(1, 0).reshape(3, 2)", "(2, 3).pad((1, 1), (0, 1)).permute(1, 0).reshape(2, 8)"]) {
    await go(page, { chain });
    await page.locator("#expression").scrollIntoViewIfNeeded();
    await page.locator("#expression .terms summary").waitFor();
    await expect.poll(() => page.evaluate(() => globalThis.explorer.written.value?.layout === globalThis.explorer.layout.value)).toBe(true);
    const shape = await page.evaluate(() => globalThis.explorer.layout.value!.shape);
    const ends = await page.evaluate(() =>
      globalThis.explorer.written.value!.expression!.nodes.map(({ low, high, exact }) => [Number(low), Number(high), exact]),
    );
    const found = ends.map(() => [Infinity, -Infinity] as [number, number]);
    for (let row = 0; row < shape[0]!; row++) {
      for (let column = 0; column < shape[1]!; column++) {
        await page.evaluate((at) => globalThis.explorer.change({ at }), [row, column]);
        await page.waitForFunction((at) => globalThis.explorer.values.value?.index.join() === at, [row, column].join());
        const values = await page.evaluate(() => globalThis.explorer.values.value!.values.map(Number));
        values.forEach((value, node) => {
          const [low, high] = found[node]!;
          found[node] = [Math.min(low, value), Math.max(high, value)];
        });
      }
    }
    expect(ends, chain).toEqual(found.map(([low, high]) => [low, high, true]));
  }
});

test("a bound is called one", async () => {
  const { page } = await here.shared();
  // So many parts of so many elements are not searched.
  const sum = Array.from({ length: 12 }, (_, k) => `x // ${k + 2} % ${k + 5} * y`).join(" + ");
  await go(page, { f: sum, for: "x:4000,y:4000" });
  await page.locator("#expression").scrollIntoViewIfNeeded();
  await expect.poll(() => text(page, '#expression [data-line="index"] .range')).toMatch(/^within /);
  await page.locator("#expression .terms summary").click();
  expect(await text(page, "#expression .terms")).toMatch(/With ≥ and ≤ it is a bound/);
  await page.locator("#expression .terms summary").click();
});
