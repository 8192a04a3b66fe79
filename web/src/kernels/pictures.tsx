/** The table of a warp, and shared memory as an instruction of it finds it. */
import { Fragment, h } from "preact";
import type { KernelAnswer, KernelPicture } from "shapetracker/engine";
import { plain, pretty } from "../numbers";
import { live } from "../panes/live";
import { after, change, isAfter, picture, pointed, selected, state } from "./model";

const BANKS = 32;

/** The name of the colour of a lane or a bank. */
export function hue(number: number): string {
  return `hue-${((number % BANKS) + BANKS) % BANKS}`;
}

/** Whether a mode inside the mode of threads, or of values, begins anew at a number, and how large that mode is. */
export function begins(number: number, sizes: readonly number[]): number {
  let [unit, deep] = [1, 0];
  for (const size of sizes.slice(0, -1)) {
    unit *= size;
    if (size > 1 && unit > 1 && number % unit === 0) deep += 1;
  }
  return number > 0 ? deep : 0;
}

/** The class of an edge between modes. */
export function edge(side: "row" | "column", deep: number): string {
  return deep > 0 ? `${side}-edge-${Math.min(deep, 2)}` : "";
}

function cellAt(shown: KernelPicture, thread: number, value: number): number | null {
  const [row, column] = [thread - Number(shown.first_thread), value - Number(shown.first_value)];
  if (row < 0 || row >= shown.rows || column < 0 || column >= shown.columns) return null;
  return row * shown.columns + column;
}

