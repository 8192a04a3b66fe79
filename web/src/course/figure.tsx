/** The parts of a live figure: the tensor as a grid, memory as a strip, and the rule that leads from one to the other. */
import { Fragment, h, type ComponentChildren } from "preact";
import { computed, signal } from "@preact/signals-core";
import type { Integer } from "shapetracker/engine";
import { write, type Fields } from "../fragment";
import { plan, usualPlaces } from "../lane";
import { bracket, clamp, plain, tuple } from "../numbers";
import { Lines } from "../panes/expression";
import { live } from "../panes/live";
import { MiniGrid } from "../panes/minigrid";
import { sentence } from "../panes/mistake";
import { Prose } from "../panes/prose";
import type { Model, Stage } from "./model";

/** The width of the page, which the grids fit into. */
const room = signal(document.documentElement.clientWidth);
addEventListener("resize", () => (room.value = document.documentElement.clientWidth));

const CELL = 44;
/** What stands around the cells: the numbers of rows and columns. */
const [LEFT, TOP] = [34, 30];

/** The size of a grid whose cells can be read, or as much as there is room for. */
function sizeOf(shape: readonly number[], most: number): { width: number; height: number } {
  const { row, column } = plan(shape, usualPlaces(shape));
  const wide = Math.min(column.extent * CELL + LEFT, most);
  const cell = Math.min((wide - LEFT) / Math.max(column.extent, 1), CELL);
  return { width: wide, height: Math.max(row.extent, 1) * cell + TOP };
}

interface GridProps {
  model: Model;
  /** Which tensor: the last one, or one on the way to it. */
  stage?: number;
  name: string;
  /** How many grids stand beside each other at most. */
  beside?: number;
}

/** The tensor at a stage. Keys and the pointer choose an element of it, which all parts of the figure then show. */
export const Grid = live(({ model, stage, name, beside = 1 }: GridProps) => {
  const state = model.state.value;
  const at = stage ?? (state?.stages.length ?? 1) - 1;
  const shown: Stage | undefined = state?.stages[at];
  if (state === null || shown === undefined) return <div class="awaited" />;
  const last = at === state.stages.length - 1;
  const shape = shown.shape.map(Number);
  const element = model.element.value?.state === state ? model.element.value : null;
  const readers = element?.readers[at] ?? [];
  const selected = model.selected();
  const index = last ? (element?.index ?? selected) : (readers[0] ?? null);
  const column = Math.min(room.value - 56, 660);
  const most = room.value < 700 ? column : column / beside - 28;
  // Only elements of the last tensor are chosen: those before it show the same address.
  const choose = (index: number[]): void => {
    model.at.value = index;
  };
  const key = (event: KeyboardEvent): void => {
    const from = model.selected();
    if (from === null) return;
    const { row, column } = plan(shape, usualPlaces(shape));
    const [down, across] = (
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as Record<string, [number, number]>
    )[event.key] ?? [0, 0];
    if (down === 0 && across === 0) return;
    event.preventDefault();
    const next = [...from];
    row.toIndex(clamp(row.ofIndex(from) + down, 0, row.count - 1), next);
    column.toIndex(clamp(column.ofIndex(from) + across, 0, column.count - 1), next);
    model.over.value = null;
    choose(next);
  };
  const size = sizeOf(shape, most);
  const picture = (
    <MiniGrid
      {...size}
      source={shown.source}
      shape={shown.shape}
      index={index}
      readers={readers}
      addresses={state.addresses}
      headers
      {...(last ? { onPick: choose, onPoint: (index: number[] | null) => void (model.over.value = index) } : { name })}
    />
  );
  if (!last) return <div class="grid-of">{picture}</div>;
  return (
    <div
      class="grid-of"
      tabIndex={0}
      role="application"
      aria-roledescription="tensor"
      aria-label={`${name}: arrow keys choose an element`}
      onKeyDown={key}
    >
      {picture}
    </div>
  );
});

