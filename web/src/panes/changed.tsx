/** Code as a change of the code that was typed: the calls that are new in it are marked. */
import { Fragment, h } from "preact";

/** Texts of more calls are not compared. */
const MOST_CALLS = 200;

/** The calls of code with the dots in front of them: what stands in brackets is a part of its call. */
function calls(text: string): string[] {
  const list = [""];
  let depth = 0;
  for (const letter of text) {
    if ("([{".includes(letter)) depth++;
    if (")]}".includes(letter)) depth--;
    const ends = depth === 0 && "\n;=".includes(letter);
    if (ends || (depth === 0 && letter === ".")) list.push("");
    if (!ends) list[list.length - 1] += letter;
  }
  return list;
}

/** The same call, however it is spaced and whether its arguments are a tuple. */
function plain(call: string): string {
  return call.replace(/\s/g, "").replace(/\(\((.*)\)\)/, "($1)");
}

/** Which calls of a text are not among those of another one, in the longest order that both have. */
export function news(from: string, to: string): { text: string; isNew: boolean }[] {
  const [a, b] = [calls(from).map(plain), calls(to)];
  if (Math.max(a.length, b.length) > MOST_CALLS) return [{ text: to, isNew: false }];
  const same = (i: number, j: number): boolean => a[i] === plain(b[j]!);
  // From the end: how many calls both have from here on.
  const common = Array.from({ length: a.length + 1 }, () => new Uint8Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = same(i, j) ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  let i = 0;
  return b.map((text, j) => {
    while (i < a.length && !same(i, j) && common[i + 1]![j]! === common[i]![j]!) i++;
    const kept = i < a.length && same(i, j);
    if (kept) i++;
    // The array is whatever it is called there.
    return { text, isNew: !kept && j > 0 };
  });
}

export function Changed({ from, to }: { from: string; to: string }) {
  const parts = news(from, to);
  // Of other code nothing is a change.
  if (parts.filter(({ isNew }) => !isNew).length < 2) return <>{to}</>;
  return <>{parts.map(({ text, isNew }) => (isNew ? <ins>{text}</ins> : text))}</>;
}
