/** A statement over several tensors in the place of a chain: its loops, what a step of them touches, and which touch an element. */
import { batch, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type { Fault, NestAnswer, Requests } from "shapetracker/engine";
import { isMistake } from "./faults";
import { idle, layout, start, trouble } from "./layout";
import { AFRESH, change, page } from "./page";

export interface NestPreset {
  name: string;
  text: string;
  /** The values of the loops to look at. */
  at: number[];
}

export const NESTS: readonly NestPreset[] = [
  {
    name: "Matrix product",
    text: "C[i, j] += A[i, k] * B[k, j]\nA = (12, 8)\nB = (10, 8).T\nC = (12, 10)",
    at: [4, 6, 3],
  },
  {
    name: "Convolution, 3 by 3",
    text: "y[i, j] += x[i + u, j + v] * w[u, v]\nx = (8, 10).pad((1, 1), (1, 1))\nw = (3, 3)\ny = (8, 10)",
    at: [3, 4, 0, 2],
  },
  {
    name: "Heads merged: split loops",
    text: "Y[r, c] = X[r, c]\nX = (2, 3, 4, 5).permute(0, 2, 1, 3).reshape(8, 15)\nY = (8, 15)",
    at: [1, 2, 1, 3],
  },
  {
    name: "Sizes that are names",
    text: "C[i, j] += A[i, k] * B[k, j]\nA = (M, K)\nB = (2*N, K).T\nC = (M, 2*N)",
    at: [2, 5, 1],
  },
  {
    name: "Causal scores",
    text: "S[t, s] += Q[t, d] * K[s, d] if s <= t\nQ = (4096, 128)\nK = (4096, 128)\nS = (4096, 4096)",
    at: [3000, 1000, 5],
  },
];

/** What looks like a statement that writes an element: whether it is one, the library says. */
const STATEMENT = /(?:^|[\n;])\s*[A-Za-z_]\w*\s*\[[^\]\n;]*\]\s*[-+*|&^]?=(?!=)/;

/** The statement that is shown, and the text that it was read from. */
export const nest = signal<{ text: string; answer: NestAnswer } | null>(null);

/** An element of an access: the one that is pointed at, or the one that was chosen. */
export interface Place {
  access: number;
  index: number[];
}

export const chosen = signal<Place | null>(null);
export const hovered = signal<Place | null>(null);
/** The element that `nest` says the steps of. */
export const about = signal<Place | null>(null);

export function open({ text, at }: NestPreset): void {
  chosen.value = hovered.value = null;
  change({ mode: "chain", chain: text, muted: [], step: null, where: "", values: {}, ...AFRESH, at }, true);
}

type Names = Pick<Requests["nest"]["request"], "text" | "where" | "values">;
/** The last statement whose names had values that may be. */
let fitting: Names | null = null;
/** The last fault of values, or of what is said of names, and the question that it answers: the loops stay. */
let told: { fault: Fault; question: string } | null = null;

/** Asks for the loops; where values of names may not be, for those at the last ones that may, with what is wrong beside it. */
async function loops(names: Names, rest: Omit<Requests["nest"]["request"], keyof Names>) {
  const said = await ask("nest", { ...names, ...rest }, "nest");
  if (said?.ok !== false || !(said.fault.kind === "values" || said.fault.field === "where")) {
    if (said?.ok === true) fitting = names;
    return { said, fault: null };
  }
  const before = fitting?.text === names.text ? fitting : { text: names.text };
  const again = await ask("nest", { ...before, ...rest }, "nest");
  // The place of what is wrong is in another text than that of the chain.
  const fault: Fault = { ...said.fault, span: null, suggestion: null };
  return again?.ok === false ? { said: { ...said, fault }, fault: null } : { said: again, fault };
}

effect(() => {
  const { mode, chain: text, where, values, at } = page.value;
  const place = hovered.value ?? chosen.value;
  if (mode !== "chain" || !STATEMENT.test(text)) {
    nest.value = chosen.value = hovered.value = null;
    return;
  }
  // What is wrong with it as a chain was said of the same text.
  if (!idle.value) return;
  const shown = untracked(() => nest.value);
  const question = JSON.stringify([text, where, values, at, place]);
  if (told !== null && trouble.value?.fault === told.fault) {
    if (question === told.question) return;
  } else if (shown?.text === text && trouble.value !== null && isMistake(trouble.value.fault)) trouble.value = null;
  const element = place === null || shown?.text !== text ? {} : place;
  void loops({ text, where, values }, { at, ...element }).then(({ said, fault }) => {
    if (said === null || page.peek().chain !== text || page.peek().mode !== "chain") return;
    told = fault && { fault, question };
    batch(() => {
      if (said.ok) {
        nest.value = { text, answer: said.value };
        about.value = said.value.touching === null ? null : place;
        start.value = null;
        trouble.value = fault && { fault, block: null, piece: null };
        return;
      }
      nest.value = null;
      chosen.value = hovered.value = null;
      // A text that is a chain is none of these.
      if (layout.peek() === null || trouble.peek() !== null) {
        start.value = null;
        trouble.value = { fault: said.fault, block: null, piece: null };
      }
    });
  });
});

/** The rest of the page makes room. */
effect(() => {
  document.documentElement.toggleAttribute("data-nest", nest.value !== null);
});
