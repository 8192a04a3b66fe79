/** Pane C: memory, and who reads it. */
import { Fragment, h } from "preact";
import { computed, effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { listen } from "../draw/gestures";
import { bounds, StripCanvas, type StripView } from "../draw/strip";
import { theme } from "../draw/theme";
import { detail, pointed, readers, select, sharing } from "../focus";
import { current, layout } from "../layout";
import { clamp, counted, plain, pretty } from "../numbers";
import { change, page, type Camera } from "../page";
import { Choice, IconButton } from "./controls";
import { Pane } from "./pane";
import { Scrub } from "./scrub";

export const stripView = computed((): StripView | null => {
  const now = layout.value;
  const colors = theme.value;
  if (now === null || colors === null) return null;
  const known = detail.value?.layout === now ? detail.value : null;
  const over = pointed.value;
  const address = over !== null && "address" in over ? over.address : (known?.address ?? null);
  const { strip, rowLength, stripCamera } = page.value;
  return {
    layout: now,
    theme: colors,
    wrapped: strip === "wrapped",
    rowLength,
    camera: stripCamera,
    focus: address === null ? null : Number(address),
  };
});

export const stripCanvas: { now: StripCanvas | null } = { now: null };

const TALLEST = 220;

function Canvas() {
  const host = useRef<HTMLDivElement>(null);
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const box = host.current;
    if (canvas === null || box === null) return;
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      const view = stripView.peek();
      if (view === null) return;
      const width = box.clientWidth;
      const height = strip.wantedHeight(view, width, TALLEST);
      canvas.style.setProperty("height", `${height}px`);
      canvas.style.setProperty("touch-action", view.camera === null ? "pan-y" : "none");
      strip.resize(width, height);
      strip.draw(view);
    };
    const redraw = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const strip = new StripCanvas(canvas, redraw);
    stripCanvas.now = strip;
    const put = (next: Camera): void => {
      const view = stripView.peek();
      if (view === null) return;
      const [begin, end] = bounds(view.layout);
      const frame = strip.frame(view);
      if (view.wrapped) {
        const rows = Math.ceil((end - begin) / frame.row) - (strip.height - 12) / frame.scale;
        change({ stripCamera: rows <= 0 ? null : { scale: 1, x: 0, y: clamp(next.y, 0, Math.max(rows, 0)) } });
      } else {
        const wide = (strip.width - 20) / next.scale;
        change({ stripCamera: { scale: next.scale, x: clamp(next.x, begin, Math.max(end - wide, begin)), y: 0 } });
      }
    };
    const zoom = (factor: number, x: number): void => {
      const view = stripView.peek();
      if (view === null) return;
      const from = strip.frame(view);
      if (view.wrapped) {
        put({ scale: 1, x: 0, y: from.top + (factor < 1 ? 1 : -1) * 2 });
        return;
      }
      const whole = strip.frame({ ...view, camera: null }).scale;
      const scale = clamp(from.scale * factor, whole, 60);
      if (scale <= whole) change({ stripCamera: null });
      else put({ scale, x: from.from + (x - from.left) * (1 / from.scale - 1 / scale), y: 0 });
    };
    const at = (x: number, y: number): number | null => {
      const view = stripView.peek();
      return view === null || !current.peek() ? null : strip.addressAt(view, x, y);
    };
    const stop = listen(canvas, {
      pan(dx, dy) {
        const view = stripView.peek();
        if (view === null) return;
        const from = strip.frame(view);
        put({ scale: from.scale, x: from.from - dx / from.scale, y: from.top - dy / from.scale });
      },
      zoom,
      hover(x, y) {
        const address = at(x, y);
        const old = pointed.peek();
        if (address === null ? old === null : old !== null && "address" in old && old.address === address) return;
        pointed.value = address === null ? null : { address };
      },
      leave() {
        pointed.value = null;
      },
      click(x, y) {
        const address = at(x, y);
        box.focus({ preventScroll: true });
        if (address !== null) chooseReader(address);
      },
      engaged: () => document.activeElement === box,
      movable: () => page.peek().stripCamera !== null || page.peek().strip === "wrapped",
    });
    const key = (event: KeyboardEvent): void => {
      const view = stripView.peek();
      if (view === null) return;
      const [begin, end] = bounds(view.layout);
      const { row, scale } = strip.frame(view);
      const from = view.focus ?? begin;
      const down = Number.isFinite(row) ? row : 10;
      const goals: Record<string, number> = {
        ArrowLeft: from - 1,
        ArrowRight: from + 1,
        ArrowUp: from - down,
        ArrowDown: from + down,
        Home: begin,
        End: end - 1,
        PageUp: from - 10 * down,
        PageDown: from + 10 * down,
      };
      const to = goals[event.key];
      if (to !== undefined && end > begin) {
        pointed.value = { address: clamp(to, begin, end - 1) };
      } else if (event.key === "Enter" || event.key === " ") {
        if (view.focus !== null) chooseReader(view.focus);
      } else if (event.key === "Escape") {
        pointed.value = null;
      } else if (event.key === "+" || event.key === "=" || event.key === "-") {
        zoom(event.key === "-" ? 1 / 1.4 : 1.4, view.wrapped ? 0 : strip.width / 2);
      } else if (event.key === "0") {
        change({ stripCamera: null });
      } else {
        return;
      }
      event.preventDefault();
      // The address stays in sight.
      const focus = pointed.peek();
      if (focus === null || !("address" in focus) || page.peek().stripCamera === null || view.wrapped) return;
      const wide = (strip.width - 20) / scale;
      const x = strip.frame(view).from;
      put({ scale, x: clamp(x, Number(focus.address) + 1 - wide, Number(focus.address)), y: 0 });
    };
    const blur = (): void => {
      pointed.value = null;
    };
    box.addEventListener("keydown", key);
    box.addEventListener("blur", blur);
    const observer = new ResizeObserver(redraw);
    observer.observe(box);
    const forget = effect(() => {
      void stripView.value;
      redraw();
    });
    return () => {
      stop();
      forget();
      observer.disconnect();
      box.removeEventListener("keydown", key);
      box.removeEventListener("blur", blur);
      cancelAnimationFrame(frame);
      stripCanvas.now = null;
    };
  }, []);
  return (
    <div
      class="canvas-host"
      ref={host}
      tabIndex={0}
      role="application"
      aria-roledescription="memory strip"
      aria-label="Memory: arrow keys point at addresses, Enter selects an element that reads the address"
    >
      <canvas ref={ref} aria-hidden="true" />
    </div>
  );
}

