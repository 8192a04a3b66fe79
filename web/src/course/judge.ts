/** Whether an answer to an exercise is right. The engine compares; what is wrong is said with the first difference. */
import { ask } from "../ask";
import type { ChainAnswer, Fault, Integer, Source } from "shapetracker/engine";
import { isMistake } from "../faults";
import { bracket, plain, tuple } from "../numbers";

export interface Judgement {
  /** Null where it could not be judged, which is no fault of the answer. */
  right: boolean | null;
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

const SILENT: Judgement = { right: null, says: "The engine gave no answer. Try again." };

/** What is said of an answer that the engine does not understand, or cannot judge. */
function refused(fault: Fault): Judgement {
  return isMistake(fault)
    ? { right: false, says: `Not yet a layout: ${fault.message}.` }
    : { right: null, says: `This could not be judged: ${fault.message.replace(/^./, (letter) => letter.toLowerCase())}` };
}

async function equal(a: Source, b: Source): Promise<boolean> {
  const said = await ask("compare", { a, b, width: 4, line: 64 });
  return said?.ok === true && said.value.equal === true;
}

/** What is wrong with the text of an answer, if anything. */
async function unreadable(answer: Source): Promise<Judgement | null> {
  const said = "chain" in answer ? await ask("chain", { text: answer.chain }) : await ask("free", answer);
  if (said === null) return SILENT;
  if (!said.ok) return refused(said.fault);
  if (!("steps" in said.value)) return null;
  if (said.value.error !== null) return refused(said.value.error);
  return said.value.result === null ? { right: false, says: "Not yet a layout: there is no tensor yet." } : null;
}

export async function judge(answer: Source, { goal, hints, praise }: Goal): Promise<Judgement> {
  const problem = await unreadable(answer);
  if (problem !== null) return problem;
  const said = await ask("compare", { a: answer, b: goal, width: 4, line: 64 });
  if (said === null) return SILENT;
  if (!said.ok) return refused(said.fault);
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

/** The elements of a tensor in the order in which a reshape takes them, as a tensor of one axis. */
function inOrder(chain: string, numel: Integer): Source {
  return { chain: `${chain}.reshape(${numel})` };
}

/**
 * The exercise of the fourth lesson: two axes, a reshape of a tensor, and no second view. A reshape is whatever has the same
 * elements in the same order, however it is written.
 */
export async function judgeJoined(text: string, begin: string): Promise<Judgement> {
  const [said, given] = await Promise.all([ask("chain", { text }), ask("chain", { text: begin })]);
  if (said === null || given === null) return SILENT;
  if (!said.ok || !given.ok) return refused(said.ok ? (given as { fault: Fault }).fault : said.fault);
  const { error, result, canonical, steps }: ChainAnswer = said.value;
  if (error !== null) return refused(error);
  if (result === null || given.value.result === null) {
    return { right: false, says: "Not yet a layout: there is no tensor yet." };
  }
  const copy = steps.find(({ verdict }) => verdict === "copied");
  if (copy !== undefined) {
    return { right: false, says: `\`.${copy.written}\` copies. Which reshape of \`${begin}\` is one view without a copy?` };
  }
  const [mine, asked] = [inOrder(canonical, result.numel), inOrder(begin, given.value.result.numel)];
  const compared = await ask("compare", { a: mine, b: asked, width: 4, line: 64 });
  if (compared === null) return SILENT;
  if (!compared.ok) return refused(compared.fault);
  if (compared.value.equal !== true) {
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
    "2 and 3 are neighbours with strides 12 and 4, and 12 is 3\u00b74: one step of the outer axis goes exactly " +
    "as far as all steps of the inner one together. So they are one axis of 6 with stride 4, and 4 stays as it is.";
  return { right: true, says };
}
