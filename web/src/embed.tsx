/** `?embed=tensor`: one pane of the page, for other pages to show in a frame, with a way back to all of it. */
import { h, type ComponentType } from "preact";
import { idle, layout, trouble } from "./layout";
import { notice, page } from "./page";
import { FlowPane } from "./panes/flow";
import { GridPane } from "./panes/grid";
import { later } from "./panes/later";
import { live } from "./panes/live";
import { Mistake } from "./panes/mistake";
import { StripPane } from "./panes/strip";

const rest = (name: "ElementPane" | "ViewsPane" | "WitnessPane" | "Expression"): ComponentType =>
  later("shows this pane", async () => (await import("./rest"))[name]);

/** What can stand in a frame, by its name in the link. */
const PANES = new Map<string, ComponentType>([
  ["tensor", GridPane],
  ["memory", StripPane],
  ["flow", FlowPane],
  ["element", rest("ElementPane")],
  ["views", rest("ViewsPane")],
  ["why", rest("WitnessPane")],
  ["expression", rest("Expression")],
]);

export const Embed = live(({ pane }: { pane: string }) => {
  // A name that is not there is no reason to show nothing.
  const Shown = PANES.get(pane) ?? GridPane;
  const state = trouble.value !== null ? "wrong" : idle.value ? "current" : "waiting";
  const { mode, chain, index } = page.value;
  const text = mode === "chain" ? chain : mode === "free" ? index : (layout.value?.chain?.views[0]?.text ?? "");
  const whole = `${location.pathname}${location.hash}`;
  return (
    <main class="embedded" data-state={state} data-ready={layout.value !== null ? "yes" : "no"}>
      {notice.value !== null && <p class="notice">{notice.value}</p>}
      {trouble.value !== null && <Mistake id="embed-fault" fault={trouble.value.fault} text={null} />}
      <Shown />
      <p class="origin">
        <code>{text}</code>
        <a href={whole} target="_blank" rel="noopener">
          Open in shapetracker
        </a>
      </p>
    </main>
  );
});
