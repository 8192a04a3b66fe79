/** The layout that the page is about: what the engine says of the text, and whether that is still the text. */
import { batch, computed, effect, signal, untracked } from "@preact/signals-core";
import { ask, READING } from "./ask";
import type {
  ChainResult,
  ChainSource,
  Fault,
  FreeAnswer,
  FreeSource,
  Integer,
  NamesAnswer,
  Operation,
  Source,
  Span,
  Start,
  Step,
} from "shapetracker/engine";
import { isMistake } from "./faults";
import type { HandPiece } from "./hand";
import { counted, tuple } from "./numbers";
import { arrived, missingText, part } from "./parts";
import { LONGEST_TEXT, page, step, type Page } from "./page";

/** A layout that can be drawn. */
export interface Layout {
  source: Source;
  shape: number[];
  numel: Integer;
  /** What axes are called, and where their indices begin. */
  names: string[];
  begins: number[];
  addresses: [Integer, Integer] | null;
  chain: ChainResult | null;
  free: FreeAnswer | null;
  /** Some size is too large to count in. */
  tooLong: boolean;
  /** Of a layout of CuTe: the sizes of the modes inside each axis, the first one fastest. */
  modes?: Integer[][];
}

/** An operation of the chain as a block. */
export interface Block {
  operation: Operation;
  /** What it did; null for a muted one, and for those that were not reached. */
  step: Step | null;
  muted: boolean;
}

/** What is wrong, and in which field. */
export interface Trouble {
  fault: Fault;
  /** The block at fault. */
  block: number | null;
  /** The field of the view entered by hand. */
  piece: HandPiece | null;
}

/** A tensor on the way from the base to the result: before any operation, and after each that was done. */
export interface Station {
  source: ChainSource;
  /** The same written as operations, to which others can be added. */
  chain: ChainSource;
  shape: Integer[];
  /** The block that made it; null for the base. */
  block: number | null;
}

/** The tensor that is shown: that of the text, or of as much of it as can be read and done. Null where that is nothing. */
export const layout = signal<Layout | null>(null);
export const trouble = signal<Trouble | null>(null);
export const blocks = signal<Block[]>([]);
export const start = signal<Start | null>(null);
/** The base and what the operations that were done make of it, one after the other. */
export const stations = signal<Station[]>([]);
/** Sizes that are names, and which values they have in the pictures. */
export const named = signal<NamesAnswer | null>(null);

/** The last station: of the result, or of the last good prefix. */
export const result = computed((): Station | null => stations.value.at(-1) ?? null);

/** The number of the station that is shown. */
export const shown = computed(() => {
  const last = stations.value.length - 1;
  return Math.min(step.value ?? last, last);
});

/** All that the layout depends on. */
interface Question {
  mode: Page["mode"];
  texts: string[];
  muted: number[];
  step: number | null;
  base: string;
  values: Page["values"];
  variables: Page["variables"];
  axes: Page["axes"];
  syntax: Page["syntax"];
}

const question = computed(() => {
  const { mode, chain, muted, step, base, where, values, axes, offset, index, valid, syntax, variables } = page.value;
  const none = { muted: [], step: null, base: "", values: {}, variables: [], axes: [], syntax: "python" as const };
  const asked: Question =
    mode === "chain"
      ? { ...none, mode, texts: [chain, where], muted, step, base, values }
      : mode === "view"
        ? { ...none, mode, texts: [offset], axes }
        : { ...none, mode, texts: [index, valid], variables, syntax };
  return JSON.stringify(asked);
});

const answered = signal<string | null>(null);

/** The layout that is there belongs to a text that is there no more. */
const stale = signal(false);

/** Whether an answer is there, be it a fault. */
export const idle = computed(() => answered.value === question.value);

/** Whether `layout` is that of the text as it stands, or of its last good prefix. */
export const current = computed(() => idle.value && layout.value !== null && !stale.value);

function fault(message: string, field: Fault["field"] = null): Fault {
  return { kind: "page", message, field, span: null, step: null };
}

/** What has to be known before there is a tensor. */
function asksShape(name: string): Fault {
  return { ...fault(`Which shape has \`${name}\`?`, "chain"), kind: "question" };
}

function no(fault: Fault, block: number | null = null, piece: HandPiece | null = null): Trouble {
  return { fault, block, piece };
}

