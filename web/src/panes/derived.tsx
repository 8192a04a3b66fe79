/** How a position between two views becomes an index of the lower one: as arrows, and axis by axis. */
import { Fragment, h } from "preact";
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import { addressOf, type TraceLevel, type View } from "shapetracker/engine";
import { bracket, pretty, tuple } from "../numbers";
import { indexAt } from "../reel";
import { live } from "./live";
import { Scroll } from "./scroll";

/** More elements than this are not drawn one by one. */
const MOST = 24;
/** Pixels of a cell, and of the rows. */
const [WIDE, TALL, APART] = [40, 22, 52];

/** What each element of a view has as its position in the view below, by the text of the view. */
const positions = signal<ReadonlyMap<string, (number | null)[]>>(new Map());
const asked = new Set<string>();

function numelOf(view: View): number {
  return view.shape.reduce<number>((all, size) => all * Number(size), 1);
}

/** Asks for the positions of a view, once. */
function positionsOf(view: View): (number | null)[] | null {
  const known = positions.value.get(view.text) ?? null;
  if (known !== null || asked.has(view.text)) return known;
  asked.add(view.text);
  const request = { rows: [], columns: view.shape.map((_, axis) => axis), fixed: view.shape.map(() => 0) };
  const all = { begin: 0, end: numelOf(view) };
  void ask("tile", { source: { chain: view.text }, ...request, row: { begin: 0, end: 1 }, column: all }).then((said) => {
    if (said?.ok !== true) {
      asked.delete(view.text);
      return;
    }
    const list = Array.from({ length: all.end }, (_, at) => addressOf(said.value.addresses, at));
    positions.value = new Map([...positions.peek(), [view.text, list.map((each) => (each === null ? null : Number(each)))]]);
  });
  return null;
}

/** The elements of the upper view above those of the lower one, and from each an arrow to the one that it is. */
const Arrows = live(({ above, below, element }: { above: View; below: View; element: number | null }) => {
  const list = positionsOf(above);
  if (list === null) return null;
  const [upper, lower] = [above, below].map((view) => view.shape.map(Number)) as [number[], number[]];
  const count = numelOf(below);
  const x = (at: number): number => at * WIDE + WIDE / 2;
  const [top, bottom] = [TALL + 14, TALL + 14 + APART];
  const cells = (many: number, y: number, text: (at: number) => string, on: number | null) =>
    Array.from({ length: many }, (_, at) => (
      <g data-on={at === on ? "yes" : undefined}>
        <rect x={at * WIDE + 1} y={y} width={WIDE - 2} height={TALL} rx={3} />
        <text x={x(at)} y={y + TALL / 2}>
          {text(at)}
        </text>
      </g>
    ));
  const names = (many: number, shape: readonly number[], y: number) =>
    Array.from({ length: many }, (_, at) => (
      <text class="name" x={x(at)} y={y}>
        {indexAt(at, shape).join(",")}
      </text>
    ));
  const order = list.map((_, at) => at).sort((a, b) => Number(a === element) - Number(b === element));
  return (
    <Scroll label="Positions as arrows">
      <svg
        class="derivation"
        width={Math.max(list.length, count) * WIDE}
        height={bottom + TALL + 16}
        role="img"
        aria-label={`The positions of ${tuple(above.shape)}, ${list.map((at) => at ?? "masked").join(", ")}, as arrows to the elements of ${tuple(below.shape)}`}
      >
        {names(list.length, upper, 8)}
        {order.map((at) => {
          const to = list[at];
          if (to == null || to < 0 || to >= count) return null;
          const [y0, y1] = [top, bottom - 2];
          return (
            <path
              data-on={at === element ? "yes" : undefined}
              d={`M${x(at)} ${y0}C${x(at)} ${y0 + 26} ${x(to)} ${y1 - 26} ${x(to)} ${y1}m-3.500 -6l3.500 6l3.500 -6`}
            />
          );
        })}
        {cells(list.length, top - TALL, (at) => (list[at] == null ? "\u00d7" : pretty(list[at])), element)}
        {cells(count, bottom, (at) => pretty(at), element === null ? null : (list[element] ?? null))}
        {names(count, lower, bottom + TALL + 9)}
      </svg>
    </Scroll>
  );
});

/** What is taken of a position along each axis, from the last axis to the first. */
function Digits({ below, position }: { below: View; position: bigint }) {
  let acc = 1n;
  const rows = [...below.shape].reverse().map((size, at) => {
    const each = acc;
    acc *= BigInt(size);
    return { axis: below.shape.length - 1 - at, size: BigInt(size), each };
  });
  return (
    <table class="numbers-table digits">
      <thead>
        <tr>
          <th scope="col">axis</th>
          <th scope="col">acc</th>
          <th scope="col" class="left">
            p // acc % size
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ axis, size, each }) => (
          <tr>
            <th scope="row">{axis}</th>
            <td>{pretty(each)}</td>
            <td class="left">
              {pretty(position)} // {pretty(each)} <i>{"\u2192"}</i> {pretty(position / each)} % {pretty(size)} <i>{"\u2192"}</i>{" "}
              <b>{pretty((position / each) % size)}</b>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const Derived = live(
  ({ above, below, from, to }: { above: View; below: View; from: TraceLevel | null; to: TraceLevel | null }) => {
    const few = numelOf(above) <= MOST && numelOf(below) <= MOST && numelOf(above) > 0;
    const sizes = below.shape.filter((size) => Number(size) !== 1);
    return (
      <li class="derived">
        <p>
          What the view above gives is a position <code>p</code>: it counts the elements of {tuple(below.shape)} row by row.
          {sizes.length > 1 && (
            <>
              {" "}
              With <code>acc</code>, the elements that an entry along an axis stands for (the product of the sizes after it),{" "}
              <code>p // acc</code> says how many of them are passed, and <code>% size</code> begins again at each end of the axis.
            </>
          )}
        </p>
        {few && <Arrows above={above} below={below} element={from === null ? null : Number(from.position)} />}
        {to !== null && (
          <>
            <Digits below={below} position={BigInt(to.position)} />
            <p class="soft">
              p = {pretty(to.position)} is {bracket(to.index)}
            </p>
          </>
        )}
      </li>
    );
  },
);
