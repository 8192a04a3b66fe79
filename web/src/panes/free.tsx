/** The free mode: any index and valid expression over variables with ranges. */
import { h } from "preact";
import { assumed } from "../adopt";
import { trouble } from "../layout";
import { AFRESH, change, MOST_AXES, page, settle, travel, type FreeVariable } from "../page";
import { calm } from "../typing";
import { Choice, IconButton } from "./controls";
import { Editor, placeOf } from "./editor";
import { live } from "./live";
import { Mistake } from "./mistake";
import { Pane } from "./pane";
import { Scrub } from "./scrub";

const Line = live(({ field }: { field: "index" | "valid" }) => {
  const fault = trouble.value?.fault.field === field && !calm.value ? trouble.value.fault : null;
  const text = page.value[field];
  return (
    <Editor
      name={field}
      named
      value={text}
      placeholder={field === "valid" ? "True" : ""}
      mark={placeOf(fault, text)}
      invalid={fault !== null}
      describedBy={fault === null ? undefined : `${field}-fault`}
      change={(value) => change({ [field]: value, camera: null, stripCamera: null }, `${field} text`)}
      history={travel}
    />
  );
});

export const FreePane = live(() => {
  const { variables, syntax } = page.value;
  const fault = trouble.value?.fault ?? null;
  const other = fault !== null && fault.field !== "index" && fault.field !== "valid" ? fault : null;
  const put = (row: number, patch: Partial<FreeVariable>): void => {
    const next = variables.map((variable, each) => (each === row ? { ...variable, ...patch } : variable));
    change({ variables: next, ...AFRESH }, `variable ${row} ${Object.keys(patch).join()}`);
  };
  const spare = (): string => {
    for (let at = 0; ; at++) if (!variables.some(({ name }) => name === `idx${at}`)) return `idx${at}`;
  };
  return (
    <Pane
      id="free"
      title="Expression over variables"
      shows={false}
      tools={
        <Choice
          name="Division as in"
          value={syntax}
          options={[
            ["python", "Python (//, rounds down)"],
            ["c", "C (/, towards zero)"],
          ]}
          choose={(value) => change({ syntax: value === "c" ? "c" : "python" }, true)}
        />
      }
    >
      <Line field="index" />
      <Line field="valid" />
      <ul class="variables" aria-label="Variables">
        {variables.map(({ name, begin, end }, row) => (
          <li data-wrong={other?.field === "variables" && other.variable === row ? "yes" : undefined}>
            <input
              class="name"
              type="text"
              value={name}
              aria-label={`Name of variable ${row + 1}`}
              spellcheck={false}
              autocomplete="off"
              autocapitalize="off"
              maxLength={64}
              onInput={(event) => put(row, { name: event.currentTarget.value })}
              onBlur={settle}
            />
            from
            <Scrub field value={begin} label={`${name} from`} change={(value) => put(row, { begin: value })} />
            to before
            <Scrub field value={end} label={`${name} to before`} change={(value) => put(row, { end: value })} />
            <IconButton
              icon="remove"
              label={`Delete ${name || "variable"}`}
              title="Delete"
              click={() => change({ variables: variables.filter((_, each) => each !== row), ...AFRESH }, true)}
            />
          </li>
        ))}
        <li>
          <button
            type="button"
            disabled={variables.length >= MOST_AXES}
            onClick={() =>
              change({ variables: [...variables, { name: spare(), begin: "0", end: "2" }], ...AFRESH }, true)
            }
          >
            + variable
          </button>
        </li>
      </ul>
      <div class="slot">
        {fault === null ? (
          <p class="help">
            {assumed.value?.index === page.value.index
              ? assumed.value.says
              : "An address for every value of the variables, and when there is one. Each variable is an axis; its range is half-open."}
          </p>
        ) : (
          <Mistake id={`${other === null ? fault.field : "variables"}-fault`} fault={fault} text={null} />
        )}
      </div>
    </Pane>
  );
});
