/** The layout that the page is about: what the engine says of the text, and whether that is still the text. */
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type {
  ChainAnswer,
  ChainResult,
  Expression,
  Fault,
  FreeAnswer,
  FreeSource,
  Integer,
  Operation,
  Source,
  Start,
  Step,
} from "./engine";
import { handText, type HandPiece } from "./hand";
import { counted } from "./numbers";
import { LONGEST_TEXT, page, type Page } from "./page";

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
  expression: Expression | null;
  expressionNote: string | null;
  /** Some size is too large to count in. */
  tooLong: boolean;
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

/** The last layout without a fault. */
export const layout = signal<Layout | null>(null);
export const trouble = signal<Trouble | null>(null);
export const blocks = signal<Block[]>([]);
export const start = signal<Start | null>(null);

/** All that the layout depends on. */
interface Question {
  mode: Page["mode"];
  texts: string[];
  muted: number[];
  variables: Page["variables"];
  axes: Page["axes"];
  syntax: Page["syntax"];
}

const question = computed(() => {
  const { mode, chain, muted, axes, offset, index, valid, syntax, variables } = page.value;
  const asked: Question =
    mode === "chain"
      ? { mode, texts: [chain], muted, variables: [], axes: [], syntax: "python" }
      : mode === "view"
        ? { mode, texts: [offset], muted: [], variables: [], axes, syntax: "python" }
        : { mode, texts: [index, valid], muted: [], variables, axes: [], syntax };
  return JSON.stringify(asked);
});

const answered = signal<string | null>(null);

/** Whether `layout` is that of the text as it stands. */
export const current = computed(() => answered.value === question.value && trouble.value === null);

/** Whether an answer is there, be it a fault. */
export const idle = computed(() => answered.value === question.value);

function fault(message: string, field: Fault["field"] = null): Fault {
  return { kind: "page", message, field, span: null, step: null };
}

function no(fault: Fault, block: number | null = null, piece: HandPiece | null = null): Trouble {
  return { fault, block, piece };
}

function chainLayout(text: string, result: ChainResult): Layout {
  return {
    source: { chain: text },
    shape: result.shape.map(Number),
    numel: result.numel,
    names: result.shape.map((_, axis) => `axis ${axis}`),
    begins: result.shape.map(() => 0),
    addresses: result.address_range,
    chain: result,
    free: null,
    expression: result.expression,
    expressionNote: result.expression_note,
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
    expression: free.simplified,
    expressionNote: free.simplified.note,
    tooLong: free.shape.some((size) => typeof size === "string"),
  };
}

/** A chain of our notation from its parts. */
export function chainText(start: string, operations: readonly { text: string }[]): string {
  return [start, ...operations.map(({ text }) => text)].filter((part) => part !== "").join(".");
}

/** What the answers to a question come to. */
interface Outcome {
  layout: Layout | null;
  /** The layout of what stands before a mistake. */
  partial?: Layout | null;
  trouble: Trouble | null;
  blocks: Block[];
  start: Start | null;
}

function operationsOf(answer: ChainAnswer): Operation[] {
  return [...answer.steps, ...(answer.rest ?? [])];
}

async function askChain(text: string, muted: readonly number[]): Promise<Outcome | null> {
  const said = await ask("chain", { text }, "chain");
  if (said === null) return null;
  if (!said.ok) return { layout: null, trouble: no(said.fault), blocks: [], start: null };
  const whole = said.value;
  const operations = operationsOf(whole);
  const quiet = new Set(muted.filter((block) => block < operations.length));
  let answer = whole;
  let effective = text;
  if (quiet.size > 0) {
    effective = chainText(
      whole.start.text,
      operations.filter((_, block) => !quiet.has(block)),
    );
    const again = await ask("chain", { text: effective }, "chain");
    if (again === null) return null;
    if (!again.ok) return { layout: null, trouble: no(again.fault), blocks: [], start: whole.start };
    answer = again.value;
  }
  const heard = operations.map((_, block) => block).filter((block) => !quiet.has(block));
  const blocks = operations.map((operation, block): Block => {
    const step = quiet.has(block) ? null : (answer.steps[heard.indexOf(block)] ?? null);
    return { operation, step, muted: quiet.has(block) };
  });
  if (answer.error !== null) {
    // The places in the text of the chain without its muted operations are not those of the text that is shown.
    const { step } = answer.error;
    const block = step === null ? null : (heard[step] ?? null);
    const span = quiet.size > 0 ? (block === null ? null : operations[block]!.span) : answer.error.span;
    const before = chainText(answer.start.text, answer.steps);
    const partial = answer.result === null ? null : chainLayout(before, answer.result);
    return { layout: null, partial, trouble: no({ ...answer.error, span }, block), blocks, start: whole.start };
  }
  if (answer.result === null) {
    return { layout: null, trouble: no(fault("There is no tensor yet.", "chain")), blocks, start: whole.start };
  }
  return { layout: chainLayout(effective, answer.result), trouble: null, blocks, start: whole.start };
}

