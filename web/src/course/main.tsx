/** The course: `course.html` has the words, and here the figures and exercises are put in their places. */
import { effect } from "@preact/signals-core";
import { h, render, type ComponentType } from "preact";
import { begin, engine } from "../ask";
import { followTheme } from "../draw/theme";
import { chainExercise, freeExercise, handExercise } from "./exercise";
import { freeFigure, hand, handFigure, stepsFigure } from "./figures";
import { judgeJoined } from "./judge";
import { forget, rightOnes } from "./kept";
import { live } from "../panes/live";
import { pictured } from "../panes/later";
import { MissingNotice } from "../panes/missing";
import "../style.css";
import "../pictures.css";
import "./course.css";

const JOINED = "(2, 3, 4).permute(2, 0, 1)";

const PARTS: Record<string, (name: string) => ComponentType> = {
  strides: () =>
    handFigure(
      [
        {
          name: "Row by row",
          of: hand([
            [3, 4],
            [4, 1],
          ]),
          says: "One step down a column is 4 addresses, one step along a row is 1: the matrix as NumPy makes it.",
        },
        {
          name: "Strides exchanged",
          of: hand([
            [4, 1],
            [3, 4],
          ]),
          says: "Sizes and strides have changed places, and this is the transpose. Memory is the same, cell for cell.",
        },
        {
          name: "Every second column",
          of: hand([
            [3, 4],
            [2, 2],
          ]),
          says: "Steps of 2 along a row: what NumPy writes a[:, ::2]. The addresses between are holes, nobody reads them.",
        },
        {
          name: "A gap after each row",
          of: hand([
            [3, 6],
            [4, 1],
          ]),
          says: "Rows of 4 that begin 6 addresses apart: a part of a wider matrix, as slicing columns gives it.",
        },
        {
          name: "Backwards",
          of: hand(
            [
              [3, -4],
              [4, 1],
            ],
            8,
          ),
          says: "A negative stride walks back, and the offset says where [0, 0] is: a[::-1] begins at address 8.",
        },
        {
          name: "The same row again",
          of: hand([
            [4, 0],
            [5, 1],
          ]),
          says: "A stride of 0 stays where it is: four rows, and all of them read the same five addresses.",
        },
      ],
      [1, 2],
    ),
  "strides-exercise": (name) =>
    handExercise(
      name,
      hand([
        [3, 4],
        [4, 1],
      ]),
      hand([
        [3, 1],
        [4, 3],
      ]),
      "strides 1 and 3",
      {
        goal: { chain: "View(shape=(3, 4), strides=(1, 3))" },
        hints: [
          {
            like: { chain: "View(shape=(3, 4), strides=(4, 1))" },
            says: "These are still the strides of rows one after the other. In what is asked for, how far is it from 0 to its neighbour on the right, and how far to the one below?",
          },
          {
            like: { chain: "View(shape=(3, 4), strides=(3, 1))" },
            says: "The right numbers, for the wrong axes: axis 0 goes down, axis 1 to the right.",
          },
        ],
        praise:
          "Memory goes down the columns now, which NumPy calls order F. The strides are 1 and 3: down is the next address, right is 3 further.",
      },
    ),
  "gaps-exercise": (name) =>
    handExercise(
      name,
      hand([
        [3, 4],
        [4, 1],
      ]),
      hand([
        [3, 6],
        [4, 1],
      ]),
      "strides 6 and 1",
      {
        goal: { chain: "View(shape=(3, 4), strides=(6, 1))" },
        hints: [
          {
            like: { chain: "View(shape=(3, 4), strides=(4, 1))" },
            says: "This is a matrix by itself: each row begins where the one before ends. How wide is the matrix that it is a part of?",
          },
          {
            like: { chain: "View(shape=(3, 4), strides=(1, 6))" },
            says: "The right numbers, for the wrong axes: rows are 6 apart, and along a row the next address follows.",
          },
          {
            like: { chain: "View(shape=(3, 4), strides=(2, 1))" },
            says: "2 addresses of each row are left out, but the stride is how far it is from row to row: what is read of a row, and the gap.",
          },
        ],
        praise:
          "From the beginning of a row to the next it is 6, and only 4 are read: addresses 4, 5, 10 and 11 are gaps. This is `a[:, :4]` of a matrix with 6 columns, and why it is not contiguous.",
      },
    ),
  "repeat-exercise": (name) =>
    handExercise(
      name,
      hand([
        [3, 4],
        [4, 1],
      ]),
      hand([
        [3, 1],
        [4, 0],
      ]),
      "strides 1 and 0",
      {
        goal: { chain: "View(shape=(3, 4), strides=(1, 0))" },
        hints: [
          {
            like: { chain: "View(shape=(3, 4), strides=(0, 1))" },
            says: "Here all rows are the same. Asked for is that along a row it is the same number: which axis must not move?",
          },
          {
            like: { chain: "View(shape=(3, 4), strides=(1, 1))" },
            says: "Every step along a row moves on by one. To stay where one is, by how much does the address change?",
          },
        ],
        praise:
          "A step along a row moves by 0, so that twelve elements read three addresses. It is what broadcasting a column does, and why one must not write into it: four elements are one number.",
      },
    ),
  "broadcast-exercise": (name) =>
    chainExercise(name, "(4, 1)", "(4, 1).reshape(1, 4, 1).expand(2, 4, 3)", {
      goal: { chain: "(4, 1).reshape(1, 4, 1).expand(2, 4, 3)" },
      hints: [
        {
          like: { chain: "(4, 1)" },
          says: "This is `b` as it lies in memory. Shapes are compared from the last axis on: 3 and 1, then 1 and 4, then 2 and nothing.",
        },
        {
          like: { chain: "(4, 1).expand(4, 3)" },
          says: "The last two axes are right. `a` has one more, in front: there `b` is the same for both.",
        },
        {
          like: { chain: "(2, 1, 3).expand(2, 4, 3)" },
          says: "So the sum reads `a`. It reads `b`, which has the shape `(4, 1)`, in the same shape.",
        },
        {
          like: { chain: "(4, 1).reshape(4, 1, 1).expand(4, 2, 3)" },
          says: "A new axis comes in front, and the others keep their places: the result has the shape `(2, 4, 3)`.",
        },
      ],
      praise:
        "Each index of the result reads one element of `b`, by strides of 0 where `b` has no axis or one of size 1, and none of it is copied. `a` is read as `(2, 1, 3).expand(2, 4, 3)`, which repeats the other axis.",
    }),
  "windows-exercise": (name) =>
    handExercise(
      name,
      hand([
        [3, 4],
        [3, 1],
        [2, 1],
        [2, 1],
      ]),
      hand([
        [3, 4],
        [3, 1],
        [2, 4],
        [2, 1],
      ]),
      "strides 4, 1, 4 and 1",
      {
        goal: { chain: "View(shape=(3, 3, 2, 2), strides=(4, 1, 4, 1))" },
        hints: [
          {
            like: { chain: "View(shape=(3, 3, 2, 2), strides=(4, 1, 2, 1))" },
            says: "So a window would be 4 numbers in a row. Down inside of a window is down in the image: how far is that?",
          },
          {
            like: { chain: "View(shape=(3, 3, 2, 2), strides=(8, 2, 4, 1))" },
            says: "Each window is right, but they do not overlap: the next one begins one column, or one row, further.",
          },
          {
            like: { chain: "View(shape=(3, 3, 2, 2), strides=(12, 4, 2, 1))" },
            says: "These are the strides of an array of 36 numbers. The image has 16, and the windows share them.",
          },
        ],
        praise:
          "Going to the next window is a step in the image, and so is going on inside of one: both axes have the same stride. 36 elements read 16 addresses. It is im2col without a copy, until somebody reshapes it to a matrix.",
      },
    ),
  "rule-exercise": (name) =>
    handExercise(
      name,
      hand([
        [2, 12],
        [3, 4],
        [4, 1],
      ]),
      hand([
        [2, 20],
        [3, 4],
        [4, 1],
      ]),
      "strides 20, 4 and 1",
      {
        goal: { chain: "View(shape=(2, 3, 4), strides=(20, 4, 1))" },
        hints: [
          {
            like: { chain: "View(shape=(2, 3, 4), strides=(12, 4, 1))" },
            says: "`.view(2, 12)` works here, too, but without a gap: the second block begins at 20.",
          },
          {
            like: { chain: "View(shape=(2, 3, 4), strides=(20, 5, 1))" },
            says: "One step of the middle axis goes 5, and all of the last one together 4: after each row of 4 there is a gap, and `.view(2, 12)` raises an error.",
          },
          {
            like: { chain: "View(shape=(2, 3, 4), strides=(20, 1, 3))" },
            says: "The two axes lie close together, but the last one is not the inner one: in the order of `.view` the addresses are 0, 3, 6, 9, 1, .. and one stride cannot do that.",
          },
        ],
        praise:
          "4 is 1 times 4: the last two axes join to one of 12 with stride 1. And 20 is not 4 times 3, so that `.view(24)` raises an error: all three do not join.",
      },
    ),
  moves: () =>
    stepsFigure(
      [
        {
          name: "permute",
          of: "(2, 3).permute(1, 0)",
          says: "Axes change places, and their strides go with them: (3, 1) becomes (1, 3).",
        },
        {
          name: "expand",
          of: "(1, 4).expand(3, 4)",
          says: "An axis of size 1 becomes any size with a stride of 0. This is what broadcasting does: three elements read one address.",
        },
        {
          name: "flip",
          of: "(2, 4).flip(1)",
          says: "An axis is read from its end: its stride is negated, and the offset moves to the last element of the first row.",
        },
        {
          name: "shrink",
          of: "(3, 5).shrink((1, 3), (1, 4))",
          says: "A part of a tensor keeps its strides: rows are still 5 apart. Only the offset says where the part begins.",
        },
        {
          name: "a row as a column",
          of: "(4).reshape(4, 1).expand(4, 3)",
          says: "Reshape adds an axis of size 1, expand repeats it: NumPy's a[:, None] beside a row of three.",
        },
      ],
      [1, 1],
    ),
  "moves-exercise": (name) =>
    chainExercise(name, "(2, 3).permute(1, 0)", "(2, 3).permute(1, 0).reshape(3, 2, 1).expand(3, 2, 2)", {
      goal: { chain: "(2, 3).permute(1, 0).reshape(3, 2, 1).expand(3, 2, 2)" },
      hints: [
        {
          like: { chain: "(2, 3).permute(1, 0)" },
          says: "The transpose is a good beginning. Now each number is wanted twice: give it an axis of size 1 of its own with `reshape(3, 2, 1)`, and expand that.",
        },
        {
          like: { chain: "(2, 3).permute(1, 0).reshape(3, 2, 1)" },
          says: "The new axis is there, of size 1. What makes it longer, without a copy, is expand.",
        },
        {
          like: { chain: "(2, 3).reshape(2, 3, 1).expand(2, 3, 2)" },
          says: "Each number is there twice, but row by row as before: the two axes have to change places first.",
        },
        {
          like: { chain: "(3, 2).reshape(3, 2, 1).expand(3, 2, 2)" },
          says: "The shape is right, but a base of (3, 2) has rows of two: begin with (2, 3), and permute.",
        },
        {
          like: { chain: "(12).reshape(3, 2, 2)" },
          says: "The shape is right, but these are twelve addresses, and there are only six numbers.",
        },
      ],
      praise:
        "The strides are (1, 3, 0): permute exchanged the first two, and the new axis stays where it is. Twelve elements, six addresses, nothing copied.",
    }),
  masks: () =>
    handFigure(
      [
        {
          name: "A border on all sides",
          of: hand(
            [
              [4, 4, 1, 3],
              [6, 1, 1, 5],
            ],
            -5,
          ),
          says: "Eight numbers, and a frame of nothing around them. The first number is [1, 1]: 1·4 + 1·1 − 5 = 0.",
        },
        {
          name: "Two columns behind",
          of: hand([
            [3, 3],
            [5, 1, 0, 3],
          ]),
          says: "Only columns 0, 1 and 2 are valid. The rows still begin 3 addresses apart: what is masked has no memory.",
        },
        {
          name: "Nothing masked",
          of: hand([
            [2, 4],
            [4, 1],
          ]),
          says: "Where every range is the whole axis there is no mask. Make one of the ranges shorter, and see what goes.",
        },
        {
          name: "Three axes",
          of: hand([
            [2, 6],
            [3, 2, 1, 3],
            [2, 1],
          ]),
          says: "A range for each axis: an element is valid only where all of its indices are. Here [any, 1 or 2, any].",
        },
      ],
      [0, 2],
      true,
    ),
  "masks-exercise": (name) =>
    chainExercise(name, "(2, 3).pad((1, 1), (1, 1))", "(2, 3).pad((2, 0), (2, 0))", {
      goal: { chain: "(2, 3).pad((2, 0), (2, 0))" },
      hints: [
        {
          like: { chain: "(2, 3).pad((1, 1), (1, 1))" },
          says: "The shape is right: two rows and two columns more. Now all of them are wanted before the numbers, and none behind.",
        },
        {
          like: { chain: "(2, 3).pad((0, 2), (0, 2))" },
          says: "This is the upper left corner. Of each pair, the first number is what comes before.",
        },
        {
          like: { chain: "(2, 3).pad((2, 0), (0, 2))" },
          says: "The rows are right. The columns are on the wrong side: the second pair is theirs.",
        },
        {
          like: { chain: "(2, 3).pad((0, 2), (2, 0))" },
          says: "The columns are right. The rows are on the wrong side: the first pair is theirs.",
        },
        {
          like: { chain: "(4, 5)" },
          says: "These are twenty numbers. There are only six; the rest must be padding.",
        },
      ],
      praise:
        "The mask is rows 2 to 4 and columns 2 to 5 (neither end is part of it), and the offset is −8: [2, 2] is 2·3 + 2·1 − 8 = 0.",
    }, [2, 2]),
  views: () =>
    stepsFigure([{ name: "", of: "(3, 2).permute(1, 0).reshape(3, 2)", says: "" }], [2, 0], true),
  rules: () =>
    stepsFigure(
      [
        {
          name: "Cut",
          of: "(2, 12).permute(1, 0).reshape(3, 4, 2)",
          says: "12 steps of 1 are 3 steps of 4, with 4 steps of 1 inside each: the strides (1, 12) become (4, 1, 12). Nothing is masked, so any cut will do.",
        },
        {
          name: "Joined",
          of: "(3, 2, 2).permute(1, 2, 0).reshape(4, 3)",
          says: "The strides are (2, 1, 4). Two steps of the inner axis go 2·1 = 2 far, as one step of the outer: the first two axes are one of 4 with stride 1.",
        },
        {
          name: "Not to be joined",
          of: "(3, 2, 2).permute(1, 2, 0).reshape(2, 6)",
          says: "The other two neighbours: three steps of the inner axis go 3·4 = 12 far, one of the outer 1. No stride is both.",
        },
        {
          name: "A mask that cannot be cut",
          of: "(5).pad((0, 3)).reshape(2, 4)",
          says: "Strides (4, 1) would do for the addresses. But the mask would need row 0 with all columns, and row 1 with one.",
        },
        {
          name: "A mask that can",
          of: "(4).pad((0, 4)).reshape(2, 4)",
          says: "The cut goes where the mask ends: row 0 is valid, row 1 is not. That is a range for each axis, and so one view.",
        },
      ],
      [1, 0],
    ),
  "views-exercise": (name) =>
    chainExercise(name, `${JOINED}.reshape(8, 3)`, `${JOINED}.reshape(4, 6)`, (text) => judgeJoined(text, JOINED)),
  expression: () =>
    freeFigure(
      [
        {
          name: "Two views in one line",
          of: {
            index: "(idx0*2 + idx1)%3*2 + (idx0*2 + idx1)//3",
            valid: "",
            variables: [
              { name: "idx0", begin: "0", end: "3" },
              { name: "idx1", begin: "0", end: "2" },
            ],
          },
          says: "The two views of lesson 4: idx0*2 + idx1 is the position, %3 and //3 cut it into an index of (2, 3), *2 is a stride.",
        },
        {
          name: "A triangle",
          of: {
            index: "y*5 + x",
            valid: "x <= y",
            variables: [
              { name: "y", begin: "0", end: "5" },
              { name: "x", begin: "0", end: "5" },
            ],
          },
          says: "A condition that no mask of one view can be: x <= y is no range for each axis.",
        },
        {
          name: "Windows",
          of: {
            index: "i + j",
            valid: "",
            variables: [
              { name: "i", begin: "0", end: "5" },
              { name: "j", begin: "0", end: "3" },
            ],
          },
          says: "Two strides of 1: each row begins one address further, as a sliding window does. Addresses are read up to three times.",
        },
        {
          name: "Around in a ring",
          of: {
            index: "(i + j)%6",
            valid: "",
            variables: [
              { name: "i", begin: "-1", end: "4" },
              { name: "j", begin: "0", end: "4" },
            ],
          },
          says: "% keeps the address inside 0 to 5, also for a negative i: as in Python, (−1)%6 is 5.",
        },
      ],
      [2, 0],
    ),
  "expression-exercise": (name) =>
    freeExercise(name, "i", [{ name: "i", begin: 0, end: 12 }], "i%3*4 + i//3", {
      goal: { chain: "(3, 4).permute(1, 0).reshape(12)" },
      hints: [
        {
          like: { chain: "(12)" },
          says: "This walks along the rows. Down a column each step is 4 addresses, and after 3 steps the next column begins.",
        },
        {
          like: { index: "i//3*4 + i%3", variables: [{ name: "i", begin: 0, end: 12 }] },
          says: "The right parts, exchanged: `i//3` counts whole columns, `i%3` is how far down one is. Which of them is worth 4?",
        },
        {
          like: { chain: "(4, 3).permute(1, 0).reshape(12)" },
          says: "This is right for a matrix of 4 rows of 3. Ours has 3 rows of 4: a column is 3 long, and rows are 4 apart.",
        },
        {
          like: { index: "i%3*4", variables: [{ name: "i", begin: 0, end: 12 }] },
          says: "Down the first column it is right, and then it begins again in the same one. What says which column it is?",
        },
        {
          like: { index: "i*4", variables: [{ name: "i", begin: 0, end: 12 }] },
          says: "The steps are right, but they never go back up to the next column: that is what `%` is for.",
        },
      ],
      praise:
        "Written as `i%3*4 + i//3` it can be read: i%3 is the row, 4 addresses each, and i//3 the column, one address each. The engine writes `i*4 - i//3*11`, which is the same for every i with one division in place of two.",
    }),
};

