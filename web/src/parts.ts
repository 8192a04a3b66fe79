/** Parts of the page that are fetched later. Of one that does not come the page says so, until it is there. */
import { batch, signal } from "@preact/signals-core";

/** A part that did not come. */
interface Missing {
  /** What it does, as what follows "the part of the page that". */
  does: string;
  /** Why it did not come, where that is known and short. */
  why: string;
  /** A script, of which a browser may remember that it did not come. */
  script: boolean;
  again(): Promise<unknown>;
}

/** What did not come. */
export const missing = signal<readonly Missing[]>([]);

/** How often parts that were missing have been fetched after all: what could not be answered without them is asked anew. */
export const arrived = signal(0);

/** What was not fetched, and why, where the answer of the server says it. */
export class Refused extends Error {}

/** Fetches a part and hands it over; null where it does not come, of which the reader is told. */
export async function part<T>(
  does: string,
  fetch: () => Promise<T>,
  take: (part: T) => void = () => undefined,
  script = true,
): Promise<T | null> {
  let found: T | null = null;
  let why = "";
  try {
    found = await fetch();
  } catch (error) {
    if (error instanceof Refused) why = ` (${error.message})`;
  }
  batch(() => {
    const others = missing.peek().filter((each) => each.does !== does);
    if (found === null) {
      missing.value = [...others, { does, why, script, again: () => part(does, fetch, take, script) }];
    } else {
      take(found);
      if (others.length === missing.peek().length) return;
      missing.value = others;
      arrived.value++;
    }
  });
  return found;
}

/** What is said of what is missing, or of one part of that. */
export function missingText(one?: string): string {
  const parts = missing.value.filter(({ does }) => one === undefined || does === one);
  const what = parts.map(({ does, why }) => does + why).join("; what ");
  return parts.length > 1 ? `Parts of the page could not be loaded: what ${what}.` : `The part of the page that ${what} could not be loaded.`;
}

/** Asks for all that is missing again, and answers whether all of it has come. */
export async function again(): Promise<boolean> {
  const asked = missing.peek();
  await Promise.all(asked.map((each) => each.again()));
  const left = missing.peek();
  if (left.length === 0) return true;
  // What a browser remembers not to have come, or what a newer edition of the page calls otherwise, comes with the page as a
  // whole. It is loaded anew only where it can be reached: what is there is better than nothing. The link has all of its state.
  if (left.some(({ script }) => script)) {
    const response = await fetch(location.href, { cache: "no-store" }).catch(() => null);
    if (response?.ok === true) location.reload();
  }
  return false;
}
