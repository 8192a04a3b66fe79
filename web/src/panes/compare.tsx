/** Pane G: this layout beside another. */
import { Fragment, h } from "preact";
import { effect, signal } from "@preact/signals-core";
import type { GridCanvas, GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import type { Drawn } from "../draw/tiles";
import { ask } from "../ask";
import type { CompareAnswer, ComparedSide, Fault, Integer } from "shapetracker/engine";
import { isMistake } from "../faults";
import { isIndex, pointed, select, selected } from "../focus";
import { plan, usualPlaces, type Plan } from "../lane";
import { current, layout, type Layout } from "../layout";
import { bracket, integer, pretty, tuple } from "../numbers";
import { chain, change, LONGEST_TEXT, page } from "../page";
import { Choice } from "./controls";
import { gridPlan, gridView } from "./grid";
import { live } from "./live";
import { Figure } from "./minigrid";
import { Mistake, sentence } from "./mistake";
import { Pane } from "./pane";
import { Scroll } from "./scroll";
import { Text } from "./text";

interface Compared {
  layout: Layout;
  other: string;
  width: number;
  line: number;
  answer: CompareAnswer | null;
  fault: Fault | null;
}

const compared = signal<Compared | null>(null);

const ROWS: readonly { name: string; hint: string; of(side: ComparedSide): Integer | null }[] = [
  { name: "elements", hint: "of the tensor", of: (side) => side.numel },
  { name: "valid", hint: "elements that are not masked", of: (side) => side.valid },
  { name: "runs", hint: "runs of consecutive addresses, in the order of the elements", of: (side) => side.runs },
  { name: "addresses", hint: "different addresses that are read", of: (side) => side.distinct },
  { name: "bytes", hint: "the same in bytes", of: (side) => side.bytes },
  { name: "cache lines", hint: "that are touched, the buffer beginning on one", of: (side) => side.lines },
  { name: "buffer", hint: "elements that the buffer must have", of: (side) => side.buffer_len },
];

function Result({ answer }: { answer: CompareAnswer }) {
  const { a, b, equal, difference, note } = answer;
  const sides = [a, b];
  return (
    <>
      <p class="outcome" data-equal={equal === null ? "unknown" : equal ? "yes" : "no"}>
        {equal === true
          ? "Equal: every element reads the same address, or is masked in both."
          : equal === null
            ? "Not decided."
            : "Different."}
        {difference !== null && (
          <>
            {" "}
            {note === null ? "The first difference" : "A difference"} is at{" "}
            <button
              type="button"
              class="go"
              title="Select this element"
              onClick={() => select(difference.index.map(Number))}
            >
              {bracket(difference.index)}
            </button>
            : {difference.a === null ? "masked" : `address ${pretty(difference.a)}`} in this one,{" "}
            {difference.b === null ? "masked" : `address ${pretty(difference.b)}`} in the other.
          </>
        )}
        {note !== null && ` ${sentence(note)}`}
      </p>
      <Scroll label="Both layouts in numbers">
        <table class="numbers-table compare">
          <thead>
            <tr>
              <td />
              <th scope="col">this one</th>
              <th scope="col">the other</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">shape</th>
              {sides.map(({ shape }) => (
                <td class="wraps">{tuple(shape)}</td>
              ))}
            </tr>
            {ROWS.map(({ name, hint, of }) => {
              const values = sides.map((side) => {
                const value = of(side);
                return value === null ? "not known" : pretty(value);
              });
              return (
                <tr data-differs={values[0] !== values[1] ? "yes" : undefined}>
                  <th scope="row" title={hint}>
                    {name}
                  </th>
                  {values.map((value) => (
                    <td>{value}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {sides.map(
        ({ note: each }, at) =>
          each !== null && (
            <p class="soft">
              {at === 0 ? "This one" : "The other"}: {sentence(each)}
            </p>
          ),
      )}
    </>
  );
}

/** Both layouts as pictures, of which the second one is drawn as the first. */
interface Sides {
  of: CompareAnswer;
  drawn: [Drawn, Drawn];
  plans: [Plan, Plan];
  /** Whether a cell of one is a cell of the other. */
  alike: boolean;
}

let sides: Sides | null = null;

/** What is drawn; the same objects as long as it is the same comparison. */
function sidesOf({ layout: now, other, answer }: Compared): Sides | null {
  if (answer === null) return null;
  if (sides?.of === answer) return sides;
  const { a, b } = answer;
  // The same shade is the same address in both.
  const ends = [a.address_range, b.address_range].flatMap((range) => (range === null ? [] : range.map(BigInt)));
  const range = ends.length === 0 ? null : [ends.reduce((x, y) => (x < y ? x : y)), ends.reduce((x, y) => (x > y ? x : y))];
  const addresses = range === null ? null : (range.map(integer) as [Integer, Integer]);
  const drawn = (side: ComparedSide, like: Pick<Drawn, "source"> & Partial<Drawn>): Drawn => {
    const shape = side.shape.map(Number);
    return {
      names: shape.map((_, axis) => `axis ${axis}`),
      begins: shape.map(() => 0),
      ...like,
      shape,
      numel: side.numel,
      addresses,
    };
  };
  const alike = a.shape.join() === b.shape.join();
  const first = drawn(a, { source: now.source, names: now.names, begins: now.begins });
  const second = drawn(b, { source: { chain: other } });
  const places = gridPlan.peek();
  sides = {
    of: answer,
    drawn: [first, second],
    plans: alike ? [places, places] : [places, plan(second.shape, usualPlaces(second.shape))],
    alike,
  };
  return sides;
}

const canvases = [signal<GridCanvas | null>(null), signal<GridCanvas | null>(null)] as const;
const room = signal(0);

/** One of the two pictures; elements are pointed at in both. */
function viewOf(side: 0 | 1): GridView | null {
  const [known, main] = [compared.value, gridView.value];
  const both = known === null ? null : sidesOf(known);
  const shades = theme.value;
  if (both === null || main === null || shades === null) return null;
  const layout = both.drawn[side];
  if (layout.shape.includes(0) || !layout.shape.every(Number.isSafeInteger)) return null;
  const other = canvases[1 - side as 0 | 1].value;
  const lanes = both.alike ? gridPlan.value : both.plans[side];
  const index = pointed.value !== null && "index" in pointed.value ? pointed.value.index : selected.value;
  const shown = (side === 0 || both.alike) && index !== null && isIndex(index, layout.shape);
  // What has come of the other picture is compared with this one.
  void other?.tiles.arrivals.value;
  return {
    scene: {
      layout,
      plan: lanes,
      fixed: both.alike ? main.scene.fixed : layout.shape.map(() => 0),
      color: "address",
    },
    label: main.label,
    theme: shades,
    camera: null,
    focus: shown ? index : null,
    selected: null,
    readers: [],
    moving: false,
    against: both.alike ? other : null,
  };
}

const VIEWS = [() => viewOf(0), () => viewOf(1)] as const;

function heightOf({ row, column }: Plan, width: number): number {
  const scale = Math.min((width - 50) / Math.max(column.extent, 1), 44);
  return Math.round(Math.min(Math.max(row.extent * scale + 44, 90), 320));
}

const observer = new ResizeObserver(([entry]) => {
  if (entry !== undefined) room.value = Math.floor(entry.contentRect.width);
});

function measure(box: HTMLDivElement | null): void {
  observer.disconnect();
  if (box !== null) observer.observe(box);
}

/** The least width of a picture that has another one beside it, and the space between them: as `.both` has them, in pixels. */
const [LEAST, BETWEEN] = [300, 24];

const Pictures = live(({ known }: { known: Compared }) => {
  const both = sidesOf(known);
  if (both === null || both.drawn.some(({ shape }) => shape.includes(0))) return null;
  const wide = room.value >= 2 * LEAST + BETWEEN ? Math.floor((room.value - BETWEEN) / 2) : room.value;
  return (
    <>
      <div class="both" ref={measure}>
        {wide > 0 &&
          ([0, 1] as const).map((side) => (
            <figure>
              <figcaption>{side === 0 ? "this one" : "the other"}</figcaption>
              <Figure
                view={VIEWS[side]}
                width={wide}
                height={heightOf(both.plans[side], wide)}
                name={`${side === 0 ? "This layout" : "The other layout"}, shape ${tuple(both.drawn[side].shape)}`}
                canvas={(grid) => (canvases[side].value = grid)}
                placed={undefined}
                onPick={(index) => index !== null && (side === 0 || both.alike) && select(index)}
                onPoint={(index) => {
                  if (side === 0 || both.alike) pointed.value = index === null ? null : { index };
                }}
              />
            </figure>
          ))}
      </div>
      <p class="key">
        {both.alike ? (
          <span>
            <i class="swatch differs" /> reads another address in the other one
          </span>
        ) : (
          <span>Their shapes differ, so no cell of one is a cell of the other.</span>
        )}
        <span>
          <i class="swatch lit" /> the element
        </span>
      </p>
    </>
  );
});

/** Usual numbers, and the one that is chosen. */
function counts(usual: readonly number[], chosen: number): [string, string][] {
  return [...new Set([...usual, chosen])].map((each) => [String(each), String(each)]);
}

/** Keeps both layouts compared from now on. */
export function followComparison(): void {
  effect(() => {
    const now = layout.value;
    const { other, width, line } = page.value;
    if (now === null || !current.value || other.trim() === "") return;
    const old = compared.peek();
    if (old?.layout === now && old.other === other && old.width === width && old.line === line) return;
    const done = (answer: CompareAnswer | null, fault: Fault | null): void => {
      compared.value = { layout: now, other, width, line, answer, fault };
    };
    if (other.length > LONGEST_TEXT) {
      done(null, {
        kind: "limit",
        message: `This text is ${other.length} characters long; the page reads at most ${LONGEST_TEXT}.`,
        field: "b",
        span: null,
        step: null,
      });
      return;
    }
    void ask("compare", { a: now.source, b: { chain: other }, width, line }, "compare").then((said) => {
      if (said !== null) done(said.ok ? said.value : null, said.ok ? null : said.fault);
    });
  });
}

export const ComparePane = live(() => {
  const { other, width, line, mode } = page.value;
  const shown = compared.value;
  const fresh =
    shown !== null &&
    shown.layout === layout.value &&
    shown.other === other &&
    shown.width === width &&
    shown.line === line &&
    current.value;
  const fault = fresh ? shown.fault : null;
  return (
    <Pane
      id="compare"
      title="Compare"
      shows={false}
      tools={
        <>
          <Choice
            name="bytes an element"
            value={String(width)}
            options={counts([1, 2, 4, 8, 16], width)}
            choose={(value) => change({ width: Number(value) }, true)}
          />
          <Choice
            name="a cache line"
            value={String(line)}
            options={counts([32, 64, 128, 256], line)}
            choose={(value) => change({ line: Number(value) }, true)}
          />
        </>
      }
    >
      <div class="beside-line">
        <Text
          name="The other chain"
          value={other}
          placeholder="another chain, such as (3, 2)"
          invalid={fault !== null && isMistake(fault)}
          describedBy={fault === null ? undefined : "compare-fault"}
          change={(text) => change({ other: text }, "other text")}
        />
        <button
          type="button"
          disabled={layout.value === null || !current.value}
          onClick={() => {
            const source = layout.value?.source;
            if (source !== undefined && "chain" in source)
              change({ other: mode === "chain" ? chain.value : source.chain }, true);
          }}
        >
          Copy this one
        </button>
      </div>
      {fault !== null && <Mistake id="compare-fault" fault={fault} text={fault.field === "b" ? other : null} />}
      {other.trim() === "" ? null : fresh && shown.answer !== null ? (
        <>
          <Pictures known={shown} />
          <Result answer={shown.answer} />
        </>
      ) : (
        fault === null && (
          <p class="soft">{current.value ? "Comparing\u2026" : "Waiting for a layout without a mistake."}</p>
        )
      )}
    </Pane>
  );
});