followTheme();
begin();
void import("../offline/keep").then(({ keepForOffline }) => keepForOffline()).catch(() => undefined);
// There is no one first picture here: what is fetched later comes with the engine.
effect(() => {
  if (engine.value !== "awaited") pictured.value = true;
});
const told = document.createElement("div");
told.className = "told";
document.querySelector("main")?.prepend(told);
render(<MissingNotice />, told);

const places = [...document.querySelectorAll<HTMLElement>("[data-part]")];
const exercises = places.flatMap(({ dataset: { part = "" } }) => (part.endsWith("-exercise") ? [part] : []));

/** How many exercises are done, for whoever has begun. */
const Progress = live(() => {
  const done = exercises.filter((name) => rightOnes().includes(name)).length;
  if (done === 0) return null;
  return (
    <p class="progress">
      <progress max={exercises.length} value={done} aria-label="Exercises done" /> {done} of {exercises.length} exercises done.{" "}
      <button
        type="button"
        onClick={() => {
          forget();
          location.reload();
        }}
      >
        Begin anew
      </button>
    </p>
  );
});
const progress = document.createElement("div");
document.querySelector("nav.contents")?.after(progress);
render(<Progress />, progress);

/** A figure far below is made when one comes near it: the first ones are there sooner. */
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      put(target as HTMLElement);
    }
  },
  { rootMargin: "800px" },
);

function put(place: HTMLElement): void {
  const make = PARTS[place.dataset["part"] ?? ""];
  if (make === undefined) return;
  const Part = make(place.dataset["part"] ?? "");
  place.replaceChildren();
  render(<Part />, place);
}

for (const place of places) seen.observe(place);
