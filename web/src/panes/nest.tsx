/** The loops of a statement over several tensors, and in each of these the element that one step of the loops touches. */
import { Fragment, h } from "preact";
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { Integer, NestAccess, NestAnswer, NestGuard, NestLoop } from "shapetracker/engine";
import { about, chosen, hovered, nest, NESTS, open } from "../statement";
import { bracket, counted, plain, pretty } from "../numbers";
import { change, page } from "../page";
import { live } from "./live";
import { MiniGrid } from "./minigrid";
import { Sliders } from "./names";

/** The lowest and the highest address of each layout, once they are known. */
const ranges = signal<ReadonlyMap<string, [Integer, Integer] | null>>(new Map());
const asked = new Set<string>();

function rangeOf(text: string): [Integer, Integer] | null | undefined {
  if (!asked.has(text)) {
    asked.add(text);
    void ask("chain", { text }).then((said) => {
      const range = said?.ok === true ? (said.value.result?.address_range ?? null) : null;
      ranges.value = new Map(ranges.value).set(text, range);
    });
  }
  return ranges.value.get(text);
}

const width = signal(innerWidth);
addEventListener("resize", () => (width.value = innerWidth));

/** How wide each of so many pictures is: beside the loops there is room for all in a row, as long as they are seen. */
function roomFor(count: number): number {
  const room = width.value < 900 ? width.value - 64 : ((width.value - 56) * 2) / 3 - 34 - 22 * (count - 1);
  return Math.floor(width.value < 900 ? Math.min(room, 340) : Math.min(Math.max(room / count, 220), 340));
}

/** Where something is on a ruler of so many entries, in thousandths of its length. */
function thousandths(at: Integer, size: Integer): number {
  return (1000 * Number(at)) / Math.max(Number(size), 1);
}

/** A loop as a ruler: its entries from left to right, cut where it is split, the one of the step, and those that touch the element. */
function Ruler({ loop, at, touch }: { loop: NestLoop; at: Integer; touch: [Integer, Integer] | null }) {
  const [outer = { size: 1 }] = loop.parts;
  const cuts = loop.parts.length > 1 && Number(outer.size) <= 64 ? Number(outer.size) : 0;
  const entry = Math.max(thousandths(1, loop.size), 6);
  return (
    <svg class="ruler" viewBox="0 0 1000 22" preserveAspectRatio="none" aria-hidden="true">
      <rect class="whole" x="0" y="0" width="1000" height="14" />
      {Array.from({ length: Math.max(cuts - 1, 0) }, (_, cut) => (
        <rect class="cut" x={thousandths(cut + 1, cuts) - 1} y="0" width="2" height="14" />
      ))}
      <rect class="at" x={Math.min(thousandths(at, loop.size), 1000 - entry)} y="0" width={entry} height="14" />
      {touch !== null && (
        <rect
          class="touch"
          x={Math.min(thousandths(touch[0], loop.size), 994)}
          y="17"
          width={Math.max(thousandths(Number(touch[1]) - Number(touch[0]), loop.size), 6)}
          height="5"
        />
      )}
    </svg>
  );
}

/** A size, with its names where it has some. */
function sizeText({ size, written }: { size: Integer; written: string }): string {
  return /[A-Za-z_]/.test(written) ? `${written} = ${pretty(size)}` : pretty(size);
}

function move(answer: NestAnswer, part: number, value: number): void {
  const at = (answer.step?.at ?? []).map(Number);
  at[part] = value;
  change({ at }, "loops");
}

