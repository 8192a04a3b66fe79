/** The engine in WebAssembly gives the answers that the types of the page were checked against. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Engine } from "../src/engine";
import { samples } from "./protocol";

test("the engine answers as the samples say", async () => {
  const engine = await Engine.load(readFileSync(new URL("../public/shapetracker.wasm", import.meta.url)));
  for (const sample of samples) {
    const expected = "fault" in sample ? { ok: false, fault: sample.fault } : { ok: true, value: sample.answer };
    expect(engine.call(sample.op, sample.request), JSON.stringify(sample.request)).toEqual(expected);
  }
});
