/** Every pane on chains of real models, against an oracle that shares no code with the library. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open } from "./browser";
import { answers } from "./command";
import { address, chainText, recorded, shapes, unravel } from "./oracle";
import { stage } from "./setup";

/** How many chains: `SHAPETRACKER_CASES` says how many times as many. */
const COUNT = Math.ceil(200 * Number(process.env["SHAPETRACKER_CASES"] ?? 1));
const here = stage();

/** More addresses are not counted one by one. */
const MOST_COUNTED = 5000;

/** What all panes say of a chain and of some elements: gathered in the page, which stays open from chain to chain. */
function gather(page: Page, chain: string, indices: number[][], seed: number, counted: boolean) {
  return page.evaluate(
    async ({ chain, indices, seed, counted }) => {
      const { change, layout, idle, trouble, detail, readers, gridCanvas, stripCanvas, written, values } =
        globalThis.explorer;
      const until = async (what: string, is: () => boolean): Promise<void> => {
        const end = performance.now() + 20_000;
        while (!is()) {
          if (performance.now() > end) throw new Error(`${chain}: no ${what}`);
          await new Promise((done) => setTimeout(done, 2));
        }
      };
      const text = (selector: string): string | null =>
        document.querySelector(selector)?.textContent?.replaceAll("\u2212", "-").replaceAll("\u202f", "") ?? null;
      change({ chain, muted: [], at: [], places: null, camera: null, stripCamera: null }, "corpus");
      await until("layout", () => idle.value && document.querySelector("main")!.dataset["state"] !== "waiting");
      if (trouble.value !== null) return { trouble: trouble.value.fault.message };
      const now = layout.value!;
      const { views, reason } = now.chain!;
      await until("expression", () => written.value?.layout === now);
      const { index_text, valid_text, index: root, valid } = written.value!.expression!;
      const about = {
        shape: now.shape,
        numel: now.numel,
        views: views.map(({ shape, strides, offset, mask }) => ({ shape, strides, offset, mask })),
        index_text,
        valid_text,
        reason,
        cards: document.querySelectorAll("#views .view").length,
        figures: document.querySelectorAll("#witness figure").length,
        witness: text("#witness"),
      };

      // Cells of the grid: what the tiles that are drawn hold.
      const cells: { index: number[]; address: number | null }[] = [];
      // What pixels that stand for more than one element show of them.
      const blocks: { indices: number[][]; valid: number; low: number; high: number; mean: number }[] = [];
      if (indices.length > 0) {
        await until("tiles", () => gridCanvas.now?.tiles.complete(now) === true);
        // What is drawn: the element may have moved on since.
        const scene = gridCanvas.now!.tiles.of!;
        const tiles = gridCanvas.now!.tiles.all();
        for (let k = 0; k < 8; k++) {
          const tile = tiles[(k * 7) % tiles.length]!;
          const sample = (seed * 7919 + k * 104_729) % tile.addresses.length;
          if (tile.step !== 1) {
            const { row, column } = scene.plan;
            const [at, across] = [Math.floor(sample / tile.columns), sample % tile.columns];
            const block: number[][] = [];
            for (let r = tile.rowCells.begins[at]!; r < tile.rowCells.ends[at]!; r++) {
              for (let c = tile.columnCells.begins[across]!; c < tile.columnCells.ends[across]!; c++) {
                const index = [...scene.fixed];
                row.toIndex(r, index);
                column.toIndex(c, index);
                // The last line of facets may not be full.
                if (index.every((at, axis) => at < now.shape[axis]!)) block.push(index);
              }
            }
            if (block.length === 0 || block.length > 4096) continue;
            const { mean, low, high } = tile.range!;
            blocks.push({
              indices: block,
              valid: tile.valid![sample]!,
              low: low[sample]!,
              high: high[sample]!,
              mean: mean[sample]!,
            });
            continue;
          }
          const value = tile.addresses[sample]!;
          if (value === Infinity) continue;
          const index = [...scene.fixed];
          scene.plan.row.toIndex(tile.rowCells.begins[Math.floor(sample / tile.columns)]!, index);
          scene.plan.column.toIndex(tile.columnCells.begins[sample % tile.columns]!, index);
          cells.push({ index, address: Number.isNaN(value) ? null : value });
        }
      }

      // Elements, on their way through views and expression.
      const elements = [];
      for (const at of indices) {
        change({ at });
        await until("element", () => detail.value?.layout === now && detail.value.index?.join() === at.join());
        const { address, trace } = detail.value!;
        await until("values", () => values.value?.index.join() === at.join());
        const known = values.value!.values;
        const shown = address === null ? "masked" : String(address);
        await until("text of the element", () => text("#element .to") === shown);
        if (address !== null) {
          await until("readers", () => readers.value?.layout === now && String(readers.value.address) === shown);
        }
        elements.push({
          traced: trace!.address,
          shown,
          valid: Number(known[valid]),
          address: known[root],
          line: text('#expression [data-line="index"] .value'),
          readers: address === null ? null : readers.value,
        });
      }

      // Memory: how often each address is read.
      let memory = null;
      if (counted) {
        await until("memory", () => stripCanvas.now?.knownOf === now);
        const { begin, width, reads, distinct } = stripCanvas.now!.known!;
        const different = distinct === null ? null : [...distinct];
        memory = { begin: Number(begin), width: Number(width), reads: [...reads], distinct: different };
      }
      return { trouble: null, about, cells, blocks, elements, memory };
    },
    { chain, indices, seed, counted },
  );
}