function chainLayout(source: ChainSource, result: ChainResult): Layout {
  return {
    source,
    shape: result.shape.map(Number),
    numel: result.numel,
    names: result.shape.map((_, axis) => `axis ${axis}`),
    begins: result.shape.map(() => 0),
    addresses: result.address_range,
    chain: result,
    free: null,
    tooLong: result.shape.some((size) => typeof size === "string"),
  };
}

function freeLayout(source: FreeSource, free: FreeAnswer): Layout {
  return {
    source,
    shape: free.shape.map(Number),
    numel: free.numel,
    names: source.variables.map(({ name }) => name),
    begins: source.variables.map(({ begin }) => Number(begin)),
    addresses: free.address_range,
    chain: null,
    free,
    tooLong: free.shape.some((size) => typeof size === "string"),
  };
}

/** A chain of our notation from its parts. */
export function chainText(start: string, operations: readonly { text: string }[]): string {
  return [start, ...operations.map(({ text }) => text)].filter((part) => part !== "").join(".");
}

/** What the answers to a question come to. */
interface Outcome {
  /** With a mistake the layout of what stands before it. */
  layout: Layout | null;
  trouble: Trouble | null;
  blocks: Block[];
  start: Start | null;
  stations: Station[];
  named: NamesAnswer | null;
}

function nothing(trouble: Trouble | null): Outcome {
  return { layout: null, trouble, blocks: [], start: null, stations: [], named: null };
}

