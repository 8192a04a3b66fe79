/** Pane B: the tensor as a grid of cells. */
import { Fragment, h } from "preact";
import { computed, signal } from "@preact/signals-core";
import { GridCanvas, type GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import type { Integer } from "../engine";
import { detail, isIndex, pointed, select, selected, sharing } from "../focus";
import { plan, usualPlaces, type Plan } from "../lane";
import { layout, type Layout } from "../layout";
import { clamp, counted, plain, pretty } from "../numbers";
import { camera, change, LABELS, page, PLACES, type Camera, type Label, type Place } from "../page";
import { Choice, Zoom } from "./controls";
import { live } from "./live";
import { sentence } from "./mistake";
import { Pane } from "./pane";
import { Picture, type Subject } from "./picture";

/** Where each axis goes now. */
export const places = computed((): Place[] => {
  const shape = layout.value?.shape ?? [];
  const chosen = page.value.places;
  return chosen !== null && chosen.length === shape.length ? chosen : usualPlaces(shape);
});

export const gridPlan = computed((): Plan => plan(layout.value?.shape ?? [], places.value));

/** What may colour the cells, and what it is called. */
const colors = computed((): [string, string][] => {
  const now = layout.value;
  const views = now?.chain?.views.slice(1) ?? [];
  return [
    ["address", "address"],
    ["reads", "reads of the address"],
    ...(now?.names ?? []).map((name, axis): [string, string] => [`axis${axis}`, name]),
    ...views.map((_, view): [string, string] => [`view${view + 1}`, `position in view ${view + 1}`]),
  ];
});

/** What colours them: a link may ask for an axis or a view that is not there. */
const color = computed(() => colors.value.find(([each]) => each === page.value.color)?.[0] ?? "address");

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
  const shades = theme.value;
  if (now === null || shades === null) return null;
  const { label } = page.value;
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
      color: color.value,
    },
    label,
    theme: shades,
    camera: camera.value,
    focus: over !== null && "address" in over ? fits(known?.fromMemory === true ? known.index : null) : fits(focus),
    selected: fits(selected.value),
    readers: lit,
    moving,
  };
});

const canvases = signal<GridCanvas | null>(null);

/** The canvas that is on the page, for exports and measurements. */
export const gridCanvas = {
  get now(): GridCanvas | null {
    return canvases.peek();
  },
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

let still = 0;

/** Moves the camera, so that some of the tensor stays in sight. */
function put(grid: GridCanvas, view: GridView, camera: Camera): void {
  moving = true;
  clearTimeout(still);
  still = window.setTimeout(() => {
    moving = false;
    grid.redraw();
  }, 140);
  change({ camera: grid.frame({ ...view, camera }).camera });
}

function zoomAt(grid: GridCanvas, view: GridView, factor: number, x: number, y: number): void {
  const { camera: from, left, top } = grid.frame(view);
  const whole = grid.frame({ ...view, camera: null }).camera.scale;
  // The picture itself says how near and how far it can be.
  const { scale } = grid.frame({ ...view, camera: { ...from, scale: from.scale * factor } }).camera;
  if (scale <= whole && factor < 1) {
    change({ camera: null });
    return;
  }
  const shift = 1 / from.scale - 1 / scale;
  put(grid, view, { scale, x: from.x + (x - left) * shift, y: from.y + (y - top) * shift });
}

/** Zooms around the middle. */
function zoomBy(factor: number): void {
  const [grid, view] = [canvases.peek(), gridView.peek()];
  if (grid !== null && view !== null) zoomAt(grid, view, factor, grid.width / 2, grid.height / 2);
}

function panBy(grid: GridCanvas, view: GridView, dx: number, dy: number): void {
  const { scale, x, y } = grid.frame(view).camera;
  put(grid, view, { scale, x: x - dx / scale, y: y - dy / scale });
}

/** Brings an element into sight. */
function show(grid: GridCanvas, view: GridView, index: readonly number[]): void {
  if (view.camera === null) return;
  const { camera: from, left, top } = grid.frame(view);
  const { row, column } = view.scene.plan;
  const [x, y] = [column.place(column.ofIndex(index)), row.place(row.ofIndex(index))];
  const [wide, tall] = [(grid.width - left) / from.scale, (grid.height - top) / from.scale];
  const next = { ...from, x: clamp(from.x, x + 1 - wide, x), y: clamp(from.y, y + 1 - tall, y) };
  if (next.x !== from.x || next.y !== from.y) change({ camera: next });
}

const TENSOR: Subject<GridCanvas, GridView> = {
  name: "tensor grid",
  keys: "Tensor grid: arrow keys move the selected element, plus and minus zoom, 0 shows everything",
  view: gridView,
  now: canvases,
  make: (canvas, redraw) => new GridCanvas(canvas, redraw),
  height(grid, view, width) {
    const height = grid.wantedHeight(view, width, Math.min(TALLEST, Math.max(innerHeight * 0.7, 240)));
    return grid.prepare(view, width, height) ? height : null;
  },
  draw: (grid, view) => grid.draw({ ...view, moving }),
  at(grid, view, x, y) {
    const index = grid.indexAt(view, x, y);
    return index === null ? null : { index };
  },
  click(at) {
    if ("index" in at) select(at.index);
  },
  pan: panBy,
  zoom: zoomAt,
  movable: () => camera.peek() !== null,
  /** Moves the selected element along the rows and columns of the picture. */
  key({ key, shiftKey, ctrlKey, metaKey }, grid, view) {
    if (key === "+" || key === "=" || key === "-") {
      zoomBy(key === "-" ? 1 / 1.4 : 1.4);
      return true;
    }
    if (key === "0") {
      change({ camera: null });
      return true;
    }
    if (shiftKey && key.startsWith("Arrow")) {
      if (view.camera === null) return false;
      panBy(grid, view, { ArrowLeft: 60, ArrowRight: -60 }[key] ?? 0, { ArrowUp: 60, ArrowDown: -60 }[key] ?? 0);
      return true;
    }
    const { row, column } = gridPlan.peek();
    const from = selected.peek();
    if (from === null) return false;
    const [r, c] = [row.ofIndex(from), column.ofIndex(from)];
    const last = { row: row.count - 1, column: column.count - 1 };
    const far = ctrlKey || metaKey;
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
    const to = goals[key];
    if (to === undefined) return false;
    const index = [...from];
    row.toIndex(clamp(to[0], 0, Math.max(last.row, 0)), index);
    column.toIndex(clamp(to[1], 0, Math.max(last.column, 0)), index);
    pointed.value = null;
    select(index);
    show(grid, view, index);
    return true;
  },
};

const Axes = live(() => {
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
              {names[axis]} <i>({plain(size)})</i>
            </>
          }
          value={places.value[axis] ?? "slider"}
          choose={(value) => put(axis, value as Place)}
          options={PLACES.map((place) => [place, PLACE_NAMES[place]])}
        />
      ))}
    </div>
  );
});

