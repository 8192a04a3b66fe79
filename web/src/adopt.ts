/**
 * A text that is no chain may be an index expression, such as compilers print: then it is shown as one, and its names are the
 * variables. The text does not say how far they go, so that is assumed, and said.
 */
import { effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import { blocks, idle, start, trouble } from "./layout";
import { AFRESH, change, DEFAULT, page } from "./page";
import { pasted } from "./typing";

/** What the end of the range of a variable is taken to be. */
const ASSUMED = 4;

/** The expression whose ranges are assumed, and what is said of it. */
export const assumed = signal<{ index: string; says: string } | null>(null);

effect(() => {
  const { mode, chain } = page.value;
  if (!idle.value || mode !== "chain" || pasted.value !== chain) return;
  const said = trouble.value?.fault.kind;
  const begun = blocks.value.length > 0 || start.value?.shape != null;
  // Code has names and numbers with an operator between them; a name alone is an array.
  if (begun || said === undefined || said === "fetch" || !/[\w)]\s*[*+%/^&|<>-]/.test(chain)) return;
  void ask("variables", { text: chain.trim() }, "variables").then((found) => {
    if (found?.ok !== true || found.value.names.length === 0 || page.peek().chain !== chain) return;
    const { names } = found.value;
    const which = names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}`;
    const says = `The text does not say how far ${which} ${names.length === 1 ? "goes" : "go"}: from 0 to before ${ASSUMED} is assumed. Write what it is.`;
    assumed.value = { index: chain.trim(), says };
    const variables = names.map((name) => ({ name, begin: "0", end: String(ASSUMED) }));
    change({ mode: "free", index: chain.trim(), valid: "", variables, syntax: "python", at: [], ...AFRESH }, true);
  });
});

/** The element of the first example is that of no other text: nobody has chosen it. */
effect(() => {
  const { chain, at } = page.value;
  if (chain !== DEFAULT.chain && at === DEFAULT.at) untracked(() => change({ at: [] }));
});
