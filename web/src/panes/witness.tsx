/** Pane F: why the views are not one, drawn. */
import { Fragment, h } from "preact";
import { effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import { addressOf, type Integer, type NotABox, type UnevenStep } from "shapetracker/engine";
import { select } from "../focus";
import { current, layout, type Layout } from "../layout";
import { bracket, pretty } from "../numbers";
import { witnessed } from "./grid";
import { live } from "./live";
import { sentence } from "./mistake";
import { Pane } from "./pane";

/** Selects an element from within the picture. */
function Go({ index }: { index: readonly Integer[] }) {
  return (
    <button type="button" class="go" title="Select this element" onClick={() => select(index.map(Number))}>
      {bracket(index)}
    </button>
  );
}

function signed(value: Integer): string {
  return Number(value) < 0 ? pretty(value) : `+${pretty(value)}`;
}

/** Two steps along one axis, on the line of memory. */
function Uneven({ witness }: { witness: UnevenStep }) {
  const [a, b] = witness.steps;
  const ends = [...new Set([a.from, a.to, b.from, b.to].map(String))].sort(
    (one, other) => Number(one) - Number(other),
  );
  const [low, high] = [Number(ends[0]), Number(ends.at(-1))];
  // In proportion, except that every address has room for its number.
  const apart = Math.max(...ends.map((address) => pretty(address).length)) * 7.5 + 12;
  const wide = Math.max(Math.min(560, innerWidth - 50), 60 + apart * ends.length);
  const room = wide - 60 - apart * ends.length;
  const x = (address: Integer): number =>
    30 + (ends.indexOf(String(address)) + 0.5) * apart + ((Number(address) - low) / Math.max(high - low, 1)) * room;
  const arc = (from: Integer, to: Integer, up: boolean): string => {
    const [x0, x1] = [x(from), x(to)];
    const y = up ? 74 : 90;
    const tall = Math.max(Math.min(Math.abs(x1 - x0) * 0.45, 50), 26) * (up ? -1 : 1);
    return `M${x0} ${y} C${x0} ${y + tall} ${x1} ${y + tall} ${x1} ${y}`;
  };
  return (
    <figure class="witness">
      <svg
        viewBox={`0 0 ${wide} 164`}
        ref={(svg) => svg?.style.setProperty("--wide", `${wide}px`)}
        role="img"
        aria-label={`Two steps along axis ${witness.axis} that move the address by ${pretty(a.moved)} and by ${pretty(b.moved)}`}
      >
        <line x1="20" x2={wide - 20} y1="82" y2="82" class="axis" />
        {(
          [
            [a, true],
            [b, false],
          ] as const
        ).map(([step, up]) => (
          <g class={up ? "step first" : "step second"}>
            <path d={arc(step.from, step.to, up)} class="arc" />
            <path
              d={up ? "M-4 -7 L0 0 L4 -7" : "M-4 7 L0 0 L4 7"}
              transform={`translate(${x(step.to)} ${up ? 74 : 90})`}
              class="arc"
            />
            <text x={(x(step.from) + x(step.to)) / 2} y={up ? 20 : 154} class="moved">
              {signed(step.moved)}
            </text>
          </g>
        ))}
        {ends.map((address) => (
          <g>
            <rect x={x(address) - apart / 2 + 3} y="72" width={apart - 6} height="20" rx="4" class="cell" />
            <text x={x(address)} y="86.5" class="address">
              {pretty(address)}
            </text>
          </g>
        ))}
      </svg>
      <figcaption>
        <ul class="steps">
          {witness.steps.map((step, at) => (
            <li>
              <span class={at === 0 ? "dash first" : "dash second"} aria-hidden="true" />
              <Go index={step.index} /> → <Go index={step.next} /> moves the address by <b>{signed(step.moved)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

/** Which cells of the slice around the invalid element are valid. */
interface Slice {
  layout: Layout;
  axes: [number, number];
  begin: [number, number];
  size: [number, number];
  valid: boolean[];
}

const slice = signal<Slice | null>(null);

/** A larger box is drawn without its cells. */
const MOST_CELLS = 24;

/** Whether an index lies in the slice through the invalid element that two axes span. */
function inSlice(index: readonly Integer[], { invalid }: NotABox, axes: readonly number[]): boolean {
  return index.every((at, axis) => axes.includes(axis) || String(at) === String(invalid[axis]));
}

/** The two axes that tell the three elements apart, with as many of them as can be in one slice. */
function axesOf(witness: NotABox): [number, number] {
  const { valid, invalid } = witness;
  const points = [...valid, invalid];
  let best: { axes: [number, number]; score: number } = { axes: [0, 0], score: -1 };
  for (let first = 0; first < invalid.length; first++) {
    for (let second = first; second < invalid.length; second++) {
      const apart = new Set(points.map((index) => `${index[first]},${index[second]}`)).size;
      const inside = valid.filter((index) => inSlice(index, witness, [first, second])).length;
      const score = 10 * apart + 3 * inside + (first === second ? 0 : 1);
      if (score > best.score) best = { axes: [first, second], score };
    }
  }
  return best.axes;
}

/** Keeps the cells around the witness those of the layout from now on. */
export function followWitness(): void {
  effect(() => {
    const of = layout.value;
    const why = of?.chain?.reason?.witness;
    if (of === null || why?.kind !== "not_a_box" || !current.value || slice.peek()?.layout === of) return;
    const [rows, columns] = axesOf(why);
    const range = (axis: number): [number, number] => {
      const all = [...why.valid, why.invalid].map((index) => Number(index[axis]));
      return [Math.max(Math.min(...all) - 1, 0), Math.min(Math.max(...all) + 2, of.shape[axis] ?? 1)];
    };
    const [r, c] = [range(rows), rows === columns ? ([0, 1] as [number, number]) : range(columns)];
    if (r[1] - r[0] > MOST_CELLS || c[1] - c[0] > MOST_CELLS) return;
    const request = {
      source: of.source,
      rows: [rows],
      columns: rows === columns ? [] : [columns],
      fixed: why.invalid,
      row: { begin: r[0], end: r[1] },
      column: { begin: c[0], end: c[1] },
    };
    void ask("tile", request, "witness").then((said) => {
      if (said === null || !said.ok) return;
      const { addresses } = said.value;
      slice.value = {
        layout: of,
        axes: [rows, columns],
        begin: [r[0], c[0]],
        size: [r[1] - r[0], c[1] - c[0]],
        valid: Array.from({ length: addresses.length }, (_, cell) => addressOf(addresses, cell) !== null),
      };
    });
  });
}

const Box = live(({ witness, now }: { witness: NotABox; now: Layout }) => {
  const {
    valid: [a, b],
    invalid,
  } = witness;
  const [rowAxis, columnAxis] = axesOf(witness);
  const span = (axis: number): [number, number] => {
    const all = [a, b, invalid].map((index) => Number(index[axis]));
    return [Math.min(...all), Math.max(...all)];
  };
  const one = rowAxis === columnAxis;
  const shown = slice.value?.layout === now ? slice.value : null;
  const [r, c] = [span(rowAxis), one ? ([0, 0] as [number, number]) : span(columnAxis)];
  const begin = shown?.begin ?? [r[0], c[0]];
  const size = shown?.size ?? [Math.max(r[1] - r[0] + 1, 1), Math.max(c[1] - c[0] + 1, 1)];
  const cell =
    shown === null
      ? Math.min(300 / size[1], 200 / size[0])
      : Math.max(Math.min(34, 420 / size[1], 260 / size[0]), 14);
  const [wide, tall] = [size[1] * cell, size[0] * cell];
  const x = (index: readonly Integer[]): number => 40 + ((one ? 0 : Number(index[columnAxis])) - begin[1]) * cell;
  const y = (index: readonly Integer[]): number => 26 + (Number(index[rowAxis]) - begin[0]) * cell;
  const side = Math.max(cell - 2, 10);
  const mark = (index: readonly Integer[], kind: string, text: string) => (
    <g class={inSlice(index, witness, [rowAxis, columnAxis]) ? kind : `${kind} outside`}>
      <rect x={x(index) + cell / 2 - side / 2} y={y(index) + cell / 2 - side / 2} width={side} height={side} rx="4" />
      <text x={x(index) + cell / 2} y={y(index) + cell / 2 + 4}>
        {text}
      </text>
    </g>
  );
  return (
    <figure class="witness">
      <svg
        viewBox={`0 0 ${wide + 56} ${tall + 40}`}
        ref={(svg) => svg?.style.setProperty("--wide", `${wide + 56}px`)}
        role="img"
        aria-label={`The masked element ${bracket(invalid)} lies in the box of the valid elements ${bracket(a)} and ${bracket(b)}`}
      >
        <text x="40" y="14" class="name">
          {one ? "" : `axis ${columnAxis} \u2192`}
        </text>
        <text x="14" y="26" class="name" transform="rotate(90 14 26)">
          axis {rowAxis} →
        </text>
        {shown?.valid.map((valid, at) => (
          <rect
            x={41 + (at % size[1]) * cell}
            y={27 + Math.floor(at / size[1]) * cell}
            width={cell - 2}
            height={cell - 2}
            rx="2"
            class={valid ? "valid" : "invalid"}
          />
        ))}
        <rect
          x={40 + (c[0] - begin[1]) * cell - 1}
          y={26 + (r[0] - begin[0]) * cell - 1}
          width={(c[1] - c[0] + 1) * cell + 2}
          height={(r[1] - r[0] + 1) * cell + 2}
          rx="5"
          class="box"
        />
        {mark(a, "good", "\u2713")}
        {mark(b, "good", "\u2713")}
        {mark(invalid, "bad", "\u00d7")}
      </svg>
      <figcaption>
        <Go index={a} /> and <Go index={b} /> have an address, <Go index={invalid} /> between them has none: one mask
        is a box, and this is not.
        {witness.valid.some((index) => !inSlice(index, witness, [rowAxis, columnAxis])) &&
          " What is only outlined lies in another slice."}
      </figcaption>
    </figure>
  );
});

export const WitnessPane = live(() => {
  const now = layout.value;
  if (now !== null && now.chain === null) return null;
  const views = now?.chain?.views.length ?? 0;
  const reason = now?.chain?.reason ?? null;
  const witness = reason?.witness ?? null;
  return (
    <Pane id="witness" title={now !== null && reason === null ? "Why one view is enough" : "Why not one view?"}>
      {reason === null || now === null ? (
        <p class="soft">
          One stride for each axis does it all
          {now?.chain?.contiguous === true ? ", and the elements lie one after the other" : ""}.
        </p>
      ) : (
        <>
          <p>
            {views} views are needed: {sentence(reason.sentence).replace(/^./, (letter) => letter.toLowerCase())}
          </p>
          {witness !== null && (
            <label class="beside">
              <input
                type="checkbox"
                checked={witnessed.value}
                onChange={(event) => (witnessed.value = event.currentTarget.checked)}
              />
              Mark it in the tensor
            </label>
          )}
          {witness?.kind === "uneven_step" && <Uneven witness={witness} />}
          {witness?.kind === "not_a_box" && <Box witness={witness} now={now} />}
        </>
      )}
    </Pane>
  );
});
