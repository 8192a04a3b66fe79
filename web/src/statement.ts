/** A statement over several tensors in the place of a chain: its loops, what a step of them touches, and which touch an element. */
import { batch, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type { NestAnswer } from "shapetracker/engine";
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
  change({ mode: "chain", chain: text, muted: [], step: null, where: "", ...AFRESH, at }, true);
}

effect(() => {
  const { mode, chain: text, at } = page.value;
  const place = hovered.value ?? chosen.value;
  if (mode !== "chain" || !STATEMENT.test(text)) {
    nest.value = chosen.value = hovered.value = null;
    return;
  }
  // What is wrong with it as a chain was said of the same text.
  if (!idle.value) return;
  const shown = untracked(() => nest.value);
  if (shown?.text === text && trouble.value !== null && isMistake(trouble.value.fault)) trouble.value = null;
  const element = place === null || shown?.text !== text ? {} : place;
  void ask("nest", { text, at, ...element }, "nest").then((said) => {
    if (said === null || page.peek().chain !== text || page.peek().mode !== "chain") return;
    batch(() => {
      if (said.ok) {
        nest.value = { text, answer: said.value };
        about.value = said.value.touching === null ? null : place;
        trouble.value = start.value = null;
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
