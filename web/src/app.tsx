import { Fragment, h } from "preact";
import { detail, pointed, sharing } from "./focus";
import { current, idle, layout, trouble } from "./layout";
import { bracket, counted, plain } from "./numbers";
import { change, flush, mode, notice, settle, steps, type Mode } from "./page";
import { ChainPane } from "./panes/chain";
import { ComparePane } from "./panes/compare";
import { IconButton } from "./panes/controls";
import { ElementPane } from "./panes/element";
import { Guide } from "./panes/guide";
import { ExpressionPane } from "./panes/expression";
import { FreePane } from "./panes/free";
import { GridPane } from "./panes/grid";
import { HandPane } from "./panes/hand";
import { live } from "./panes/live";
import { Outputs } from "./panes/outputs";
import { StripPane } from "./panes/strip";
import { ViewsPane } from "./panes/views";
import { WitnessPane } from "./panes/witness";

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
    text = trouble.value.fault.message;
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

const Modes = live(() => {
  return (
    <div class="modes" role="group" aria-label="What the layout is made from">
      {MODE_NAMES.map(({ mode: each, name, hint }) => (
        <button
          type="button"
          title={hint}
          aria-pressed={mode.value === each}
          onClick={() =>
            change({ mode: each, at: [], places: null, camera: null, stripCamera: null, color: "address" }, true)
          }
        >
          {name}
        </button>
      ))}
    </div>
  );
});

const History = live(() => {
  const { now, last } = steps.value;
  const go = (by: -1 | 1) => (): void => {
    flush();
    settle();
    history.go(by);
  };
  return (
    <div class="group">
      <IconButton icon="undo" label="Undo" title="Undo (the browser's Back)" disabled={now <= 0} click={go(-1)} />
      <IconButton
        icon="redo"
        label="Redo"
        title="Redo (the browser's Forward)"
        disabled={now >= last}
        click={go(1)}
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
        <span class="fill" />
        <History />
        <Outputs />
      </header>
      {notice.value !== null && (
        <p class="notice" role="alert">
          {notice.value}{" "}
          <button type="button" onClick={() => (notice.value = null)}>
            Close
          </button>
        </p>
      )}
      <main data-state={state} data-ready={layout.value !== null ? "yes" : "no"}>
        <Guide />
        {mode.value === "chain" ? <ChainPane /> : mode.value === "view" ? <HandPane /> : <FreePane />}
        <div class="columns">
          <div class="wide">
            <GridPane />
            <StripPane />
            <WitnessPane />
          </div>
          <div class="narrow">
            <ElementPane />
            <ViewsPane />
            <ExpressionPane />
          </div>
        </div>
        <ComparePane />
      </main>
      <Spoken />
    </>
  );
});
