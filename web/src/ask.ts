/**
 * Questions to the engine: asked in workers, one at a time each, and given up when they take too long. The engine comes in
 * modules, each of which is fetched and compiled once, for all workers: the first at once, the others when they are needed.
 */
import { effect, signal } from "@preact/signals-core";
import { compiled, moduleOf, type Answer, type Fault, type ModuleName, type Requests } from "shapetracker/engine";
import { pictured } from "./panes/later";
import { missingText, part, Refused } from "./parts";
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

/** The key of the questions that read what is typed. */
export const READING = "chain";

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

  /** Its worker's script did not come: questions wait until it has. */
  private idle = false;

  constructor(
    private readonly patience: number,
    /** What its worker does, for when it does not come. */
    private readonly does: string,
  ) {}

  ask(waiting: Waiting): void {
    if (waiting.key !== null) this.drop(waiting.key);
    // What is typed is read before whatever is still asked about what stood there: a tall chain has a picture for each operation.
    if (waiting.key === READING) this.queue.unshift(waiting);
    else this.queue.push(waiting);
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
    while (!this.idle && this.put.size < AHEAD) {
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
    worker.addEventListener("error", (event) => {
      // An error of the script says what it is; of a script that did not come there is nothing to say.
      if (event instanceof ErrorEvent) this.fail("The engine failed at this question; it was started anew.");
      else this.lose();
    });
    return (this.worker = worker);
  }

  private dismiss(): Waiting[] {
    this.worker?.terminate();
    this.worker = null;
    this.given.clear();
    const unanswered = [...this.put.values()];
    this.put.clear();
    return unanswered;
  }

  /** The worker did not come. What was asked of it waits until it does. */
  private lose(): void {
    this.queue.unshift(...this.dismiss());
    this.watch();
    if (this.idle) return;
    this.idle = true;
    let told = false;
    const hired = (): Promise<boolean> =>
      new Promise((resolve, reject) => {
        if (!told) {
          told = true;
          reject(new Error("the worker did not come"));
          return;
        }
        // It says so when it is there.
        const worker = this.hire();
        worker.addEventListener("message", () => resolve(true), { once: true });
        worker.addEventListener("error", reject, { once: true });
      });
    void part(this.does, hired, () => {
      this.idle = false;
      this.next();
    });
  }

  /** Gives up the oldest question; those behind it are put again. */
  private fail(message: string): void {
    const [oldest, ...others] = this.dismiss();
    this.queue.unshift(...others);
    oldest?.resolve({ ok: false, fault: faultOf("time", message) });
    this.next();
  }
}

/** What is drawn, what may take longer, and what stands beside the picture: none waits for another. */
const desks = {
  quick: new Desk(PATIENCE.quick, "runs the engine"),
  slow: new Desk(PATIENCE.slow, "runs the engine for what takes longer"),
  aside: new Desk(PATIENCE.slow, "runs the engine for advice and code"),
};

/** Fetches the engine, on which all else waits; it may come later than at the first try. */
export function begin(): void {
  // The script of the workers comes at the same time as the engine.
  desks.quick.hire();
  void bring("shapetracker");
}

/** When the first picture is there, or none will come. */
const firstPicture = new Promise<void>((resolve) => {
  effect(() => {
    if (pictured.value) resolve();
  });
});

/** Where each module is, written out, as the release looks for what the page names; and what it does, in words. */
const MODULES: Record<ModuleName, readonly [file: string, does: string]> = {
  shapetracker: ["./shapetracker.wasm", "computes everything"],
  free: ["./free.wasm", "reads expressions over variables"],
  code: ["./code.wasm", "advises, compares, and writes code"],
  names: ["./names.wasm", "reads sizes that are names"],
  nest: ["./nest.wasm", "reads kernels"],
  devices: ["./devices.wasm", "reads tensors on many devices"],
  kernels: ["./kernels.wasm", "counts bank conflicts"],
};

/** Fetches and compiles a module, unless that has been done; questions for it wait. */
async function bring(name: ModuleName): Promise<void> {
  if (coming.has(name) || modules.get(name) instanceof WebAssembly.Module) return;
  coming.add(name);
  modules.delete(name);
  // What stands beside the picture takes nothing from it; without names there may be no picture.
  if (name === "code") await firstPicture;
  const [file, does] = MODULES[name];
  const first = name === "shapetracker";
  const take = (module: WebAssembly.Module): void => {
    modules.set(name, module);
    if (first) engine.value = "there";
    putAll();
  };
  if ((await part(does, () => fetched(file), take, false)) === null) {
    // Without the first module nothing can be said at all: what is asked of it waits until it is there.
    if (first) engine.value = "failed";
    else modules.set(name, faultOf("fetch", missingText(does)));
  }
  coming.delete(name);
  putAll();
}

/** Fetches a module. */
async function fetched(file: string): Promise<WebAssembly.Module> {
  const response = await fetch(new URL(file, document.baseURI));
  if (!response.ok) throw new Refused(`${response.status} ${response.statusText}`.trim());
  try {
    return await compiled(response);
  } catch (error) {
    // What came is no module, or not all of it came.
    throw error instanceof WebAssembly.CompileError ? new Refused("what came cannot be started") : error;
  }
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
    if (module !== "shapetracker") void bring(module);
  });
}

/** Forgets the questions of a key that were not yet put. */
export function drop(key: string): void {
  for (const desk of Object.values(desks)) desk.drop(key);
}
