/** How the result lies in memory, and what takes it as it is: the library's description, the first of it in a paragraph. */
import { Fragment, h } from "preact";
import { computed, effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { DescribeAnswer } from "shapetracker/engine";
import { named } from "../layout";
import { counted } from "../numbers";
import { asked } from "./asked";
import { live } from "./live";
import { Prose } from "./prose";

/** How many bytes an element has, as someone chose it; 0 where nobody has. */
const bytes = signal(0);
const SIZES = [0, 1, 2, 4, 8, 16];

/** What is asked about: only chains are described. */
const request = computed(() => {
  const source = asked.value;
  return source !== null && "chain" in source ? { source, bytes: bytes.value } : null;
});

/** The description, and the question that it answers. */
const found = signal<({ of: string } & DescribeAnswer) | null>(null);

effect(() => {
  const now = request.value;
  const of = JSON.stringify(now);
  if (now === null || found.peek()?.of === of) return;
  void ask("describe", now, "describe").then((said) => {
    if (said !== null) found.value = { of, ...(said.ok ? said.value : { shared: false, lines: [] }) };
  });
});

export const Described = live(() => {
  if (asked.value !== null && request.value === null) return null;
  const lines = found.value?.lines ?? [];
  const fresh = found.value?.of === JSON.stringify(request.value);
  const say = (topic: string): string | null => lines.find((line) => line.topic === topic)?.text ?? null;
  const [order, matrix] = [say("order"), say("BLAS")];
  const at = named.value?.names.map(({ name, value }) => `${name} = ${value}`) ?? [];
  // Two elements at one address are told of before anyone writes to one of them.
  const shared = found.value?.shared ? say("writing") : null;
  return (
    <div class="described" data-fresh={fresh ? "yes" : "no"} aria-label="In memory" role="group">
      {order !== null && (
        <p>
          <b>In memory</b> {at.length > 0 && `with ${at.join(", ")}: `}
          <Prose text={order} />
          {shared !== null && (
            <>
              ; <Prose text={shared} />
            </>
          )}
          . <b>BLAS</b> <Prose text={matrix ?? ""} />.
        </p>
      )}
      {lines.length > 0 && (
        <details>
          <summary>All of how it lies in memory: TMA, cuDNN, vectors, what libraries report</summary>
          <label class="beside">
            elements of
            <select value={bytes.value} onChange={(event) => (bytes.value = Number(event.currentTarget.value))}>
              {SIZES.map((size) => (
                <option value={size}>{size === 0 ? "any size" : counted(size, "byte")}</option>
              ))}
            </select>
          </label>
          <dl>
            {lines.map(({ topic, text }) => (
              <>
                <dt>{topic}</dt>
                <dd>
                  <Prose text={text} />
                </dd>
              </>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
});
