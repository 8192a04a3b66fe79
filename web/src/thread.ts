/** The element in focus on its way: its index in the base, after each operation, and the address that it reads. */
import { effect, signal, untracked } from "@preact/signals-core";
import { ask } from "./ask";
import type { Integer } from "shapetracker/engine";
import { detail, pointed } from "./focus";
import { layout, result, shown, stations, type Station } from "./layout";
import { change } from "./page";

export interface Thread {
  /** The stations that it goes through; it is of these and no others. */
  of: readonly Station[];
  /** Null where it is not there yet: what is padded has no index before. */
  indices: (number[] | null)[];
  address: Integer | null;
}

export const thread = signal<Thread | null>(null);

async function threadOf(of: readonly Station[], step: number, index: readonly number[], key: string) {
  const source = of.at(-1)?.source;
  if (source === undefined) return null;
  const said = await ask("thread", { source, step, index: [...index] }, key);
  if (said === null || !said.ok) return null;
  const { indices, address } = said.value;
  return { of, indices: indices.map((each) => each?.map(Number) ?? null), address };
}

/** Keeps the thread that of the element in focus from now on. */
export function followThread(): void {
  effect(() => {
    const [known, now, step] = [detail.value, layout.value, shown.value];
    const of = stations.value;
    const index = known?.layout === now ? (known?.index ?? null) : null;
    untracked(() => {
      if (result.peek() === null || index === null) {
        thread.value = null;
        return;
      }
      void threadOf(of, step, index, "thread").then((found) => {
        if (found !== null && stations.peek() === of) thread.value = found;
      });
    });
  });
}

/** Shows the tensor of a station, and in it the element of the thread or another one. */
export function visit(station: number, index: readonly number[] | null = null): void {
  const last = stations.peek().length - 1;
  const here = thread.peek()?.of === stations.peek() ? (thread.peek()?.indices[station] ?? null) : null;
  pointed.value = null;
  change({
    step: station === last ? null : station,
    at: [...(index ?? here ?? [])],
    ...(station === shown.peek() ? {} : { camera: null, places: null, color: "address" }),
  });
}

/** Points at an element of any station: all panes are about what it is in the tensor that is shown. */
export async function pointAt(station: number, index: number[] | null): Promise<void> {
  if (index === null) {
    pointed.value = null;
  } else if (station === shown.peek()) {
    pointed.value = { index };
  } else {
    const found = await threadOf(stations.peek(), station, index, "point");
    const here = found?.indices[shown.peek()] ?? null;
    if (found !== null && found.of === stations.peek()) pointed.value = here === null ? null : { index: here };
  }
}
