/** Pane B: the tensor as a grid of cells. */
import { Fragment, h } from "preact";
import { computed, effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { listen } from "../draw/gestures";
import { GridCanvas, type GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import { detail, isIndex, pointed, select, selected, sharing } from "../focus";
import { plan, usualPlaces, type Plan } from "../lane";
import { current, layout, type Layout } from "../layout";
import { clamp, counted, plain } from "../numbers";
import { camera, change, LABELS, page, PLACES, type Camera, type Label, type Place } from "../page";
import { Choice, IconButton } from "./controls";
import { Pane } from "./pane";

/** Where each axis goes now. */
export const places = computed((): Place[] => {
  const shape = layout.value?.shape ?? [];
  const chosen = page.value.places;
  return chosen !== null && chosen.length === shape.length ? chosen : usualPlaces(shape);
});

export const gridPlan = computed((): Plan => plan(layout.value?.shape ?? [], places.value));

/** The entries of the selected element along the axes that are no rows or columns. */
const slice = computed(() => {
  const { sliders } = gridPlan.value;
  const index = selected.value ?? [];
  return (layout.value?.shape ?? []).map((_, axis) => (sliders.includes(axis) ? (index[axis] ?? 0) : 0)).join();
});

let moving = false;

const NONE: readonly number[][] = [];

/** All that the picture is made of. */
export const gridView = computed((): GridView | null => {
  const now = layout.value;
  const colors = theme.value;
  if (now === null || colors === null) return null;
  const { label, color } = page.value;
  const known = detail.value?.layout === now ? detail.value : null;
  const over = pointed.value;
  const focus = over !== null && "index" in over ? over.index : (known?.index ?? selected.value);
  const lit = sharing.value?.indices ?? NONE;
  const fits = (index: number[] | null): number[] | null =>
    index !== null && isIndex(index, now.shape) ? index : null;
  return {
    scene: {
      layout: now,
      plan: gridPlan.value,
      fixed: slice.value === "" ? [] : slice.value.split(",").map(Number),
      color,
    },
    label,
    theme: colors,
    camera: camera.value,
    focus: over !== null && "address" in over ? fits(known?.fromMemory === true ? known.index : null) : fits(focus),
    selected: fits(selected.value),
    readers: lit,
    moving,
  };
});

/** The canvas that is on the page, for exports and measurements. */
export const gridCanvas: { now: GridCanvas | null; zoom: ((factor: number) => void) | null } = {
  now: null,
  zoom: null,
};

const LABEL_NAMES: Record<Label, string> = {
  address: "address",
  position: "position",
  index: "coordinates",
  valid: "validity",
};
const PLACE_NAMES: Record<Place, string> = {
  rows: "rows",
  columns: "columns",
  down: "facets down",
  across: "facets across",
  slider: "slider",
};
/** The height that a grid may take. */
const TALLEST = 460;

function Canvas() {
  const host = useRef<HTMLDivElement>(null);
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const box = host.current;
    if (canvas === null || box === null) return;
    let frame = 0;
    let still = 0;
    let lastTheme = theme.peek();
    let lastLayout: Layout | null = null;
    const draw = (): void => {
      frame = 0;
      const view = gridView.peek();
      if (view === null) return;
      const width = box.clientWidth;
      const height = grid.wantedHeight(view.scene, width, Math.min(TALLEST, Math.max(innerHeight * 0.7, 240)));
      if (!grid.prepare(view, width, height)) return;
      canvas.style.setProperty("height", `${height}px`);
      // The browser itself scrolls the page over a grid that is seen as a whole.
      canvas.style.setProperty("touch-action", view.camera === null ? "pan-y" : "none");
      grid.resize(width, height);
      grid.draw({ ...view, moving });
    };
    const redraw = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const grid = new GridCanvas(canvas, redraw);
    gridCanvas.now = grid;
    const size = (): { column: number; row: number } => ({
      column: gridPlan.peek().column.extent,
      row: gridPlan.peek().row.extent,
    });
    const put = (next: Camera): void => {
      moving = true;
      clearTimeout(still);
      still = window.setTimeout(() => {
        moving = false;
        redraw();
      }, 140);
      // Some of the tensor stays in sight.
      const { column, row } = size();
      const [wide, tall] = [grid.width / next.scale, grid.height / next.scale];
      change({
        camera: {
          scale: next.scale,
          x: clamp(next.x, -wide * 0.5, column - wide * 0.2),
          y: clamp(next.y, -tall * 0.5, row - tall * 0.2),
        },
      });
    };
    const zoom = (factor: number, x: number, y: number): void => {
      const view = gridView.peek();
      if (view === null) return;
      const { camera: from, left, top } = grid.frame(view);
      const whole = grid.frame({ ...view, camera: null }).camera.scale;
      const scale = clamp(from.scale * factor, Math.min(whole * 0.5, 4), 96);
      if (scale <= whole && factor < 1) {
        change({ camera: null });
        return;
      }
      put({
        scale,
        x: from.x + (x - left) * (1 / from.scale - 1 / scale),
        y: from.y + (y - top) * (1 / from.scale - 1 / scale),
      });
    };
    gridCanvas.zoom = (factor) => zoom(factor, grid.width / 2, grid.height / 2);
    const pan = (dx: number, dy: number): void => {
      const view = gridView.peek();
      if (view === null) return;
      const from = grid.frame(view).camera;
      put({ scale: from.scale, x: from.x - dx / from.scale, y: from.y - dy / from.scale });
    };
    const at = (x: number, y: number): number[] | null => {
      const view = gridView.peek();
      return view === null || !current.peek() ? null : grid.indexAt(view, x, y);
    };
    const stop = listen(canvas, {
      pan,
      zoom,
      hover(x, y) {
        const index = at(x, y);
        const old = pointed.peek();
        if (index === null ? old === null : old !== null && "index" in old && old.index.join() === index.join())
          return;
        pointed.value = index === null ? null : { index };
      },
      leave() {
        pointed.value = null;
      },
      click(x, y) {
        const index = at(x, y);
        if (index !== null) select(index);
        box.focus({ preventScroll: true });
      },
      engaged: () => document.activeElement === box,
      movable: () => camera.peek() !== null,
    });
    /** Moves the selected element along the rows and columns of the picture. */
    const step = (event: KeyboardEvent): void => {
      const { row, column } = gridPlan.peek();
      const from = selected.peek();
      if (event.key === "+" || event.key === "=" || event.key === "-") {
        zoomBy(event.key === "-" ? 1 / 1.4 : 1.4);
      } else if (event.key === "0") {
        change({ camera: null });
      } else if (event.shiftKey && event.key.startsWith("Arrow")) {
        if (camera.peek() === null) return;
        pan({ ArrowLeft: 60, ArrowRight: -60 }[event.key] ?? 0, { ArrowUp: 60, ArrowDown: -60 }[event.key] ?? 0);
      } else {
        if (from === null) return;
        const [r, c] = [row.ofIndex(from), column.ofIndex(from)];
        const last = { row: row.count - 1, column: column.count - 1 };
        const far = event.ctrlKey || event.metaKey;
        const goals: Record<string, [number, number]> = {
          ArrowLeft: [r, c - 1],
          ArrowRight: [r, c + 1],
          ArrowUp: [r - 1, c],
          ArrowDown: [r + 1, c],
          Home: [far ? 0 : r, 0],
          End: [far ? last.row : r, last.column],
          PageUp: [r - 10, c],
          PageDown: [r + 10, c],
        };
        const to = goals[event.key];
        if (to === undefined) return;
        const index = [...from];
        row.toIndex(clamp(to[0], 0, Math.max(last.row, 0)), index);
        column.toIndex(clamp(to[1], 0, Math.max(last.column, 0)), index);
        pointed.value = null;
        select(index);
        follow(index);
      }
      event.preventDefault();
    };
    /** Brings an element into sight. */
    const follow = (index: readonly number[]): void => {
      const view = gridView.peek();
      if (view === null || view.camera === null) return;
      const { camera: from, left, top } = grid.frame(view);
      const { row, column } = view.scene.plan;
      const [x, y] = [column.place(column.ofIndex(index)), row.place(row.ofIndex(index))];
      const [wide, tall] = [(grid.width - left) / from.scale, (grid.height - top) / from.scale];
      const next = { ...from, x: clamp(from.x, x + 1 - wide, x), y: clamp(from.y, y + 1 - tall, y) };
      if (next.x !== from.x || next.y !== from.y) change({ camera: next });
    };
    box.addEventListener("keydown", step);
    const observer = new ResizeObserver(redraw);
    observer.observe(box);
    const forget = effect(() => {
      const view = gridView.value;
      if (view !== null && view.theme !== lastTheme) {
        lastTheme = view.theme;
        grid.tiles.repaint();
      }
      // What is new is asked for at once, not with the next frame.
      if (view !== null && view.scene.layout !== lastLayout) {
        lastLayout = view.scene.layout;
        draw();
      }
      redraw();
    });
    return () => {
      stop();
      forget();
      observer.disconnect();
      box.removeEventListener("keydown", step);
      cancelAnimationFrame(frame);
      gridCanvas.now = gridCanvas.zoom = null;
    };
  }, []);
  return (
    <div
      class="canvas-host"
      ref={host}
      tabIndex={0}
      role="application"
      aria-roledescription="tensor grid"
      aria-label="Tensor grid: arrow keys move the selected element, plus and minus zoom, 0 shows everything"
    >
      <canvas ref={ref} aria-hidden="true" />
    </div>
  );
}

