/** Whose mistake a fault is. */
import type { Fault } from "shapetracker/engine";

/** Faults that no one made who typed: a part that did not come, work that took too long, an engine that failed; and questions. */
const NO_MISTAKE: ReadonlySet<string> = new Set(["fetch", "time", "trap", "request", "question"]);

export function isMistake({ kind }: Fault): boolean {
  return !NO_MISTAKE.has(kind);
}
