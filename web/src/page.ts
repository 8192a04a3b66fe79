/** Everything that a link restores, in one signal; the browser's history is undo. */
import { computed, signal } from "@preact/signals-core";
import type { Language } from "shapetracker/engine";
import { listed, LONGEST_FRAGMENT, read, unlisted, write, type Fields } from "./fragment";
import { FIRST } from "./presets";

/** Where the layout comes from: operations, one view entered by hand, or expressions over variables. */
export type Mode = "chain" | "view" | "free";

/** What a cell of the grid says. */
export type Label = "address" | "hex" | "position" | "index" | "valid";

/** Where an axis goes in the grid. */
export type Place = "rows" | "columns" | "down" | "across" | "wrapped" | "slider";

/** An axis of a view as it is typed, right or wrong. */
export interface HandAxis {
  size: string;
  stride: string;
  begin: string;
  end: string;
}

/** A variable as it is typed. */
export interface FreeVariable {
  name: string;
  begin: string;
  end: string;
}

/** What part of a canvas is seen: pixels a cell, and the cell at the corner. */
export interface Camera {
  scale: number;
  x: number;
  y: number;
}

export interface Page {
  mode: Mode;
  chain: string;
  muted: number[];
  /** How many blocks of the chain are done in the tensor that is shown; null for all of them. */
  step: number | null;
  /** The shape of the array of which the chain knows only the name. */
  base: string;
  /** Sizes that are names: what is said of them, and the values that the pictures are drawn with. */
  where: string;
  values: Record<string, number>;
  /** The devices over which the base is spread, and how; empty for none. */
  mesh: string;
  /** Whether the flow shows the tensor after each operation, or the views between the result and memory. */
  flow: "steps" | "views";
  axes: HandAxis[];
  offset: string;
  index: string;
  valid: string;
  syntax: "python" | "c";
  variables: FreeVariable[];
  other: string;
  at: number[];
  label: Label;
  /** `address`, `reads`, `axis0`, `view1`, .. */
  color: string;
  places: Place[] | null;
  camera: Camera | null;
  strip: "linear" | "wrapped";
  rowLength: number | null;
  stripCamera: Camera | null;
  language: Language;
  kernel: boolean;
  width: number;
  line: number;
}

export const DEFAULT: Page = {
  mode: "chain",
  chain: FIRST,
  muted: [],
  step: null,
  base: "",
  where: "",
  values: {},
  mesh: "",
  flow: "steps",
  axes: [
    { size: "2", stride: "6", begin: "0", end: "2" },
    { size: "3", stride: "2", begin: "1", end: "3" },
    { size: "2", stride: "1", begin: "0", end: "2" },
  ],
  offset: "0",
  index: "idx1 + idx0*4",
  valid: "idx1 < 3",
  syntax: "python",
  variables: [
    { name: "idx0", begin: "0", end: "3" },
    { name: "idx1", begin: "0", end: "4" },
  ],
  other: "",
  at: [2, 0],
  label: "address",
  color: "address",
  places: null,
  camera: null,
  strip: "linear",
  rowLength: null,
  stripCamera: null,
  language: "python",
  kernel: false,
  width: 4,
  line: 64,
};

/** What a new layout makes meaningless: it begins with everything in view. */
export const AFRESH = { camera: null, stripCamera: null, places: null, color: "address" } as const;

/** A longer text is refused with a sentence. */
export const LONGEST_TEXT = 12_000;
/** The library's limit of the rank. */
export const MOST_AXES = 64;

export const MODES: readonly Mode[] = ["chain", "view", "free"];
export const LABELS: readonly Label[] = ["address", "hex", "position", "index", "valid"];
export const PLACES: readonly Place[] = ["rows", "columns", "down", "across", "wrapped", "slider"];
export const LANGUAGES: readonly Language[] = [
  "python",
  "c",
  "cuda",
  "opencl",
  "metal",
  "wgsl",
  "rust",
  "mlir",
  "latex",
  "numpy",
  "pytorch",
];

export const page = signal<Page>(DEFAULT);

/** What went wrong with a link, for the reader. */
export const notice = signal<string | null>(null);

/** A part of the page that changes only when its value does. */
function part<Key extends keyof Page>(key: Key) {
  return computed(() => page.value[key]);
}

export const mode = part("mode");
export const chain = part("chain");
export const muted = part("muted");
export const step = part("step");
export const at = part("at");
export const camera = part("camera");

function numbers(text: string | undefined): number[] {
  if (text === undefined || text === "") return [];
  const list = text.split(",").slice(0, MOST_AXES).map(Number);
  return list.every((value) => Number.isSafeInteger(value) && value >= 0) ? list : [];
}

function oneOf<T extends string>(text: string | undefined, allowed: readonly T[], otherwise: T): T {
  return allowed.find((value) => value === text) ?? otherwise;
}

function count(text: string | undefined, otherwise: number, most: number): number {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= 1 && value <= most ? value : otherwise;
}

