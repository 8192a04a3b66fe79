/**
 * The engine: the Rust library in WebAssembly, and the types of what it is asked and what it answers. Nothing here fetches anything:
 * whoever has a compiled module, in the page or in a worker, asks it. `API.md` says what each request means.
 */

/** A 64-bit integer: a string of digits where a number would not be exact. */
export type Integer = number | string;

/** A half-open range of UTF-16 code units, as `slice` takes them. */
export type Span = [number, number];

/** A named integer with a half-open range. */
export interface Variable {
  name: string;
  begin: Integer;
  end: Integer;
}

/** A layout as a chain; `base` is the base shape where the text has none. */
export interface ChainSource {
  chain: string;
  base?: Integer[] | null;
}

/** A layout as expressions over variables, one axis per variable. */
export interface FreeSource {
  index: string;
  valid?: string | null;
  variables: Variable[];
  syntax?: "python" | "c";
}

export type Source = ChainSource | FreeSource;

/** What is wrong, for the person who wrote the text. */
export interface Fault {
  kind: string;
  message: string;
  field: "chain" | "index" | "valid" | "variables" | "a" | "b" | "where" | "tensor" | "layouts" | "layout" | "by" | "shape" | null;
  span: Span | null;
  /** The operation of a chain that is at fault. */
  step: number | null;
  /** The row of the variables that is at fault. */
  variable?: number;
  /** The text ends before what it begins is complete: whoever types it has made no mistake yet. */
  unfinished?: boolean;
  /** What the text could be with in place of `span`, where one small change makes it readable. */
  suggestion?: { span: Span; text: string } | null;
}

export interface View {
  shape: Integer[];
  strides: Integer[];
  offset: Integer;
  mask: [Integer, Integer][] | null;
  text: string;
}

export interface UnevenStep {
  kind: "uneven_step";
  axis: number;
  steps: [WitnessStep, WitnessStep];
}

export interface WitnessStep {
  index: Integer[];
  next: Integer[];
  from: Integer;
  to: Integer;
  moved: Integer;
}

export interface NotABox {
  kind: "not_a_box";
  valid: [Integer[], Integer[]];
  invalid: Integer[];
}

export type Witness = UnevenStep | NotABox;

/** Why views are not one. */
export interface Reason {
  sentence: string;
  witness: Witness | null;
}

/** `copied`: a boundary such as `.contiguous()`, after which the addresses are those of a new buffer, the result's `buffer`. */
export type Verdict = "no_new_view" | "merged" | "new_view" | "copied";

/** An operation of a chain. */
export interface Operation {
  name: string;
  arguments: string;
  /** The operation in our own notation. */
  text: string;
  /** The operation as it was written. */
  written: string;
  span: Span;
}

/** An operation of a chain, and what it did. */
export interface Step extends Operation {
  shape: Integer[];
  /** How far a step along each axis goes in memory; null where several views say it. */
  strides: Integer[] | null;
  views: number;
  verdict: Verdict;
  reason: Reason | null;
  /** With `copied`: how many elements are moved into the new buffer. */
  copies?: Integer | null;
}

export interface Start {
  kind: "shape" | "views" | "nothing" | "base";
  span: Span;
  /** Null where there is no base shape, or one that cannot be. */
  shape: Integer[] | null;
  /** Null where there is no tensor, or several views. */
  strides: Integer[] | null;
  text: string;
  /** The name of an array of which no shape is known, such as `x` in `x.transpose(1, 2)`: `base` of a request says it. */
  name?: string | null;
  /** The library that the text is code of, as far as it says so. */
  library: LibraryAdvice["library"] | null;
  /** Of a layout of CuTe: the sizes of the modes inside each axis, the first one fastest. */
  modes?: Integer[][] | null;
}

export type BinaryOperator =
  "+" | "-" | "*" | "//" | "%" | "min" | "max" | "^" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "and" | "or";

/** What an expression is made of at its root. */
export type NodeContent =
  | { kind: "int"; value: Integer }
  | { kind: "bool"; value: boolean }
  | { kind: "variable"; name: string }
  | { kind: "binary"; op: BinaryOperator }
  | { kind: "within"; begin: Integer; end: Integer }
  | { kind: "not" }
  | { kind: "select" };

export type NodeKind = NodeContent["kind"];

