/** Whether an answer to an exercise is right. The engine compares; what is wrong is said with the first difference. */
import { ask } from "../ask";
import type { ChainAnswer, Source } from "../engine";
import { bracket, plain, tuple } from "../numbers";

export interface Judgement {
  right: boolean;
  /** A whole sentence, in which code stands between backticks. */
  says: string;
}

/** A wrong answer that others have given, and what helps. */
export interface Hint {
  like: Source;
  says: string;
}

/** An exercise that asks for a layout. */
export interface Goal {
  goal: Source;
  hints: readonly Hint[];
  /** What is said of the right answer. */
  praise: string;
}

/** The part of the engine that compares is fetched while an exercise is read. */
export function prepare(): void {
  const one = { chain: "(1)" };
  void ask("compare", { a: one, b: one, width: 4, line: 64 });
}

const SILENT: Judgement = { right: false, says: "The engine gave no answer. Try again." };

async function equal(a: Source, b: Source): Promise<boolean> {
  const said = await ask("compare", { a, b, width: 4, line: 64 });
  return said?.ok === true && said.value.equal === true;
}

/** What is wrong with the text of an answer, if anything. */
async function unreadable(answer: Source): Promise<string | null> {
  const said = "chain" in answer ? await ask("chain", { text: answer.chain }) : await ask("free", answer);
  if (said === null) return SILENT.says;
  if (!said.ok) return said.fault.message;
  if (!("steps" in said.value)) return null;
  return said.value.error?.message ?? (said.value.result === null ? "there is no tensor yet" : null);
}

export async function judge(answer: Source, { goal, hints, praise }: Goal): Promise<Judgement> {
  const problem = await unreadable(answer);
  if (problem !== null) return { right: false, says: `Not yet a layout: ${problem}.` };
  const said = await ask("compare", { a: answer, b: goal, width: 4, line: 64 });
  if (said === null) return SILENT;
  if (!said.ok) return { right: false, says: said.fault.message };
  const { a, b, equal: same, difference } = said.value;
  if (same === true) return { right: true, says: praise };
  for (const { like, says } of hints) {
    if (await equal(answer, like)) return { right: false, says };
  }
  if (a.shape.join() !== b.shape.join()) {
    const [yours, asked] = [tuple(a.shape), tuple(b.shape)];
    return { right: false, says: `Your tensor has the shape \`${yours}\`; asked for is \`${asked}\`.` };
  }
  if (difference === null) return SILENT;
  const reads = (address: Parameters<typeof plain>[0] | null): string =>
    address === null ? "has no address" : `reads address ${plain(address)}`;
  const at = bracket(difference.index);
  const wanted = difference.b === null ? "it should have none" : `it should read ${plain(difference.b)}`;
  return { right: false, says: `Close: the element ${at} of yours ${reads(difference.a)}; ${wanted}.` };
}

/** The exercise of the fourth lesson: two axes, from the same tensor, and no second view. */
export async function judgeJoined(text: string, begin: string): Promise<Judgement> {
  const said = await ask("chain", { text });
  if (said === null) return SILENT;
  if (!said.ok) return { right: false, says: said.fault.message };
  const answer: ChainAnswer = said.value;
  if (answer.error !== null) return { right: false, says: `Not yet a layout: ${answer.error.message}.` };
  const { result, steps, start } = answer;
  const given = steps.slice(0, -1).map(({ text }) => text);
  const last = steps.at(-1);
  if (result === null || last === undefined || [start.text, ...given].join(".") !== begin || last.name !== "reshape") {
    return { right: false, says: `Leave \`${begin}\` as it is, and change only the numbers of the last reshape.` };
  }
  if (result.shape.length !== 2) {
    return { right: false, says: `\`${tuple(result.shape)}\` is not two axes: give reshape two numbers.` };
  }
  if (result.views.length > 1) {
    const why = result.reason === null ? "" : ` The engine says: ${result.reason.sentence}.`;
    const says = `\`${tuple(result.shape)}\` needs a second view.${why} Which two neighbours can be one axis?`;
    return { right: false, says };
  }
  const says =
    "Right: 2 and 3 are neighbours with strides 12 and 4, and 12 is 3\u00b74: one step of the outer axis goes exactly " +
    "as far as all steps of the inner one together. So they are one axis of 6 with stride 4, and 4 stays as it is.";
  return { right: true, says };
}
