/** The engine in WebAssembly gives the answers that the types of the page were checked against. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Engine, moduleOf, type ModuleName } from "shapetracker/engine";
import { samples } from "./protocol";

test("the engine answers as the samples say", async () => {
  const engines = new Map<ModuleName, Engine>();
  for (const sample of samples) {
    const name = moduleOf(sample.op, sample.request);
    const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(new URL(`../public/${name}.wasm`, import.meta.url)));
    const engine = engines.get(name) ?? new Engine(await WebAssembly.compile(bytes()));
    engines.set(name, engine);
    const expected = "fault" in sample ? { ok: false, fault: sample.fault } : { ok: true, value: sample.answer };
    expect(engine.call(sample.op, sample.request), JSON.stringify(sample.request)).toEqual(expected);
  }
});