export const Table = live(() => {
  const shown = picture.value?.shown;
  if (shown == null) return null;
  const { color } = state.value;
  const now = pointed.value ?? selected.value;
  const [first, begin] = [Number(shown.first_thread), Number(shown.first_value)];
  const vector = Number(picture.value?.accesses[state.value.shown]?.vector ?? 1);
  const moving = (value: number): boolean => value >= Number(shown.value) && value < Number(shown.value) + vector;
  const key = (event: KeyboardEvent): void => {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const from = selected.value ?? { thread: first, value: begin };
    const thread = Math.min(Math.max(from.thread + move[0], first), first + shown.rows - 1);
    const value = Math.min(Math.max(from.value + move[1], begin), begin + shown.columns - 1);
    selected.value = { thread, value };
    pointed.value = null;
  };
  const rows = Array.from({ length: shown.rows }, (_, row) => first + row);
  const columns = Array.from({ length: shown.columns }, (_, column) => begin + column);
  const left = Number(shown.values) - shown.columns;
  return (
    <section class="pane" aria-labelledby="table-title">
      <div class="pane-head">
        <h2 id="table-title">Threads and values</h2>
        <div class="switch" role="group" aria-label="What colours say">
          {(["thread", "bank"] as const).map((each) => (
            <button type="button" aria-pressed={color === each} onClick={() => change({ color: each })}>
              {each === "thread" ? "Threads" : "Banks"}
            </button>
          ))}
        </div>
      </div>
      <p class="help">
        Warp {plain(shown.warp)}: a row is a thread, a column one of its values, and the number is the address. The
        instruction that is shown below moves the {vector === 1 ? "column" : `${vector} columns`} in the frame.
        {left > 0 && ` ${pretty(String(left))} more values are not drawn.`}
      </p>
      <div class="scroller" tabIndex={0} role="group" aria-label="Threads and values; arrow keys choose" onKeyDown={key}>
        <table class="threads" onMouseLeave={() => (pointed.value = null)}>
          <thead>
            <tr>
              <th scope="col">
                <span class="spoken">Thread</span>
              </th>
              {columns.map((value) => (
                <th scope="col" class={`${edge("column", begins(value, shown.value_sizes.map(Number)))} ${moving(value) ? "moving" : ""}`}>
                  v{value}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((thread) => (
              <tr class={edge("row", begins(thread, shown.thread_sizes.map(Number)))}>
                <th scope="row">t{thread}</th>
                {columns.map((value) => {
                  const cell = cellAt(shown, thread, value) ?? 0;
                  const is = now !== null && now.thread === thread && now.value === value;
                  return (
                    <td
                      class={[
                        hue(color === "thread" ? thread : (shown.banks[cell] ?? 0)),
                        edge("column", begins(value, shown.value_sizes.map(Number))),
                        moving(value) ? "moving" : "",
                        is ? "now" : "",
                      ].join(" ")}
                      onMouseEnter={() => (pointed.value = { thread, value })}
                      onClick={() => {
                        selected.value = { thread, value };
                        change({ value: value - (value % vector) });
                      }}
                    >
                      {plain(Number(shown.addresses[cell]))}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="element" role="status">
        {now === null || cellAt(shown, now.thread, now.value) === null
          ? "Point at a cell, or choose one with the arrow keys."
          : said(shown, now.thread, now.value)}
      </p>
    </section>
  );
});

/** One element in words. */
function said(shown: KernelPicture, thread: number, value: number): string {
  const cell = cellAt(shown, thread, value) ?? 0;
  const [address, word] = [shown.addresses[cell], shown.words[cell]].map((number) => plain(Number(number)));
  return `Thread ${thread}, value ${value}: address ${address}, in word ${word} of 4 bytes, bank ${shown.banks[cell]}.`;
}

/** A word of shared memory with who accesses it. */
interface Accessed {
  threads: number[];
  phase: number;
}

export const Memory = live(() => {
  const before = picture.value;
  const then = after.value?.of === before ? after.value : null;
  const known = then !== null && isAfter.value ? then.answer : before;
  const shown = known?.shown;
  if (known == null || shown == null) return null;
  const words = new Map<number, Accessed>();
  const degrees = Array.from({ length: BANKS }, () => 0);
  for (const [phase, { words: accessed }] of shown.phases.entries()) {
    const here = Array.from({ length: BANKS }, () => 0);
    for (const { word, bank, threads } of accessed) {
      here[bank] = (here[bank] ?? 0) + 1;
      const before = words.get(Number(word));
      words.set(Number(word), { threads: [...(before?.threads ?? []), ...threads.map(Number)], phase: before?.phase ?? phase });
    }
    here.forEach((count, bank) => (degrees[bank] = Math.max(degrees[bank] ?? 0, count)));
  }
  const lines = [...new Set([...words.keys()].map((word) => Math.floor(word / BANKS)))].sort((a, b) => a - b);
  const most = 64;
  const now = pointed.value ?? selected.value;
  const at = now === null ? null : cellAt(shown, now.thread, now.value);
  const word = at === null ? null : Number(shown.words[at]);
  const worst = Math.max(...degrees, 0);
  const vector = Number(known.accesses[state.value.shown]?.vector ?? 1);
  const step = (patch: { warp?: number; value?: number }): void => change(patch);
  return (
    <section class="pane" aria-labelledby="memory-title">
      <div class="pane-head">
        <h2 id="memory-title">Shared memory</h2>
        {then !== null && (
          <div class="switch" role="group" aria-label="Before and after the swizzle">
            {[false, true].map((each) => (
              <button type="button" aria-pressed={isAfter.value === each} onClick={() => (isAfter.value = each)}>
                {each ? `After ${before?.swizzle?.text ?? ""}` : "Before"}
              </button>
            ))}
          </div>
        )}
        <Stepper name="warp" at={Number(shown.warp)} end={Number(shown.warps)} by={1} go={(warp) => step({ warp })} />
        <Stepper name="value" at={Number(shown.value)} end={Number(shown.values)} by={vector} go={(value) => step({ value })} />
      </div>
      <p class={worst > 1 ? "wrong" : "right"} role="status">
        {sentence(shown, degrees)}
      </p>
      <div class="scroller" tabIndex={0} role="group" aria-label="Shared memory in banks">
        <table class="banks">
          <thead>
            <tr>
              <th scope="col">bank</th>
              {degrees.map((count, bank) => (
                <th scope="col" class={count > 1 ? "conflict" : ""} title={`bank ${bank}: ${count} different words at once`}>
                  {bank}
                </th>
              ))}
            </tr>
            <tr>
              <th scope="row">words</th>
              {degrees.map((count) => (
                <td class={count > 1 ? "conflict" : "quiet"}>{count === 0 ? "" : count}</td>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.slice(0, most).map((line, place) => (
              <Fragment>
                {place > 0 && line > (lines[place - 1] ?? 0) + 1 && (
                  <tr class="gap">
                    <td colSpan={BANKS + 1} />
                  </tr>
                )}
                <tr>
                  <th scope="row" title="the first byte of the line">
                    {plain(line * BANKS * 4)}
                  </th>
                  {degrees.map((_, bank) => {
                    const accessed = words.get(line * BANKS + bank);
                    if (accessed === undefined) return <td class="empty" />;
                    const [first = 0] = accessed.threads;
                    const many = accessed.threads.length;
                    const who = accessed.threads.map((thread) => `t${thread}`).join(", ");
                    return (
                      <td
                        class={`${hue(first)} ${word === line * BANKS + bank ? "now" : ""}`}
                        title={`word ${line * BANKS + bank}: ${who}${shown.phases.length > 1 ? `, phase ${accessed.phase}` : ""}`}
                      >
                        {many === 1 ? `t${first}` : `${many}×`}
                      </td>
                    );
                  })}
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {lines.length > most && <p class="help">{pretty(String(lines.length - most))} more lines are not drawn.</p>}
      <p class="help">
        Lines of 128 bytes, each beginning at the byte on its left; a column is a bank, a cell a word of 4 bytes with the
        thread that accesses it. Threads that access the same word are served together.
        {shown.phases.length > 1 &&
          ` Instructions of more than 4 bytes a thread are served in ${shown.phases.length} phases, one after
          the other: only words of one phase conflict.`}
      </p>
    </section>
  );
});

function sentence(shown: KernelPicture, degrees: readonly number[]): string {
  const lanes = shown.phases.reduce((lanes, phase) => lanes + phase.lanes.length, 0);
  const worst = Math.max(...degrees, 0);
  const about = `Warp ${shown.warp}, value ${shown.value}: ${lanes} ${lanes === 1 ? "lane" : "lanes"}`;
  if (worst <= 1) return `${about}, no bank conflict.`;
  const banks = degrees.filter((count) => count === worst).length;
  const which = banks === 1 ? `bank ${degrees.indexOf(worst)}` : `each of ${banks} banks`;
  return `${about}, a ${worst}-way bank conflict: ${worst} words of ${which} at once.`;
}

interface Steps {
  name: string;
  at: number;
  end: number;
  by: number;
  go: (to: number) => void;
}

function Stepper({ name, at, end, by, go }: Steps) {
  return (
    <div class="stepper" role="group" aria-label={`Which ${name}`}>
      <button type="button" disabled={at < by} aria-label={`${name} before`} onClick={() => go(at - by)}>
        −
      </button>
      <span>
        {name} {at}
      </span>
      <button type="button" disabled={at + by >= end} aria-label={`next ${name}`} onClick={() => go(at + by)}>
        +
      </button>
    </div>
  );
}

type Counts = KernelAnswer["accesses"][number]["banks"]["counts"];

function plural(count: Counts[number][number], noun: string): string {
  return `${pretty(String(count))} ${noun}${Number(count) === 1 ? "" : "s"}`;
}

/** The bank conflicts of all instructions in words. */
export function conflicts(counts: Counts): string {
  const degree = (cost: Counts[number][0]): string => (Number(cost) > 1 ? `${cost}-way conflict` : "no conflict");
  return counts.map(([cost, many]) => `${degree(cost)} in ${plural(many, "instruction")}`).join(", ");
}

/** The sectors of all instructions in words. */
export function sectors(counts: Counts): string {
  return counts.map(([cost, many]) => `${plural(cost, "sector")} for ${plural(many, "instruction")}`).join(", ");
}