const Sliders = live(() => {
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
});

/** What the lightest and the darkest shade of the cells say. */
function shadesOf({ layout: now, color: by }: Pick<GridView["scene"], "layout" | "color">): string | null {
  const between = (name: string, low: Integer, high: Integer): string =>
    String(low) === String(high) ? `${name} ${pretty(low)}` : `${name} from ${pretty(low)} to ${pretty(high)}`;
  if (by === "reads") return "address read once to 64 times or more";
  const number = Number(/\d+$/.exec(by)?.[0] ?? 0);
  if (by.startsWith("axis")) {
    const begin = now.begins[number] ?? 0;
    return between(now.names[number] ?? "", begin, begin + (now.shape[number] ?? 1) - 1);
  }
  if (by.startsWith("view")) return `first to last position in view ${number}`;
  return now.addresses === null ? null : between("address", ...now.addresses);
}

function Key({ of: { scene, readers }, now: { chain, expression } }: { of: GridView; now: Layout }) {
  const shades = shadesOf(scene);
  const masked = chain?.views.some(({ mask }) => mask !== null) ?? expression?.valid_text !== "True";
  return (
    <p class="key">
      {shades !== null && (
        <span>
          <i class="swatch ramp" /> {shades}
        </span>
      )}
      {masked && (
        <span>
          <i class="swatch mask" /> masked: no address
        </span>
      )}
      <span>
        <i class="swatch lit" /> the element
      </span>
      {readers.length > 1 && (
        <span>
          <i class="swatch same" /> reads the same address
        </span>
      )}
    </p>
  );
}

export const GridPane = live(() => {
  const now = layout.value;
  const { label } = page.value;
  const note = canvases.value?.tiles.note.value ?? null;
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
            value={color.value}
            choose={(value) => change({ color: value }, true)}
            options={colors.value}
          />
          <Zoom of="the tensor" by={zoomBy} all={() => change({ camera: null })} />
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
        <Picture of={TENSOR} />
      )}
      {gridView.value !== null && now !== null && <Key of={gridView.value} now={now} />}
      {note !== null && <p class="soft">{sentence(note)}</p>}
      {elsewhere > 0 && (
        <p class="soft">
          {counted(elsewhere, "element")} of those that read this address {elsewhere === 1 ? "is" : "are"} in other
          slices.
        </p>
      )}
    </Pane>
  );
});