/** A part of an expression; operands are numbers of earlier nodes. */
export type ExpressionNode = NodeContent & {
  operands: number[];
  /** The least and the greatest value, where `exact` says so; else no value is outside. */
  low: Integer;
  high: Integer;
  exact: boolean;
  condition: boolean;
  text: string | null;
};

/** A line of the code: text, and the numbers of nodes that have a name. */
export interface ExpressionLine {
  name: string;
  node: number;
  pieces: (string | number)[];
}

export interface Cost {
  ops: number;
  divmods: number;
  weight: number;
}

export interface Expression {
  nodes: ExpressionNode[];
  index: number;
  valid: number;
  lines: ExpressionLine[];
  index_text: string | null;
  valid_text: string | null;
  cost: Cost;
  /** Of the index where an element is valid. */
  index_range: [Integer, Integer];
  index_range_exact: boolean;
  value_range: [Integer, Integer];
  bits: 32 | 64;
  note: string | null;
}

export interface ExpressionAnswer {
  expression: Expression | null;
  note: string | null;
}

export interface ChainResult {
  shape: Integer[];
  numel: Integer;
  views: View[];
  contiguous: boolean;
  address_range: [Integer, Integer] | null;
  /** Which buffer that is: null for the base, or the number of the step that copied last. */
  buffer: number | null;
  /** How many elements the buffer has; where the chain does not say it, how many it must have at least. */
  buffer_len: Integer | null;
  buffer_known: boolean;
  buffer_note: string | null;
  reason: Reason | null;
  tracker: string;
}

export interface ChainAnswer {
  canonical: string;
  start: Start;
  steps: Step[];
  /** With an error the operations that were not done: the one at fault and those after it. */
  rest: Operation[];
  error: Fault | null;
  result: ChainResult | null;
}

export interface TraceLevel {
  view: number;
  index: Integer[];
  position: Integer;
  masked_axes: number[];
  offset: Integer;
  terms: { axis: number; index: Integer; stride: Integer; product: Integer }[];
  address: Integer | null;
}

export interface TraceAnswer {
  address: Integer | null;
  levels: TraceLevel[];
}

/** Every `step`-th of a half-open range. */
export interface TileRange {
  begin: Integer;
  end: Integer;
  step?: Integer;
}

/** Addresses, row by row: masked cells are NaN, or -2^63 among big integers. */
export type Addresses = Float64Array | BigInt64Array;

export interface TileAnswer {
  rows: number;
  columns: number;
  addresses: Addresses;
  counts: Float64Array | null;
  counts_note: string | null;
}

/** What blocks of elements read: a number for each block, row by row. NaN where all of its elements are masked. */
export interface SummaryAnswer {
  rows: number;
  columns: number;
  /** The share of the elements that are not masked, from 0 to 1. */
  valid: Float64Array;
  low: Float64Array;
  high: Float64Array;
  mean: Float64Array;
  /** Whether all of it is exact; else each block is a sample of so many of its elements. */
  exact: boolean;
  sampled: number | null;
}

/** What an array library does with the operations of a chain. */
export interface LibraryAdvice {
  library: "pytorch" | "numpy";
  name: string;
  /** `view`: no copy; `raises`: the call that asks for a view fails; `copies`: it copies unasked; `cannot`: it has no such layout. */
  does: "view" | "raises" | "copies" | "cannot";
  /** A whole sentence, in which code stands between backticks. */
  sentence: string;
  /** What to write instead, or null where nothing need be changed. */
  code: string | null;
}

/** The question that people come with: is this still one view, and if not, what is the least to copy? */
export interface AdviceAnswer {
  one_view: boolean | null;
  /** One sentence: "One view: shape (3, 2), strides (1, 3)", or why there is none. */
  sentence: string;
  view: View | null;
  reason: Reason | null;
  /** The first operation that needs another view, counted from 0. */
  step: number | null;
  copy: { elements: Integer; of: Integer; smallest: boolean; sentence: string } | null;
  libraries: LibraryAdvice[];
  note: string | null;
}

/** An element through a chain. */
export interface ThreadAnswer {
  /** Its index in the tensor before any operation, and after each; null where it is not there. */
  indices: (Integer[] | null)[];
  /** The address that it has in the memory that the tensor of the step reads; null where it is masked. */
  address: Integer | null;
}