/** The sizes that are typed for an array of which only the name is known: `2, 3, 4` with or without brackets. */
function sizesOf(base: string): string[] {
  const sizes = base.replace(/^\s*(torch\.Size\()?\s*[[(]?|[\])]*\s*$/g, "").split(",").map((size) => size.trim());
  if (sizes.at(-1) === "") sizes.pop();
  return sizes;
}

/** The same as numbers, if they are. */
function baseOf(sizes: readonly string[]): Integer[] | null {
  if (sizes.length === 0 || !sizes.every((size) => /^\d{1,19}$/.test(size))) return null;
  return sizes.map((size) => (Number.isSafeInteger(Number(size)) ? Number(size) : size));
}

/** What is wrong with sizes, of which each must be a number, a name, or a product or sum of these. */
function badSize(sizes: readonly string[]): Fault | null {
  const wrong = sizes.find((size) => !/^\w[\w\s*+-]*$/.test(size) || /\b\d+[A-Za-z_]|\w\s+\w/.test(size));
  if (wrong === undefined) return null;
  const given = wrong === "" ? "Between two commas there is no size" : `\`${wrong.slice(0, 40)}\` is no size`;
  const message = `${given}: write numbers or names with commas between them, such as \`2, 3, 4\` or \`B, T, 64\`.`;
  return { ...fault(message), kind: "shape" };
}

/** Whether a text may have sizes that are names: a word within brackets that is called by no one. */
const NAMED = /[(,*+\-/:[]\s*[A-Za-z_]\w*\s*[,)*+\-/\]:]/;

/** The chain up to a step of it, in a text that says all that is known. */
function prefix(start: Start, steps: readonly Step[], count: number): ChainSource {
  const begin = start.kind === "views" || start.shape === null ? start.text : tuple(start.shape);
  return { chain: chainText(begin, steps.slice(0, count)) };
}

async function askChain({ texts, muted, step, base, values }: Question): Promise<Outcome | null> {
  let text = texts[0] ?? "";
  const shape = sizesOf(base);
  const sizes = baseOf(shape);
  let said = await ask("chain", { text, base: sizes }, READING);
  if (said === null) return null;
  let named: NamesAnswer | null = null;
  /** What is wrong further on than where the text is first not understood without names. */
  let further: Fault | null = null;
  // Of an array of which only the name is known, the sizes may be names as well: they are put in its place.
  const from = said.ok && said.value.start.name != null ? said.value.start : null;
  const known = from !== null && shape.length > 0;
  const bad = known ? badSize(shape) : null;
  if (bad !== null) return { ...nothing(no(bad)), start: from };
  if ((!said.ok || said.value.error !== null) && (NAMED.test(text) || (known && sizes === null))) {
    const whole = known ? `${text.slice(0, from.span[0])}torch.empty(${shape.join(", ")})${text.slice(from.span[1])}` : text;
    const names = await ask("names", { text: whole, where: texts[1] ?? "", values }, "names");
    if (names === null) return null;
    // Whether the text is right cannot be said without what reads it.
    if (!names.ok && !isMistake(names.fault)) return { ...nothing(no(names.fault)), start: from };
    if (names.ok && (names.value.names.length > 0 || known)) {
      const { instance, instance_note: note } = names.value;
      if (names.value.names.length > 0) named = names.value;
      if (instance === null) return { ...nothing(no(fault(note ?? "These values do not fit.", "chain"))), start: from, named };
      text = instance;
      said = await ask("chain", { text }, READING);
      if (said === null) return null;
      if (said.ok && from !== null) said.value.start.name = from.name!;
    } else if (!names.ok) {
      if (from !== null && names.fault.kind === "base") return { ...nothing(no(asksShape(from.name!))), start: from };
      // With names it is read further: what is wrong is what stands there, behind the sizes that were put in.
      const added = whole.length - text.length;
      const at = names.fault.span?.map((place) => place - added) as Span | undefined;
      const span = at !== undefined && at[0] >= (from?.span[1] ?? 0) ? at : null;
      const before = said.ok && !known ? (said.value.error?.span?.[0] ?? -1) : -1;
      const isFurther = span !== null && span[0] > before;
      if (from !== null && (known || isFurther)) {
        return { ...nothing(no({ ...names.fault, span, suggestion: added === 0 ? (names.fault.suggestion ?? null) : null })), start: from };
      }
      if (isFurther) further = names.fault;
    }
  }
  if (!said.ok) return nothing(no(said.fault));
  const whole = said.value;
  const operations: Operation[] = [...whole.steps, ...whole.rest];
  const quiet = new Set(muted.filter((block) => block < operations.length));
  let answer = whole;
  let source: ChainSource = sizes !== null && whole.start.kind === "base" ? { chain: text, base: sizes } : { chain: text };
  if (quiet.size > 0) {
    const effective = chainText(
      whole.start.text,
      operations.filter((_, block) => !quiet.has(block)),
    );
    source = { ...source, chain: effective };
    const again = await ask("chain", { text: effective, base: sizes }, READING);
    if (again === null) return null;
    if (!again.ok) return { ...nothing(no(again.fault)), start: whole.start };
    answer = again.value;
  }
  const heard = operations.map((_, block) => block).filter((block) => !quiet.has(block));
  const blocks = operations.map((operation, block): Block => {
    const step = quiet.has(block) ? null : (answer.steps[heard.indexOf(block)] ?? null);
    return { operation, step, muted: quiet.has(block) };
  });
  let trouble: Trouble | null = null;
  if (answer.error !== null) {
    // The places in the text of the chain without its muted operations are not those of the text that is shown.
    const { step } = answer.error;
    const block = step === null ? null : (heard[step] ?? null);
    const span = quiet.size > 0 ? (block === null ? null : operations[block]!.span) : answer.error.span;
    // What is read with values in place of names is not the text either.
    const error = named === null ? { ...answer.error, span } : { ...answer.error, span: null, suggestion: null };
    const { name, shape } = answer.start;
    // That the shape of an array is not known yet is no mistake.
    const asks = error.kind === "base" || error.message.includes("depends on the shape");
    if (name != null && shape === null && asks) trouble = no(asksShape(name));
    else if (further !== null) trouble = no(further, further.step === null ? null : (heard[further.step] ?? null));
    else trouble = no(error, block);
  } else if (answer.result === null) {
    const { name } = answer.start;
    trouble = no(name == null ? fault("There is no tensor yet.", "chain") : asksShape(name));
  }
  const outcome: Outcome = { layout: null, trouble, blocks, start: whole.start, stations: [], named };
  const first = answer.start.shape;
  if (answer.result === null || first === null) return outcome;
  const { steps } = answer;
  outcome.stations = [first, ...steps.map(({ shape }) => shape)].map((shape, count) => ({
    source: prefix(answer.start, steps, count),
    chain: prefix(answer.start, steps, count),
    shape,
    block: count === 0 ? null : (heard[count - 1] ?? null),
  }));
  const last = outcome.stations.at(-1)!;
  const good = answer.error === null ? source : last.source;
  last.source = good;
  const before = step === null || step >= steps.length ? null : (outcome.stations[step] ?? null);
  if (before === null) {
    outcome.layout = withModes(chainLayout(good, answer.result), answer.start, steps.length);
    return outcome;
  }
  const at = await ask("chain", { text: before.source.chain }, READING);
  if (at === null) return null;
  if (!at.ok || at.value.result === null) return { ...outcome, trouble: trouble ?? no(at.ok ? at.value.error! : at.fault) };
  outcome.layout = withModes(chainLayout(before.source, at.value.result), answer.start, step ?? 0);
  return outcome;
}

/** The modes of a layout of CuTe are those of its axes as long as no operation has changed them. */
function withModes(layout: Layout, { modes }: Start, steps: number): Layout {
  return modes == null || steps > 0 ? layout : { ...layout, modes };
}

async function askHand(axes: Page["axes"], offset: string): Promise<Outcome | null> {
  const does = "reads the fields of a view";
  const reader = await part(does, () => import("./hand"));
  if (reader === null) return nothing(no({ ...fault(missingText(does)), kind: "fetch" }));
  const { handText } = reader;
  const hand = handText(axes, offset);
  if ("fault" in hand) return nothing(no(fault(hand.fault), null, hand.piece));
  const said = await ask("chain", { text: hand.text }, READING);
  if (said === null) return null;
  if (!said.ok) return nothing(no(said.fault));
  const { error, result } = said.value;
  if (error !== null || result === null) {
    const problem = error ?? fault("There is no tensor yet.");
    const at = problem.span?.[0] ?? -1;
    const piece = hand.pieces.find(({ span }) => span[0] <= at && at < span[1])?.piece ?? null;
    return nothing(no({ ...problem, span: null }, null, piece));
  }
  return { ...nothing(null), layout: chainLayout({ chain: hand.text }, result) };
}

async function askFree(question: Question): Promise<Outcome | null> {
  const [index = "", valid = ""] = question.texts;
  const variables = [];
  for (const [row, { name, begin, end }] of question.variables.entries()) {
    for (const bound of [begin, end]) {
      if (!/^\s*[+-]?\d{1,19}\s*$/.test(bound)) {
        const message = `"${bound}" is no whole number: the range of ${name || "a variable"} needs two of them.`;
        return nothing(no({ ...fault(message, "variables"), variable: row }));
      }
    }
    const exact = (bound: string): Integer => (Number.isSafeInteger(Number(bound)) ? Number(bound) : bound.trim());
    variables.push({ name: name.trim(), begin: exact(begin), end: exact(end) });
  }
  const source: FreeSource = { index, valid, variables, syntax: question.syntax };
  const said = await ask("free", source, READING);
  if (said === null) return null;
  if (!said.ok) return nothing(no(said.fault));
  return { ...nothing(null), layout: freeLayout(source, said.value) };
}

function outcome(question: Question): Promise<Outcome | null> {
  const long = question.texts.find((text) => text.length > LONGEST_TEXT);
  if (long !== undefined) {
    const message = `This text is ${counted(long.length, "character")} long; the page reads at most ${LONGEST_TEXT}.`;
    const field = question.mode === "free" ? "index" : "chain";
    return Promise.resolve(nothing(no(fault(message, field))));
  }
  switch (question.mode) {
    case "chain":
      return askChain(question);
    case "view":
      return askHand(question.axes, question.texts[0] ?? "");
    case "free":
      return askFree(question);
  }
}

/** What the layout was made from. */
let drawn: Page["mode"] | null = null;

async function answer(asked: string): Promise<void> {
  const result = await outcome(JSON.parse(asked) as Question);
  // A later question has replaced this one.
  if (result === null || asked !== question.peek()) return;
  batch(() => {
    const { mode } = JSON.parse(asked) as Question;
    // Fields have no prefix that could be drawn: what they showed before stays, and is marked.
    const kept = result.layout === null && mode !== "chain" && drawn === mode ? layout.peek() : null;
    layout.value = result.layout ?? kept;
    stale.value = kept !== null;
    drawn = mode;
    trouble.value = result.trouble;
    blocks.value = result.blocks;
    start.value = result.start;
    stations.value = result.stations;
    named.value = result.named;
    answered.value = asked;
  });
}

/** Keeps the layout that of the text from now on. */
export function followText(): void {
  effect(() => {
    const asked = question.value;
    // What could not be answered without a part of the page can be when that has come.
    void arrived.value;
    untracked(() => void answer(asked));
  });
}
