/** Every pane on chains of real models, against an oracle that shares no code with the library. */
import { expect, test } from "vitest";
import { open } from "./browser";
import { answers } from "./command";
import { choose, go, text } from "./explorer";
import { address, chainText, recorded, shapes, unravel } from "./oracle";
import { stage } from "./setup";

const COUNT = 200;
const here = stage();

test(`${COUNT} chains: cells, addresses, expression, memory, witness`, { timeout: 600_000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  let [cells, witnesses, unmerged, same] = [0, 0, 0, 0];
  const chains = recorded(COUNT);
  const library = answers(chains);
  for (const [number, chain] of chains.entries()) {
    const written = chainText(chain);
    const label = `${chain.id}: ${written}`;
    const shape = shapes(chain).at(-1)!;
    const numel = shape.reduce((all, size) => all * size, 1);
    await go(page, { chain: written });
    expect(await page.evaluate(() => globalThis.explorer.trouble.value), label).toBeNull();
    const about = await page.evaluate(() => {
      const now = globalThis.explorer.layout.value!;
      const stack = now.chain!.views.map(({ shape, strides, offset, mask }) => ({ shape, strides, offset, mask }));
      const { index_text, valid_text } = now.expression!;
      return {
        shape: now.shape,
        numel: now.numel,
        views: stack.length,
        stack,
        index_text,
        valid_text,
        reason: now.chain!.reason,
      };
    });
    const told = library.get(chain.id);
    if (told !== undefined) {
      same++;
      expect(about.stack, label).toEqual(told.views);
      if (about.index_text !== null) expect(about.index_text, label).toBe(told.index);
      if (about.valid_text !== null) expect(about.valid_text, label).toBe(told.valid);
    }
    expect(about.shape, label).toEqual(shape);
    expect(about.numel, label).toBe(numel);
    expect(about.views, label).toBeLessThanOrEqual(chain.reference_views ?? Infinity);
    expect(await page.locator("#views .view").count(), label).toBe(about.views);
    if (numel === 0) continue;

    // Cells of the grid: what the tiles that are drawn hold.
    const sampled = await page.evaluate((seed) => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const { scene } = gridView.value!;
      const found: { index: number[]; address: number | null }[] = [];
      const tiles = gridCanvas.now!.tiles.all();
      for (let k = 0; k < 8; k++) {
        const tile = tiles[(k * 7) % tiles.length]!;
        if (tile.step !== 1) continue;
        const sample = (seed * 7919 + k * 104_729) % tile.addresses.length;
        const value = tile.addresses[sample]!;
        if (value === Infinity) continue;
        const index = [...scene.fixed];
        scene.plan.row.toIndex(tile.rowCells[Math.floor(sample / tile.columns)]!, index);
        scene.plan.column.toIndex(tile.columnCells[sample % tile.columns]!, index);
        found.push({ index, address: Number.isNaN(value) ? null : value });
      }
      return found;
    }, number);
    for (const { index, address: shown } of sampled) {
      cells++;
      expect(shown, `${label} at ${index.join()}`).toBe(address(chain, index));
    }

    // The element, on its way through views and expression.
    for (const position of [0, Math.floor(numel / 3), numel - 1]) {
      const index = unravel(position, shape);
      const expected = address(chain, index);
      await choose(page, index);
      const where = `${label} at ${index.join()}`;
      await page.waitForFunction(
        (to) => document.querySelector("#element .to")?.textContent?.replace("\u2212", "-") === to,
        expected === null ? "masked" : String(expected),
      );
      const detail = await page.evaluate(() => {
        const { trace, values, layout } = globalThis.explorer.detail.value!;
        const expression = layout.expression!;
        return {
          traced: trace!.address,
          valid: Number(values![expression.valid]),
          address: values![expression.index],
        };
      });
      expect(detail.traced, where).toBe(expected);
      expect(detail.valid, where).toBe(expected === null ? 0 : 1);
      if (expected !== null) {
        expect(detail.address, where).toBe(expected);
        const line = page.locator('#expression [data-line="index"] .value');
        if ((await line.count()) > 0)
          expect((await line.innerText()).replace("\u2212", "-"), where).toBe(String(expected));
        await page.waitForFunction((to) => {
          const { readers, layout } = globalThis.explorer;
          return readers.value?.layout === layout.value && String(readers.value?.address) === to;
        }, String(expected));
        const readers = await page.evaluate(() => globalThis.explorer.readers.value!);
        for (const reader of readers.indices.slice(0, 20)) expect(address(chain, reader), where).toBe(expected);
        if (readers.complete)
          expect(
            readers.indices.map((each) => each.join()),
            where,
          ).toContain(index.join());
      }
    }

    // Memory: how often each address is read.
    if (numel <= 5000) {
      const reads = new Map<number, number>();
      for (let position = 0; position < numel; position++) {
        const at = address(chain, unravel(position, shape));
        if (at !== null) reads.set(at, (reads.get(at) ?? 0) + 1);
      }
      if (reads.size > 0) {
        await page.waitForFunction(() => globalThis.explorer.stripCanvas.now?.known !== null);
        await page.waitForFunction(() => {
          const { stripCanvas, layout } = globalThis.explorer;
          return stripCanvas.now!.knownOf === layout.value;
        });
        const known = await page.evaluate(() => {
          const { begin, width, reads } = globalThis.explorer.stripCanvas.now!.known!;
          return { begin: Number(begin), width: Number(width), reads: [...reads] };
        });
        expect(known.width, label).toBe(1);
        for (const [at, times] of reads)
          expect(known.reads[at - known.begin], `${label}: reads of ${at}`).toBe(times);
        expect(
          known.reads.reduce((all, times) => all + times, 0),
          label,
        ).toBe([...reads.values()].reduce((a, b) => a + b, 0));
      }
    }

    // Why not one view: a proof that can be checked by hand.
    if (about.views > 1) unmerged++;
    const witness = about.reason?.witness ?? null;
    expect(await page.locator("#witness figure").count(), label).toBe(witness === null ? 0 : 1);
    if (witness === null) continue;
    witnesses++;
    const said = await text(page, "#witness");
    const at = (index: readonly (number | string)[]): number | null => address(chain, index.map(Number));
    if (witness.kind === "uneven_step") {
      for (const step of witness.steps) {
        expect([at(step.index), at(step.next)], label).toEqual([step.from, step.to]);
        expect(said, label).toContain(`[${step.index.join(", ")}]`);
      }
      expect(witness.steps[0].moved, label).not.toBe(witness.steps[1].moved);
    } else {
      expect(at(witness.valid[0]), label).not.toBeNull();
      expect(at(witness.valid[1]), label).not.toBeNull();
      expect(at(witness.invalid), label).toBeNull();
      expect(said, label).toContain(`[${witness.invalid.join(", ")}]`);
    }
  }
  expect(complaints).toEqual([]);
  console.log(
    `${COUNT} chains, ${same} compared with the command, ${cells} cells, ${unmerged} of several views, ${witnesses} witnesses`,
  );
  expect(cells).toBeGreaterThan(COUNT * 4);
  expect(witnesses).toBeGreaterThan(5);
});
