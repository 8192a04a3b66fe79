/** Pane B: the tensor as a grid of cells. */
import { Fragment, h } from "preact";
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { GridCanvas, type Arrow, type GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import type { Domain } from "../draw/tiles";
import type { Integer, Source } from "shapetracker/engine";
import { spread } from "../devices";
import { detail, isIndex, pointed, select, selected, sharing, went } from "../focus";
import { plan, usualPlaces, type Plan } from "../lane";
import { blocks, chainText, layout, shown, stations } from "../layout";
import { clamp, counted, integer, pretty, tuple } from "../numbers";
import { camera, change, LABELS, page, PLACES, type Camera, type Label, type Place } from "../page";
import "../pictures.css";
import { Choice, IconButton, Zoom } from "./controls";
import { later } from "./later";
import { live } from "./live";
import { sentence } from "./mistake";
import { Pane } from "./pane";
import { Picture, type Subject } from "./picture";

/** The proportions of the place for the picture: on a telephone it is taller than it is wide. */
const narrow = matchMedia("(max-width: 700px)");
const proportions = signal(0);
const measure = (): number => (proportions.value = narrow.matches ? 0.9 : 1.6);
measure();
narrow.onchange = measure;

/** Where each axis goes now. */
export const places = computed((): Place[] => {
  const shape = layout.value?.shape ?? [];
  const chosen = page.value.places;
  return chosen !== null && chosen.length === shape.length ? chosen : usualPlaces(shape, proportions.value);
});

export const gridPlan = computed((): Plan => plan(layout.value?.shape ?? [], places.value, proportions.value));

/** A colour by operation: which one, and the tensor before it as one of its own, from which the rest are done. */
const origins = computed((): { station: number; name: string; source: Source }[] => {
  const all = stations.value;
  const now = shown.value;
  const done = all.slice(1, now + 1).map(({ block }) => (block === null ? null : (blocks.value[block] ?? null)));
  return all.slice(0, now).flatMap(({ shape }, station) => {
    const rest = done.slice(station);
    // What is copied begins anew: no position before it is left.
    if (rest.some((block) => block === null || block.step?.verdict === "copied")) return [];
    const operations = rest.map((block) => block!.operation);
    const name = `position before ${operations[0]!.name}`;
    return [{ station, name, source: { chain: chainText(tuple(shape), operations) } }];
  });
});

const MOD = "mod";

/** What may colour the cells, and what it is called. */
const colors = computed((): [string, string][] => {
  const now = layout.value;
  const views = now?.chain?.views.slice(1) ?? [];
  return [
    ["address", "address"],
    [MOD, "address mod n"],
    ["reads", "reads of the address"],
    ...(spread.value === null ? [] : [["device", "device"] as [string, string]]),
    ...(now?.names ?? []).map((name, axis): [string, string] => [`axis${axis}`, name]),
    ...origins.value.slice(1).map(({ station, name }): [string, string] => [`op${station}`, name]),
    ...views.map((_, view): [string, string] => [`view${view + 1}`, `position in view ${view + 1}`]),
  ];
});

/** The n of "address mod n", where the colour says it. */
const modulus = computed(() => {
  const [, n] = /^mod(\d*)$/.exec(page.value.color) ?? [];
  return n === undefined ? null : Math.max(Number(n || 4), 2);
});

/** What colours them: a link may ask for an axis or a view that is not there. */
const color = computed(() => {
  if (modulus.value !== null) return `${MOD}${modulus.value}`;
  return colors.value.find(([each]) => each === page.value.color)?.[0] ?? "address";
});

const positions = computed(() => {
  const station = Number(/^op(\d+)$/.exec(color.value)?.[1] ?? NaN);
  return origins.value.find((each) => each.station === station)?.source ?? null;
});

/** The entries of the selected element along the axes that are no rows or columns. */
const slice = computed(() => {
  const { sliders } = gridPlan.value;
  const index = selected.value ?? [];
  return (layout.value?.shape ?? []).map((_, axis) => (sliders.includes(axis) ? (index[axis] ?? 0) : 0)).join();
});

let moving = false;

const NONE: readonly number[][] = [];

/** Whether the reason why the views are not one is pointed out. */
export const witnessed = signal(true);

/** The steps and elements of the reason, if it is one of this tensor. */
const pointedOut = computed((): { arrows: Arrow[]; crossed: number[][] } => {
  const why = witnessed.value ? (layout.value?.chain?.reason?.witness ?? null) : null;
  if (why === null) return { arrows: [], crossed: [] };
  if (why.kind === "not_a_box") return { arrows: [], crossed: [...why.valid, why.invalid].map((index) => index.map(Number)) };
  const arrows = why.steps.map(({ index, next, moved }, at) => ({
    from: index.map(Number),
    to: next.map(Number),
    moved: Number(moved) < 0 ? pretty(moved) : `+${pretty(moved)}`,
    dashed: at === 1,
  }));
  return { arrows, crossed: [] };
});

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
      positions: positions.value,
      devices: spread.value ?? "",
    },
    label,
    theme: shades,
    camera: camera.value,
    focus: over !== null && "address" in over ? fits(known?.fromMemory === true ? known.index : null) : fits(focus),
    selected: fits(selected.value),
    readers: lit,
    moving,
    ...pointedOut.value,
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
  hex: "hexadecimal",
  position: "position",
  index: "coordinates",
  valid: "validity",
};
const PLACE_NAMES: Record<Place, string> = {
  rows: "rows",
  columns: "columns",
  down: "facets down",
  across: "facets across",
  wrapped: "facets in lines",
  slider: "slider",
};
/** The height that a grid may take where it is not beside the text. */
const TALLEST = 460;
/** It is no lower, however low the window is. */
const LOWEST = 160;

