/** Pane A: the chain as a line of text and as blocks. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import type { Operation } from "../engine";
import { blocks, chainText, current, layout, start, trouble, type Block } from "../layout";
import { tuple } from "../numbers";
import { chain, change, muted } from "../page";
import { presets } from "../presets";
import { Choice, dragged, IconButton, Text } from "./controls";
import { live } from "./live";
import { Mistake, sentence } from "./mistake";
import { Pane } from "./pane";
import { Scrub } from "./scrub";

/** What a new chain makes meaningless: it begins with everything in view. */
export const AFRESH = { camera: null, stripCamera: null, places: null, color: "address" } as const;

/** The text of an operation or a start with its numbers as fields. */
function Numbers({ text, name, change }: { text: string; name: string; change(text: string): void }) {
  const parts = text.split(/([+-]?\d+)/);
  return (
    <code class="numbers">
      {parts.map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <Scrub
            key={at}
            value={part}
            label={`${name}, number ${(at + 1) / 2}`}
            change={(value) => change(parts.map((old, each) => (each === at ? value : old)).join(""))}
          />
        ),
      )}
    </code>
  );
}

/** The chain with other operations, which are muted where they were. */
function rewrite(
  startText: string,
  list: readonly { operation: { text: string }; muted: boolean }[],
  edit: string | true,
): void {
  const quiet = list.flatMap((block, at) => (block.muted ? [at] : []));
  change(
    {
      chain: chainText(
        startText,
        list.map(({ operation }) => operation),
      ),
      muted: quiet,
      ...AFRESH,
    },
    edit,
  );
}

function move(from: number, to: number): void {
  const list = [...blocks.value];
  const [block] = list.splice(from, 1);
  if (block === undefined || from === to) return;
  list.splice(to, 0, block);
  rewrite(start.value?.text ?? "", list, true);
}

/** Moves a block by one place. The focus goes with it, so that it can be moved on; at an end it may only go back. */
function shift(at: number, by: 1 | -1): void {
  move(at, at + by);
  for (const icon of by < 0 ? ["right", "left"] : ["left", "right"]) {
    // A disabled button does not take it.
    document.querySelector<HTMLElement>(`[data-block="${at + by}"] [data-icon=${icon}]`)?.focus();
  }
}

function replace(at: number, text: string): void {
  const list = blocks.value.map((block, each) =>
    each === at ? { ...block, operation: { ...block.operation, text } } : block,
  );
  rewrite(start.value?.text ?? "", list, `number in block ${at}`);
}

const VERDICTS = { no_new_view: "no new view", merged: "merged", new_view: "new view", copied: "copied" } as const;

function verdictOf(block: Block, failed: boolean): { name: string; kind: string } {
  if (block.muted) return { name: "muted", kind: "muted" };
  if (failed) return { name: "cannot be done", kind: "failed" };
  if (block.step === null) return { name: "not reached", kind: "later" };
  return { name: VERDICTS[block.step.verdict], kind: block.step.verdict };
}

/** The block that is dragged, and the one whose place it would take. */
const drag = signal<{ from: number; to: number } | null>(null);

const BlockCard = live(({ block, at }: { block: Block; at: number }) => {
  const { operation, step } = block;
  const failed = trouble.value?.block === at;
  const verdict = verdictOf(block, failed);
  const name = `${operation.name}, operation ${at + 1}`;
  const grab = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    let to = at;
    const follow = (now: PointerEvent): void => {
      const over = document.elementFromPoint(now.clientX, now.clientY)?.closest("[data-block]");
      to = Number(over?.getAttribute("data-block") ?? to);
      drag.value = { from: at, to };
    };
    dragged(event, follow, () => {
      drag.value = null;
      move(at, to);
    });
  };
  const dragging = drag.value;
  const target = dragging?.to !== at || dragging.from === at ? undefined : at > dragging.from ? "after" : "before";
  return (
    <li
      class="block"
      data-block={at}
      data-verdict={verdict.kind}
      data-drop={target}
      data-dragged={dragging?.from === at ? "yes" : undefined}
    >
      <div class="block-line">
        <span class="handle" data-icon="drag" title="Drag to another place" onPointerDown={grab} />
        <span class="block-text">
          <b>{operation.name}</b>
          <Numbers
            text={operation.text.slice(operation.name.length)}
            name={name}
            change={(rest) => replace(at, operation.name + rest)}
          />
        </span>
      </div>
      <div class="block-line">
        <span class="verdict" data-verdict={verdict.kind}>
          {verdict.name}
        </span>
        {step !== null && (
          <span class="soft shape" title="The shape after it">
            {tuple(step.shape)}
          </span>
        )}
        <span class="fill" />
        <span class="block-tools">
          <IconButton
            icon="left"
            label={`Move ${name} earlier`}
            title="Earlier"
            disabled={at === 0}
            click={() => shift(at, -1)}
          />
          <IconButton
            icon="right"
            label={`Move ${name} later`}
            title="Later"
            disabled={at === blocks.value.length - 1}
            click={() => shift(at, 1)}
          />
          <IconButton
            icon={block.muted ? "off" : "on"}
            label={`Mute ${name}`}
            title={block.muted ? "Muted: do it again" : "Mute: leave it out"}
            pressed={block.muted}
            click={() => {
              const quiet = block.muted
                ? muted.value.filter((each) => each !== at)
                : [...muted.value, at].sort((a, b) => a - b);
              change({ muted: quiet, ...AFRESH }, true);
            }}
          />
          <IconButton
            icon="remove"
            label={`Delete ${name}`}
            title="Delete"
            click={() =>
              rewrite(
                start.value?.text ?? "",
                blocks.value.filter((_, each) => each !== at),
                true,
              )
            }
          />
        </span>
      </div>
      {failed && <p class="because">{sentence(trouble.value?.fault.message ?? "")}</p>}
      {!failed && step?.reason != null && <p class="because">because {step.reason.sentence}</p>}
    </li>
  );
});

