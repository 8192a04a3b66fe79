/** A base that is spread over devices, and what becomes of the operations. */
import { computed, effect, signal } from "@preact/signals-core";
import { ask } from "./ask";
import type { DevicesAnswer, Fault } from "shapetracker/engine";
import { blocks, current, start, trouble } from "./layout";
import { tuple } from "./numbers";
import { page } from "./page";
import { arrived } from "./parts";

/** The base with its devices as the text that is read: `(4, 6) @ dp=2 : S(1)`. Null where there are none. */
export const spread = computed((): string | null => {
  const { mesh, mode } = page.value;
  const base = start.value;
  if (mode !== "chain" || mesh.trim() === "" || base === null || base.shape === null || base.kind === "views") return null;
  return `${tuple(base.shape)} @ ${mesh.trim()}`;
});

/** The operations that are done, without the base. */
const operations = computed(() =>
  blocks.value
    .filter(({ step, muted }) => step !== null && !muted)
    .map(({ operation }) => operation.text)
    .join("."),
);

interface Known {
  spread: string;
  operations: string;
  answer: DevicesAnswer | null;
  fault: Fault | null;
}

const known = signal<Known | null>(null);

/** What is known of the devices now. */
export const devices = computed((): Known | null => {
  const now = known.value;
  return now !== null && now.spread === spread.value && now.operations === operations.value ? now : null;
});

/** Keeps what is known of the devices that of the page from now on. */
export function followDevices(): void {
  effect(() => {
    const [text, chain] = [spread.value, operations.value];
    if (text === null || !current.value || trouble.value !== null) return;
    void arrived.value;
    if (devices.peek() !== null && devices.peek()?.fault?.kind !== "fetch") return;
    void ask("devices", { text, chain }, "devices of the base").then((said) => {
      if (said === null) return;
      const answer = said.ok ? said.value : null;
      known.value = { spread: text, operations: chain, answer, fault: said.ok ? null : said.fault };
    });
  });
}