test(`${COUNT} chains: cells, addresses, expression, memory, witness`, { timeout: 600_000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  // What comes after the first picture.
  await page.locator("#views .view").first().waitFor();
  // The expression is asked for when it comes into sight.
  await page.locator("#expression").scrollIntoViewIfNeeded();
  // Nothing here is about pixels, which are painted elsewhere: the canvases draw, and nobody puts them together.
  await page.evaluate(() => document.documentElement.style.setProperty("visibility", "hidden"));
  let [cells, blocks, witnesses, unmerged, same] = [0, 0, 0, 0, 0];
  const chains = recorded(COUNT);
  const library = answers(chains);
  for (const [number, chain] of chains.entries()) {
    const written = chainText(chain);
    const label = `${chain.id}: ${written}`;
    const shape = shapes(chain).at(-1)!;
    const numel = shape.reduce((all, size) => all * size, 1);
    const positions = numel === 0 ? [] : [0, Math.floor(numel / 3), numel - 1];
    const indices = positions.map((position) => unravel(position, shape));
    const reads = new Map<number, number>();
    for (let position = 0; position < numel && numel <= MOST_COUNTED; position++) {
      const at = address(chain, unravel(position, shape));
      if (at !== null) reads.set(at, (reads.get(at) ?? 0) + 1);
    }
    const said = await gather(page, written, indices, number, reads.size > 0);
    if (said.trouble !== null) throw new Error(`${label}: ${said.trouble}`);
    const { about } = said;

    const told = library.get(chain.id);
    if (told !== undefined) {
      same++;
      expect(about.views, label).toEqual(told.views);
      if (about.index_text !== null) expect(about.index_text, label).toBe(told.index);
      if (about.valid_text !== null) expect(about.valid_text, label).toBe(told.valid);
    }
    expect(about.shape, label).toEqual(shape);
    expect(about.numel, label).toBe(numel);
    expect(about.views.length, label).toBeLessThanOrEqual(chain.reference_views ?? Infinity);
    expect(about.cards, label).toBe(about.views.length);

    for (const { indices, valid, low, high, mean } of said.blocks) {
      blocks++;
      const read = indices.map((index) => address(chain, index)).filter((at) => at !== null);
      expect(valid, label).toBeCloseTo(read.length / indices.length, 9);
      if (read.length === 0) continue;
      expect([low, high], label).toEqual([Math.min(...read), Math.max(...read)]);
      const sum = read.reduce((all, at) => all + at, 0);
      expect(Math.abs(mean - sum / read.length), label).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(sum), 1));
    }
    for (const { index, address: shown } of said.cells) {
      cells++;
      expect(shown, `${label} at ${index.join()}`).toBe(address(chain, index));
    }

    for (const [at, element] of said.elements.entries()) {
      const index = indices[at]!;
      const expected = address(chain, index);
      const where = `${label} at ${index.join()}`;
      expect(element.shown, where).toBe(expected === null ? "masked" : String(expected));
      expect(element.traced, where).toBe(expected);
      expect(element.valid, where).toBe(expected === null ? 0 : 1);
      if (expected === null) continue;
      expect(element.address, where).toBe(expected);
      if (element.line !== null) expect(element.line, where).toBe(String(expected));
      const { indices: reading, complete } = element.readers!;
      for (const reader of reading.slice(0, 20)) expect(address(chain, reader), where).toBe(expected);
      if (complete)
        expect(
          reading.map((each) => each.join()),
          where,
        ).toContain(index.join());
    }

    if (reads.size > 0) {
      // A long buffer of which little is read is counted by pixels of the strip.
      const { begin, width, reads: known, distinct } = said.memory!;
      const [counted, different] = [known.map(() => 0), known.map(() => 0)];
      for (const [at, times] of reads) {
        const bucket = Math.floor((at - begin) / width);
        counted[bucket]! += times;
        different[bucket]!++;
      }
      expect(known, label).toEqual(counted);
      if (distinct !== null) expect(distinct, label).toEqual(different);
      expect(
        known.reduce((all, times) => all + times, 0),
        label,
      ).toBe([...reads.values()].reduce((a, b) => a + b, 0));
    }

    // Why not one view: a proof that can be checked by hand.
    if (about.views.length > 1) unmerged++;
    const witness = about.reason?.witness ?? null;
    expect(about.figures, label).toBe(witness === null ? 0 : 1);
    if (witness === null) continue;
    witnesses++;
    const at = (index: readonly (number | string)[]): number | null => address(chain, index.map(Number));
    if (witness.kind === "uneven_step") {
      for (const step of witness.steps) {
        const next = step.index.map((at, axis) => Number(at) + (axis === witness.axis ? 1 : 0));
        expect(step.next.map(Number), label).toEqual(next);
        expect([at(step.index), at(step.next)], label).toEqual([step.from, step.to]);
        expect(about.witness, label).toContain(`[${step.index.join(", ")}]`);
      }
      expect(witness.steps[0].moved, label).not.toBe(witness.steps[1].moved);
    } else {
      expect(at(witness.valid[0]), label).not.toBeNull();
      expect(at(witness.valid[1]), label).not.toBeNull();
      expect(at(witness.invalid), label).toBeNull();
      for (const [axis, i] of witness.invalid.map(Number).entries()) {
        const [a, b] = witness.valid.map((index) => Number(index[axis])) as [number, number];
        expect(Math.min(a, b) <= i && i <= Math.max(a, b), label).toBe(true);
      }
      expect(about.witness, label).toContain(`[${witness.invalid.join(", ")}]`);
    }
  }
  expect(complaints).toEqual([]);
  console.log(
    `${COUNT} chains, ${same} compared with the command, ${cells} cells, ${blocks} pixels of several elements, ${unmerged} of several views, ${witnesses} witnesses`,
  );
  // Where the command is named, all are compared with it.
  if (process.env["SHAPETRACKER"] !== undefined) expect(same).toBe(COUNT);
  expect(cells).toBeGreaterThan(COUNT * 4);
  expect(blocks).toBeGreaterThan(COUNT / 4);
  expect(witnesses).toBeGreaterThan(COUNT / 40);
  await leave(page);
});
