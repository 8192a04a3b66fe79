/** What the page of threads and banks is about: the layouts as they are typed, what is looked at, and what the engine says of it. */
import { computed, effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { Fault, KernelAnswer } from "shapetracker/engine";
import { LONGEST_FRAGMENT, read, write } from "../fragment";
import { arrived } from "../parts";

/** What the page shows: banks, whose the elements of a tile are, or what an operation makes of two layouts. */
export const TABS = ["banks", "tile", "composition", "division", "product"] as const;
export type Tab = (typeof TABS)[number];

/** Everything that a link restores. */
export interface State {
  tab: Tab;
  /** One layout a line. */
  text: string;
  /** The bytes of an element. */
  bytes: number;
  /** How many values one instruction moves; 0 for as many as it can. */
  vector: number;
  /** The mode that takes the thread, counted from 0. */
  threads: number;
  /** The layout, the warp and the value that the pictures are about. */
  shown: number;
  warp: number;
  value: number;
  /** What the colours of the table say. */
  color: "thread" | "bank";
  /** A layout of threads and values, and the sides of the tile whose elements they are. */
  owners: string;
  shape: string;
  /** Two layouts, and the form of the division and of the product. */
  a: string;
  b: string;
  form: string;
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

const DEFAULT: State = {
  tab: "banks",
  text: FIRST.text,
  bytes: FIRST.bytes,
  vector: 0,
  threads: 0,
  shown: FIRST.shown,
  warp: 0,
  value: 0,
  color: "thread",
  owners: "((4,8),(2,2,2)):((32,1),(16,8,128))",
  shape: "(16,16)",
  a: "",
  b: "",
  form: "",
};

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
  const text = (key: "owners" | "shape" | "a" | "b" | "form"): string => (fields.get(key) ?? DEFAULT[key]).slice(0, LONGEST_TEXT);
  return {
    tab: TABS.find((each) => each === fields.get("tab")) ?? "banks",
    threads: number("threads", 0),
    owners: text("owners"),
    shape: text("shape"),
    a: text("a"),
    b: text("b"),
    form: text("form"),
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
  const { tab, text, bytes, vector, threads, shown, warp, value, color, owners, shape, a, b, form } = state.value;
  const fields = new Map<string, string>();
  if (tab === "banks") {
    fields.set("layouts", text.replaceAll("\n", " / "));
    fields.set("bytes", String(bytes));
    const numbers = Object.entries({ vector, threads, shown, warp, value });
    for (const [key, number] of numbers) if (number > 0) fields.set(key, String(number));
    if (color !== "thread") fields.set("color", color);
  } else {
    fields.set("tab", tab);
    const texts = tab === "tile" ? { owners, shape } : { a, b, form };
    for (const [key, written] of Object.entries(texts)) if (written !== "") fields.set(key, written);
  }
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
  const { bytes, vector, threads, shown, warp, value } = state.value;
  return { layouts: lines.value, bytes, vector, threads, shown, warp, value };
});

/** Whether the page is about banks. */
const isAbout = computed(() => state.value.tab === "banks");

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

/** Whether memory is drawn under the swizzle that is offered. */
export const isAfter = signal(false);

/** The same instruction under the swizzle that is offered. */
export const after = signal<{ of: KernelAnswer; answer: KernelAnswer } | null>(null);

effect(() => {
  const request = question.value;
  void arrived.value;
  if (!isAbout.value) return;
  void ask("kernel", request, "kernel").then((said) => {
    if (said === null) return;
    known.value = {
      asked: JSON.stringify(request),
      answer: said.ok ? said.value : null,
      fault: said.ok ? null : said.fault,
    };
    if (!said.ok) return;
    picture.value = said.value;
    const { swizzle, accesses } = said.value;
    if (swizzle === null) return;
    // The layouts of the answer have the threads in front.
    const swizzled = { ...request, threads: 0, layouts: accesses.map(({ swizzled, text }) => swizzled ?? text) };
    void ask("kernel", swizzled, "after").then((then) => {
      if (then?.ok === true && picture.value === said.value) after.value = { of: said.value, answer: then.value };
    });
  });
});

/** The cell that is pointed at or selected: a thread and one of its values. */
export const pointed = signal<{ thread: number; value: number } | null>(null);
export const selected = signal<{ thread: number; value: number } | null>(null);
