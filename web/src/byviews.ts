/** The expression of a stack of views as it comes about, before anything is simplified: of each view the index, and of all the masks. */
import type { FreeSource, View } from "shapetracker/engine";

/** A longer text is no lesson, and more than the page reads. */
const LONGEST = 4000;

function isOne(size: number | string): boolean {
  return String(size) === "1";
}

/** What stands before an operator of higher precedence than a sum. */
function factor(text: string): string {
  return /^\w+$/.test(text) ? text : `(${text})`;
}

/** An offset and products, as text. */
function sum(offset: View["offset"], terms: readonly (readonly [string, View["strides"][number]])[]): string {
  let text = "";
  const add = (sign: boolean, term: string): void => {
    text += text === "" ? (sign ? `-${term}` : term) : ` ${sign ? "-" : "+"} ${term}`;
  };
  for (const [index, stride] of terms) {
    const whole = String(stride);
    if (whole === "0" || index === "0") continue;
    const size = whole.replace("-", "");
    // A minus sign before it must be one of all of it.
    const alone = whole.startsWith("-") ? factor(index) : index;
    add(whole.startsWith("-"), size === "1" ? alone : `${factor(index)} * ${size}`);
  }
  const rest = String(offset);
  if (rest !== "0" || text === "") add(rest.startsWith("-"), rest.replace("-", ""));
  return text;
}

/**
 * The index and the condition of some views, the one next to memory first: the index of the last one is the variables, and that of
 * the view below a position `p` of it is `p // acc % size` along each axis, where `acc` is the product of the sizes after it.
 * Null where that is too long, since what a position is stands in it once for each axis.
 */
export function byViews(views: readonly View[]): FreeSource | null {
  const last = views.at(-1);
  if (last === undefined) return null;
  const variables = last.shape.map((size, axis) => ({ name: `idx${axis}`, begin: 0, end: size }));
  let index = variables.map(({ name, end }) => (isOne(end) ? "0" : name));
  const conditions: string[] = [];
  let position = "";
  for (const [above, view] of [...views].reverse().entries()) {
    if (above > 0) {
      let acc = 1n;
      const digits = [...view.shape].reverse().map((size, at) => {
        const each = acc;
        acc *= BigInt(size);
        if (isOne(size)) return "0";
        // Of the outermost axis nothing is left that could be more than its size.
        const isFirst = view.shape.slice(0, view.shape.length - 1 - at).every(isOne);
        if (isFirst && each === 1n) return position;
        const divided = each === 1n ? factor(position) : `${factor(position)} // ${each}`;
        return isFirst ? divided : `${divided} % ${size}`;
      });
      index = digits.reverse();
    }
    for (const [axis, [begin, end]] of (view.mask ?? []).entries()) {
      const size = view.shape[axis]!;
      const [low, high] = [String(begin) !== "0", String(end) !== String(size)];
      const entry = factor(index[axis]!);
      if (low) conditions.push(`${entry} >= ${begin}`);
      if (high) conditions.push(`${entry} < ${end}`);
    }
    position = sum(view.offset, index.map((entry, axis) => [entry, view.strides[axis]!] as const));
    if (position.length + conditions.join("").length > LONGEST) return null;
  }
  return { index: position, valid: conditions.join(" and ") || null, variables, syntax: "python" };
}
