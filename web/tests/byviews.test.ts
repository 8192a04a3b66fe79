/** The expression of views as it comes about, held against the engine's addresses of the same views, without a browser. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { byViews } from "../src/byviews";
import { Engine, moduleOf, type Requests, type Source } from "shapetracker/engine";

const engines = new Map<string, Engine>();

function ask<Name extends keyof Requests>(op: Name, request: Requests[Name]["request"]): Requests[Name]["answer"] {
  const name = moduleOf(op, request);
  const path = new URL(`../public/${name}.wasm`, import.meta.url);
  if (!engines.has(name)) engines.set(name, new Engine(new WebAssembly.Module(readFileSync(path))));
  const said = engines.get(name)!.call(op, request);
  if (!said.ok) throw new Error(`${JSON.stringify(request)}: ${said.fault.message}`);
  return said.value;
}

/** All addresses in row-major order; NaN where there is none. */
function addresses(source: Source, shape: readonly number[]): number[] {
  const numel = shape.reduce((all, size) => all * size, 1);
  const request = { source, rows: [], columns: shape.map((_, axis) => axis), fixed: shape.map(() => 0) };
  const said = ask("tile", { ...request, row: { begin: 0, end: 1 }, column: { begin: 0, end: numel } });
  return [...said.addresses].map(Number);
}

const TEXTS: readonly (readonly [chain: string, index: string, valid: string | null])[] = [
  ["(3, 2).permute(1, 0)", "idx0 + idx1 * 2", null],
  ["(3, 2).permute(1, 0).reshape(3, 2)", "((idx0 * 2 + idx1) // 3) + ((idx0 * 2 + idx1) % 3) * 2", null],
  ["(6).flip(0)", "-idx0 + 5", null],
  ["(5).pad((0, 3)).reshape(2, 4)", "idx0 * 4 + idx1", "(idx0 * 4 + idx1) < 5"],
  ["(1, 1)", "0", null],
];

test("one view is its strides, and each view below is entered by divisions and remainders", () => {
  for (const [chain, index, valid] of TEXTS) {
    const found = byViews(ask("chain", { text: chain }).result!.views)!;
    const plain = (text: string | null | undefined): string | null => text?.replace(/[()]/g, "") ?? null;
    expect([plain(found.index), plain(found.valid)], chain).toEqual([plain(index), plain(valid)]);
  }
});

test("it has the addresses of the views", () => {
  const chains = [
    ...TEXTS.map(([chain]) => chain),
    "(4, 6).permute(1, 0).reshape(8, 3).permute(1, 0).reshape(4, 6)",
    "(2, 3).pad((1, 1), (0, 1)).permute(1, 0).reshape(2, 8)",
    "(4, 6).flip(1).permute(1, 0).reshape(3, 8).flip(0).permute(1, 0).reshape(24)",
    "(2, 1, 3).permute(2, 1, 0).reshape(1, 2, 3).expand(4, 2, 3).permute(2, 0, 1).reshape(6, 4)",
    "(1).expand(8).pad((7, 0)).reshape(1, 15).expand(9, 15).reshape(135).shrink((0, 128)).reshape(8, 16).shrink((0, 8), (0, 8)).flip(1)",
    "(3, 3).step(2, -1).pad((2, 1), (1, 1)).reshape(25).shrink((1, 25)).reshape(6, 4)",
  ];
  for (const chain of chains) {
    const { views, shape } = ask("chain", { text: chain }).result!;
    const found = byViews(views)!;
    const sizes = shape.map(Number);
    expect(addresses(found, sizes), `${chain}: ${found.index} if ${found.valid}`).toEqual(addresses({ chain }, sizes));
  }
});

test("what is too long is not written", () => {
  const view = { shape: [2, 2, 2, 2], strides: [1, 2, 4, 8], offset: 0, mask: null, text: "" };
  expect(byViews([view, view])).not.toBeNull();
  expect(byViews(Array.from({ length: 9 }, () => view))).toBeNull();
  expect(byViews([])).toBeNull();
});
