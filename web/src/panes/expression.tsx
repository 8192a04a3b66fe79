/** Pane E: the index expression with the numbers of the element in it. */
import { Fragment, h } from "preact";
import { effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { Cost, Expression, ExpressionNode, Fault, Integer } from "shapetracker/engine";
import { current, layout, type Layout } from "../layout";
import { counted, plain, pretty } from "../numbers";
import { change, LANGUAGES, page } from "../page";
import { followWritten, form, values as valued, wanted, written, type Form } from "../written";
import { Choice } from "./controls";
import { CopyButton } from "./copybutton";
import { live } from "./live";
import { sentence } from "./mistake";
import { Pane } from "./pane";
import { Scroll } from "./scroll";

/** The code in the chosen language, and what it is of. */
const code = signal<{
  layout: Layout;
  language: string;
  kernel: boolean;
  text: string | null;
  fault: Fault | null;
} | null>(null);

/** What the texts of a language are called on the page. */
const NAMES: Record<string, string> = {
  python: "Python",
  c: "C",
  cuda: "CUDA",
  opencl: "OpenCL",
  metal: "Metal",
  wgsl: "WGSL",
  rust: "Rust",
  mlir: "MLIR",
  latex: "LaTeX",
  numpy: "NumPy (the operations)",
  pytorch: "PyTorch (the operations)",
};

/** Whether a language has kernels. */
function hasKernels(language: string): boolean {
  return !["mlir", "latex", "numpy", "pytorch"].includes(language);
}

export function costText({ ops, divmods, weight }: Cost): string {
  if (ops === 0) return "nothing to compute";
  const divisions = divmods === 0 ? "no division" : counted(divmods, "division");
  return `${counted(ops, "operation")}, ${divisions}, about ${counted(weight, "instruction")}`;
}

/** A condition is true or false, everything else a number. */
function valueText(expression: Expression, node: number, values: readonly Integer[]): string {
  const value = values[node];
  if (value === undefined) return "";
  return expression.nodes[node]?.condition === true ? (Number(value) === 0 ? "False" : "True") : plain(value);
}

/** The values from the least to the greatest, or within a bound. */
function rangeText(low: Integer, high: Integer, exact: boolean): string {
  const ends = String(low) === String(high) && exact ? pretty(low) : `${pretty(low)} \u2026 ${pretty(high)}`;
  return exact ? ends : `within ${ends}`;
}

/** The range of a part; of the index that of the addresses. */
function Range({ expression, node, isIndex }: { expression: Expression; node: number; isIndex: boolean }) {
  const of = expression.nodes[node];
  if (of === undefined || of.condition) return null;
  const { index_range: addresses, index_range_exact: known } = expression;
  const [low, high, exact] = isIndex ? [...addresses, known] : [of.low, of.high, of.exact];
  const valid = expression.nodes[expression.valid];
  const masked = isIndex && !(valid?.kind === "bool" && valid.value);
  const all = exact ? "The least and the greatest value" : "No value is outside; which are attained was not found out";
  return (
    <span class="range" title={masked ? `${all}, where an element is valid` : all}>
      {rangeText(low, high, exact)}
      {masked && " where valid"}
    </span>
  );
}

export function Lines({ expression, values }: { expression: Expression; values: Integer[] | null }) {
  // Where two lines are the same, the first gives the name: a line is not explained by itself.
  const named = new Map(expression.lines.map(({ name, node }): [number, string] => [node, name]).reverse());
  const nameOf = (node: number): string => {
    const of = expression.nodes[node];
    return of?.kind === "variable" ? of.name : (named.get(node) ?? "");
  };
  return (
    <dl class="lines">
      {expression.lines.map(({ name, node, pieces }) => {
        const trivial = pieces.length === 1 && typeof pieces[0] === "string";
        return (
          <div class="code-line" data-line={name}>
            <dt>{name}</dt>
            <dd>
              <Range expression={expression} node={node} isIndex={name === "index"} />
              <code>{pieces.map((piece) => (typeof piece === "number" ? <var>{nameOf(piece)}</var> : piece))}</code>
              {values !== null && !trivial && (
                <code class="substituted">
                  <span class="soft">= </span>
                  {pieces.map((piece) =>
                    typeof piece === "number" ? <b>{bracketed(valueText(expression, piece, values))}</b> : piece,
                  )}
                  <span class="soft"> = </span>
                  <b class="value">{valueText(expression, node, values)}</b>
                </code>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A negative number after an operator is read more easily in brackets. */
function bracketed(text: string): string {
  return text.startsWith("\u2212") ? `(${text})` : text;
}

function Terms({ expression, values }: { expression: Expression; values: Integer[] | null }) {
  const rows = expression.nodes
    .map((node, at) => ({ node, at }))
    .filter(({ node }) => node.kind !== "int" && node.kind !== "bool" && node.text !== null);
  if (rows.length === 0) return null;
  // A bound that may not be attained is marked as one.
  const end = ({ condition, exact }: ExpressionNode, value: Integer, sign: string): string => {
    if (condition) return Number(value) === 0 ? "False" : "True";
    return exact ? pretty(value) : `${sign}\u202f${pretty(value)}`;
  };
  const bounded = rows.some(({ node }) => !node.exact && !node.condition);
  return (
    <details class="terms">
      <summary>Every term: {rows.length}, with range and value</summary>
      <Scroll label="Terms" always>
        <table class="numbers-table">
          <thead>
            <tr>
              <th scope="col" class="left">
                term
              </th>
              <th scope="col">least</th>
              <th scope="col">most</th>
              <th scope="col">now</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ node, at }) => (
              <tr>
                <td class="left">
                  <code>{node.text}</code>
                </td>
                <td>{end(node, node.low, "\u2265")}</td>
                <td>{end(node, node.high, "\u2264")}</td>
                <td>{values === null ? "" : valueText(expression, at, values)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="soft">
        Over all elements, masked ones too.
        {bounded && " With \u2265 and \u2264 it is a bound: no value is outside, and which are attained was not found out."}
      </p>
    </details>
  );
}

/** What is near is soon looked at: below the steps it is often not in sight yet. */
const watch = new IntersectionObserver(
  (entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) wanted.value = true;
  },
  { rootMargin: "1500px" },
);

/** Keeps the code that of the layout from now on. */
export function followCode(): void {
  followWritten();
  effect(() => {
    const of = wanted.value ? layout.value : null;
    const { language, kernel } = page.value;
    if (of === null || !current.value) return;
    const old = code.peek();
    const whole = kernel && hasKernels(language);
    if (old?.layout === of && old.language === language && old.kernel === whole) return;
    void ask("code", { source: of.source, language, kernel: whole }, "code").then((said) => {
      if (said === null) return;
      code.value = {
        layout: of,
        language,
        kernel: whole,
        text: said.ok ? said.value.code : null,
        fault: said.ok ? null : said.fault,
      };
    });
  });
}

const Code = live(() => {
  const { language, kernel } = page.value;
  const now = layout.value;
  const shown = code.value?.layout === now && code.value?.language === language ? code.value : null;
  return (
    <div class="code">
      <div class="code-head">
        <Choice
          name="Code in"
          value={language}
          choose={(value) => change({ language: value as (typeof LANGUAGES)[number] }, true)}
          options={LANGUAGES.filter(
            (each) => each === language || now?.chain != null || (each !== "numpy" && each !== "pytorch"),
          ).map((each) => [each, NAMES[each] ?? each])}
        />
        <label class="beside">
          <input
            type="checkbox"
            checked={kernel && hasKernels(language)}
            disabled={!hasKernels(language)}
            onChange={(event) => change({ kernel: event.currentTarget.checked }, true)}
          />
          whole kernel
        </label>
        <span class="fill" />
        <CopyButton
          name="Copy"
          hint="Copy the code"
          disabled={shown?.text == null}
          text={() => code.value?.text ?? ""}
        />
      </div>
      {shown?.fault != null ? (
        <p class="soft">{sentence(shown.fault.message)}</p>
      ) : (
        <pre tabIndex={0} role="region" aria-label="Code">
          <code>{shown?.text ?? "\u2026"}</code>
        </pre>
      )}
    </div>
  );
});

/** Which form of the expression is shown. */
const Forms = live(() => {
  const forms: readonly (readonly [Form, string])[] = [
    ["simplified", "Simplified"],
    ["written", layout.value?.free == null ? "By views" : "As written"],
  ];
  return (
    <div class="switch" role="group" aria-label="Which form of the expression is shown">
      {forms.map(([each, name]) => (
        <button type="button" aria-pressed={form.value === each} onClick={() => (form.value = each)}>
          {name}
        </button>
      ))}
    </div>
  );
});

export const ExpressionPane = live(() => {
  const known = written.value;
  const expression = known?.expression ?? null;
  const values = valued.value?.values ?? null;
  const free = known?.layout.free ?? null;
  const cheaper = free !== null && free.written.cost.weight > free.simplified.cost.weight;
  return (
    <Pane id="expression" title="Index expression" tools={<Forms />}>
      {/* Only what has come into sight is asked for. */}
      <span ref={(place) => void (place === null ? watch.disconnect() : watch.observe(place))} />
      {expression === null ? (
        <p class="soft">{known === null ? "\u2026" : sentence(known.note ?? "There is no expression.")}</p>
      ) : (
        <>
          {expression.lines.length === 0 ? (
            <p class="soft">{sentence(expression.note ?? "The expression is too long to show.")}</p>
          ) : (
            <Lines expression={expression} values={values} />
          )}
          {known?.layout.chain?.buffer != null && <p class="soft">The address is one of the copy; the code reads the base.</p>}
          <p class="soft cost">
            {sentence(costText(expression.cost))} {expression.bits} bits suffice.
          </p>
          {free !== null && (
            <p class="soft">
              {cheaper
                ? `As written: ${costText(free.written.cost)}; simplified, which is the same for all values: ${costText(free.simplified.cost)}.`
                : "As written, it is already as cheap as we can make it."}
            </p>
          )}
          {free === null && known?.form === "written" && (
            <p class="soft">
              As it comes about: each view takes the position that the view above it gives apart, <code>// acc % size</code> along each
              axis, and nothing is simplified; the code below is.
            </p>
          )}
          <Terms expression={expression} values={values} />
          <Code />
        </>
      )}
    </Pane>
  );
});
