/** Questions to the engine: asked in workers, one at a time each, and given up when they take too long. */
import { signal } from "@preact/signals-core";
import type { Answer, Fault, Requests } from "./engine";

/** What a question waits for, or what replaced it. */
interface Waiting {
  op: keyof Requests;
  request: unknown;
  key: string | null;
  resolve(answer: Answer<never> | null): void;
}

/** A question that takes longer is stopped, so that the page stays usable. */
export const PATIENCE = { quick: 8_000, slow: 10_000 } as const;

/** Whether the engine has been fetched. */
export const engine = signal<"awaited" | "there" | "failed">("awaited");

let bytes: ArrayBuffer | null = null;

/** Questions that lie with a worker at a time: the next is there when it has answered one. */
const AHEAD = 3;

class Desk {
  private worker: Worker | null = null;
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
    while (bytes !== null && this.put.size < AHEAD) {
      const waiting = this.queue.shift();
      if (waiting === undefined) return;
      this.worker ??= this.hire(bytes);
      this.put.set(++this.id, waiting);
      if (this.put.size === 1) this.watch();
      this.worker.postMessage({ id: this.id, op: waiting.op, request: waiting.request });
    }
  }

  /** The time of the oldest question runs from now on. */
  private watch(): void {
    clearTimeout(this.timer);
    const seconds = this.patience / 1000;
    const message = `This takes the engine longer than ${seconds} seconds, so it was stopped: the page stays usable.`;
    if (this.put.size > 0) this.timer = window.setTimeout(() => this.fail(message), this.patience);
  }

  private hire(engine: ArrayBuffer): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<{ id: number; answer: Answer<never> }>) => {
      const waiting = this.put.get(data.id);
      this.put.delete(data.id);
      this.watch();
      waiting?.resolve(data.answer);
      this.next();
    });
    worker.addEventListener("error", () => this.fail("The engine failed at this question; it was started anew."));
    worker.postMessage({ engine });
    return worker;
  }

  /** Gives up the oldest question; those behind it are put again. */
  private fail(message: string): void {
    this.worker?.terminate();
    this.worker = null;
    const [oldest, ...others] = this.put.values();
    this.put.clear();
    this.queue.unshift(...others);
    const fault: Fault = { kind: "time", message, field: null, span: null, step: null };
    oldest?.resolve({ ok: false, fault });
    this.next();
  }
}

const desks = { quick: new Desk(PATIENCE.quick), slow: new Desk(PATIENCE.slow) };

/** Fetches the engine; questions that were asked before wait for it. */
export async function begin(): Promise<void> {
  const response = await fetch(new URL("shapetracker.wasm", document.baseURI));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  bytes = await response.arrayBuffer();
  engine.value = "there";
  desks.quick.next();
  desks.slow.next();
}

function deskOf(op: keyof Requests, request: { counts?: boolean }): Desk {
  const slow = op === "coverage" || op === "readers" || op === "compare" || request.counts === true;
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
    const desk = deskOf(op, request as { counts?: boolean });
    desk.ask({ op, request, key, resolve: resolve as Waiting["resolve"] });
  });
}

/** Forgets the questions of a key that were not yet put. */
export function drop(key: string): void {
  desks.quick.drop(key);
  desks.slow.drop(key);
}