/** Values of names. */
function valuesOf(rows: readonly string[][]): Record<string, number> {
  const pairs = rows.filter(([name = "", value = ""]) => /^[A-Za-z_]\w{0,63}$/.test(name) && /^\d{1,15}$/.test(value));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}

function cameraOf(text: string | undefined): Camera | null {
  const [scale, x, y] = (text ?? "").split(",").map(Number);
  if (scale === undefined || x === undefined || y === undefined) return null;
  if (![scale, x, y].every(Number.isFinite) || scale <= 0 || scale > 200) return null;
  return { scale, x, y };
}

function cameraText(camera: Camera): string {
  // To a hundredth of a cell, however far out.
  const [x, y] = [camera.x, camera.y].map((value) => Number(value.toFixed(2)));
  return [Number(camera.scale.toPrecision(7)), x, y].join(",");
}

/** An axis by hand as `size:stride`, and `size:stride:begin:end` where it has a mask. */
function axisTexts({ size, stride, begin, end }: HandAxis): string[] {
  return begin === "0" && end === size ? [size, stride] : [size, stride, begin, end];
}

/** The page as fields of a link. What is as it is by default is left out. */
export function fieldsOf(page: Page): Fields {
  const fields: Fields = new Map();
  const put = (key: string, value: string, usual = ""): void => {
    if (value !== usual) fields.set(key, value);
  };
  if (page.mode === "view") {
    fields.set("view", listed(page.axes.map(axisTexts)));
    put("offset", page.offset, "0");
  } else if (page.mode === "free") {
    fields.set("f", page.index);
    put("if", page.valid);
    put("syntax", page.syntax, "python");
    const ranges = page.variables.map(({ name, begin, end }) => (begin === "0" ? [name, end] : [name, begin, end]));
    fields.set("for", listed(ranges));
  } else {
    fields.set("c", page.chain);
    put("mute", page.muted.join(","));
    if (page.step !== null) put("step", String(page.step));
    put("base", page.base);
    put("where", page.where);
    put("values", listed(Object.entries(page.values).map(([name, value]) => [name, String(value)])));
    put("mesh", page.mesh);
    put("flow", page.flow, DEFAULT.flow);
  }
  put("at", page.at.join(","));
  put("vs", page.other);
  put("label", page.label, DEFAULT.label);
  put("color", page.color, DEFAULT.color);
  // By their first letters, which differ.
  if (page.places !== null) put("axes", page.places.map((place) => place[0]).join(""));
  if (page.camera !== null) put("zoom", cameraText(page.camera));
  put("strip", page.strip, DEFAULT.strip);
  if (page.rowLength !== null) put("row", String(page.rowLength));
  if (page.stripCamera !== null) put("mem", cameraText(page.stripCamera));
  put("code", page.language, DEFAULT.language);
  if (page.kernel) put("kernel", "1");
  put("bytes", String(page.width), String(DEFAULT.width));
  put("line", String(page.line), String(DEFAULT.line));
  return fields;
}

/** The fields of an old link as those of today. */
function renewed(old: Fields): Fields {
  const fields = new Map(old);
  for (const [was, is] of [
    ["chain", "c"],
    ["index", "f"],
    ["valid", "if"],
    ["muted", "mute"],
    ["other", "vs"],
    ["stripzoom", "mem"],
    ["variables", "for"],
  ] as const) {
    const value = old.get(was);
    if (value !== undefined && !old.has(is)) fields.set(is, value);
  }
  const [sizes, strides, begins, ends] = ["size", "stride", "begin", "end"].map((key) => old.get(key)?.split(","));
  if (sizes !== undefined && !old.has("view")) {
    const axes = old.get("size") === "" ? [] : sizes;
    const texts = axes.map((size, axis) => [size, strides?.[axis] ?? "", begins?.[axis] ?? "0", ends?.[axis] ?? size]);
    fields.set("view", listed(texts));
  }
  const places = old.get("axes");
  if (places !== undefined && PLACES.some((place) => places.includes(place))) {
    const letters = places.split(",").map((place) => oneOf(place, PLACES, "slider")[0]);
    fields.set("axes", letters.join(""));
  }
  return fields;
}

/** What a layout is made from, where the link does not say it: by what it gives. */
function modeOf(fields: Fields): Mode {
  const said = MODES.find((mode) => mode === fields.get("mode"));
  return said ?? (fields.has("view") ? "view" : fields.has("f") ? "free" : "chain");
}

