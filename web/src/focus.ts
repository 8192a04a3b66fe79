/** The one element that all panes are about: the selected one, or the one that is pointed at. */
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type { Integer, TraceAnswer } from "shapetracker/engine";
import { current, layout, type Layout } from "./layout";
import { at, change } from "./page";

/** What the pointer is over: an element of the grid, or an address of the strip. */
export type Pointed = { index: number[] } | { address: Integer; keys?: true };

/** What is known of the element in focus. */
export interface Detail {
  layout: Layout;
  /** Null where nothing reads the address that is pointed at. */
  index: number[] | null;
  address: Integer | null;
  trace: TraceAnswer | null;
  /** The address is what is pointed at, not the element. */
  fromMemory: boolean;
}

/** All elements that read the address in focus. */
export interface Readers {
  layout: Layout;
  address: Integer;
  indices: number[][];
  complete: boolean;
  note: string | null;
}

/** More readers are not lit. */
const MOST_READERS = 500;

export const pointed = signal<Pointed | null>(null);
export const detail = signal<Detail | null>(null);
export const readers = signal<Readers | null>(null);

/** The readers of the address in focus; null until they are known. */
export const sharing = computed((): Readers | null => {
  const [known, read] = [detail.value, readers.value];
  const same = known !== null && read !== null && known.layout === layout.value && read.layout === known.layout;
  return same && String(read.address) === String(known.address) ? read : null;
});

/** The selected element, moved into the tensor where it would lie outside; null in an empty tensor. */
export const selected = computed((): number[] | null => {
  const shape = layout.value?.shape;
  if (shape === undefined || shape.includes(0)) return null;
  return shape.map((size, axis) => Math.min(at.value[axis] ?? 0, size - 1));
});

/** Whether an element of a tensor has this index: it may be that of a tensor that was there before. */
export function isIndex(index: readonly number[], shape: readonly number[]): boolean {
  return index.length === shape.length && index.every((at, axis) => at < (shape[axis] ?? 0));
}

/** How often someone has gone to an element: pictures follow. */
export const went = signal(0);

export function select(index: readonly number[]): void {
  change({ at: [...index] });
  went.value++;
}

let turn = 0;

export async function readersOf(layout: Layout, address: Integer, key = "readers"): Promise<Readers | null> {
  const said = await ask("readers", { source: layout.source, address, limit: MOST_READERS }, key);
  if (said === null) return null;
  if (!said.ok) return { layout, address, indices: [], complete: false, note: said.fault.message };
  const { indices, complete, note } = said.value;
  return { layout, address, indices: indices.map((index) => index.map(Number)), complete, note };
}

async function detailOf(layout: Layout, index: number[]): Promise<Detail | null> {
  const { source, free } = layout;
  if ("chain" in source) {
    const said = await ask("trace", { source, index }, "trace");
    // Without an answer there is nothing to say of the element, not even that it is masked.
    return said?.ok === true ? { layout, index, trace: said.value, address: said.value.address, fromMemory: false } : null;
  }
  const said = await ask("evaluate", { source, index }, "trace");
  if (said?.ok !== true || free === null) return null;
  const { index: root, valid } = free.simplified;
  const { values } = said.value;
  const address = Number(values[valid]) === 0 ? null : (values[root] ?? null);
  return { layout, index, trace: null, address, fromMemory: false };
}

async function answer(layout: Layout, focus: Pointed): Promise<void> {
  const mine = ++turn;
  const late = (): boolean => mine !== turn;
  if ("index" in focus) {
    const found = await detailOf(layout, focus.index);
    if (found === null || late()) return;
    const { address } = found;
    // Where no element was chosen, it is one that has an address.
    const low = layout.addresses?.[0];
    if (address === null && low !== undefined && at.peek().length === 0) {
      const index = (await readersOf(layout, low, "first"))?.indices[0];
      if (late()) return;
      if (index !== undefined) {
        change({ at: index });
        return;
      }
    }
    detail.value = found;
    const known = readers.peek();
    if (address !== null && known?.layout === layout && String(known.address) === String(address)) return;
    const reading = address === null ? null : await readersOf(layout, address);
    if (!late()) readers.value = reading;
    return;
  }
  const reading = await readersOf(layout, focus.address);
  if (reading === null || late()) return;
  readers.value = reading;
  const first = reading.indices[0];
  const found = first === undefined ? null : await detailOf(layout, first);
  if (late()) return;
  const nothing = { layout, index: null, trace: null };
  detail.value = { ...(found ?? nothing), address: focus.address, fromMemory: true };
}

/** Keeps the detail that of the element in focus from now on. */
export function followFocus(): void {
  effect(() => {
    const now = layout.value;
    const over = pointed.value;
    const inside = over !== null && now !== null && ("address" in over || isIndex(over.index, now.shape));
    const element = selected.value === null ? null : { index: selected.value };
    const focus = current.value ? (inside ? over : element) : null;
    untracked(() => {
      if (now === null || focus === null) {
        turn++;
        if (now?.shape.includes(0) === true) detail.value = readers.value = null;
        return;
      }
      void answer(now, focus);
    });
  });
}