const Loops = live(({ answer }: { answer: NestAnswer }) => {
  const { step } = answer;
  const touching = about.value === null ? null : answer.touching;
  let first = 0;
  return (
    <ul class="loops">
      {answer.loops.map((loop, number) => {
        const begin = first;
        first += loop.parts.length;
        const isSplit = loop.parts.length > 1;
        return (
          <li>
            <p>
              <code>
                <b>{loop.name}</b> = {plain(step?.values[number] ?? 0)}
              </code>{" "}
              of {sizeText(loop)}
              {isSplit && <>, split: {loop.parts.map((part) => `${part.name} of ${sizeText(part)}`).join(" \u00d7 ")}</>}
              {loop.reduced && ", summed over"}
            </p>
            <Ruler loop={loop} at={step?.values[number] ?? 0} touch={touching?.loops[number] ?? null} />
            <div class={isSplit ? "parts split" : "parts"}>
              {loop.parts.map(({ name, size }, part) => (
                <label>
                  <code>{name}</code>
                  <input
                    type="range"
                    aria-label={`Loop ${name}, ${counted(size, "value")}`}
                    min={0}
                    max={Math.max(Number(size) - 1, 0)}
                    value={Number(step?.at[begin + part] ?? 0)}
                    disabled={step === null || Number(size) < 2}
                    onInput={(event) => move(answer, begin + part, Number(event.currentTarget.value))}
                  />
                  <output>{plain(step?.at[begin + part] ?? 0)}</output>
                </label>
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
});

function share(count: Integer, of: Integer): string {
  const percent = (100 * Number(count)) / Math.max(Number(of), 1);
  return `${percent.toLocaleString("en", { maximumSignificantDigits: 3 })}\u202f%`;
}

function guardText({ why, access }: NestGuard, accesses: readonly NestAccess[]): string {
  if (why === "condition") return "The condition after if holds";
  const element = accesses[access ?? 0]?.element ?? "";
  return why === "skipped" ? `${element} is no padding, else the step is left out` : `${element} is no padding, else 0 is read`;
}

const Guards = live(({ answer }: { answer: NestAnswer }) => {
  const { names, steps, runs, guards, accesses } = answer;
  const all = steps === null ? "more than 2^127" : pretty(steps);
  return (
    <div class="guards">
      <p>
        {names.length > 0 && `At ${names.map(({ name, value }) => `${name} = ${plain(value)}`).join(", ")}: `}
        {runs === null ? (
          <>{all} steps; at how many of them the statement runs was not found within the work limit.</>
        ) : runs === steps ? (
          <>
            <b>{all}</b> {steps === 1 ? "step, at which" : "steps, at all of which"} the statement runs.
          </>
        ) : (
          <>
            {names.length > 0 ? "the" : "The"} statement runs at <b>{pretty(runs)}</b> of {all} steps{steps !== null && `, ${share(runs, steps)}`}.
          </>
        )}
      </p>
      {guards.length > 0 && (
        <ul>
          {guards.map((guard) => (
            <li>
              <p>
                {guardText(guard, accesses)}: <code>{guard.holds}</code>,{" "}
                {guard.count === null ? "at a number of steps that was not found" : `at ${counted(guard.count, "step")}`}
              </p>
              {guard.count !== null && steps !== null && (
                <svg class="share" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="whole" x="0" y="0" width="1000" height="8" />
                  <rect class="through" x="0" y="0" width={thousandths(guard.count, steps)} height="8" />
                </svg>
              )}
            </li>
          ))}
        </ul>
      )}
      {answer.unsplit.map((why) => (
        <p class="help">Not split: {why.replaceAll("`", "")}.</p>
      ))}
    </div>
  );
});

/** What is said of the steps that touch an element. */
const Touching = live(({ answer }: { answer: NestAnswer }) => {
  const { touching } = answer;
  const place = about.value;
  const buffer = place === null ? undefined : answer.accesses[place.access]?.buffer;
  if (place === null || touching === null || buffer === undefined) {
    return (
      <p class="touching help" role="status">
        Point at an element, or choose one, to see which steps touch it.
      </p>
    );
  }
  const loops = answer.loops.flatMap(({ name }, number) => {
    const range = touching.loops[number];
    if (range == null) return [];
    const [from, end] = [Number(range[0]), Number(range[1])];
    if (touching.free[number] === true && end - from > 1) return [`${name} runs freely, which is reuse`];
    return [end - from === 1 ? `${name} = ${plain(from)}` : `${name} from ${plain(from)} to ${plain(end - 1)}`];
  });
  const { count, of, example } = touching;
  return (
    <div class="touching">
      <p role="status">
        <code>
          {buffer}
          {bracket(place.index)}
        </code>{" "}
        is touched at{" "}
        <b>
          {count === null ? "a number of steps that was not found within the work limit" : count === 0 ? "no step" : counted(count, "step")}
        </b>
        {count !== null && count !== 0 && of !== null && ` of ${pretty(of)}`}
        {loops.length > 0 && `: ${loops.join(", ")}`}.
      </p>
      {chosen.value !== null && (
        <p>
          {example !== null && (
            <button type="button" onClick={() => change({ at: example.map(Number) }, true)}>
              Go to such a step
            </button>
          )}{" "}
          <button type="button" onClick={() => (chosen.value = null)}>
            Forget the element
          </button>
        </p>
      )}
    </div>
  );
});

/** What the address does along each loop. */
function along(answer: NestAnswer, access: NestAccess): string {
  const each = answer.loops.flatMap(({ parts }) => parts).map(({ name }, number) => {
    const stride = access.strides[number];
    return `${name} ${access.reused[number] === true ? "reused" : (stride ?? "varies").replace(/^-/, "\u2212")}`;
  });
  return each.join(", ");
}

const Tensor = live(({ answer, number }: { answer: NestAnswer; number: number }) => {
  const access = answer.accesses[number]!;
  const touched = answer.step?.elements[number];
  const text = access.instance ?? "";
  const range = rangeOf(text);
  const shape = access.shape.map(Number);
  const place = about.value?.access === number ? about.value.index : null;
  const wide = roomFor(answer.accesses.length);
  const drawable = shape.every(Number.isSafeInteger) && !shape.includes(0);
  const index = touched?.index.map(Number) ?? null;
  const runs = answer.step?.runs === true;
  return (
    <figure class="touched">
      <figcaption>
        <code>
          <b>{access.element}</b>
        </code>{" "}
        {access.written ? (access.read ? "written and read" : "written") : "read"}
        <br />
        {touched !== undefined && (
          <>
            <code>
              {access.buffer}
              {bracket(touched.index)}
            </code>
            {touched.address === null ? ": padding, no address" : `: address ${pretty(touched.address)}`}
            {!runs && ", left out"}
          </>
        )}
      </figcaption>
      {drawable && range !== undefined ? (
        <MiniGrid
          source={{ chain: text }}
          shape={access.shape}
          addresses={range}
          index={index}
          readers={place === null ? [] : [place]}
          width={wide}
          height={shape.length < 2 ? 64 : 210}
          name={`${access.buffer}, shape ${bracket(access.shape)}: the step touches ${bracket(touched?.index ?? [])}`}
          onPick={(index) => (chosen.value = { access: number, index })}
          onPoint={(index) => (hovered.value = index === null ? null : { access: number, index })}
        />
      ) : (
        <p class="help">{drawable ? "Asking how it lies in memory\u2026" : "A tensor of this shape is not drawn."}</p>
      )}
      <p class="help">
        <code>{access.layout}</code>
        {access.layout !== text && (
          <>
            , here <code>{text}</code>
          </>
        )}
        <br />
        Address for each step along: {along(answer, access)}.
      </p>
      {index !== null && (
        <button type="button" onClick={() => (chosen.value = { access: number, index })}>
          Which steps touch {access.buffer}
          {bracket(touched!.index)}?
        </button>
      )}
    </figure>
  );
});

export const NestPane = live(() => {
  const known = nest.value;
  if (known === null) return null;
  const { text, answer } = known;
  const stale = text !== page.value.chain;
  return (
    <div class="nest" data-stale={stale ? "waiting" : undefined}>
      <section class="pane" aria-labelledby="loops-title">
        <div class="pane-head">
          <h2 id="loops-title">Loops</h2>
        </div>
        <p class="statement">
          <code>{answer.statement}</code>
        </p>
        {answer.names.length > 0 && <Sliders now={{ names: answer.names, witness: null }} />}
        <Loops answer={answer} />
        <Guards answer={answer} />
        <div class="kernels-examples" role="group" aria-label="Examples of kernels">
          {NESTS.map((preset) => (
            <button type="button" aria-pressed={preset.text === text} onClick={() => open(preset)}>
              {preset.name}
            </button>
          ))}
        </div>
      </section>
      <section class="pane" aria-labelledby="touched-title">
        <div class="pane-head">
          <h2 id="touched-title">What one step touches</h2>
        </div>
        <p class="help">
          In every tensor the element of the step is framed. Colours are addresses, from the first of a buffer to its last.
        </p>
        <Touching answer={answer} />
        <div class="tensors">
          {answer.accesses.map((access, number) => (
            <Tensor key={`${number} ${access.element}`} answer={answer} number={number} />
          ))}
        </div>
      </section>
    </div>
  );
});