async function askHand(axes: Page["axes"], offset: string): Promise<Outcome | null> {
  const nothing = { layout: null, blocks: [], start: null };
  const hand = handText(axes, offset);
  if ("fault" in hand) return { ...nothing, trouble: no(fault(hand.fault), null, hand.piece) };
  const said = await ask("chain", { text: hand.text }, "chain");
  if (said === null) return null;
  if (!said.ok) return { ...nothing, trouble: no(said.fault) };
  const { error, result } = said.value;
  if (error !== null || result === null) {
    const problem = error ?? fault("There is no tensor yet.");
    const at = problem.span?.[0] ?? -1;
    const piece = hand.pieces.find(({ span }) => span[0] <= at && at < span[1])?.piece ?? null;
    return { ...nothing, trouble: no({ ...problem, span: null }, null, piece) };
  }
  return { ...nothing, layout: chainLayout(hand.text, result), trouble: null };
}

async function askFree(question: Question): Promise<Outcome | null> {
  const nothing = { layout: null, blocks: [], start: null };
  const [index = "", valid = ""] = question.texts;
  const variables = [];
  for (const [row, { name, begin, end }] of question.variables.entries()) {
    for (const bound of [begin, end]) {
      if (!/^\s*[+-]?\d{1,19}\s*$/.test(bound)) {
        const message = `"${bound}" is no whole number: the range of ${name || "a variable"} needs two of them.`;
        return { ...nothing, trouble: no({ ...fault(message, "variables"), variable: row }) };
      }
    }
    const exact = (bound: string): Integer => (Number.isSafeInteger(Number(bound)) ? Number(bound) : bound.trim());
    variables.push({ name: name.trim(), begin: exact(begin), end: exact(end) });
  }
  const source: FreeSource = { index, valid, variables, syntax: question.syntax };
  const said = await ask("free", source, "chain");
  if (said === null) return null;
  if (!said.ok) return { ...nothing, trouble: no(said.fault) };
  return { ...nothing, layout: freeLayout(source, said.value), trouble: null };
}

function outcome(question: Question): Promise<Outcome | null> {
  const long = question.texts.find((text) => text.length > LONGEST_TEXT);
  if (long !== undefined) {
    const message = `This text is ${counted(long.length, "character")} long; the page reads at most ${LONGEST_TEXT}.`;
    const field = question.mode === "free" ? "index" : "chain";
    return Promise.resolve({ layout: null, trouble: no(fault(message, field)), blocks: [], start: null });
  }
  switch (question.mode) {
    case "chain":
      return askChain(question.texts[0] ?? "", question.muted);
    case "view":
      return askHand(question.axes, question.texts[0] ?? "");
    case "free":
      return askFree(question);
  }
}

async function answer(asked: string): Promise<void> {
  const result = await outcome(JSON.parse(asked) as Question);
  // A later question has replaced this one.
  if (result === null || asked !== question.peek()) return;
  // With a mistake the last good picture stays, or at first that of what stands before it; both are marked.
  layout.value = result.layout ?? layout.peek() ?? result.partial ?? null;
  trouble.value = result.trouble;
  blocks.value = result.blocks;
  start.value = result.start;
  answered.value = asked;
}

/** Keeps the layout that of the text from now on. */
export function followText(): void {
  effect(() => {
    const asked = question.value;
    untracked(() => void answer(asked));
  });
}
