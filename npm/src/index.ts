/**
 * Questions to the engine: `ask` fetches the module that answers a request when the first such request is asked, from beside this
 * file, in Node.js and in browsers alike.
 */
import { compiled, Engine, moduleOf, type Fault, type ModuleName, type Requests } from "./engine.js";

export * from "./engine.js";

/** The engine refuses a request. `message` is a sentence for the person who wrote the text. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** `syntax`, an error of the library such as `size_mismatch`, `undecided`, `limit`, `request`, or `unsupported`. */
  readonly kind: string;
  /** The request that was asked. */
  readonly op: string;
  /** All that is known: which text is at fault, where in it, and what it could be instead. */
  readonly fault: Fault;

  constructor(op: string, fault: Fault) {
    super(fault.message);
    this.kind = fault.kind;
    this.op = op;
    this.fault = fault;
  }
}

/** Where each module is, written out so that bundlers find the files. */
const FILES: Record<ModuleName, () => URL> = {
  shapetracker: () => new URL("./shapetracker.wasm", import.meta.url),
  free: () => new URL("./free.wasm", import.meta.url),
  code: () => new URL("./code.wasm", import.meta.url),
  names: () => new URL("./names.wasm", import.meta.url),
  nest: () => new URL("./nest.wasm", import.meta.url),
  devices: () => new URL("./devices.wasm", import.meta.url),
  kernels: () => new URL("./kernels.wasm", import.meta.url),
};

async function fetched(url: URL): Promise<WebAssembly.Module> {
  // Node.js fetches no files. Its modules are asked for so that no bundler looks for them.
  const files = url.protocol === "file:" ? globalThis.process?.getBuiltinModule?.("node:fs/promises") : undefined;
  if (files !== undefined) return WebAssembly.compile(new Uint8Array(await files.readFile(url)));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status} ${response.statusText}`.trim());
  return compiled(response);
}

const engines = new Map<ModuleName, Promise<Engine>>();

/**
 * Fetches and compiles a module, unless that has been done, for whoever wants answers without waiting for each:
 * `(await load("code")).call("advice", { .. })`. Which module answers a request is what `moduleOf` says.
 */
export function load(name: ModuleName = "shapetracker"): Promise<Engine> {
  const known = engines.get(name);
  if (known !== undefined) return known;
  const url = FILES[name]();
  const engine = fetched(url).then(
    (module) => new Engine(module),
    (cause: unknown) => {
      // It may come the next time.
      engines.delete(name);
      throw new Error(`the module ${name} of the engine cannot be had from ${url.href}: ${String(cause)}`, { cause });
    },
  );
  engines.set(name, engine);
  return engine;
}

/**
 * The answer to a request. Where there is none it is rejected with an `EngineError`; a `chain` that can be read in part is answered,
 * with `error` beside what could be read.
 */
export async function ask<Op extends keyof Requests>(op: Op, request: Requests[Op]["request"]): Promise<Requests[Op]["answer"]> {
  const engine = await load(moduleOf(op, request));
  const answer = engine.call(op, request);
  if (!answer.ok) throw new EngineError(op, answer.fault);
  return answer.value;
}
