/** Pane G: this layout beside another. */
import { Fragment, h } from "preact";
import { effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { CompareAnswer, ComparedSide, Fault, Integer } from "../engine";
import { select } from "../focus";
import { current, layout, type Layout } from "../layout";
import { bracket, plain, pretty, tuple } from "../numbers";
import { chain, change, LONGEST_TEXT, page } from "../page";
import { Choice, Text } from "./controls";
import { live } from "./live";
import { Mistake, sentence } from "./mistake";
import { Pane } from "./pane";
import { Scroll } from "./scroll";

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
            : {difference.a === null ? "masked" : `address ${plain(difference.a)}`} in this one,{" "}
            {difference.b === null ? "masked" : `address ${plain(difference.b)}`} in the other.
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
                <td>{tuple(shape)}</td>
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
          invalid={fault !== null}
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
        <Result answer={shown.answer} />
      ) : (
        fault === null && (
          <p class="soft">{current.value ? "Comparing\u2026" : "Waiting for a layout without a mistake."}</p>
        )
      )}
    </Pane>
  );
});
