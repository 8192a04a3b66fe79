/** Code as a change of the code that was typed: what is new in it is marked. */
import { Fragment, h } from "preact";

/** Longer texts are not compared. */
const MOST_WORDS = 400;

function words(text: string): string[] {
  return text.match(/\w+|\s+|[^\w\s]/g) ?? [];
}

/** Which words of a text are not among those of another one, in the longest order that both have. */
export function news(from: string, to: string): { text: string; isNew: boolean }[] {
  const [a, b] = [words(from).filter((word) => word.trim() !== ""), words(to)];
  const said = b.flatMap((word, at) => (word.trim() === "" ? [] : [at]));
  if (a.length * said.length > MOST_WORDS ** 2) return [{ text: to, isNew: false }];
  // From the end: how many words both have from here on.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(said.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = said.length - 1; j >= 0; j--) {
      const same = a[i] === b[said[j]!];
      common[i]![j] = same ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const kept = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < said.length; ) {
    if (a[i] === b[said[j]!]) {
      kept.add(said[j]!);
      i++;
      j++;
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) i++;
    else j++;
  }
  const parts: { text: string; isNew: boolean }[] = [];
  for (const [at, word] of b.entries()) {
    const isNew = word.trim() === "" ? (parts.at(-1)?.isNew ?? false) : !kept.has(at);
    const last = parts.at(-1);
    if (last?.isNew === isNew) last.text += word;
    else parts.push({ text: word, isNew });
  }
  return parts;
}

export function Changed({ from, to }: { from: string; to: string }) {
  const parts = news(from, to);
  // Of other code nothing is a change.
  const kept = parts.reduce((all, { text, isNew }) => all + (isNew ? 0 : text.length), 0);
  if (2 * kept < to.length) return <>{to}</>;
  return <>{parts.map(({ text, isNew }) => (isNew ? <ins>{text}</ins> : text))}</>;
}
