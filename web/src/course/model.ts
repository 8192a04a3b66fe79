/** What a figure shows: a layout, and the one element that all of its parts are about. The engine says all of it. */
import { effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals-core";
import { ask } from "../ask";
import { arrived } from "../parts";
import type { ChainResult, Expression, Fault, FreeAnswer, Integer, Source, Start, Step, TraceAnswer } from "shapetracker/engine";

/** A layout that can be drawn. */
export interface State {
  source: Source;
  shape: number[];
  names: string[];
  begins: number[];
  /** The expression that is typed, as it was typed; chains have none here. */
  expression: Expression | null;
  free: FreeAnswer | null;
  chain: ChainResult | null;
  /** The operations, and the tensor before each of them and at last. */
  steps: Step[];
  stages: Stage[];
  addresses: [Integer, Integer] | null;
  memory: Memory | null;
}

/** The tensor before an operation, or after the last one. */
export interface Stage {
  source: Source;
  shape: Integer[];
  /** The strides where one view is enough. */
  strides: Integer[] | null;
}

/** How often addresses are read, from the first address that is drawn. */
export interface Memory {
  begin: number;
  reads: Float64Array;
}

/** The element that the figure is about. */
export interface Element {
  state: State;
  index: number[];
  address: Integer | null;
  trace: TraceAnswer | null;
  values: Integer[] | null;
  /** The elements of each stage that read its address. */
  readers: number[][][];
}

/** More cells of memory are not drawn. */
const MOST_CELLS = 64;

/** The elements of a stage that are lit at most. */
const MOST_READERS = 100;

async function memoryOf(source: Source, addresses: [Integer, Integer] | null, buffer: Integer): Promise<Memory | null> {
  if (addresses === null) return null;
  const begin = Math.min(Number(addresses[0]), 0);
  const end = Math.max(Number(addresses[1]) + 1, Number(buffer));
  if (end - begin > MOST_CELLS) return null;
  const said = await ask("coverage", { source, begin, end, buckets: end - begin });
  return said?.ok === true && said.value.exact ? { begin, reads: said.value.reads } : null;
}

/** How many elements the memory of a chain has at least: those of the shape that it begins with. */
function baseOf({ kind, shape }: Start): number {
  return kind === "shape" || kind === "base" ? (shape ?? []).reduce<number>((all, size) => all * Number(size), 1) : 0;
}

async function read(source: Source): Promise<State | Fault> {
  if (!("chain" in source)) {
    const said = await ask("free", source);
    if (said === null) return { kind: "page", message: "", field: null, span: null, step: null };
    if (!said.ok) return said.fault;
    const free = said.value;
    return {
      source,
      shape: free.shape.map(Number),
      names: source.variables.map(({ name }) => name),
      begins: source.variables.map(({ begin }) => Number(begin)),
      expression: free.written,
      free,
      chain: null,
      steps: [],
      stages: [{ source, shape: free.shape, strides: null }],
      addresses: free.address_range,
      memory: await memoryOf(source, free.address_range, 0),
    };
  }
  const said = await ask("chain", { text: source.chain });
  if (said === null || !said.ok) {
    return said?.fault ?? { kind: "page", message: "", field: null, span: null, step: null };
  }
  const { error, result, start, steps } = said.value;
  if (error !== null) return error;
  if (result === null) return { kind: "page", message: "there is no tensor yet", field: null, span: null, step: null };
  const texts = [start.text, ...steps.map(({ text }) => text)];
  const shapes = [start.shape ?? [], ...steps.map(({ shape }) => shape)];
  const stages = shapes.map(async (shape, at): Promise<Stage> => {
    const text = texts.slice(0, at + 1).join(".");
    const said = await ask("chain", { text });
    const views = said?.ok === true ? (said.value.result?.views ?? []) : [];
    return { source: { chain: text }, shape, strides: views.length === 1 ? views[0]!.strides : null };
  });
  return {
    source,
    shape: result.shape.map(Number),
    names: result.shape.map((_, axis) => `axis ${axis}`),
    begins: result.shape.map(() => 0),
    expression: null,
    free: null,
    chain: result,
    steps,
    // Views that are given and not made have no shape that they began with.
    stages: steps.length === 0 ? [{ source, shape: result.shape, strides: null }] : await Promise.all(stages),
    addresses: result.address_range,
    memory: await memoryOf(source, result.address_range, Math.max(Number(result.buffer_len ?? 0), baseOf(start))),
  };
}

async function elementOf(state: State, index: number[]): Promise<Element | null> {
  const { source, expression, stages } = state;
  const asked = expression === null ? null : ask("evaluate", { source, index });
  const traced = "chain" in source ? await ask("trace", { source, index }) : null;
  const said = await asked;
  const known = said?.ok === true ? said.value : null;
  const values = known?.written ?? known?.values;
  const trace = traced?.ok === true ? traced.value : null;
  let address = trace?.address ?? null;
  if (trace === null && expression !== null && values !== undefined) {
    address = Number(values[expression.valid]) === 0 ? null : (values[expression.index] ?? null);
  }
  const readers = await Promise.all(
    stages.map(async (stage) => {
      if (address === null) return [];
      const found = await ask("readers", { source: stage.source, address, limit: MOST_READERS });
      return found?.ok === true ? found.value.indices.map((index) => index.map(Number)) : [];
    }),
  );
  return { state, index, address, trace, values: values ?? null, readers };
}

export class Model {
  /** The last layout without a fault, so that the picture stays while someone types. */
  readonly state = signal<State | null>(null);
  readonly fault = signal<Fault | null>(null);
  readonly element = signal<Element | null>(null);
  private turn = 0;
  private elementTurn = 0;

  constructor(
    readonly source: ReadonlySignal<Source | null>,
    /** The element that is selected, and the one that is pointed at: figures that belong together share them. */
    readonly at: Signal<number[]> = signal([]),
    readonly over: Signal<number[] | null> = signal(null),
  ) {
    effect(() => {
      const asked = source.value;
      void arrived.value;
      if (asked !== null) untracked(() => void this.read(asked));
    });
    effect(() => {
      const state = this.state.value;
      const index = this.inside(state, this.over.value ?? this.at.value);
      untracked(() => void this.look(state, index));
    });
  }

  /** An index moved into the tensor where it would lie outside; null in an empty tensor. */
  private inside(state: State | null, index: readonly number[]): number[] | null {
    if (state === null || state.shape.includes(0)) return null;
    return state.shape.map((size, axis) => Math.min(index[axis] ?? 0, size - 1));
  }

  /** The selected element of the tensor that is shown. */
  selected(): number[] | null {
    return this.inside(this.state.value, this.at.value);
  }

  private async read(source: Source): Promise<void> {
    const mine = ++this.turn;
    const found = await read(source);
    if (mine !== this.turn) return;
    if ("message" in found) {
      this.fault.value = found;
      return;
    }
    this.fault.value = null;
    this.over.value = null;
    this.state.value = found;
  }

  private async look(state: State | null, index: number[] | null): Promise<void> {
    const mine = ++this.elementTurn;
    const found = state === null || index === null ? null : await elementOf(state, index);
    if (mine === this.elementTurn) this.element.value = found;
  }
}
