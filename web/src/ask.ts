/**
 * Questions to the engine: asked in workers, one at a time each, and given up when they take too long. The engine comes in
 * modules, each of which is fetched and compiled once, for all workers: the first at once, the others when they are needed.
 */
import { effect, signal } from "@preact/signals-core";
import { moduleOf, type Answer, type Fault, type ModuleName, type Requests } from "./engine";
import { pictured } from "./panes/later";
import type { Ask, Begin } from "./worker";

/** What a question waits for, or what replaced it. */
interface Waiting {
  op: keyof Requests;
  module: ModuleName;
  request: unknown;
  key: string | null;
  resolve(answer: Answer<never> | null): void;
}

/** A question that takes longer is stopped, so that the page stays usable. */
export const PATIENCE = { quick: 8_000, slow: 10_000 } as const;

/** Whether the engine has been fetched. */
export const engine = signal<"awaited" | "there" | "failed">("awaited");

/** The modules that are there, or why one cannot be started. */
const modules = new Map<ModuleName, WebAssembly.Module | Fault>();
/** The modules that are on their way. */
const coming = new Set<ModuleName>();

/** Questions that lie with a worker at a time: the next is there when it has answered one. */
const AHEAD = 3;

class Desk {
  private worker: Worker | null = null;
  /** The modules that the worker has. */
  private readonly given = new Set<ModuleName>();
  private queue: Waiting[] = [];
  /** What lies with the worker, the oldest first, by number. */
  private readonly put = new Map<number, Waiting>();
  private timer = 0;
  private id = 0;

  constructor(private readonly patience: number) {}

  ask(waiting: Waiting): void {
    if (waiting.key !== null) this.drop(waiting.key);
    this.queue.push(waiting);
    this.next();
  }

  /** Forgets the questions of this key that were not yet put. */
  drop(key: string): void {
    const dropped = this.queue.filter((waiting) => waiting.key === key);
    if (dropped.length === 0) return;
    this.queue = this.queue.filter((waiting) => waiting.key !== key);
    for (const waiting of dropped) waiting.resolve(null);
  }

  next(): void {
    while (this.put.size < AHEAD) {
      const at = this.queue.findIndex(({ module }) => modules.has(module));
      const [waiting] = at < 0 ? [] : this.queue.splice(at, 1);
      const module = waiting && modules.get(waiting.module);
      if (waiting === undefined || module === undefined) return;
      if (!(module instanceof WebAssembly.Module)) {
        waiting.resolve({ ok: false, fault: module });
        continue;
      }
      const worker = this.hire();
      if (!this.given.has(waiting.module)) {
        this.given.add(waiting.module);
        worker.postMessage({ name: waiting.module, module } satisfies Begin);
      }
      this.put.set(++this.id, waiting);
      if (this.put.size === 1) this.watch();
      const { op, request, module: name } = waiting;
      worker.postMessage({ id: this.id, name, op, request } satisfies Ask);
    }
  }

  /** The time of the oldest question runs from now on. */
  private watch(): void {
    clearTimeout(this.timer);
    const seconds = this.patience / 1000;
    const message = `This takes the engine longer than ${seconds} seconds, so it was stopped: the page stays usable.`;
    if (this.put.size > 0) this.timer = window.setTimeout(() => this.fail(message), this.patience);
  }

  /** The worker, which is started where there is none. */
  hire(): Worker {
    if (this.worker !== null) return this.worker;
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<{ id: number; answer: Answer<never> }>) => {
      const waiting = this.put.get(data.id);
      this.put.delete(data.id);
      this.watch();
      waiting?.resolve(data.answer);
      this.next();
    });
    worker.addEventListener("error", () => this.fail("The engine failed at this question; it was started anew."));
    return (this.worker = worker);
  }

  /** Gives up the oldest question; those behind it are put again. */
  private fail(message: string): void {
    this.worker?.terminate();
    this.worker = null;
    this.given.clear();
    const [oldest, ...others] = this.put.values();
    this.put.clear();
    this.queue.unshift(...others);
    oldest?.resolve({ ok: false, fault: faultOf("time", message) });
    this.next();
  }
}

/** What is drawn, what may take longer, and what stands beside the picture: none waits for another. */
const desks = { quick: new Desk(PATIENCE.quick), slow: new Desk(PATIENCE.slow), aside: new Desk(PATIENCE.slow) };

/** Fetches the engine; questions that were asked before wait for it. */
export async function begin(): Promise<void> {
  // The script of the workers comes at the same time as the engine.
  desks.quick.hire();
  await bring("shapetracker");
  engine.value = "there";
}

/** When the first picture is there, or none will come. */
const firstPicture = new Promise<void>((resolve) => {
  effect(() => {
    if (pictured.value) resolve();
  });
});

/** Fetches and compiles a module, unless that has been done; questions for it wait. */
async function bring(name: ModuleName): Promise<void> {
  if (coming.has(name) || modules.get(name) instanceof WebAssembly.Module) return;
  coming.add(name);
  modules.delete(name);
  // What stands beside the picture takes nothing from it; without names there may be no picture.
  if (name === "code") await firstPicture;
  try {
    const response = await fetched(name);
    const module = await response.compiled.catch((error: unknown): Fault => {
      return faultOf("trap", `the engine cannot be started here: ${String(error)}`);
    });
    modules.set(name, module);
  } finally {
    coming.delete(name);
  }
  putAll();
}

/** Where each module is: written out, as the release looks for what the page names. */
const FILES: Record<ModuleName, string> = {
  shapetracker: "./shapetracker.wasm",
  free: "./free.wasm",
  code: "./code.wasm",
  names: "./names.wasm",
  kernels: "./kernels.wasm",
};

/** Fetches a module; it is compiled while it comes. */
async function fetched(name: ModuleName): Promise<{ compiled: Promise<WebAssembly.Module> }> {
  const response = await fetch(new URL(FILES[name], document.baseURI));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  // Static hosts do not always serve the type that compiling while streaming demands.
  const streams = response.headers.get("content-type")?.startsWith("application/wasm") === true;
  const compiled = streams
    ? WebAssembly.compileStreaming(response)
    : response.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
  return { compiled };
}

function faultOf(kind: string, message: string): Fault {
  return { kind, message, field: null, span: null, step: null };
}

function putAll(): void {
  for (const desk of Object.values(desks)) desk.next();
}

function deskOf(op: keyof Requests, module: ModuleName, request: { counts?: boolean }): Desk {
  if (module === "code") return desks.aside;
  const slow = op === "kernel" || op === "coverage" || op === "readers" || request.counts === true;
  return slow ? desks.slow : desks.quick;
}

/**
 * Asks the engine. A later question with the same key replaces one that still waits, which is answered with null.
 */
export function ask<Name extends keyof Requests>(
  op: Name,
  request: Requests[Name]["request"],
  key: string | null = null,
): Promise<Answer<Requests[Name]["answer"]> | null> {
  return new Promise((resolve) => {
    const module = moduleOf(op, request);
    const desk = deskOf(op, module, request as { counts?: boolean });
    desk.ask({ op, module, request, key, resolve: resolve as Waiting["resolve"] });
    // The first module is fetched when the page begins, whoever asks.
    if (module === "shapetracker") return;
    bring(module).catch((error: unknown) => {
      const message = `This part of the engine could not be fetched (${String(error)}); the next question tries again.`;
      modules.set(module, faultOf("fetch", message));
      putAll();
    });
  });
}

/** Forgets the questions of a key that were not yet put. */
export function drop(key: string): void {
  for (const desk of Object.values(desks)) desk.drop(key);
}