function zoomBy(factor: number): void {
  gridCanvas.zoom?.(factor);
}

function Axes() {
  const shape = layout.value?.shape ?? [];
  const names = layout.value?.names ?? [];
  if (shape.length === 0) return null;
  const put = (axis: number, place: Place): void => {
    const next = [...places.value];
    next[axis] = place;
    change({ places: next, camera: null }, true);
  };
  return (
    <div class="axes" role="group" aria-label="Where each axis goes">
      {shape.map((size, axis) => (
        <Choice
          name={
            <>
              {names[axis]} <i>{plain(size)}</i>
            </>
          }
          value={places.value[axis] ?? "slider"}
          choose={(value) => put(axis, value as Place)}
          options={PLACES.map((place) => [place, PLACE_NAMES[place]])}
        />
      ))}
    </div>
  );
}

function Sliders() {
  const now = layout.value;
  const index = selected.value;
  if (now === null || index === null) return null;
  const axes = gridPlan.value.sliders.filter((axis) => (now.shape[axis] ?? 1) > 1);
  if (axes.length === 0) return null;
  return (
    <div class="sliders">
      {axes.map((axis) => (
        <label>
          <span>
            {now.names[axis]} = <output>{plain((index[axis] ?? 0) + (now.begins[axis] ?? 0))}</output>
          </span>
          <input
            type="range"
            min={0}
            max={(now.shape[axis] ?? 1) - 1}
            value={index[axis] ?? 0}
            onInput={(event) =>
              select(index.map((at, each) => (each === axis ? Number(event.currentTarget.value) : at)))
            }
          />
        </label>
      ))}
    </div>
  );
}

