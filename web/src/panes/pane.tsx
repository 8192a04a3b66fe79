/** What all panes have in common: a heading, and a mark where what they show is not that of the text. */
import { h } from "preact";
import type { ComponentChildren } from "preact";
import { engine } from "../ask";
import { current, idle, layout, trouble } from "../layout";
import { live } from "./live";

/** What stands in a pane that has nothing to show. */
const NOTHING = { awaited: "Fetching the engine\u2026", there: "Nothing to show yet.", failed: "Nothing to show." };

interface Props {
  id: string;
  title: string;
  /** What stands beside the title. */
  tools?: ComponentChildren;
  /** The pane shows the layout, so that it is marked when that is stale. */
  shows?: boolean;
  children: ComponentChildren;
}

export const Pane = live(({ id, title, tools, shows = true, children }: Props) => {
  const stale = shows && !current.value && layout.value !== null;
  return (
    <section
      class="pane"
      id={id}
      aria-labelledby={`${id}-title`}
      data-stale={stale ? (idle.value ? "wrong" : "waiting") : undefined}
    >
      <div class="pane-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {stale && trouble.value !== null && <span class="stale-mark">Not current: from before the mistake</span>}
        {tools}
      </div>
      <div class="pane-body" inert={stale && idle.value}>
        {shows && layout.value === null ? <p class="soft">{NOTHING[engine.value]}</p> : children}
      </div>
    </section>
  );
});
