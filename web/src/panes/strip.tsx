/** Pane C: memory, and who reads it. */
import { Fragment, h } from "preact";
import { computed } from "@preact/signals-core";
import { StripCanvas, TOP } from "../draw/strip";
import type { Integer } from "shapetracker/engine";
import { pointed, readers, readersOf, select, sharing } from "../focus";
import { layout } from "../layout";
import { clamp, counted, integer, pretty } from "../numbers";
import { change, page } from "../page";
import { Choice, Zoom } from "./controls";
import { live } from "./live";
import { canvases, isVast, limits, stripView, type StripView } from "./memory";
import { sentence } from "./mistake";
import { Pane } from "./pane";
import { Picture, type Subject } from "./picture";
import { Scrub } from "./scrub";

/** The greatest height of rows of memory, in pixels: the tensor is to be seen above them. */
const tallest = (): number => Math.min(260, Math.max(innerHeight / 4, 88));

/** Zooms around the middle. */
function zoomBy(factor: number): void {
  const [strip, view] = [canvases.peek(), stripView.peek()];
  if (strip !== null && view !== null) zoomAt(strip, view, factor, strip.width / 2, strip.height / 2);
}

function zoomAt(strip: StripCanvas, view: StripView, factor: number, x: number, y: number): void {
  const { scale: old, least, most, from, top, left } = strip.frame(view);
  const scale = clamp(old * factor, least, most);
  const shift = 1 / old - 1 / scale;
  change({ stripCamera: strip.within(view, { scale, x: from + (x - left) * shift, y: top + (y - TOP) * shift }) });
}

const MEMORY: Subject<StripCanvas, StripView> = {
  name: "memory strip",
  keys: "Memory: arrow keys point at addresses, Enter selects an element that reads the address",
  view: stripView,
  now: canvases,
  make: (canvas, redraw) => new StripCanvas(canvas, redraw),
  height: (strip, view, box) => strip.wantedHeight(view, box.clientWidth, tallest()),
  draw: (strip, view) => strip.draw(view),
  at(strip, view, x, y) {
    const address = strip.addressAt(view, x, y);
    return address === null ? null : { address };
  },
  click(at) {
    if ("address" in at) void chooseReader(at.address);
  },
  pan(strip, view, dx, dy) {
    const { scale, from, top } = strip.frame(view);
    change({ stripCamera: strip.within(view, { scale, x: from - dx / scale, y: top - dy / scale }) });
  },
  zoom: zoomAt,
  movable: () => page.peek().stripCamera !== null || page.peek().strip === "wrapped",
  key({ key }, strip, view) {
    const [begin, end] = limits(view.layout);
    const { row } = strip.frame(view);
    const from = BigInt(view.focus ?? begin);
    const down = BigInt(Number.isFinite(row) ? row : 10);
    const goals: Record<string, bigint> = {
      ArrowLeft: from - 1n,
      ArrowRight: from + 1n,
      ArrowUp: from - down,
      ArrowDown: from + down,
      Home: begin,
      End: end - 1n,
      PageUp: from - 10n * down,
      PageDown: from + 10n * down,
    };
    const to = goals[key];
    if (to !== undefined && end > begin) {
      const address = integer(to < begin ? begin : to >= end ? end - 1n : to);
      pointed.value = { address, keys: true };
      // The address stays in sight.
      const next = strip.showing(view, Number(address));
      if (next !== null) change({ stripCamera: next });
    } else if (key === "Enter" || key === " ") {
      if (view.focus !== null) void chooseReader(view.focus);
    } else if (key === "Escape") {
      pointed.value = null;
    } else if (key === "+" || key === "=" || key === "-") {
      zoomBy(key === "-" ? 1 / 1.4 : 1.4);
    } else if (key === "0") {
      change({ stripCamera: null });
    } else {
      return false;
    }
    return true;
  },
  blur() {
    pointed.value = null;
  },
};

/** Selects an element that reads the address; again, and it is the next one. */
async function chooseReader(address: Integer): Promise<void> {
  const [now, known] = [layout.peek(), readers.peek()];
  if (now === null) return;
  // A finger points at nothing before it taps, so they may not be known.
  const there = known?.layout === now && String(known.address) === String(address);
  const read = there ? known : await readersOf(now, address, "choice");
  if (read === null || layout.peek() !== now) return;
  const key = page.peek().at.join();
  const last = read.indices.findIndex((index) => index.join() === key);
  const next = read.indices[(last + 1) % Math.max(read.indices.length, 1)];
  if (next !== undefined) select(next);
}