/** The page that the fields of a link describe. What makes no sense is as it is by default. */
export function pageOf(given: Fields): Page {
  if (given.size === 0) return DEFAULT;
  const fields = renewed(given);
  const get = (key: string): string | undefined => fields.get(key);
  const text = (key: string, otherwise: string): string => (get(key) ?? otherwise).slice(0, LONGEST_TEXT + 1);
  const rows = (key: string): string[][] | null => {
    const list = get(key);
    return list === undefined ? null : unlisted(list).slice(0, MOST_AXES);
  };
  const axes = rows("view")?.map(([size = "", stride = "", begin = "0", end = size]) => ({ size, stride, begin, end }));
  const variables = rows("for")?.map(([name = "", ...range]) => {
    const [begin = "", end = ""] = range.length === 1 ? ["0", ...range] : range;
    return { name, begin, end };
  });
  const places = get("axes")
    ?.slice(0, MOST_AXES)
    .split("")
    .map((letter) => PLACES.find((place) => place[0] === letter) ?? "slider");
  return {
    mode: modeOf(fields),
    chain: text("c", DEFAULT.chain),
    muted: numbers(get("mute")),
    step: numbers(get("step"))[0] ?? null,
    base: text("base", ""),
    where: text("where", ""),
    values: valuesOf(rows("values") ?? []),
    mesh: text("mesh", ""),
    flow: oneOf(get("flow"), ["steps", "views"], DEFAULT.flow),
    axes: axes ?? DEFAULT.axes,
    offset: text("offset", "0"),
    index: text("f", DEFAULT.index),
    valid: text("if", get("f") === undefined ? DEFAULT.valid : ""),
    syntax: oneOf(get("syntax"), ["python", "c"], "python"),
    variables: variables ?? DEFAULT.variables,
    other: text("vs", ""),
    at: numbers(get("at")),
    label: oneOf(get("label"), LABELS, DEFAULT.label),
    color: /^(address|reads|mod\d{0,4}|device|op\d{1,3}|axis\d{1,2}|view\d{1,3})$/.test(get("color") ?? "") ? text("color", "") : DEFAULT.color,
    places: places ?? null,
    camera: cameraOf(get("zoom")),
    strip: oneOf(get("strip"), ["linear", "wrapped"], DEFAULT.strip),
    rowLength: get("row") === undefined ? null : count(get("row"), 16, 4096),
    stripCamera: cameraOf(get("mem")),
    language: oneOf(get("code"), LANGUAGES, DEFAULT.language),
    kernel: get("kernel") === "1",
    width: count(get("bytes"), DEFAULT.width, 4096),
    line: count(get("line"), DEFAULT.line, 65_536),
  };
}

/** How many steps back and forward there are among the entries that the page made. */
export const steps = signal({ now: 0, last: 0 });

/** The series of changes that is one step of undo, such as the letters of a word. */
let series: string | null = null;
let seriesEnd = 0;
let writing = 0;
let numbered = 0;

function href(): string {
  return `#${write(fieldsOf(page.value))}`;
}

/** The fragment as the page knows it. */
let known = "";

/** Writes the state into the address bar now. */
export function flush(): void {
  if (writing === 0) return;
  clearTimeout(writing);
  writing = 0;
  // Someone has just gone elsewhere, and the event that says so is still to come.
  if (location.hash !== known) return;
  history.replaceState({ step: steps.value.now }, "", href());
  known = location.hash;
}

/** The next change is a step of undo of its own. */
export function settle(): void {
  series = null;
}

/**
 * Changes the page. Without `edit` it is no step of undo: what is seen, not what it is about. Changes with the same
 * `edit` in a row are one step; with `true` the change is a step of its own.
 */
export function change(patch: Partial<Page>, edit: string | true | null = null): void {
  const next = { ...page.peek(), ...patch };
  if (edit !== null && (edit === true || edit !== series)) {
    flush();
    page.value = next;
    const now = steps.value.now + 1;
    steps.value = { now, last: now };
    history.pushState({ step: now }, "", href());
    known = location.hash;
    series = edit === true ? `step ${++numbered}` : edit;
  } else {
    page.value = next;
    // Browsers refuse more than some hundred entries in half a minute.
    if (writing === 0) writing = window.setTimeout(flush, 250);
  }
  if (edit !== null) {
    clearTimeout(seriesEnd);
    seriesEnd = window.setTimeout(settle, 1500);
  }
}

/** Goes back or forward in the browser's history. */
export function travel(by: -1 | 1): void {
  const { now, last } = steps.value;
  if (by < 0 ? now <= 0 : now >= last) return;
  flush();
  settle();
  history.go(by);
}

function open(): void {
  known = location.hash;
  const fragment = known.slice(1);
  series = null;
  if (fragment.length > LONGEST_FRAGMENT) {
    notice.value = `This link is ${fragment.length} characters long; at most ${LONGEST_FRAGMENT} are read.`;
    page.value = DEFAULT;
    return;
  }
  page.value = pageOf(read(fragment));
}

/** The number of an entry of the history; one that the page did not make, but a link, has none yet. */
function stepOf(state: unknown, next: number): number {
  if (typeof state === "object" && state !== null && "step" in state) return Number(state.step) || 0;
  history.replaceState({ step: next }, "");
  return next;
}

/** Reads the link, and follows the browser's history from now on. */
export function follow(): void {
  open();
  const now = stepOf(history.state, 0);
  steps.value = { now, last: now };
  addEventListener("popstate", (event: PopStateEvent) => {
    clearTimeout(writing);
    writing = 0;
    open();
    const { now, last } = steps.value;
    const step = stepOf(event.state, now + 1);
    // What is new ends what could be done again.
    steps.value = { now: step, last: event.state === null ? step : Math.max(step, last) };
  });
  addEventListener("pagehide", flush);
}
