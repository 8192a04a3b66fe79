/** An exercise: what is asked for beside what one has, an answer, and what the engine says of it. */
import { Fragment, h, type ComponentChildren } from "preact";
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { Source } from "shapetracker/engine";
import { handText } from "../hand";
import { live } from "../panes/live";
import { Prose } from "../panes/prose";
import { Text } from "../panes/text";
import { HandFields, type Hand } from "./figures";
import { Grid, Strip } from "./figure";
import { judge, prepare, type Goal, type Judgement } from "./judge";
import { keepAnswer, keepRight, keptAnswer, rightOnes } from "./kept";
import { Model } from "./model";

/** After so many wrong tries a way can be looked at. */
const PATIENCE = 2;

interface Parts {
  /** By which its answer is kept. */
  name: string;
  /** The layout that is typed; null where there is none. */
  source: ReadonlySignal<Source | null>;
  /** Where the answer is typed. */
  Field: (props: { wrong: boolean; submit(): void }) => ComponentChildren;
  check(): Promise<Judgement>;
  /** The layout that is asked for, where it is drawn. */
  goal: Source | null;
  solution: string;
  /** How many grids are beside each other where there is room: rows that are long are below each other. */
  beside?: number;
  /** The element that is marked at first. */
  at?: number[];
  solve(): void;
}

function exercise({ name, source, Field, check, goal, solution, beside = 2, at = [], solve }: Parts) {
  prepare();
  const yours = new Model(source, signal(at));
  // What is pointed at is marked in both.
  const asked = goal === null ? null : new Model(signal(goal), yours.at, yours.over);
  const said = signal<Judgement | null>(null);
  const tries = signal(0);
  /** How many answers have been judged: the same may be said of two in a row. */
  const judged = signal(0);
  const Answer = live(Field);
  let turn = 0;
  const submit = (): void => {
    const mine = ++turn;
    void check().then((judgement) => {
      if (mine !== turn) return;
      said.value = judgement;
      judged.value++;
      if (judgement.right === false) tries.value++;
      if (judgement.right === true) keepRight(name);
    });
  };
  // What was right before is said to be so again.
  if (rightOnes().includes(name)) submit();
  return live(() => {
    const judgement = said.value;
    return (
      <form
        class="exercise-form"
        data-right={judgement?.right == null ? undefined : judgement.right ? "yes" : "no"}
        data-judged={judged.value}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div class="pair">
          {asked !== null && (
            <div>
              <p class="station-name">Asked for</p>
              <Grid model={asked} name="What is asked for" beside={beside} />
            </div>
          )}
          <div>
            <p class="station-name">Yours</p>
            <Grid model={yours} name="Your tensor" beside={beside} />
          </div>
        </div>
        <Strip model={yours} />
        <div class="answer-line">
          <Answer wrong={judgement?.right === false} submit={submit} />
          <button type="submit" class="check">
            Check
          </button>
        </div>
        <p class="judgement" role="status">
          {judgement === null ? (
            "\u00a0"
          ) : (
            <>
              {judgement.right === true && <b>Yes. </b>}
              {judgement.right === false && !judgement.says.startsWith("Not yet") && <b>Not yet. </b>}
              <Prose text={judgement.says} />
            </>
          )}
        </p>
        {judgement?.right !== true && tries.value >= PATIENCE && (
          <button
            type="button"
            onClick={() => {
              solve();
              submit();
            }}
          >
            Show one way: {solution}
          </button>
        )}
      </form>
    );
  });
}

/** Text that is an answer: Enter checks it. */
function Line({
  name,
  text,
  wrong,
  submit,
  change,
}: {
  name: string;
  text: string;
  wrong: boolean;
  submit(): void;
  change(text: string): void;
}) {
  return (
    <div class="answer-text" onKeyDown={(event) => event.key === "Enter" && !event.shiftKey && submit()}>
      <Text name={name} value={text} invalid={wrong} describedBy={undefined} change={change} />
    </div>
  );
}

const isText = (kept: unknown): kept is string => typeof kept === "string";

/** What is typed for an exercise: what was typed last, and kept when it changes. */
function typed<T>(name: string, begin: T, is: (kept: unknown) => kept is T): Signal<T> {
  const value = signal<T>(keptAnswer(name, is) ?? begin);
  value.subscribe((now) => {
    if (now !== begin && now !== keptAnswer(name, is)) keepAnswer(name, now);
  });
  return value;
}

/** The answer is a chain. */
export function chainExercise(
  name: string,
  begin: string,
  solution: string,
  of: Goal | ((text: string) => Promise<Judgement>),
  at: number[] = [],
) {
  const text = typed(name, begin, isText);
  return exercise({
    name,
    source: computed(() => ({ chain: text.value })),
    Field: ({ wrong, submit }) => (
      <Line name="Your chain" text={text.value} wrong={wrong} submit={submit} change={(now) => (text.value = now)} />
    ),
    check: () => (typeof of === "function" ? of(text.value) : judge({ chain: text.value }, of)),
    goal: typeof of === "function" ? null : of.goal,
    solution,
    at,
    solve: () => (text.value = solution),
  });
}

/** The answer is an expression over given variables. */
export function freeExercise(name: string, begin: string, variables: { name: string; begin: number; end: number }[], solution: string, of: Goal) {
  const text = typed(name, begin, isText);
  const source = computed((): Source => ({ index: text.value, valid: "", variables }));
  return exercise({
    name,
    source,
    Field: ({ wrong, submit }) => (
      <Line name="Your index" text={text.value} wrong={wrong} submit={submit} change={(now) => (text.value = now)} />
    ),
    check: () => judge(source.value, of),
    goal: of.goal,
    solution,
    beside: 1,
    solve: () => (text.value = solution),
  });
}

/** The answer is the strides of a view. */
export function handExercise(name: string, begin: Hand, solution: Hand, says: string, of: Goal) {
  // Only strides are asked for: what is kept is a text for each axis.
  const strides = typed(name, begin.axes.map(({ stride }) => stride), (kept): kept is string[] => {
    return Array.isArray(kept) && kept.length === begin.axes.length && kept.every(isText);
  });
  const view = computed((): Hand => {
    return { ...begin, axes: begin.axes.map((axis, at) => ({ ...axis, stride: strides.value[at]! })) };
  });
  const change = ({ axes }: Hand): void => {
    strides.value = axes.map(({ stride }) => stride);
  };
  const source = computed((): Source | null => {
    const text = handText(view.value.axes, view.value.offset);
    return "text" in text ? { chain: text.text } : null;
  });
  return exercise({
    name,
    source,
    Field: ({ submit }) => (
      <div onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), submit())}>
        <HandFields of={view.value} fixed change={change} />
      </div>
    ),
    check: () =>
      source.value === null
        ? Promise.resolve({ right: false, says: "Each stride is one whole number." })
        : judge(source.value, of),
    goal: of.goal,
    solution: says,
    solve: () => change(solution),
  });
}