/** An operation to begin with, that can be done on the shape. */
function sample(name: string, shape: readonly number[]): string {
  const list = (values: readonly (number | string)[]): string => `${name}(${values.join(", ")})`;
  const last = shape.length - 1;
  switch (name) {
    case "permute":
      return list(shape.map((_, axis) => last - axis));
    case "pad":
      return list(shape.map((_, axis) => (axis === last ? "(1, 1)" : "(0, 0)")));
    case "shrink":
      return list(shape.map((size, axis) => `(${axis === last && size > 1 ? 1 : 0}, ${size})`));
    case "flip":
      return list([last]);
    case "step":
      return list(shape.map((_, axis) => (axis === last ? 2 : 1)));
    case "unsqueeze":
      return list([0]);
    default:
      return list(shape);
  }
}

const ADDABLE = ["reshape", "permute", "expand", "pad", "shrink", "flip", "step", "unsqueeze"];

const Add = live(() => {
  const shape = layout.value?.shape ?? [];
  return (
    <li class="add">
      <select
        aria-label="Add an operation"
        value=""
        disabled={!current.value}
        onChange={(event) => {
          const name = event.currentTarget.value;
          event.currentTarget.value = "";
          const text = sample(name, shape);
          const operation: Operation = { name, arguments: "", text, written: text, span: [0, 0] };
          rewrite(start.value?.text ?? "", [...blocks.value, { operation, muted: false }], true);
        }}
      >
        <option value="">+ operation</option>
        {ADDABLE.filter((name) => shape.length > 0 || name === "unsqueeze").map((name) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </li>
  );
});

export const ChainPane = live(() => {
  const preset = presets.value.find(({ chain: each }) => each === chain.value && muted.value.length === 0);
  const fault = trouble.value?.fault ?? null;
  const unread = trouble.value !== null && blocks.value[trouble.value.block ?? -1] === undefined;
  return (
    <Pane
      id="chain"
      title="Chain"
      shows={false}
      tools={
        <Choice
          name="Example"
          value={preset?.name ?? ""}
          options={[
            ...(preset === undefined ? [["", "(your own)"] as const] : []),
            ...presets.value.map(({ name }) => [name, name] as const),
          ]}
          choose={(name) => {
            const chosen = presets.value.find((each) => each.name === name);
            if (chosen !== undefined) change({ chain: chosen.chain, muted: [], at: [], ...AFRESH }, true);
          }}
        />
      }
    >
      <Text
        name="Chain as text"
        value={chain.value}
        invalid={fault !== null}
        describedBy={fault === null ? "chain-help" : "chain-fault"}
        change={(text) => change({ chain: text, muted: [], ...AFRESH }, "chain text")}
      />
      {fault !== null && <Mistake id="chain-fault" fault={fault} text={chain.value} />}
      <p class="help" id="chain-help">
        {preset?.text ??
          "A base shape and operations. ShapeTracker(views=\u2026), NumPy and PyTorch calls, triples as ((2, 3), (3, 1), 0) and CuTe layouts are read too."}
      </p>
      {start.value !== null && (
        // A text that cannot be read to its end must not be written anew from what was read.
        <fieldset disabled={unread}>
          <ol class="blocks" aria-label="The chain as blocks">
            <li class="block base">
              <div class="block-line">
                <span class="block-text">
                  <Numbers
                    text={start.value.text}
                    name="base"
                    change={(text) => rewrite(text, blocks.value, "number in the base")}
                  />
                </span>
              </div>
              <div class="block-line">
                <span class="soft">{start.value.kind === "views" ? "views" : "base shape"}</span>
              </div>
            </li>
            {blocks.value.map((block, at) => (
              <BlockCard key={at} block={block} at={at} />
            ))}
            {unread ? (
              <li class="block" data-verdict="failed">
                <div class="block-line">
                  <code class="block-text">{chain.value.slice(fault?.span?.[0] ?? 0).slice(0, 30) || "\u2038"}</code>
                  <span class="verdict" data-verdict="failed">
                    cannot be read
                  </span>
                </div>
              </li>
            ) : (
              <Add />
            )}
          </ol>
        </fieldset>
      )}
    </Pane>
  );
});