/** An operation that can be written after a dot, for completion. */
export interface OperationHelp {
  name: string;
  /** As `reshape(size, ..)`. */
  signature: string;
  says: string;
  /** Whose it is, where it is not one of ours. */
  library: string | null;
}

/** What a library does where sizes are names, which may depend on their values in more ways than are followed. */
export interface NamedAdvice extends Omit<LibraryAdvice, "does"> {
  does: LibraryAdvice["does"] | "undecided";
}

/** Sizes that are names. */
export interface NamesAnswer {
  library: LibraryAdvice["library"] | null;
  names: { name: string; begin: Integer | null; end: Integer | null; value: Integer }[];
  kind: "all" | "formula" | "never" | "undecided";
  /** "one view if and only if T == 1 or H == 1" */
  sentence: string;
  /** Shape and views, as texts. */
  shape: string;
  views: string[];
  witness: { values: Record<string, Integer>; sentence: string } | null;
  /** What libraries do, with code in the names. */
  libraries: NamedAdvice[];
  /** The chain with the values in place of the names; null where they do not meet what is said of them, with a reason. */
  instance: string | null;
  instance_note: string | null;
}

/** A loop of a statement over several tensors, and the loops that it is split into: itself where it is not split. */
export interface NestLoop {
  name: string;
  size: Integer;
  /** The size with its names: `2 * N`. */
  written: string;
  reduced: boolean;
  parts: { name: string; size: Integer; written: string }[];
}

/** Where a statement over several tensors runs: padding of what it names, or the condition after `if`. */
export interface NestGuard {
  /** `skipped`: the statement is not run at padding; `zero`: it reads 0 there. */
  why: "condition" | "skipped" | "zero";
  access: number | null;
  /** What holds where it is run, or where there is an element. */
  holds: string;
  /** At how many steps; null where that was not found. */
  count: Integer | null;
}

/** An element that a statement names. */
export interface NestAccess {
  buffer: string;
  element: string;
  written: boolean;
  read: boolean;
  padding: "skipped" | "zero" | null;
  /** The layout as text, the same with values in place of names, and its shape. */
  layout: string | null;
  instance: string | null;
  shape: Integer[];
  /** For each part of each loop how far the next step is in memory, which may be no one number, and whether it touches the same element. */
  strides: (string | null)[];
  reused: boolean[];
}

/** The loops of a statement, what one step of them touches, and which steps touch an element. */
export interface NestAnswer {
  statement: string;
  /** The names of sizes, and the values at which all is counted. */
  names: NamesAnswer["names"];
  loops: NestLoop[];
  steps: Integer | null;
  runs: Integer | null;
  guards: NestGuard[];
  /** Why there are no splits that leave no division, where there are none. */
  unsplit: string[];
  accesses: NestAccess[];
  /** `at` has the values of the parts of all loops, `values` those of the loops; null where a loop has no steps. */
  step: { at: Integer[]; values: Integer[]; runs: boolean; elements: { index: Integer[]; address: Integer | null }[] } | null;
  touching: {
    count: Integer | null;
    of: Integer | null;
    /** From which value to which each loop goes in these steps. */
    loops: ([Integer, Integer] | null)[];
    free: boolean[];
    /** One of them, as the values of the parts. */
    example: Integer[] | null;
  } | null;
}

/** How a layout lies in memory, and what takes it: what each line is about, and a sentence that begins small. */
export interface DescribeAnswer {
  shared: boolean;
  lines: { topic: string; text: string }[];
}

/** The names in an expression that says nothing of its variables. */
export interface VariablesAnswer {
  names: string[];
}

/** A tensor that is spread over devices. */
export interface DevicesAnswer {
  mesh: { name: string; size: Integer }[];
  devices: Integer;
  /** What becomes of each operation: `free`, `moves`, `unsayable`, `undecided`, or `unasked` after the first that is not free. */
  steps: ("free" | "moves" | "unsayable" | "undecided" | "unasked")[];
  sentence: string;
  after: string | null;
  moved: { elements: Integer; sentence: string } | null;
  /** The lowest device that holds what each address of the request reads; NaN for what is masked. */
  holders: Float64Array | null;
}

