/** What a newcomer may start from: each shows one thing, and says in a sentence what to look at. */
import { signal } from "@preact/signals-core";
import { part, Refused } from "./parts";

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

async function fetched(): Promise<readonly Preset[]> {
  const response = await fetch(new URL("presets.json", document.baseURI));
  if (!response.ok) throw new Refused(`${response.status} ${response.statusText}`.trim());
  return (await response.json()) as Preset[];
}

/** Fetches the examples. The page works without them. */
export function fetchPresets(): void {
  void part("has the examples", fetched, (found) => (presets.value = found), false);
}
