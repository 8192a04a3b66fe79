/** The layout that is there as the input of another mode. */
import { ask } from "./ask";
import type { Requests, Source, View } from "shapetracker/engine";
import { handText } from "./hand";
import { current, layout, result, stations } from "./layout";
import { sentence } from "./panes/mistake";
import { AFRESH, change, notice, page, type Mode, type Page } from "./page";

/** The fields of a view. */
function fields({ shape, strides, offset, mask }: View): Pick<Page, "axes" | "offset"> {
  const axes = shape.map((size, axis) => ({
    size: String(size),
    stride: String(strides[axis] ?? 0),
    begin: String(mask?.[axis]?.[0] ?? 0),
    end: String(mask?.[axis]?.[1] ?? size),
  }));
  return { axes, offset: String(offset) };
}

/** Why nothing is carried. */
class Stopped extends Error {}

/** What the engine answers; what it cannot answer is told as it is. */
async function asked<Name extends "chain" | "advice" | "expression">(
  op: Name,
  request: Requests[Name]["request"],
): Promise<Requests[Name]["answer"] | null> {
  const said = await ask(op, request, "carry");
  if (said?.ok === false) throw new Stopped(said.fault.message);
  return said?.value ?? null;
}

/** The views of a layout as few as they can be. */
async function viewsOf(source: Source): Promise<View[]> {
  if ("chain" in source) {
    const answer = await asked("chain", { text: source.chain, base: source.base ?? null });
    return answer?.result?.views ?? [];
  }
  const answer = await asked("advice", { source });
  return answer?.view == null ? [] : [answer.view];
}

/** The layout as one view; of a chain that needs more, as much of it as is one. */
async function asView(): Promise<{ view: View; short: boolean } | null> {
  const steps = stations.peek().map(({ source }) => source);
  const sources: Source[] = steps.length > 0 ? steps : [layout.peek()!.source];
  for (let at = sources.length - 1; at >= 0; at--) {
    const [view, ...more] = await viewsOf(sources[at]!);
    if (view !== undefined && more.length === 0) return { view, short: at < sources.length - 1 };
  }
  return null;
}

async function patch(to: Mode): Promise<Partial<Page> | string> {
  const { mode, axes, offset } = page.peek();
  const now = layout.peek()!;
  if (to === "view") {
    const found = await asView();
    if (found === null) return "No single view of this layout is known, so there are no strides to enter.";
    if (found.short) {
      const as = `the fields hold ${found.view.text}, which is as far as one view goes`;
      notice.value = `The whole chain is not one view: ${as}.`;
    }
    return fields(found.view);
  }
  if (to === "chain") {
    if (mode === "view") {
      const hand = handText(axes, offset);
      return "text" in hand ? { chain: hand.text, muted: [], step: null } : hand.fault;
    }
    const [view] = await viewsOf(now.source);
    if (view === undefined) return "No single view of this expression is known, so there are no operations to show.";
    return { chain: view.text, muted: [], step: null };
  }
  const source = result.peek()?.source ?? now.source;
  const answer = await asked("expression", { source });
  const { index_text: index, valid_text: valid } = answer?.expression ?? {};
  if (index == null || valid == null) return "The expression of this layout is too long for one line.";
  const shape = result.peek()?.shape ?? now.shape;
  const variables = shape.map((size, axis) => ({ name: `idx${axis}`, begin: "0", end: String(size) }));
  return { index, valid: valid === "True" ? "" : valid, variables, syntax: "python" };
}

/** All that a layout may be made from. */
const INPUT = [
  "chain",
  "muted",
  "base",
  "where",
  "values",
  "axes",
  "offset",
  "index",
  "valid",
  "variables",
  "syntax",
] as const;

/** From where the input of a mode was carried, and how it was then. */
let origin: { mode: Mode; to: Mode; before: Page; carried: Partial<Page> } | null = null;

/** Whether the input is as it was carried here: then what it came from is still the same layout. */
function untouched(now: Page, to: Mode): boolean {
  if (origin === null || origin.mode !== to || origin.to !== now.mode || Object.keys(origin.carried).length === 0) {
    return false;
  }
  const { before, carried } = origin;
  const same = (key: keyof Page, value: unknown): boolean => JSON.stringify(now[key]) === JSON.stringify(value);
  return INPUT.every((key) => same(key, key in carried ? carried[key] : before[key]));
}

/** Changes what the layout is made from; the layout stays. */
export async function carry(to: Mode): Promise<void> {
  const from = page.peek();
  if (to === from.mode) return;
  notice.value = null;
  if (untouched(from, to)) {
    origin = null;
    change({ ...AFRESH, mode: to }, true);
    return;
  }
  let carried: Partial<Page> = {};
  if (current.peek() && layout.peek() !== null) {
    const found = await patch(to).catch((error: unknown) => {
      if (error instanceof Stopped) return sentence(error.message);
      throw error;
    });
    if (page.peek() !== from) return;
    if (typeof found === "string") notice.value = `${found} What was entered there before is shown.`;
    else carried = found;
  }
  origin = { mode: from.mode, to, before: from, carried };
  // The selected element is of the tensor that was shown, and that may have been another one.
  const at = from.step === null ? from.at : [];
  change({ ...carried, ...AFRESH, at, mode: to }, true);
}
