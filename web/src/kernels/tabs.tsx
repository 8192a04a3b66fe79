/** The tabs: which there are, and those that are not about banks. */
import { Fragment, h } from "preact";
import type { Fault, LayoutOperation, LayoutTable } from "shapetracker/engine";
import { isMistake } from "../faults";
import { plain, pretty } from "../numbers";
import { live } from "../panes/live";
import { sentence } from "../panes/mistake";
import { Prose } from "../panes/prose";
import { ALGEBRA, isAlgebra, made, owned, owners, pair, tables, type Algebra } from "./algebra";
import { change, LONGEST_TEXT, pointed, selected, state, TABS, type Tab } from "./model";
import { begins, edge, hue } from "./pictures";

const NAMES: Record<Tab, string> = {
  banks: "Banks",
  tile: "Threads on a tile",
  composition: "Composition",
  division: "Division",
  product: "Product",
};

export const Tabs = live(() => (
  <nav class="tabs" aria-label="What is looked at">
    {TABS.map((tab) => (
      <button
        type="button"
        aria-current={state.value.tab === tab ? "page" : undefined}
        onClick={() => {
          selected.value = pointed.value = null;
          change({ tab, a: "", b: "", form: "" });
        }}
      >
        {NAMES[tab]}
      </button>
    ))}
  </nav>
));

interface FieldOf {
  id: string;
  label: string;
  value: string;
  fault: Fault | null;
  put: (text: string) => void;
}

function Field({ id, label, value, fault, put }: FieldOf) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        class="text"
        value={value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        maxLength={LONGEST_TEXT}
        aria-invalid={fault !== null && isMistake(fault)}
        aria-describedby="made"
        onInput={(event) => put(event.currentTarget.value)}
      />
    </div>
  );
}

/** What is wrong, with the place in the text that is at fault. */
function Wrong({ fault, text }: { fault: Fault; text: string | undefined }) {
  return (
    <>
      <p class={isMistake(fault) ? "wrong" : "soft"}>
        <Prose text={sentence(fault.message)} />
      </p>
      {text !== undefined && fault.span !== null && (
        <pre class="fault">
          {text.slice(0, fault.span[0])}
          <mark>{text.slice(...fault.span) || " "}</mark>
          {text.slice(fault.span[1])}
        </pre>
      )}
    </>
  );
}

const value = (of: LayoutTable, row: number, column: number): string => plain(of.values[row * of.drawn[1] + column]!);

