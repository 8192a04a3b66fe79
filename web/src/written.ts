/** The expression of the layout that is shown, and the values of its parts for the element in focus. */
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type { Expression, Integer } from "./engine";
import { detail } from "./focus";
import { current, layout, type Layout } from "./layout";

/** An expression, or why there is none. */
export interface Written {
  layout: Layout;
  expression: Expression | null;
  note: string | null;
}

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

async function write(of: Layout): Promise<void> {
  if (of.free !== null) {
    const { simplified } = of.free;
    written.value = { layout: of, expression: simplified, note: simplified.note };
    return;
  }
  const said = await ask("expression", { source: of.source }, "expression");
  if (said === null || layout.peek() !== of) return;
  written.value = said.ok
    ? { layout: of, ...said.value }
    : { layout: of, expression: null, note: said.fault.message };
}

async function evaluate(of: Written, index: number[]): Promise<void> {
  const said = await ask("evaluate", { source: of.layout.source, index }, "values");
  if (said?.ok === true) valued.value = { of, index, values: said.value.values };
}

/** Keeps the expression and its values those of the layout and the element from now on. */
export function followWritten(): void {
  effect(() => {
    const now = wanted.value && current.value ? layout.value : null;
    if (now !== null && written.peek()?.layout !== now) untracked(() => void write(now));
  });
  effect(() => {
    const [of, at] = [written.value, detail.value];
    if (of?.expression == null || at?.layout !== of.layout || at.index === null) return;
    const { index } = at;
    untracked(() => void evaluate(of, index));
  });
}
