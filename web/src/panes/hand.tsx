/** The view entered by hand: shape, strides, offset and mask, an axis a column. */
import { h } from "preact";
import { trouble } from "../layout";
import { AFRESH, change, MOST_AXES, page, type HandAxis } from "../page";
import { IconButton } from "./controls";
import { live } from "./live";
import { Mistake } from "./mistake";
import { Pane } from "./pane";
import { Scroll } from "./scroll";
import { Scrub } from "./scrub";

const ROWS: readonly { key: keyof HandAxis; name: string; hint: string }[] = [
  { key: "size", name: "size", hint: "elements along the axis" },
  { key: "stride", name: "stride", hint: "how far a step along the axis moves the address; 0 and negative ones too" },
  { key: "begin", name: "valid from", hint: "the first index that has an address" },
  { key: "end", name: "valid to", hint: "the end of the valid range: the first index after it that has none" },
];

export const HandPane = live(() => {
  const { axes, offset } = page.value;
  const piece = trouble.value?.piece ?? null;
  const wrong = (axis: number | null, key: string): boolean =>
    piece !== null && piece.axis === axis && piece.key === key;
  const put = (axis: number, key: keyof HandAxis, value: string): void => {
    const next = axes.map((fields, each) => {
      if (each !== axis) return fields;
      // An unmasked axis stays unmasked when its size changes.
      const whole = key === "size" && fields.end === fields.size;
      return { ...fields, [key]: value, ...(whole ? { end: value } : {}) };
    });
    change({ axes: next, ...AFRESH }, `${key} of axis ${axis}`);
  };
  return (
    <Pane id="hand" title="One view by hand" shows={false}>
      <Scroll label="The axes">
        <table class="hand">
          <thead>
            <tr>
              <td />
              {axes.map((_, axis) => (
                <th scope="col">
                  axis {axis}
                  <IconButton
                    icon="remove"
                    label={`Delete axis ${axis}`}
                    title="Delete"
                    click={() => change({ axes: axes.filter((_, each) => each !== axis), ...AFRESH }, true)}
                  />
                </th>
              ))}
              <th scope="col">
                <button
                  type="button"
                  disabled={axes.length >= MOST_AXES}
                  onClick={() =>
                    change({ axes: [...axes, { size: "2", stride: "1", begin: "0", end: "2" }], ...AFRESH }, true)
                  }
                >
                  + axis
                </button>
              </th>
            </tr>
          </thead>
          <tbody>
            {ROWS.map(({ key, name, hint }) => (
              <tr>
                <th scope="row" title={hint}>
                  {name}
                </th>
                {axes.map((fields, axis) => (
                  <td>
                    <Scrub
                      field
                      value={fields[key]}
                      label={`${name}, axis ${axis}`}
                      invalid={wrong(axis, key)}
                      change={(value) => put(axis, key, value)}
                    />
                  </td>
                ))}
                <td />
              </tr>
            ))}
            <tr>
              <th scope="row" title="the address of index 0, whether it is valid or not">
                offset
              </th>
              <td>
                <Scrub
                  field
                  value={offset}
                  label="offset"
                  invalid={wrong(null, "offset")}
                  change={(value) => change({ offset: value, ...AFRESH }, "offset")}
                />
              </td>
            </tr>
          </tbody>
        </table>
      </Scroll>
      <div class="slot">
        {trouble.value !== null ? (
          <Mistake id="hand-fault" fault={trouble.value.fault} text={null} />
        ) : (
          <p class="help">
            The valid range is half-open: from 1 to 3 means indices 1 and 2. Arrow keys and dragging change the numbers.
          </p>
        )}
      </div>
    </Pane>
  );
});
