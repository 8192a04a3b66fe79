/** The element in focus: its index, to be typed too, and its address. */
import { h } from "preact";
import { detail, pointed, select, selected, sharing } from "../focus";
import { layout } from "../layout";
import { addressText, bracket, clamp, counted } from "../numbers";
import { page } from "../page";
import { live } from "./live";
import { Pane } from "./pane";
import { Scrub } from "./scrub";

export const ElementPane = live(() => {
  const now = layout.value;
  const known = detail.value;
  const index = selected.value;
  if (now === null || index === null) {
    return (
      <Pane id="element" title="Element">
        <p class="soft">There is no element.</p>
      </Pane>
    );
  }
  const mine = known !== null && known.layout === now;
  const shown = mine && known.index !== null ? known.index : index;
  const begins = now.begins;
  const reading = sharing.value;
  const masking = mine ? known.trace?.levels.at(-1) : undefined;
  return (
    <Pane id="element" title="Element">
      <p class="linked">
        <span class="from">
          {mine && known.fromMemory && known.index === null
            ? "nothing"
            : bracket(shown.map((at, axis) => at + (begins[axis] ?? 0)))}
        </span>
        <span class="arrow" aria-label="reads address">
          {mine && known.fromMemory ? "\u2190" : "\u2192"}
        </span>
        <span class="to">{!mine ? "\u2026" : known.address === null ? "masked" : addressText(known.address, page.value.label)}</span>
      </p>
      <p class="soft">
        {mine && known.address === null && masking !== undefined && masking.masked_axes.length > 0
          ? `View ${masking.view + 1} masks it along axis ${masking.masked_axes.join(" and ")}.`
          : reading !== null
            ? `${reading.complete ? "" : "At least "}${counted(reading.indices.length, "element")} ${reading.indices.length === 1 ? "reads" : "read"} this address.`
            : "\u00a0"}
        {reading !== null && reading.note !== null && ` ${reading.note}`}
      </p>
      <div class="index" role="group" aria-label="Index of the selected element">
        {shown.map((at, axis) => (
          <label>
            <span>{now.names[axis]}</span>
            <Scrub
              field
              value={String(at + (begins[axis] ?? 0))}
              label={`index along ${now.names[axis]}`}
              change={(value) => {
                if (!/^[+-]?\d+$/.test(value)) return;
                pointed.value = null;
                const to = clamp(Number(value) - (begins[axis] ?? 0), 0, (now.shape[axis] ?? 1) - 1);
                select(shown.map((old, each) => (each === axis ? to : old)));
              }}
            />
          </label>
        ))}
      </div>
      <p class="soft">
        {counted(now.numel, "element")} in all{now.chain?.contiguous === true ? ", contiguous" : ""}
      </p>
    </Pane>
  );
});