/** The room for the picture in its box: with memory below it all of it is in sight, where it stands beside the text. */
function room(box: HTMLElement): number {
  const both = box.closest<HTMLElement>(".pictures");
  if (both === null || getComputedStyle(both).position !== "sticky") {
    return Math.min(TALLEST, Math.max(innerHeight * 0.7, 240));
  }
  const head = document.querySelector<HTMLElement>(".top")?.offsetHeight ?? 0;
  return Math.max(innerHeight - head - (both.offsetHeight - box.offsetHeight) - AROUND, LOWEST);
}

/** What is left free above and below the pictures, in pixels. */
const AROUND = 18;

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
  const { camera: from, left, top, wide, tall } = grid.frame(view);
  const whole = grid.frame({ ...view, camera: null }).camera.scale;
  // The picture itself says how near and how far it can be.
  const next = grid.frame({ ...view, camera: { ...from, scale: from.scale * factor } });
  const { scale } = next.camera;
  if (scale <= whole && factor < 1) {
    change({ camera: null });
    return;
  }
  // What is under the pointer stays there.
  const [dx, dy] = [(x - left) * (1 / wide - 1 / next.wide), (y - top) * (1 / tall - 1 / next.tall)];
  put(grid, view, { scale, x: from.x + dx, y: from.y + dy });
}

/** Zooms around the middle. */
function zoomBy(factor: number): void {
  const [grid, view] = [canvases.peek(), gridView.peek()];
  if (grid !== null && view !== null) zoomAt(grid, view, factor, grid.width / 2, grid.height / 2);
}

function panBy(grid: GridCanvas, view: GridView, dx: number, dy: number): void {
  const { camera: from, wide, tall } = grid.frame(view);
  put(grid, view, { ...from, x: from.x - dx / wide, y: from.y - dy / tall });
}

/** Brings an element into sight. */
function show(grid: GridCanvas, view: GridView, index: readonly number[]): void {
  if (view.camera === null) return;
  const { camera: from, left, top, wide, tall } = grid.frame(view);
  const { row, column } = view.scene.plan;
  const [x, y] = [column.place(column.ofIndex(index)), row.place(row.ofIndex(index))];
  const [across, down] = [(grid.width - left) / wide, (grid.height - top) / tall];
  const next = { ...from, x: clamp(from.x, x + 1 - across, x), y: clamp(from.y, y + 1 - down, y) };
  if (next.x !== from.x || next.y !== from.y) change({ camera: next });
}

/** Cells that are read are so tall. */
const READABLE = 34;

/** Shows an element so near that it can be read, wherever it is. */
function goTo(grid: GridCanvas, view: GridView, index: readonly number[]): void {
  const { row, column } = view.scene.plan;
  const near = grid.frame({ ...view, camera: { scale: READABLE, x: 0, y: 0 } });
  const [x, y] = [column.place(column.ofIndex(index)), row.place(row.ofIndex(index))];
  const [wide, tall] = [(grid.width - near.left) / near.wide, (grid.height - near.top) / near.tall];
  if (wide >= column.extent && tall >= row.extent) change({ camera: null });
  else put(grid, view, { scale: near.camera.scale, x: x + 0.5 - wide / 2, y: y + 0.5 - tall / 2 });
}

