/** What a newcomer may start from: each shows one thing, and says in a sentence what to look at. */
import { signal } from "@preact/signals-core";

export interface Preset {
  name: string;
  chain: string;
  text: string;
  /** The element to look at: one that shows what the words say, and is not masked. */
  at: number[];
}

export const FIRST = "(3, 2).permute(1, 0).reshape(3, 2)";

/** The examples, once they have come: `public/presets.json`. */
export const presets = signal<readonly Preset[]>([]);

/** Fetches the examples. The page works without them. */
export async function fetchPresets(): Promise<void> {
  const response = await fetch(new URL("presets.json", document.baseURI));
  if (response.ok) presets.value = (await response.json()) as Preset[];
}
