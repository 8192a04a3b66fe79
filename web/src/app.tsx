import { Fragment, h } from "preact";
import { engine } from "./ask";
import { detail, pointed, sharing } from "./focus";
import { current, idle, layout, trouble } from "./layout";
import { bracket, counted, plain } from "./numbers";
import { mode, notice, steps, travel, type Mode } from "./page";
import { ChainPane } from "./panes/chain";
import { IconButton } from "./panes/controls";
import { GridPane } from "./panes/grid";
import { Guide, GuideButton } from "./panes/guide";
import { later } from "./panes/later";
import { live } from "./panes/live";
import { MissingNotice } from "./panes/missing";
import { part } from "./parts";
import { calm, quiet } from "./typing";

const MODE_NAMES: readonly { mode: Mode; name: string; hint: string }[] = [
  { mode: "chain", name: "Operations", hint: "a chain of operations on a shape" },
  { mode: "view", name: "One view", hint: "shape, strides, offset and mask by hand" },
  { mode: "free", name: "Expression", hint: "an index expression over variables" },
];

/** What a screen reader says of the element, once it is not only brushed by the pointer. */
const Spoken = live(() => {
  const known = detail.value;
  const over = pointed.value;
  const read = sharing.value;
  let text = "";
  if (trouble.value !== null) {
    text = quiet.value ? "" : trouble.value.fault.message.replaceAll("`", "");
  } else if (current.value && layout.value?.shape.includes(0) === true) {
    text = "The tensor has no elements.";
  } else if (known !== null && current.value && over !== null && "keys" in over && read?.address === over.address) {
    const many = counted(read.indices.length, "element");
    text = `Address ${plain(read.address)}: read by ${read.complete ? "" : "at least "}${many}.`;
  } else if (known !== null && known.index !== null && over === null && current.value) {
    const { begins } = known.layout;
    const index = bracket(known.index.map((at, axis) => at + (begins[axis] ?? 0)));
    const shared = read?.complete === true ? `, read by ${counted(read.indices.length, "element")}` : "";
    text = `Element ${index}: ${known.address === null ? "masked, no address" : `address ${plain(known.address)}${shared}`}.`;
  }
  return (
    <p class="spoken" role="status" aria-live="polite">
      {text}
    </p>
  );
});

const nothing = (): null => null;

/** What the first picture does not need comes a moment after it. */
const StripPane = later(
  "draws memory",
  async () => (await import("./panes/strip")).StripPane,
  () => <section class="pane awaited" id="memory" aria-label="Memory" />,
  true,
);
const HandPane = later("reads a view by hand", async () => (await import("./panes/hand")).HandPane);
const FreePane = later("has the fields of an expression", async () => (await import("./panes/free")).FreePane);
const Answer = later(
  "answers whether it is a view",
  async () => (await import("./panes/answer")).Answer,
  () => <section class="answer" aria-label="Answer" />,
  true,
);
const FlowPane = later(
  "draws the steps",
  async () => (await import("./panes/flow")).FlowPane,
  () => <section class="pane flow" id="flow" aria-label="The flow" />,
  true,
);
/** Three panes in one file, of which one word is enough. */
const Rest = later("tells of the element", async () => (await import("./rest")).Rest, nothing, true);
const Expression = later("shows the index expression", async () => (await import("./rest")).Expression, nothing, true);
const Compare = later("compares", async () => (await import("./rest")).Compare, nothing, true);
const Outputs = later("exports", async () => (await import("./panes/outputs")).Outputs, nothing, true);

const Modes = live(() => {
  return (
    <div class="switch modes" role="group" aria-label="What the layout is made from">
      {MODE_NAMES.map(({ mode: each, name, hint }) => (
        <button
          type="button"
          title={hint}
          aria-pressed={mode.value === each}
          onClick={() => void part("changes what the layout is made from", () => import("./carry"), ({ carry }) => carry(each))}
        >
          {name}
        </button>
      ))}
    </div>
  );
});

const History = live(() => {
  const { now, last } = steps.value;
  return (
    <div class="group">
      <IconButton
        icon="undo"
        label="Undo"
        title="Undo (the browser's Back)"
        disabled={now <= 0}
        click={() => travel(-1)}
      />
      <IconButton
        icon="redo"
        label="Redo"
        title="Redo (the browser's Forward)"
        disabled={now >= last}
        click={() => travel(1)}
      />
    </div>
  );
});

export const App = live(() => {
  const state = trouble.value !== null ? "wrong" : idle.value ? "current" : "waiting";
  return (
    <>
      <header class="top">
        <h1>
          <span class="logo" aria-hidden="true" /> shapetracker <small>explorer</small>
        </h1>
        <Modes />
        <p class="headline">
          Is it still a view, or must it be copied? <span>See where every element of a tensor lies in memory.</span>
        </p>
        <span class="fill" />
        <a class="to-course" href="./course.html">
          Course
        </a>
        <History />
        <GuideButton />
        <Outputs />
      </header>
      <MissingNotice />
      {notice.value !== null && (
        <p class="notice" role="alert">
          {notice.value}{" "}
          <button type="button" onClick={() => (notice.value = null)}>
            Close
          </button>
        </p>
      )}
      <main
        data-state={state}
        data-calm={calm.value ? "yes" : undefined}
        data-ready={layout.value !== null ? "yes" : "no"}
      >
        <Guide />
        <div class="pane ask">
          {mode.value === "chain" ? <ChainPane /> : mode.value === "view" ? <HandPane /> : <FreePane />}
          <Answer />
        </div>
        {mode.value === "chain" && <FlowPane />}
        <div class="pictures">
          <GridPane />
          <StripPane />
        </div>
        <div class="more">
          {engine.value !== "failed" && <Rest />}
          <Expression />
          <Compare />
        </div>
      </main>
      <Spoken />
    </>
  );
});