/** The picture follows the element that someone goes to. */
export function followElement(): void {
  let last = went.peek();
  effect(() => {
    if (went.value === last) return;
    last = went.value;
    untracked(() => {
      const [grid, view, index] = [canvases.peek(), gridView.peek(), selected.peek()];
      if (grid !== null && view !== null && index !== null) show(grid, view, index);
    });
  });
}

/** Moves what is in sight so that its middle is at a place of the tensor. */
export function look(column: number, row: number): void {
  const [grid, view] = [canvases.peek(), gridView.peek()];
  if (grid === null || view === null) return;
  const { camera: from, left, top, wide, tall } = grid.frame(view);
  const [x, y] = [column - (grid.width - left) / wide / 2, row - (grid.height - top) / tall / 2];
  put(grid, view, { ...from, x, y });
}

const TENSOR: Subject<GridCanvas, GridView> = {
  name: "tensor grid",
  keys: "Tensor grid: arrow keys move the element, plus and minus zoom, Enter shows it, 0 all",
  view: gridView,
  now: canvases,
  make: (canvas, redraw) => new GridCanvas(canvas, redraw),
  height(grid, view, box) {
    const width = box.clientWidth;
    const height = grid.wantedHeight(view, width, room(box));
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
    if (key === "Enter") {
      const index = selected.peek();
      if (index !== null) goTo(grid, view, index);
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
    const index = [...view.scene.fixed];
    row.toIndex(clamp(to[0], 0, Math.max(last.row, 0)), index);
    column.toIndex(clamp(to[1], 0, Math.max(last.column, 0)), index);
    pointed.value = null;
    // The last line of facets may not be full.
    if (isIndex(index, view.scene.layout.shape)) select(index);
    return true;
  },
};

/** The picture has the place that more axes would take. */
const MOST_AXES_SEEN = 6;

const Axes = live(() => {
  const shape = layout.value?.shape ?? [];
  const names = layout.value?.names ?? [];
  if (shape.length === 0) return null;
  const put = (axis: number, place: Place): void => {
    const next = [...places.value];
    // One axis is cut at most.
    const cut = next.indexOf("wrapped");
    if (place === "wrapped" && cut >= 0) next[cut] = "across";
    next[axis] = place;
    change({ places: next, camera: null }, true);
  };
  const list = (
    <div class="axes" role="group" aria-label="Where each axis goes">
      {shape.map((size, axis) => (
        <Choice
          name={
            <>
              {names[axis]} <i>({pretty(size)})</i>
            </>
          }
          value={places.value[axis] ?? "slider"}
          choose={(value) => put(axis, value as Place)}
          options={PLACES.map((place) => [place, PLACE_NAMES[place]])}
        />
      ))}
    </div>
  );
  if (shape.length <= MOST_AXES_SEEN) return list;
  const placed = shape.flatMap((_, axis) => {
    const place = places.value[axis] ?? "slider";
    return place === "slider" ? [] : [`${names[axis]}: ${PLACE_NAMES[place]}`];
  });
  return (
    <details class="many">
      <summary>
        Where each of the {shape.length} axes goes <span class="soft">({placed.join(", ")})</span>
      </summary>
      {list}
    </details>
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
            {now.names[axis]} = <output>{pretty((index[axis] ?? 0) + (now.begins[axis] ?? 0))}</output>
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
function shadesOf({ layout: now, color: by }: GridView["scene"], [low, high]: Domain): string | null {
  const between = (name: string, low: Integer, high: Integer): string =>
    String(low) === String(high) ? `${name} ${pretty(low)}` : `${name} from ${pretty(low)} to ${pretty(high)}`;
  if (by === "reads") return "read once to 64 times or more";
  if (by === "device") return "a colour for each device";
  const number = Number(/\d+$/.exec(by)?.[0] ?? 0);
  if (by.startsWith("mod")) return between("address mod " + pretty(number) + ":", 0, number - 1);
  if (by.startsWith("axis")) {
    const begin = now.begins[number] ?? 0;
    return between(now.names[number] ?? "", begin, begin + (now.shape[number] ?? 1) - 1);
  }
  const range: [Integer, Integer] = [integer(low), integer(high)];
  if (by.startsWith("view")) return between(`position in view ${number}`, ...range);
  if (by.startsWith("op")) return between(origins.peek().find(({ station }) => station === number)?.name ?? "", ...range);
  if (now.addresses === null) return null;
  // Of a range that is not seen as a whole the ends are those of what is seen.
  const whole = Number(now.addresses[0]) === low && Number(now.addresses[1]) === high;
  return between("address", ...(whole ? now.addresses : range));
}

/** What the colours and the marks of the picture mean: a swatch and what it says. */
export const gridKey = computed((): { swatch: string; text: string }[] => {
  const [view, now, grid] = [gridView.value, layout.value, canvases.value];
  if (view === null || now === null || grid === null) return [];
  const list: { swatch: string; text: string }[] = [];
  const shades = shadesOf(view.scene, grid.domain.value);
  const dot = grid.dot.value;
  if (shades !== null) list.push({ swatch: "ramp", text: shades });
  const { chain, free } = now;
  if (chain?.views.some(({ mask }) => mask !== null) ?? free?.simplified.valid_text !== "True") {
    list.push({ swatch: "mask", text: "masked: no address" });
  }
  if (dot !== null) {
    const sampled = dot.sampled ? ", sampled" : isMean(view.scene.color) ? ", drawn as their mean" : "";
    list.push({ swatch: "", text: `1 pixel = ${counted(dot.elements, "element")}${sampled}` });
    if (dot.apart) list.push({ swatch: "apart", text: "grey: far apart within the pixel" });
    if (dot.partly) list.push({ swatch: "partly", text: "paler: some of them masked" });
  }
  list.push({ swatch: "lit", text: "the element" });
  if (view.readers.length > 1) list.push({ swatch: "same", text: "reads the same address" });
  if ((view.arrows?.length ?? 0) > 0) list.push({ swatch: "steps", text: "two steps that differ" });
  if ((view.crossed?.length ?? 0) > 0) list.push({ swatch: "crossed", text: "two valid elements, and a masked one between" });
  return list;
});

function isMean(color: string): boolean {
  return color !== "reads" && color !== "device";
}

const Key = live(() => (
  <p class="key">
    {gridKey.value.map(({ swatch, text }) => (
      <span>
        {swatch !== "" && <i class={`swatch ${swatch}`} />} {text}
      </span>
    ))}
  </p>
));

const Minimap = later("draws the map of the tensor", async () => (await import("./minimap")).Minimap);

/** The n of "address mod n". */
const Modulus = live(() => {
  const n = modulus.value;
  if (n === null) return null;
  return (
    <label class="beside">
      n
      <input
        class="scrub field"
        type="number"
        min={2}
        max={9999}
        value={n}
        aria-label="n of address mod n"
        onInput={(event) => {
          const next = Math.floor(Number(event.currentTarget.value));
          if (next >= 2 && next <= 9999) change({ color: `${MOD}${next}` }, "modulus");
        }}
      />
    </label>
  );
});

/** So many axes stand beside the title. */
const BESIDE = 3;

export const GridPane = live(() => {
  const now = layout.value;
  const few = (now?.shape.length ?? 0) <= BESIDE;
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
          {few && <Axes />}
          <Choice
            name="Cells"
            value={label}
            choose={(value) => change({ label: value as Label }, true)}
            options={LABELS.map((each) => [each, LABEL_NAMES[each]])}
          />
          <Choice
            name="Colour"
            value={modulus.value === null ? color.value : MOD}
            choose={(value) => change({ color: value }, true)}
            options={colors.value}
          />
          <Modulus />
          <div class="group">
            <IconButton
              icon="element"
              label="Show the element"
              title="Show the element large (Enter)"
              click={() => {
                const [grid, view, index] = [canvases.peek(), gridView.peek(), selected.peek()];
                if (grid !== null && view !== null && index !== null) goTo(grid, view, index);
              }}
            />
          </div>
          <Zoom of="the tensor" by={zoomBy} all={() => change({ camera: null })} />
        </>
      }
    >
      {!few && <Axes />}
      <Sliders />
      {now !== null && now.shape.includes(0) ? (
        <p class="soft">The tensor has no elements: one of its sizes is 0.</p>
      ) : now?.tooLong === true ? (
        <p class="soft">An axis of 2^53 elements or more is too long to draw.</p>
      ) : (
        <div class="framed">
          <Picture of={TENSOR} />
          {camera.value !== null && <Minimap />}
        </div>
      )}
      <Key />
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