export function GridPane() {
  const now = layout.value;
  const views = Math.max(now?.chain?.views.length ?? 1, 1);
  const { label, color } = page.value;
  const elsewhere =
    gridView.value === null
      ? 0
      : gridView.value.readers.filter((index) =>
          gridPlan.value.sliders.some((axis) => index[axis] !== gridView.value!.scene.fixed[axis]),
        ).length;
  return (
    <Pane
      id="grid"
      title="Tensor"
      tools={
        <>
          <Choice
            name="Cells"
            value={label}
            choose={(value) => change({ label: value as Label }, true)}
            options={LABELS.map((each) => [each, LABEL_NAMES[each]])}
          />
          <Choice
            name="Colour"
            value={color}
            choose={(value) => change({ color: value }, true)}
            options={[
              ["address", "address"],
              ["reads", "reads of the address"],
              ...(now?.names ?? []).map((name, axis) => [`axis${axis}`, name] as const),
              ...Array.from(
                { length: views - 1 },
                (_, view) => [`view${view + 1}`, `position in view ${view + 1}`] as const,
              ),
            ]}
          />
          <div class="group">
            <IconButton
              icon="plus"
              label="Zoom in"
              title="Zoom in (+, or Ctrl and the wheel)"
              click={() => zoomBy(1.5)}
            />
            <IconButton icon="minus" label="Zoom out" title="Zoom out (-)" click={() => zoomBy(1 / 1.5)} />
            <IconButton
              icon="fit"
              label="Show everything"
              title="Show everything (0)"
              click={() => change({ camera: null })}
            />
          </div>
        </>
      }
    >
      <Axes />
      <Sliders />
      {now !== null && now.shape.includes(0) ? (
        <p class="soft">The tensor has no elements: one of its sizes is 0.</p>
      ) : now?.tooLong === true ? (
        <p class="soft">An axis of more than 9 007 199 254 740 991 elements is too long to draw.</p>
      ) : (
        <Canvas />
      )}
      {elsewhere > 0 && (
        <p class="soft">
          {counted(elsewhere, "element")} of those that read this address {elsewhere === 1 ? "is" : "are"} in other
          slices.
        </p>
      )}
    </Pane>
  );
}