/** What the instructions of all warps cost. */
export interface Census {
  most: Integer;
  /** A warp and the first value of an instruction that costs the most. */
  warp: Integer;
  value: Integer;
  /** Each cost, and how many instructions have it. */
  counts: [Integer, Integer][];
  total: Integer;
}

/** One instruction of a warp, and the values of its threads around it. */
export interface KernelPicture {
  text: string;
  warp: Integer;
  warps: Integer;
  value: Integer;
  values: Integer;
  /** The first of the threads and of the values that are listed, and how many of each. */
  first_thread: Integer;
  first_value: Integer;
  rows: number;
  columns: number;
  /** Thread by thread: the addresses, and the bank and the word of 4 bytes in which each begins. */
  addresses: Integer[];
  banks: number[];
  words: Integer[];
  /** The sizes inside the mode of the threads, and inside those of the values, the fastest first. */
  thread_sizes: Integer[];
  value_sizes: Integer[];
  /** What is served together: threads with the byte at which each begins, and the words that they access. */
  phases: {
    /** The degree of the bank conflict: the most words of one bank. */
    degree: Integer;
    lanes: [Integer, Integer][];
    words: { word: Integer; bank: number; threads: Integer[] }[];
  }[];
}

/** Layouts of GPU kernels: one mode takes the thread, the others its values. */
export interface KernelAnswer {
  accesses: {
    text: string;
    threads: Integer;
    values: Integer;
    element_bytes: Integer;
    vector: Integer;
    /** The widest vector that one instruction could move. */
    widest: Integer;
    banks: Census;
    sectors: Census;
    /** The same layout under the swizzle that was found. */
    swizzled: string | null;
  }[];
  swizzle: { text: string; bits: Integer; base: Integer; shift: Integer } | null;
  /** Why there is no swizzle. */
  no_swizzle: {
    kind: string;
    sentence: string;
    access?: Integer;
    address?: Integer;
  } | null;
  /** How many elements of shared memory the tile needs, without the swizzle and with it. */
  elements: { without: Integer; with: Integer } | null;
  shown: KernelPicture | null;
}

/** The values of a layout of CuTe: its first mode goes down, the others across; as many as `drawn` says, row by row. */
export interface LayoutTable {
  text: string;
  size: Integer;
  rows: Integer;
  columns: Integer;
  drawn: [number, number];
  /** The sizes inside the mode that goes down, and inside those that go across, the fastest first. */
  row_sizes: Integer[];
  column_sizes: Integer[];
  values: Integer[];
}

export type LayoutOperation =
  "compose" | "logical_divide" | "zipped_divide" | "logical_product" | "blocked_product" | "raked_product";

/** Two layouts and what an operation makes of them; a tiler with a layout for each mode is no table. */
export interface AlgebraAnswer {
  layout: LayoutTable;
  by: LayoutTable | null;
  result: LayoutTable;
}

/** Which threads have each element of a tile, as which of their values. */
export interface OwnersAnswer {
  text: string;
  rows: number;
  columns: number;
  threads: number;
  values: number;
  /** Row by row, for each element the pairs of a thread and one of its values. */
  owners: [number, number][][];
  /** How many elements nobody has, and how many more than one. */
  unowned: number;
  shared: number;
}

export interface CoverageAnswer {
  begin: Integer;
  width: Integer;
  reads: Float64Array;
  distinct: Float64Array | null;
  exact: boolean;
  note: string | null;
}

export interface ReadersAnswer {
  indices: Integer[][];
  complete: boolean;
  note: string | null;
}

export interface FreeAnswer {
  shape: Integer[];
  numel: Integer;
  written: Expression;
  simplified: Expression;
  address_range: [Integer, Integer] | null;
  range_exact: boolean;
}

export interface ComparedSide {
  shape: Integer[];
  numel: Integer;
  valid: Integer | null;
  address_range: [Integer, Integer] | null;
  buffer_len: Integer | null;
  runs: Integer | null;
  distinct: Integer | null;
  bytes: Integer | null;
  lines: Integer | null;
  note: string | null;
}

export interface CompareAnswer {
  a: ComparedSide;
  b: ComparedSide;
  equal: boolean | null;
  difference: { index: Integer[]; a: Integer | null; b: Integer | null } | null;
  note: string | null;
}

