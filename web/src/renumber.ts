/** A number of a block that is changed, and what follows from it for the other blocks. */
import { ask } from "./ask";
import { pieces, rewrite, type Piece } from "./edit";
import type { Fault, Integer } from "shapetracker/engine";
import { blocks, chainText, start } from "./layout";
import { chain } from "./page";
import { refusal } from "./typing";

/** Which number of a block was changed: of the base where there is no block. */
interface Place {
  block: number | null;
  /** Among the numbers of its text. */
  number: number;
}

const NUMBER = /[+-]?\d+/g;

function numbersOf(text: string): number[] {
  return (text.match(NUMBER) ?? []).map(Number);
}

function withNumbers(text: string, numbers: readonly number[]): string {
  let at = 0;
  return text.replace(NUMBER, (old) => String(numbers[at++] ?? old));
}

/** An operation that could not be done, with numbers that can be; null where no change of one number helps. */
function adapted(piece: Piece, shape: readonly number[], kept: number | null): string | null {
  const numbers = numbersOf(piece.text);
  const numel = shape.reduce((all, size) => all * size, 1);
  if (piece.name === "reshape") {
    if (!numbers.every((size) => size > 0)) return null;
    const product = numbers.reduce((all, size) => all * size, 1);
    // The last axis gives way first, as rows stay rows then.
    for (let axis = numbers.length - 1; axis >= 0; axis--) {
      const others = product / numbers[axis]!;
      if (axis === kept || numel % others !== 0 || numel === 0) continue;
      return withNumbers(piece.text, numbers.with(axis, numel / others));
    }
  } else if (piece.name === "permute" && kept !== null) {
    // What is there twice changes places with what is there no more.
    const missing = shape.findIndex((_, axis) => !numbers.includes(axis));
    const twice = numbers.findIndex((axis, at) => at !== kept && axis === numbers[kept]);
    if (missing >= 0 && twice >= 0) return withNumbers(piece.text, numbers.with(twice, missing));
  } else if (piece.name === "expand" && numbers.length === shape.length) {
    const sizes = numbers.map((size, axis) => (shape[axis] === 1 ? size : shape[axis]!));
    if (kept === null || sizes[kept] === numbers[kept]) return withNumbers(piece.text, sizes);
  } else if (piece.name === "shrink" && numbers.length === 2 * shape.length && kept === null) {
    return withNumbers(
      piece.text,
      numbers.map((bound, at) => Math.min(bound, shape[at >> 1]!)),
    );
  }
  return null;
}

interface Fitted {
  start: string;
  list: Piece[];
}

/** The chain with all operations adapted to what comes before them; the first fault that cannot be helped. */
async function fit(startText: string, given: readonly Piece[], place: Place): Promise<Fitted | Fault | null> {
  const list = given.map((piece) => ({ ...piece }));
  const heard = list.flatMap((piece, at) => (piece.muted ? [] : [at]));
  for (let tries = 0; tries <= list.length; tries++) {
    const text = chainText(
      startText,
      heard.map((at) => list[at]!),
    );
    const said = await ask("chain", { text }, "fit");
    if (said === null) return null;
    if (!said.ok) return said.fault;
    const { error, result, start } = said.value;
    if (error === null) return { start: startText, list };
    const at = error.step === null ? undefined : heard[error.step];
    const shape: readonly Integer[] | undefined | null = result?.shape ?? start.shape;
    if (at === undefined || shape == null) return error;
    const piece = list[at]!;
    const next = adapted(piece, shape.map(Number), at === place.block ? place.number : null);
    if (next === null || next === piece.text) return error;
    piece.text = next;
  }
  return null;
}

/** How far a number is moved on until there is one that can be. */
const FAR = 64;

let turn = 0;

/** The chain as it was before a number was changed again and again, so that what followed goes back with the number. */
let begun: { place: string; start: string; list: Piece[]; wrote: string } | null = null;

/** What a change of a number begins with. */
function basis(place: Place): { start: string; list: Piece[] } {
  const [now, list] = [start.peek()?.text ?? "", pieces()];
  const key = JSON.stringify([place, list.map(({ muted }) => muted)]);
  if (begun?.place !== key || begun.wrote !== chain.peek()) begun = { place: key, start: now, list, wrote: "" };
  return begun;
}

/**
 * Changes a number of a block or of the base; the operations after it follow. Where it was stepped, a number that cannot
 * be is passed over, and where none can be, the chain stays as it is and it is said why. Answers with what the number
 * became, null where it stays as it was.
 */
export async function renumber(place: Place, value: string, stepped: boolean): Promise<string | null> {
  const mine = ++turn;
  const before = chain.peek();
  const { start: startText, list } = basis(place);
  const done = (fitted: Fitted): void => {
    rewrite(fitted.start, fitted.list, edit);
    if (begun !== null) begun.wrote = chain.peek();
  };
  const old = place.block === null ? startText : list[place.block]!.text;
  const edit = `number ${place.number} in ${place.block === null ? "the base" : `block ${place.block}`}`;
  const put = (number: string): [string, Piece[]] => {
    let at = 0;
    const text = old.replace(NUMBER, (was) => (at++ === place.number ? number : was));
    if (place.block === null) return [text, list];
    return [startText, list.with(place.block, { ...list[place.block]!, text })];
  };
  refusal.value = null;
  if (!stepped) {
    const [start, pieces] = put(value);
    const fitted = await fit(start, pieces, place);
    if (mine !== turn || chain.peek() !== before) return null;
    // What is typed stands as it is, even where it is wrong.
    done(fitted !== null && "list" in fitted ? fitted : { start, list: pieces });
    return value;
  }
  const shown = place.block === null ? start.peek()?.text : blocks.peek()[place.block]?.operation.text;
  const was = numbersOf(shown ?? old)[place.number] ?? 0;
  const by = Number(value) < was ? -1 : 1;
  let why: Fault | null = null;
  for (let number = Number(value), tries = 0; tries < FAR; number += by, tries++) {
    const fitted = await fit(...put(String(number)), place);
    if (mine !== turn || chain.peek() !== before || fitted === null) return null;
    if ("list" in fitted) {
      done(fitted);
      return String(number);
    }
    why ??= fitted;
    // Below nothing there is nothing to be found, and only sizes have gaps.
    const name = place.block === null ? "base" : list[place.block]!.name;
    if (number + by < 1 || name !== "reshape") break;
  }
  if (why !== null) refusal.value = { message: why.message, chain: before };
  return null;
}
