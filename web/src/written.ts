/** The expression of the layout that is shown, and the values of its parts for the element in focus. */
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import { byViews } from "./byviews";
import type { Expression, FreeSource, Integer } from "shapetracker/engine";
import { detail } from "./focus";
import { current, layout, type Layout } from "./layout";

/** An expression, or why there is none. */
export interface Written {
  layout: Layout;
  form: Form;
  expression: Expression | null;
  note: string | null;
  /** What its values are asked of, where it is not the layout's own. */
  source: FreeSource | null;
}

/** As cheap as we can make it, or as it comes about: view by view, or as it was typed. */
export type Form = "simplified" | "written";

export const form = signal<Form>("simplified");

/** Whether anyone looks at the expression: only then is the part of the engine fetched that writes it. */
export const wanted = signal(false);

/** The expression of the layout; of the one before it until it is known. */
export const written = signal<Written | null>(null);

const valued = signal<{ of: Written; index: number[]; values: Integer[] } | null>(null);

/** The values of the parts of the expression that is shown; those of the element before until they are known. */
export const values = computed((): { index: number[]; values: Integer[] } | null => {
  const known = valued.value;
  return known !== null && known.of === written.value && detail.value?.index != null ? known : null;
});

async function write(of: Layout, form: Form): Promise<void> {
  const own = { layout: of, form, source: null };
  if (of.free !== null) {
    const expression = of.free[form];
    written.value = { ...own, expression, note: expression.note };
    return;
  }
  if (form === "written") {
    const source = byViews(of.chain?.views ?? []);
    if (source === null) {
      written.value = { ...own, expression: null, note: "View by view the expression is too long to show." };
      return;
    }
    const said = await ask("free", source, "expression");
    if (said === null || layout.peek() !== of) return;
    written.value = said.ok
      ? { ...own, source, expression: said.value.written, note: said.value.written.note }
      : { ...own, expression: null, note: said.fault.message };
    return;
  }
  const said = await ask("expression", { source: of.source }, "expression");
  if (said === null || layout.peek() !== of) return;
  written.value = said.ok
    ? { ...own, ...said.value }
    : { ...own, expression: null, note: said.fault.message };
}

async function evaluate(of: Written, index: number[]): Promise<void> {
  const said = await ask("evaluate", { source: of.source ?? of.layout.source, index }, "values");
  if (said?.ok !== true) return;
  const { values, written } = said.value;
  valued.value = { of, index, values: of.form === "written" ? (written ?? values) : values };
}

/** Keeps the expression and its values those of the layout and the element from now on. */
export function followWritten(): void {
  effect(() => {
    const now = wanted.value && current.value ? layout.value : null;
    const as = form.value;
    const known = written.peek();
    if (now !== null && (known?.layout !== now || known.form !== as)) untracked(() => void write(now, as));
  });
  effect(() => {
    const [of, at] = [written.value, detail.value];
    if (of?.expression == null || at?.layout !== of.layout || at.index === null) return;
    const { index } = at;
    untracked(() => void evaluate(of, index));
  });
}
