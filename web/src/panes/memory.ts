/** What memory is drawn from, for panes that are there before its own. */
import { computed, signal } from "@preact/signals-core";
import type { StripCanvas } from "../draw/strip";
import { theme, type Theme } from "../draw/theme";
import type { Integer } from "shapetracker/engine";
import { detail, pointed } from "../focus";
import { layout, type Layout } from "../layout";
import { page, type Camera, type Label } from "../page";

export interface StripView {
  layout: Layout;
  theme: Theme;
  wrapped: boolean;
  /** Addresses in a row of the wrapped strip; null for as many as fit well. */
  rowLength: number | null;
  camera: Camera | null;
  /** The address in focus. */
  focus: Integer | null;
  /** How cells, and so addresses, are written. */
  label: Label;
}

/** The first address and the end of what is shown: the buffer, and what lies before it. */
export function limits(layout: Layout): [bigint, bigint] {
  const [low, high] = (layout.addresses ?? [0, -1]).map(BigInt) as [bigint, bigint];
  const length = BigInt(layout.chain?.buffer_len ?? 0);
  // There is no number after the largest.
  const end = high < 2n ** 63n - 1n ? high + 1n : high;
  return [low < 0n ? low : 0n, end > length ? end : length];
}

/** The same as numbers, which are rounded where they are very large. */
export function bounds(layout: Layout): [number, number] {
  return limits(layout).map(Number) as [number, number];
}

/** Whether there are more addresses than can be told apart as numbers: then they are never drawn one by one. */
export function isVast(layout: Layout): boolean {
  const [begin, end] = limits(layout);
  return Math.max(Math.abs(Number(begin)), Number(end)) > Number.MAX_SAFE_INTEGER;
}

export const stripView = computed((): StripView | null => {
  const now = layout.value;
  const colors = theme.value;
  if (now === null || colors === null) return null;
  const known = detail.value?.layout === now ? detail.value : null;
  const over = pointed.value;
  const address = over !== null && "address" in over ? over.address : (known?.address ?? null);
  const { strip, rowLength, stripCamera, label } = page.value;
  return {
    layout: now,
    theme: colors,
    wrapped: strip === "wrapped" && !isVast(now),
    rowLength,
    camera: stripCamera,
    focus: address,
    label,
  };
});

/** The canvas that is on the page, for exports and measurements; another one comes with every fresh pane. */
export const canvases = signal<StripCanvas | null>(null);

export const stripCanvas = {
  get now(): StripCanvas | null {
    return canvases.peek();
  },
};
