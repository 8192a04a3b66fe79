/** The figures of the lessons. */
import { Fragment, h } from "preact";
import { computed, signal } from "@preact/signals-core";
import type { FreeSource, Source } from "shapetracker/engine";
import { handText } from "../hand";
import { tuple } from "../numbers";
import { DEFAULT, fieldsOf, type FreeVariable, type HandAxis } from "../page";
import { live } from "../panes/live";
import { sentence } from "../panes/mistake";
import { Scrub } from "../panes/scrub";
import { Text } from "../panes/text";
import { Figure, Formula, Grid, Rule, Strip, Wrong } from "./figure";
import { Model } from "./model";

/** A view as it is typed. */
export interface Hand {
  axes: HandAxis[];
  offset: string;
}

/** Axes of size and stride, whose every index is valid unless a range says otherwise. */
export function hand(axes: readonly [size: number, stride: number, begin?: number, end?: number][], offset = 0): Hand {
  return {
    axes: axes.map(([size, stride, begin = 0, end = size]) => {
      const [sizeText, strideText, beginText, endText] = [size, stride, begin, end].map(String) as [
        string,
        string,
        string,
        string,
      ];
      return { size: sizeText, stride: strideText, begin: beginText, end: endText };
    }),
    offset: String(offset),
  };
}

interface FieldsProps {
  of: Hand;
  /** The valid ranges can be changed too. */
  masked?: boolean;
  /** The sizes and the offset are given, and only strides are asked for. */
  fixed?: boolean;
  change(hand: Hand): void;
}

/** The numbers of a view: typed, stepped with the arrow keys, or dragged. */
export function HandFields({ of, masked = false, fixed = false, change }: FieldsProps) {
  const field = (axis: number, key: keyof HandAxis, name: string) => (
    <Scrub
      field
      value={of.axes[axis]![key]}
      label={`axis ${axis}: ${name}`}
      change={(value) => {
        const axes = of.axes.map((each, at) => {
          if (at !== axis) return each;
          // Where everything is valid, all of it stays valid with another size.
          const whole = key === "size" && (!masked || each.end === each.size);
          return { ...each, [key]: value, ...(whole ? { end: value } : {}) };
        });
        change({ ...of, axes });
      }}
    />
  );
  return (
    <div class="numbers">
      {of.axes.map(({ size }, axis) => (
        <div class="axis-line">
          <span class="soft">axis {axis}</span>
          <label>size {fixed ? <code>{size}</code> : field(axis, "size", "size")}</label>
          <label>stride {field(axis, "stride", "stride")}</label>
          {masked && (
            <span class="range-fields">
              valid {field(axis, "begin", "first valid index")} <span aria-hidden="true">to</span>{" "}
              {field(axis, "end", "end of the valid range, which is not part of it")}
            </span>
          )}
        </div>
      ))}
      {!fixed && (
        <div class="axis-line">
          <label>
            <span class="soft">offset</span>
            <Scrub field value={of.offset} label="offset" change={(offset) => change({ ...of, offset })} />
          </label>
        </div>
      )}
    </div>
  );
}

/** What can be tried in a figure, and what is to be seen then. */
export interface Trial<Of> {
  name: string;
  of: Of;
  says: string;
}

/** One of several things to try; the first is there at the beginning. */
function Trials<Of>({
  of,
  now,
  choose,
}: {
  of: readonly Trial<Of>[];
  now: Trial<Of> | null;
  choose(trial: Trial<Of>): void;
}) {
  return (
    <div class="trials">
      <div class="trial-names" role="group" aria-label="Things to try">
        {of.map((trial) => (
          <button type="button" aria-pressed={trial === now} onClick={() => choose(trial)}>
            {trial.name}
          </button>
        ))}
      </div>
      <p aria-live="polite">{now === null ? "Your own numbers: what do you expect before you look?" : now.says}</p>
    </div>
  );
}

/** A view whose numbers can be changed, its grid and its memory. */
export function handFigure(trials: readonly Trial<Hand>[], at: number[], masked = false) {
  const typed = signal(trials[0]!.of);
  const text = computed(() => handText(typed.value.axes, typed.value.offset));
  const source = computed((): Source | null => ("text" in text.value ? { chain: text.value.text } : null));
  const model = new Model(source, signal(at));
  return live(() => {
    const fault = "fault" in text.value ? text.value.fault : null;
    return (
      <Figure fields={() => fieldsOf({ ...DEFAULT, mode: "view", ...typed.value, at: model.at.value })}>
        <Trials
          of={trials}
          now={trials.find(({ of }) => of === typed.value) ?? null}
          choose={(trial) => {
            typed.value = trial.of;
          }}
        />
        <div class="figure-stage">
          <div class="beside-grid">
            <HandFields of={typed.value} masked={masked} change={(hand) => (typed.value = hand)} />
            <Rule model={model} />
          </div>
          <Grid model={model} name="The tensor" beside={2} />
        </div>
        <p class="strip-name">Memory</p>
        <Strip model={model} />
        {fault === null ? <Wrong model={model} /> : <p class="fault-line">{sentence(fault)}</p>}
      </Figure>
    );
  });
}

