/** The other tabs: the elements of a tile by their threads, and what an operation makes of two layouts. */
import { computed, effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { AlgebraAnswer, Answer, LayoutOperation, OwnersAnswer } from "shapetracker/engine";
import { arrived } from "../parts";
import { state, type Tab } from "./model";

export type Algebra = "composition" | "division" | "product";

interface Example {
  a: string;
  b: string;
  form: string;
  says: string;
}

interface About {
  /** The forms of the operation, in words. */
  forms: readonly (readonly [form: LayoutOperation, name: string])[];
  says: string;
  a: string;
  b: string;
  examples: readonly Example[];
}

export const ALGEBRA: Record<Algebra, About> = {
  composition: {
    forms: [["compose", "A o B"]],
    says: "A o B has the coordinates of B, and at each the value of A at the value of B.",
    a: "A, which is applied to the values of B",
    b: "B, a layout, or a tiler with one for each mode of A",
    examples: [
      { a: "(6,2):(8,2)", b: "(4,3):(3,1)", form: "compose", says: "Twelve values in another order and shape." },
      { a: "(8,12):(12,1)", b: "(2:4,3:1)", form: "compose", says: "Every fourth row, and the first three columns." },
      { a: "(6,2):(1,7)", b: "(3,2):(2,3)", form: "compose", says: "No layout does this: the values say why." },
    ],
  },
  division: {
    forms: [
      ["zipped_divide", "zipped: ((tile), (rest))"],
      ["logical_divide", "logical: each mode as (tile, rest)"],
    ],
    says: "A in tiles: down a column of the zipped form there is one tile, and each column is another one.",
    a: "A, which is cut into tiles",
    b: "The tile: its sizes, or a layout for each mode",
    examples: [
      { a: "(8,8):(8,1)", b: "(4,2)", form: "zipped_divide", says: "Tiles of 4 rows and 2 columns." },
      { a: "(4,2,3):(2,1,8)", b: "4:2", form: "logical_divide", says: "Every second value is of the tile." },
      { a: "(8,8):(8,1)", b: "(4:2,8:1)", form: "zipped_divide", says: "Every second row is of one tile." },
    ],
  },
  product: {
    forms: [
      ["blocked_product", "blocked: copies side by side"],
      ["raked_product", "raked: copies interleaved"],
      ["logical_product", "logical: (A, copies)"],
    ],
    says: "A is repeated as B says: copy k begins where the k-th value of B puts it.",
    a: "A, which is repeated",
    b: "B, how the copies lie",
    examples: [
      { a: "(2,4):(4,1)", b: "(2,2):(1,2)", form: "blocked_product", says: "Four copies of a block of 2 by 4." },
      { a: "(2,4):(4,1)", b: "(2,2):(1,2)", form: "raked_product", says: "The same copies, element by element in turns." },
      { a: "(2,2):(1,2)", b: "3:2", form: "logical_product", says: "Copies with room for another one between them." },
    ],
  },
};

export function isAlgebra(tab: Tab): tab is Algebra {
  return tab in ALGEBRA;
}

/** What is asked of two layouts: what has been typed, or the first example. */
export const pair = computed((): Example | null => {
  const { tab, a, b, form } = state.value;
  if (!isAlgebra(tab)) return null;
  const { forms, examples } = ALGEBRA[tab];
  const known = forms.find(([each]) => each === form)?.[0];
  return a === "" && b === "" ? { ...examples[0]!, form: known ?? examples[0]!.form } : { a, b, form: known ?? forms[0]![0], says: "" };
});

export const made = signal<Answer<AlgebraAnswer> | null>(null);
/** The last answer that was none of a mistake. */
export const tables = signal<AlgebraAnswer | null>(null);
export const owned = signal<Answer<OwnersAnswer> | null>(null);
export const owners = signal<OwnersAnswer | null>(null);

effect(() => {
  const asked = pair.value;
  void arrived.value;
  if (asked === null) return;
  const request = { operation: asked.form as LayoutOperation, layout: asked.a, by: asked.b };
  void ask("algebra", request, "algebra").then((said) => {
    if (said === null) return;
    made.value = said;
    if (said.ok) tables.value = said.value;
  });
});

effect(() => {
  const { tab, owners: layout, shape } = state.value;
  void arrived.value;
  if (tab !== "tile") return;
  void ask("owners", { layout, shape }, "owners").then((said) => {
    if (said === null) return;
    owned.value = said;
    if (said.ok) owners.value = said.value;
  });
});
