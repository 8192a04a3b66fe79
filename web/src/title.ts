/** The title of the tab, which is also that of a bookmark and of a step in the history: what is looked at, first. */
import { effect } from "@preact/signals-core";
import { page } from "./page";

const LONGEST = 70;

export function followTitle(): void {
  effect(() => {
    const { mode, chain, axes, index } = page.value;
    const by = (key: "size" | "stride"): string => axes.map((axis) => axis[key]).join(", ");
    const whole = mode === "chain" ? chain : mode === "free" ? index : `shape (${by("size")}), strides (${by("stride")})`;
    const text = whole.replace(/\s+/g, " ").trim();
    const short = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}\u2026` : text;
    document.title = short === "" ? "shapetracker explorer" : `${short} \u00b7 shapetracker`;
  });
}