export type Language =
  "python" | "c" | "cuda" | "opencl" | "metal" | "wgsl" | "rust" | "mlir" | "latex" | "numpy" | "pytorch" | "chain";

/** What each request takes, and what it answers. */
export interface Requests {
  chain: { request: { text: string; base?: Integer[] | null }; answer: ChainAnswer };
  expression: { request: { source: Source }; answer: ExpressionAnswer };
  evaluate: {
    request: { source: Source; index: Integer[] };
    answer: { values: Integer[]; written: Integer[] | null };
  };
  trace: { request: { source: ChainSource; index: Integer[] }; answer: TraceAnswer };
  tile: {
    request: {
      source: Source;
      rows: number[];
      columns: number[];
      fixed: Integer[];
      row: TileRange;
      column: TileRange;
      view?: number;
      counts?: boolean;
    };
    answer: TileAnswer;
  };
  summary: {
    request: {
      source: Source;
      rows: number[];
      columns: number[];
      fixed: Integer[];
      /** Block k of the rows is the cells from `row[k]` up to `row[k + 1]` of the joined axes. */
      row: Integer[];
      column: Integer[];
      view?: number;
    };
    answer: SummaryAnswer;
  };
  advice: { request: { source: Source }; answer: AdviceAnswer };
  /** `step` is the number of operations done before the tensor in which the index is one: 0 is the start. */
  thread: { request: { source: ChainSource; step: number; index: Integer[] }; answer: ThreadAnswer };
  operations: { request: object; answer: { operations: OperationHelp[] } };
  names: {
    request: { text: string; where: string; values?: Record<string, Integer> };
    answer: NamesAnswer;
  };
  /** `at` has the values of the parts of all loops; `index` is that of an element of an access, counted from 0. */
  nest: {
    request: {
      text: string;
      where?: string;
      values?: Record<string, Integer>;
      at?: Integer[];
      access?: number;
      index?: Integer[];
    };
    answer: NestAnswer;
  };
  devices: {
    request: { text: string; chain: string; addresses?: (Integer | null)[] };
    answer: DevicesAnswer;
  };
  kernel: {
    /** `threads` is the mode that takes the thread, counted from 0. */
    request: {
      layouts: string[];
      bytes: number;
      vector?: number;
      threads?: number;
      shown?: number;
      warp?: number;
      value?: number;
    };
    answer: KernelAnswer;
  };
  algebra: { request: { operation: LayoutOperation; layout: string; by: string }; answer: AlgebraAnswer };
  owners: { request: { layout: string; shape: string }; answer: OwnersAnswer };
  coverage: {
    request: { source: Source; begin: Integer; end: Integer; buckets: number };
    answer: CoverageAnswer;
  };
  readers: { request: { source: Source; address: Integer; limit: number }; answer: ReadersAnswer };
  free: { request: FreeSource; answer: FreeAnswer };
  /** `bytes` is how many bytes an element has, without which nothing is said of tensor maps. */
  describe: { request: { source: ChainSource; bytes?: number }; answer: DescribeAnswer };
  variables: { request: { text: string; syntax?: "python" | "c" }; answer: VariablesAnswer };
  compare: { request: { a: Source; b: Source; width: number; line: number }; answer: CompareAnswer };
  code: { request: { source: Source; language: Language; kernel?: boolean }; answer: { code: string } };
  json: { request: { source: ChainSource }; answer: { json: string } };
}

/** An answer, or the fault that there is none for. */
export type Answer<T> = { ok: true; value: T } | { ok: false; fault: Fault };

/** What the module exports. */
interface Exports {
  memory: WebAssembly.Memory;
  alloc(length: number): number;
  free(pointer: number, length: number): void;
  call(pointer: number, length: number): number;
}

/** Where a list of numbers is: its first byte after the text of the answer, and how many there are. */
interface Binary {
  $f64?: Span;
  $i64?: Span;
}

function isBinary(value: unknown): value is Binary {
  return typeof value === "object" && value !== null && ("$f64" in value || "$i64" in value);
}

/** An answer with its lists of numbers, which are fields of its own and of no part of it, in their places. */
function withNumbers(answer: object, bytes: (place: Span) => ArrayBuffer): object {
  const fields = Object.entries(answer as Record<string, unknown>).map(([name, value]) => {
    if (!isBinary(value)) return [name, value];
    if (value.$f64) return [name, new Float64Array(bytes(value.$f64))];
    return [name, value.$i64 && new BigInt64Array(bytes(value.$i64))];
  });
  return Object.fromEntries(fields);
}

