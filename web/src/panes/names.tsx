/** Sizes that are names: a slider for each, and for which values it is one view. */
import { h } from "preact";
import type { NamesAnswer } from "shapetracker/engine";
import { named } from "../layout";
import { plain } from "../numbers";
import { AFRESH, change, page } from "../page";
import { live } from "./live";
import { sentence } from "./mistake";

/** A slider ends here where nothing is said of a name. */
const FAR = 64;

/** Those of a chain. */
export const Names = live(() => named.value !== null && <Sliders now={named.value} />);

export const Sliders = live(({ now }: { now: Pick<NamesAnswer, "names" | "witness"> }) => {
  const { where, values } = page.value;
  return (
    <div class="names" role="group" aria-label="Sizes that are names">
      {now.names.map(({ name, begin, end, value }) => {
        const least = Number(begin ?? 0);
        const most = Math.min(end === null ? Math.max(FAR, 2 * Number(value)) : Number(end), least + 4095);
        const put = (value: number): void =>
          change({ values: { ...values, [name]: value }, ...AFRESH }, `value of ${name}`);
        return (
          <label>
            <span>
              <var>{name}</var> = <output>{plain(value)}</output>
            </span>
            <input
              type="range"
              aria-label={`Value of ${name}`}
              min={least}
              max={most}
              value={Number(value)}
              onInput={(event) => put(Number(event.currentTarget.value))}
            />
          </label>
        );
      })}
      <label class="where">
        <span>where</span>
        <input
          class="text"
          type="text"
          value={where}
          placeholder="T in 1..4096, C == 64*H"
          spellcheck={false}
          autocomplete="off"
          maxLength={2000}
          onInput={(event) => change({ where: event.currentTarget.value, ...AFRESH }, "what is said of names")}
        />
      </label>
      {now.witness !== null && (
        <p class="soft why">
          <button
            type="button"
            onClick={() => {
              const values = Object.entries(now.witness!.values).map(([name, value]): [string, number] => [name, Number(value)]);
              change({ values: Object.fromEntries(values), ...AFRESH }, true);
            }}
          >
            Try{" "}
            {Object.entries(now.witness.values)
              .map(([name, value]) => `${name} = ${plain(value)}`)
              .join(", ")}
          </button>
          : {sentence(now.witness.sentence)}
        </p>
      )}
    </div>
  );
});
