/** Whether someone is in the middle of typing: then what is wrong may only be not finished yet. */
import { computed, signal } from "@preact/signals-core";
import { isMistake } from "./faults";
import { trouble } from "./layout";

/** A mistake is told of when nothing has been typed for so long. */
const PAUSE = 1000;

/** Something was typed a moment ago. */
const busy = signal(false);
/** The field that has the focus, by the name of its text; null for none. */
export const editing = signal<string | null>(null);

/** Why a number was not changed, and in which chain. */
export const refusal = signal<{ message: string; chain: string } | null>(null);

let timer = 0;

/** The text that came as a whole, and was not typed letter by letter. */
export const pasted = signal<string | null>(null);

export function typed(text = "", before = " "): void {
  if (text === before) return;
  clearTimeout(timer);
  busy.value = Math.abs(text.length - before.length) < 2;
  pasted.value = busy.value ? null : text;
  timer = window.setTimeout(() => (busy.value = false), PAUSE);
}

/** Whoever leaves the field, or takes a text as a whole, has finished. */
export function finished(): void {
  clearTimeout(timer);
  busy.value = false;
}

/** Nothing is said of what is no more than the state of what is being typed. */
export const quiet = computed(() => {
  const fault = trouble.value?.fault;
  if (fault === undefined) return false;
  return busy.value || (fault.unfinished === true && editing.value !== null);
});

/** What is wrong is no mistake, or not yet. */
export const calm = computed(() => quiet.value || (trouble.value !== null && !isMistake(trouble.value.fault)));
