/** Changes of the chain that are made to its blocks. */
import type { Operation } from "shapetracker/engine";
import { blocks, chainText, start } from "./layout";
import { AFRESH, change } from "./page";

/** What is kept of a block when the chain is written anew. */
export interface Piece {
  name: string;
  text: string;
  muted: boolean;
}

export function pieces(): Piece[] {
  return blocks.peek().map(({ operation, muted }) => ({ name: operation.name, text: operation.text, muted }));
}

/** The chain with other operations, which are muted where they were. */
export function rewrite(startText: string, list: readonly Piece[], edit: string | true): void {
  const muted = list.flatMap((piece, at) => (piece.muted ? [at] : []));
  change({ chain: chainText(startText, list), muted, ...AFRESH }, edit);
}

export function move(from: number, to: number): void {
  const list = pieces();
  const [piece] = list.splice(from, 1);
  if (piece === undefined || from === to) return;
  list.splice(to, 0, piece);
  rewrite(start.peek()?.text ?? "", list, true);
}

export function remove(at: number): void {
  rewrite(
    start.peek()?.text ?? "",
    pieces().filter((_, each) => each !== at),
    true,
  );
}

export function add(operation: Pick<Operation, "name" | "text">): void {
  rewrite(start.peek()?.text ?? "", [...pieces(), { ...operation, muted: false }], true);
}
