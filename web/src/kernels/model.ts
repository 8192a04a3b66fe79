/** What the page of threads and banks is about: the layouts as they are typed, what is looked at, and what the engine says of it. */
import { computed, effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { Fault, KernelAnswer } from "../engine";
import { LONGEST_FRAGMENT, read, write } from "../fragment";
import { arrived } from "../parts";

/** Everything that a link restores. */
export interface State {
  /** One layout a line. */
  text: string;
  /** The bytes of an element. */
  bytes: number;
  /** How many values one instruction moves; 0 for as many as it can. */
  vector: number;
  /** The layout, the warp and the value that the pictures are about. */
  shown: number;
  warp: number;
  value: number;
  /** What the colours of the table say. */
  color: "thread" | "bank";
}

export const PRESETS: readonly { name: string; text: string; bytes: number; vector: number; shown: number; says: string }[] = [
  {
    name: "A tile, by rows and by columns",
    text: "((8,32),8):((8,64),1)\n((64,8),8):((64,8),1)",
    bytes: 2,
    vector: 0,
    shown: 1,
    says: "Half precision, 16 bytes a thread: written by rows, read by columns.",
  },
  {
    name: "A column of floats",
    text: "(32,32):(32,1)",
    bytes: 4,
    vector: 1,
    shown: 0,
    says: "Every thread reads its own row, one float at a time: all of them in one bank.",
  },
  {
    name: "A padded column",
    text: "(32,32):(33,1)",
    bytes: 4,
    vector: 1,
    shown: 0,
    says: "The old remedy: rows of 33 floats, so that each begins one bank further.",
  },
  {
    name: "A fragment of a tensor core",
    text: "((4,8),(2,2,2)):((32,1),(16,8,128))",
    bytes: 2,
    vector: 1,
    shown: 0,
    says: "Threads and values of a 16 by 16 operand of mma.m16n8k16, laid out column by column.",
  },
];

const FIRST = PRESETS[0]!;

const DEFAULT: State = { text: FIRST.text, bytes: FIRST.bytes, vector: 0, shown: FIRST.shown, warp: 0, value: 0, color: "thread" };

export const BYTES: readonly number[] = [1, 2, 4, 8, 16];

/** A longer text is refused with a sentence. */
export const LONGEST_TEXT = 4000;

function stateOf(fragment: string): State {
  if (fragment.length === 0 || fragment.length > LONGEST_FRAGMENT) return DEFAULT;
  const fields = read(fragment);
  const number = (key: string, otherwise: number): number => {
    const value = Number(fields.get(key));
    return fields.has(key) && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
  };
  const bytes = number("bytes", DEFAULT.bytes);
  return {
    text: (fields.get("c") ?? fields.get("layouts")?.replaceAll(" / ", "\n") ?? DEFAULT.text).slice(0, LONGEST_TEXT),
    bytes: BYTES.includes(bytes) ? bytes : DEFAULT.bytes,
    vector: number("vector", 0),
    shown: number("shown", fields.has("layouts") ? 0 : DEFAULT.shown),
    warp: number("warp", 0),
    value: number("value", 0),
    color: fields.get("color") === "bank" ? "bank" : "thread",
  };
}

export const state = signal<State>(stateOf(location.hash.slice(1)));

/** Changes what the page is about. What is typed replaces the entry of the history, so that going back leaves the page. */
export function change(patch: Partial<State>): void {
  state.value = { ...state.peek(), ...patch };
  const { text, bytes, vector, shown, warp, value, color } = state.value;
  const fields = new Map([["layouts", text.replaceAll("\n", " / ")]]);
  fields.set("bytes", String(bytes));
  for (const [key, number] of Object.entries({ vector, shown, warp, value })) if (number > 0) fields.set(key, String(number));
  if (color !== "thread") fields.set("color", color);
  history.replaceState(null, "", `#${write(fields)}`);
}

addEventListener("popstate", () => (state.value = stateOf(location.hash.slice(1))));

/** The lines that have a layout. */
export const lines = computed(() =>
  state.value.text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
);

/** What the engine is asked: another text is another question. */
const question = computed(() => {
  const { bytes, vector, shown, warp, value } = state.value;
  return { layouts: lines.value, bytes, vector, shown, warp, value };
});

interface Known {
  asked: string;
  answer: KernelAnswer | null;
  fault: Fault | null;
}

const known = signal<Known | null>(null);

/** What was last answered, and whether that is still what is asked. */
export const answer = computed(() => {
  const now = known.value;
  return { ...(now ?? { answer: null, fault: null }), current: now?.asked === JSON.stringify(question.value) };
});

/** The last answer that was none of a mistake: what is drawn while someone types. */
export const picture = signal<KernelAnswer | null>(null);

effect(() => {
  const request = question.value;
  void arrived.value;
  void ask("kernel", request, "kernel").then((said) => {
    if (said === null) return;
    known.value = {
      asked: JSON.stringify(request),
      answer: said.ok ? said.value : null,
      fault: said.ok ? null : said.fault,
    };
    if (said.ok) picture.value = said.value;
  });
});

/** The cell that is pointed at or selected: a thread and one of its values. */
export const pointed = signal<{ thread: number; value: number } | null>(null);
export const selected = signal<{ thread: number; value: number } | null>(null);