const Said = live(() => {
  const now = layout.value;
  if (now === null) return null;
  const read = sharing.value;
  const range =
    now.addresses === null
      ? now.chain?.buffer_note != null
        ? "Which addresses are read is not known."
        : "No address is read."
      : now.free?.range_exact === false
        ? `No address outside ${pretty(now.addresses[0])} to ${pretty(now.addresses[1])} is read; that is a bound.`
      : String(now.addresses[0]) === String(now.addresses[1])
        ? `Only address ${pretty(now.addresses[0])} is read.`
        : `Addresses from ${pretty(now.addresses[0])} to ${pretty(now.addresses[1])} are read.`;
  const length = now.chain?.buffer_len == null ? "" : ` The ${now.chain.buffer === null ? "buffer" : "copy"} has ${now.chain.buffer_known ? "" : "at least "}${counted(now.chain.buffer_len, "element")}.`;
  const last = now.addresses?.[1];
  const rest = now.chain?.buffer_len == null || last === undefined ? 0n : BigInt(now.chain.buffer_len) - 1n - BigInt(last);
  const tail = rest > 0n ? ` The last ${rest === 1n ? "one is" : `${pretty(rest)} are`} never read.` : "";
  let reading = "";
  if (read !== null) {
    const many = read.indices.length;
    const atLeast = read.complete ? "" : "at least ";
    reading =
      many === 0 && read.complete
        ? ` Address ${pretty(read.address)} is a hole: nothing reads it.`
        : ` Address ${pretty(read.address)} is read by ${atLeast}${counted(many, "element")}.`;
  }
  return (
    <p class="soft said">
      {range}
      {length}
      {length !== "" && tail}
      {reading}
    </p>
  );
});

/** What the colours of memory mean. */
export const stripKey = computed((): { swatch: string; text: string }[] => {
  const unknown = canvases.value?.uncounted.value ?? false;
  return [
    ...(unknown
      ? [{ swatch: "uncounted", text: "read, how often is not known" }]
      : [
          { swatch: "once", text: "read once" },
          { swatch: "often", text: "more often" },
        ]),
    { swatch: "hole", text: "never read" },
    { swatch: "lit", text: "the element's address" },
  ];
});

export const StripPane = live(() => {
  const { rowLength } = page.value;
  const now = layout.value;
  const wrapped = stripView.value?.wrapped ?? false;
  const note = canvases.value?.note.value ?? null;
  const fits = canvases.value?.row.value ?? 0;
  return (
    <Pane
      id="memory"
      title="Memory"
      tools={
        <>
          <Choice
            name="As"
            value={wrapped ? "wrapped" : "linear"}
            options={[
              ["linear", "one line"],
              // Rows of cells are for addresses that can be told apart.
              ...(now !== null && isVast(now) ? [] : [["wrapped", "rows"] as const]),
            ]}
            choose={(value) => change({ strip: value === "wrapped" ? "wrapped" : "linear", stripCamera: null }, true)}
          />
          {wrapped && (
            <label class="beside">
              of
              <Scrub
                field
                value={rowLength === null ? "" : String(rowLength)}
                label="addresses in a row (empty: as many as fit)"
                optional
                change={(value) => {
                  const length = Number(value);
                  change(
                    {
                      rowLength:
                        value === "" || !Number.isInteger(length) || length < 1 ? null : Math.min(length, 4096),
                      stripCamera: null,
                    },
                    "row length",
                  );
                }}
              />
            </label>
          )}
          <Zoom of="memory" by={zoomBy} all={() => change({ stripCamera: null })} />
        </>
      }
    >
      {now !== null && now.addresses === null ? null : <Picture of={MEMORY} />}
      <Said />
      {wrapped && rowLength !== null && fits < rowLength && fits > 0 && (
        <p class="soft">No more than {fits} addresses fit into a row here.</p>
      )}
      {note !== null && <p class="soft">{sentence(note)}</p>}
      <p class="key">
        {stripKey.value.map(({ swatch, text }) => (
          <span>
            <i class={`swatch ${swatch}`} /> {text}
          </span>
        ))}
      </p>
    </Pane>
  );
});