function Values({ of, name, says }: { of: LayoutTable; name: string; says: string }) {
  const [rows, columns] = of.drawn;
  const left = Number(of.rows) > rows || Number(of.columns) > columns;
  const sizes = of.row_sizes.map(Number);
  const across = of.column_sizes.map(Number);
  // Shades over the values of a table, with a hue for each 32nd of them.
  const numbers = of.values.map(Number);
  const least = Math.min(...numbers);
  const span = Math.max(Math.max(...numbers) - least, 1);
  return (
    <section class="pane" aria-label={name}>
      <div class="pane-head">
        <h2>{name}</h2>
        <code>{of.text}</code>
      </div>
      <p class="help">
        {says} {pretty(of.rows)} by {pretty(of.columns)}.{left && ` Only ${rows} by ${columns} are drawn.`}
      </p>
      <div class="scroller" tabIndex={0} role="group" aria-label={`The values of ${name}`}>
        <table class="values">
          <tbody>
            {Array.from({ length: rows }, (_, row) => (
              <tr class={edge("row", begins(row, sizes))}>
                {Array.from({ length: columns }, (_, column) => (
                  <td
                    class={`${hue(Math.floor(((numbers[row * columns + column]! - least) * 31) / span))} ${edge("column", begins(column, across))}`}
                    title={`(${row}, ${column})`}
                  >
                    {value(of, row, column)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const TwoLayouts = live(() => {
  const asked = pair.value;
  if (asked === null) return null;
  const about = ALGEBRA[state.value.tab as Algebra];
  const said = made.value;
  const fault = said !== null && !said.ok ? said.fault : null;
  const known = tables.value;
  const put = (patch: { a?: string; b?: string; form?: string }): void =>
    change({ a: asked.a, b: asked.b, form: asked.form, ...patch });
  const example = about.examples.find(({ a, b, form }) => a === asked.a && b === asked.b && form === asked.form);
  return (
    <>
      <section class="pane ask" aria-label="The layouts">
        <p class="help">{about.says}</p>
        <div class="fields">
          <Field id="a" label={about.a} value={asked.a} fault={fault?.field === "layout" ? fault : null} put={(a) => put({ a })} />
          <Field id="b" label={about.b} value={asked.b} fault={fault?.field === "by" ? fault : null} put={(b) => put({ b })} />
        </div>
        {about.forms.length > 1 && (
          <label>
            Form{" "}
            <select value={asked.form} onChange={(event) => put({ form: event.currentTarget.value as LayoutOperation })}>
              {about.forms.map(([form, name]) => (
                <option value={form}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <div class="presets" role="group" aria-label="Examples">
          {about.examples.map((each) => (
            <button type="button" aria-pressed={each === example} onClick={() => put(each)}>
              {about.forms.length > 1 && `${each.form.split("_")[0]} `}
              {each.a}, {each.b}
            </button>
          ))}
        </div>
        {example !== undefined && <p class="help">{example.says}</p>}
      </section>
      <section class="answer" id="made" role={fault !== null && isMistake(fault) ? "alert" : "status"}>
        {fault !== null ? (
          <Wrong fault={fault} text={fault.field === "layout" ? asked.a : fault.field === "by" ? asked.b : undefined} />
        ) : known === null ? (
          <p class="soft">…</p>
        ) : (
          <p class="says">
            <code>{known.result.text}</code>
          </p>
        )}
      </section>
      {known !== null && (
        <div class="tables" data-stale={fault !== null ? "yes" : undefined}>
          <Values of={known.layout} name="A" says="The first mode goes down, the others across:" />
          {known.by !== null && <Values of={known.by} name="B" says="Values, and so coordinates of A:" />}
          <Values of={known.result} name="Result" says="Cells with the same number are the same element:" />
        </div>
      )}
    </>
  );
});

const TILES: readonly { name: string; owners: string; shape: string }[] = [
  { name: "mma.m16n8k16: A", owners: "((4,8),(2,2,2)):((32,1),(16,8,128))", shape: "(16,16)" },
  { name: "mma.m16n8k16: B", owners: "((4,8),(2,2)):((16,1),(8,64))", shape: "(8,16)" },
  { name: "mma.m16n8k16: C", owners: "((4,8),(2,2)):((32,1),(16,8))", shape: "(16,8)" },
  { name: "A copy by rows, 8 values a thread", owners: "((4,16),8):((128,1),16)", shape: "(16,32)" },
];

const Tile = live(() => {
  const { owners: layout, shape } = state.value;
  const said = owned.value;
  const fault = said !== null && !said.ok ? said.fault : null;
  const known = owners.value;
  const now = pointed.value ?? selected.value;
  const key = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const move = moves[event.key];
    if (move === undefined || known === null) return;
    event.preventDefault();
    const thread = Math.min(Math.max((selected.value?.thread ?? -1) + move, 0), known.threads - 1);
    pointed.value = null;
    selected.value = { thread, value: 0 };
  };
  return (
    <div class="front">
      <div>
      <section class="pane ask" aria-label="The layout of threads and values">
        <p class="help">
          Which element of a tile has which thread, as which of its values: T is the thread, V the value. The first mode of the
          layout takes the thread, the others the value; what comes out is a number of an element, counted down the columns of
          the tile, as CuTe does it.
        </p>
        <div class="fields">
          <Field
            id="owners"
            label="Threads and values"
            value={layout}
            fault={fault?.field === "layout" ? fault : null}
            put={(owners) => change({ owners })}
          />
          <Field id="shape" label="Sides of the tile" value={shape} fault={fault?.field === "shape" ? fault : null} put={(shape) => change({ shape })} />
        </div>
        <div class="presets" role="group" aria-label="Examples">
          {TILES.map(({ name, owners, shape: sides }) => (
            <button
              type="button"
              aria-pressed={owners === layout && sides === shape}
              onClick={() => {
                selected.value = pointed.value = null;
                change({ owners, shape: sides });
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </section>
      <section class="answer" id="made" role={fault !== null && isMistake(fault) ? "alert" : "status"}>
        {fault !== null ? (
          <Wrong fault={fault} text={fault.field === "layout" ? layout : fault.field === "shape" ? shape : undefined} />
        ) : known === null ? (
          <p class="soft">…</p>
        ) : (
          <p class={known.unowned + known.shared > 0 ? "says" : "says right"}>
            {known.threads} threads with {known.values} values each:{" "}
            {known.unowned + known.shared === 0
              ? "every element once."
              : `${pretty(known.unowned)} elements of nobody, ${pretty(known.shared)} of more than one.`}
          </p>
        )}
      </section>
      </div>
      {known !== null && (
        <section class="pane" aria-labelledby="tile-title" data-stale={fault !== null ? "yes" : undefined}>
          <div class="pane-head">
            <h2 id="tile-title">
              The tile, {known.rows} by {known.columns}
            </h2>
          </div>
          <div
            class="scroller of-tile"
            tabIndex={0}
            role="group"
            aria-label="The tile; left and right choose a thread"
            onKeyDown={key}
          >
            <table class="tile" onMouseLeave={() => (pointed.value = null)}>
              <thead>
                <tr>
                  <th scope="col">
                    <span class="spoken">Row</span>
                  </th>
                  {Array.from({ length: known.columns }, (_, column) => (
                    <th scope="col">{column}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {Array.from({ length: known.rows }, (_, row) => (
                  <tr>
                    <th scope="row">{row}</th>
                    {Array.from({ length: known.columns }, (_, column) => {
                      const all = known.owners[row * known.columns + column]!;
                      const [first] = all;
                      if (first === undefined) return <td class="empty" />;
                      const [thread, of] = first;
                      const isNow = now !== null && all.some(([each]) => each === now.thread);
                      return (
                        <td
                          class={`${hue(thread)} ${isNow ? "now" : ""}`}
                          title={all.map(([thread, value]) => `T${thread} V${value}`).join(", ")}
                          onMouseEnter={() => (pointed.value = { thread, value: of })}
                          onClick={() => (selected.value = { thread, value: of })}
                        >
                          T{thread}
                          <br />V{of}
                          {all.length > 1 && <sup>+{all.length - 1}</sup>}
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="element" role="status">
            {now === null ? "Point at a cell: all elements of its thread are marked." : <Elements thread={now.thread} />}
          </p>
        </section>
      )}
    </div>
  );
});

/** The elements of one thread, in the order of its values. */
function Elements({ thread }: { thread: number }) {
  const known = owners.value;
  if (known === null) return null;
  const elements = known.owners.flatMap((all, place) =>
    all
      .filter(([each]) => each === thread)
      .map(([, value]) => [value, `[${Math.floor(place / known.columns)}, ${place % known.columns}]`] as const),
  );
  elements.sort(([a], [b]) => a - b);
  return (
    <>
      Thread {thread}: {elements.map(([value, element]) => `V${value} ${element}`).join(", ")}
    </>
  );
}

/** What stands under the tabs where it is not about banks. */
export const Other = live(() => {
  const { tab } = state.value;
  if (tab === "tile") return <Tile />;
  return isAlgebra(tab) ? <TwoLayouts /> : null;
});