/**
 * The modules of the engine, each a file: what the first picture needs; the same for expressions over variables; what writes
 * expressions and code, advises and compares; sizes that are names; loops over several tensors; tensors on
 * many devices; layouts of GPU kernels.
 */
export type ModuleName = "shapetracker" | "free" | "code" | "names" | "nest" | "devices" | "kernels";

/** The requests that are not in the first module. */
const LATER: Partial<Record<keyof Requests, ModuleName>> = {
  advice: "code",
  code: "code",
  compare: "code",
  evaluate: "code",
  expression: "code",
  json: "code",
  operations: "code",
  describe: "code",
  free: "free",
  variables: "free",
  names: "names",
  nest: "nest",
  devices: "devices",
  algebra: "kernels",
  kernel: "kernels",
  owners: "kernels",
};

/** Those of them that are about an expression: the module of an expression that is typed has them too. */
const WRITTEN: ReadonlySet<keyof Requests> = new Set(["evaluate", "expression"] as const);

/** The module that answers a request. */
export function moduleOf(op: keyof Requests, request: object): ModuleName {
  // Callers without types may pass anything.
  const isFree = "index" in Object(Object(request).source);
  const module = LATER[op];
  // Layouts that are expressions are in the module of those.
  return isFree && (module === undefined || WRITTEN.has(op)) ? "free" : (module ?? "shapetracker");
}

/** Compiles a module while it comes; static hosts do not always serve the type that this demands, and then once it is there. */
export async function compiled(response: Response): Promise<WebAssembly.Module> {
  const streams = response.headers.get("content-type")?.startsWith("application/wasm") === true;
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** Asks a module of the library. Requests are answered at once: this is meant to be used in the page or in a worker alike. */
export class Engine {
  private instance: Exports | null = null;

  /** The module can be posted to a worker, which makes an engine of its own from it. */
  constructor(readonly module: WebAssembly.Module) {}

  /** The answer to a request, or the fault that there is none for. */
  call<Name extends keyof Requests>(op: Name, request: Requests[Name]["request"]): Answer<Requests[Name]["answer"]> {
    try {
      const answer = this.answer(JSON.stringify({ op, ...request }));
      if (isFault(answer)) return { ok: false, fault: answer.error };
      return { ok: true, value: answer as Requests[Name]["answer"] };
    } catch (error) {
      // After a trap the memory of an instance cannot be trusted: the next request gets a fresh one.
      this.instance = null;
      const message = `The engine failed at this request (${error}); it has been started anew.`;
      return { ok: false, fault: { kind: "trap", message, field: null, span: null, step: null } };
    }
  }

  private answer(request: string): object {
    this.instance ??= new WebAssembly.Instance(this.module, {}).exports as unknown as Exports;
    const engine = this.instance;
    const sent = new TextEncoder().encode(request);
    const pointer = engine.alloc(sent.length);
    // The memory may have grown, so that its buffer is another one after every call.
    new Uint8Array(engine.memory.buffer).set(sent, pointer);
    const at = engine.call(pointer, sent.length);
    const { buffer } = engine.memory;
    const header = new DataView(buffer, at, 8);
    const total = header.getUint32(0, true);
    const length = header.getUint32(4, true);
    const text = new TextDecoder().decode(new Uint8Array(buffer, at + 8, length));
    const beside = at + 8 + length;
    const bytes = ([begin, count]: Span): ArrayBuffer => buffer.slice(beside + begin, beside + begin + 8 * count);
    const answer = withNumbers(JSON.parse(text) as object, bytes);
    engine.free(at, total);
    return answer;
  }
}

/** Whether there is nothing but a fault: a chain that can be read in part has its fault beside what it answers. */
function isFault(answer: object): answer is { error: Fault } {
  return "error" in answer && !("steps" in answer);
}

/** The address of a cell of a tile; null where it is masked. */
export function addressOf(addresses: Addresses, cell: number): number | bigint | null {
  const address = addresses[cell];
  if (address === undefined || address === -(2n ** 63n) || Number.isNaN(address)) return null;
  return address;
}