/** A chain, with the tensor before and after each operation, and the same address in all of them. */
export function stepsFigure(trials: readonly Trial<string>[], at: number[], traced = false) {
  const chain = signal(trials[0]!.of);
  const model = new Model(
    computed(() => ({ chain: chain.value })),
    signal(at),
  );
  return live(() => {
    const state = model.state.value;
    return (
      <Figure fields={() => fieldsOf({ ...DEFAULT, chain: chain.value, at: model.at.value })}>
        {trials.length > 1 && (
          <Trials
            of={trials}
            now={trials.find(({ of }) => of === chain.value) ?? null}
            choose={(trial) => {
              model.at.value = [];
              chain.value = trial.of;
            }}
          />
        )}
        <ol class="stations">
          {state?.stages.map(({ shape, strides }, stage) => {
            const step = stage === 0 ? null : state.steps[stage - 1]!;
            return (
              <li>
                <p class="station-name">
                  <code>{step === null ? tuple(shape) : `.${step.text}`}</code>
                </p>
                <Grid
                  model={model}
                  stage={stage}
                  name={step === null ? "The tensor at the beginning" : `The tensor after ${step.text}`}
                  beside={state.stages.length}
                />
                {strides !== null && (
                  <p class="station-strides">
                    strides <code>{tuple(strides)}</code>
                  </p>
                )}
                {step?.verdict === "new_view" && <p class="verdict-no">needs a second view</p>}
              </li>
            );
          })}
        </ol>
        <p class="result">
          {state?.chain == null
            ? "\u00a0"
            : state.chain.views.map((view, at) => (
                <>
                  {state.chain!.views.length === 1 ? "One view: " : at === 0 ? "Two views: " : ", then "}
                  shape <code>{tuple(view.shape)}</code>, strides <code>{tuple(view.strides)}</code>
                  {String(view.offset) !== "0" && (
                    <>
                      , offset <code>{String(view.offset).replace("-", "\u2212")}</code>
                    </>
                  )}
                </>
              ))}
        </p>
        {state?.chain?.reason != null && <p class="reason">Why: {signed(state.chain.reason.sentence)}.</p>}
        {traced && <Rule model={model} />}
        <p class="strip-name">Memory</p>
        <Strip model={model} />
        <Wrong model={model} />
      </Figure>
    );
  });
}

/** A sentence of the engine with true minus signs. */
function signed(text: string): string {
  return text.replace(/-(?=\d)/g, "\u2212");
}

/** Expressions over variables, as they are typed. */
export interface Free {
  index: string;
  valid: string;
  variables: FreeVariable[];
}

export function freeSource({ index, valid, variables }: Free): FreeSource {
  const ranges = variables.map(({ name, begin, end }) => ({ name, begin: Number(begin), end: Number(end) }));
  return { index, valid, variables: ranges };
}

/** Expressions that can be changed, the layout that they give, and the numbers of one element in them. */
export function freeFigure(trials: readonly Trial<Free>[], at: number[]) {
  const typed = signal(trials[0]!.of);
  const model = new Model(
    computed(() => freeSource(typed.value)),
    signal(at),
  );
  const change = (patch: Partial<Free>): void => {
    typed.value = { ...typed.value, ...patch };
  };
  return live(() => {
    const { index, valid, variables } = typed.value;
    const wrong = model.fault.value?.field ?? null;
    return (
      <Figure fields={() => fieldsOf({ ...DEFAULT, mode: "free", ...typed.value, at: model.at.value })}>
        <Trials
          of={trials}
          now={trials.find(({ of }) => of === typed.value) ?? null}
          choose={(trial) => {
            model.at.value = [];
            typed.value = trial.of;
          }}
        />
        <div class="free">
          <Text
            name="index"
            named
            value={index}
            invalid={wrong === "index"}
            describedBy={undefined}
            change={(index) => change({ index })}
          />
          <Text
            name="valid"
            named
            value={valid}
            placeholder="True"
            invalid={wrong === "valid"}
            describedBy={undefined}
            change={(valid) => change({ valid })}
          />
          <div class="ranges">
            {variables.map(({ name, begin, end }, row) => {
              const bound = (key: "begin" | "end", value: string) => (
                <Scrub
                  field
                  value={value}
                  label={`${name}: ${key === "begin" ? "first value" : "end, which is not part of it"}`}
                  change={(value) => {
                    if (!/^-?\d{1,6}$/.test(value)) return;
                    change({ variables: variables.map((each, at) => (at === row ? { ...each, [key]: value } : each)) });
                  }}
                />
              );
              return (
                <span>
                  <code>{name}</code> from {bound("begin", begin)} up to {bound("end", end)}
                </span>
              );
            })}
          </div>
        </div>
        <Wrong model={model} />
        <div class="figure-stage">
          <Grid model={model} name="The layout of the expression" beside={2} />
          <Formula model={model} />
        </div>
        <p class="strip-name">Memory</p>
        <Strip model={model} />
      </Figure>
    );
  });
}
