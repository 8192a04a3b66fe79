/** The answers of the exercises, kept in the browser over a reload: what was typed last, and which were right. */
import { signal } from "@preact/signals-core";

const KEY = "shapetracker course";

interface Kept {
  answers: Record<string, unknown>;
  right: string[];
}

/** What is kept; nothing of it where the browser keeps nothing, or something else lies there. */
function read(): Kept {
  try {
    const { answers, right } = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Kept>;
    return {
      answers: typeof answers === "object" && answers !== null ? answers : {},
      right: Array.isArray(right) ? right.filter((name) => typeof name === "string") : [],
    };
  } catch {
    return { answers: {}, right: [] };
  }
}

const kept = signal(read());

function write(next: Kept): void {
  kept.value = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A browser that keeps nothing forgets the answers with the page.
  }
}

/** The exercises whose answer was right. */
export const rightOnes = (): readonly string[] => kept.value.right;

/** The answer that was typed last, if it is one of its kind. */
export function keptAnswer<T>(name: string, is: (answer: unknown) => answer is T): T | null {
  const answer = kept.peek().answers[name];
  return is(answer) ? answer : null;
}

export function keepAnswer(name: string, answer: unknown): void {
  const { answers, right } = kept.peek();
  write({ answers: { ...answers, [name]: answer }, right });
}

/** Keeps whether an exercise was done: once it is, a wrong try does not undo it. */
export function keepRight(name: string): void {
  const { answers, right } = kept.peek();
  if (!right.includes(name)) write({ answers, right: [...right, name] });
}

/** Forgets all of it. */
export function forget(): void {
  write({ answers: {}, right: [] });
}