/** Selects an element that reads the address; again, and it is the next one. */
function chooseReader(address: number): void {
  const read = readers.peek();
  if (read === null || Number(read.address) !== address) return;
  const key = page.peek().at.join();
  const now = read.indices.findIndex((index) => index.join() === key);
  const next = read.indices[(now + 1) % Math.max(read.indices.length, 1)];
  if (next !== undefined) select(next);
}

function Said() {
  const now = layout.value;
  if (now === null) return null;
  const read = sharing.value;
  const range =
    now.addresses === null
      ? "No address is read."
      : `Addresses ${pretty(now.addresses[0])} to ${pretty(now.addresses[1])} are read.`;
  const length = now.chain?.buffer_len == null ? "" : ` The buffer has ${counted(now.chain.buffer_len, "element")}.`;
  let reading = "";
  if (read !== null) {
    const many = read.indices.length;
    const atLeast = read.complete ? "" : "at least ";
    reading =
      many === 0 && read.complete
        ? ` Address ${plain(read.address)} is a hole: nothing reads it.`
        : ` Address ${plain(read.address)} is read by ${atLeast}${counted(many, "element")}.`;
  }
  return (
    <p class="soft said">
      {range}
      {length}
      {reading}
    </p>
  );
}

export function StripPane() {
  const { strip, rowLength } = page.value;
  const now = layout.value;
  return (
    <Pane
      id="memory"
      title="Memory"
      tools={
        <>
          <Choice
            name="As"
            value={strip}
            options={[
              ["linear", "one line"],
              ["wrapped", "rows"],
            ]}
            choose={(value) => change({ strip: value === "wrapped" ? "wrapped" : "linear", stripCamera: null }, true)}
          />
          {strip === "wrapped" && (
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
          <div class="group">
            <IconButton
              icon="fit"
              label="Show all of memory"
              title="Show everything (0)"
              click={() => change({ stripCamera: null })}
            />
          </div>
        </>
      }
    >
      {now !== null && now.addresses === null ? null : <Canvas />}
      <Said />
      <p class="key">
        <span>
          <i class="swatch once" /> read once
        </span>
        <span>
          <i class="swatch often" /> more often
        </span>
        <span>
          <i class="swatch hole" /> hole
        </span>
        <span>
          <i class="swatch mask" /> masked
        </span>
        <span>
          <i class="swatch lit" /> linked
        </span>
      </p>
    </Pane>
  );
}