/** Memory, a box an address. Pointing at one shows who reads it. */
export const Strip = live(({ model }: { model: Model }) => {
  const state = model.state.value;
  if (state === null) return null;
  if (state.memory === null) return <p class="soft">Memory is too long to be drawn here.</p>;
  const { begin, reads } = state.memory;
  const now = model.element.value?.state === state ? model.element.value.address : null;
  return (
    <>
      <div class="strip" role="img" aria-label={spoken(state.memory, now)}>
        {[...reads].map((count, cell) => (
          <i
            class={String(begin + cell) === String(now) ? "now" : count === 0 ? "hole" : count === 1 ? "once" : "often"}
            data-address={begin + cell}
          >
            {plain(begin + cell)}
          </i>
        ))}
      </div>
      {/* No array has what lies before its first element. */}
      {begin < 0 && (
        <p class="fault-line" role="status">
          Reads from address {plain(begin)} on, {plain(-begin)} before the beginning of the array.
        </p>
      )}
    </>
  );
});

function spoken({ begin, reads }: { begin: number; reads: Float64Array }, now: Integer | null): string {
  const holes = [...reads].filter((count) => count === 0).length;
  const said = `Memory, addresses ${begin} to ${begin + reads.length - 1}`;
  const unread = holes === 0 ? "all of them are read" : `${holes} of them are not read`;
  return `${said}: ${unread}${now === null ? "" : `; the element reads address ${plain(now)}`}`;
}

/** From the index of the element to its address, a line a view. */
export const Rule = live(({ model }: { model: Model }) => {
  const element = model.element.value;
  if (element === null || element.state !== model.state.value) return <p class="rule">&nbsp;</p>;
  const { trace, index, address, state } = element;
  const shown = bracket(index.map((at, axis) => at + (state.begins[axis] ?? 0)));
  if (trace === null) {
    return (
      <p class="rule" aria-live="polite">
        {shown} → {address === null ? "no address" : <b>{plain(address)}</b>}
      </p>
    );
  }
  const signed = (value: Integer): string => (String(value).startsWith("-") ? `(${plain(value)})` : plain(value));
  return (
    <div class="rule" aria-live="polite">
      {trace.levels.map(({ index, offset, terms, masked_axes, address }, level) => {
        const sum = terms.map(({ index, stride }) => `${plain(index)}\u00b7${signed(stride)}`);
        const parts = [...(Number(offset) === 0 ? [] : [plain(offset)]), ...sum];
        const below = trace.levels[level + 1];
        const masked = masked_axes[0];
        return (
          <>
            <p>
              <span class="rule-index">{bracket(index)}</span>
              {masked === undefined ? (
                <>
                  {" "}
                  → {parts.join(" + ")} = {below === undefined ? <b>{plain(address ?? 0)}</b> : plain(below.position)}
                </>
              ) : (
                <> → no address: {plain(index[masked] ?? 0)} is outside the valid range of axis {masked}</>
              )}
            </p>
            {below !== undefined && masked === undefined && (
              <p class="soft">
                This is a position: number {plain(below.position)} of the {tuple(shapeOf(model, below.view))} tensor before
                it, counted row by row, which is
              </p>
            )}
          </>
        );
      })}
    </div>
  );
});

function shapeOf(model: Model, view: number): Integer[] {
  return model.state.value?.chain?.views[view]?.shape ?? [];
}

/** The expression with the numbers of the element in it. */
export const Formula = live(({ model }: { model: Model }) => {
  const state = model.state.value;
  const element = model.element.value;
  if (state?.expression == null) return null;
  const values = element !== null && element.state === state ? element.values : null;
  return <Lines expression={state.expression} values={values} />;
});

/** What is wrong with what was typed; the picture is that of the last text without a mistake. */
export const Wrong = live(({ model }: { model: Model }) => {
  const message = model.fault.value?.message ?? "";
  return (
    <p class="fault-line" role="status">
      {message === "" ? "\u00a0" : <Prose text={sentence(message)} />}
    </p>
  );
});

/** A figure with a link to the same in the explorer. */
export function Figure({ fields, children }: { fields: () => Fields | null; children: ComponentChildren }) {
  return (
    <div class="figure">
      {children}
      <Link fields={fields} />
    </div>
  );
}

const Link = live(({ fields }: { fields: () => Fields | null }) => {
  const link = computed(fields).value;
  if (link === null) return null;
  return (
    <p class="further">
      <a href={`./#${write(link)}`}>Open in the explorer</a>
    </p>
  );
});
