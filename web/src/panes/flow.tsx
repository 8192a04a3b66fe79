/**
 * The flow: the base, the tensor after each operation, and memory, with the element in focus threaded through them.
 * A block shows the tensor at its step, and its operation can be changed, moved and left out there.
 */
import { Component, createRef, Fragment, h } from "preact";
import { computed, effect, signal } from "@preact/signals-core";
import { devices } from "../devices";
import { add, move, remove, pieces } from "../edit";
import { renumber } from "../renumber";
import type { Integer, Operation, Source } from "shapetracker/engine";
import { detail, selected } from "../focus";
import { scaled, thinned } from "../thin";
import { blocks, current, layout, named, result, shown, start, stations, trouble, type Block } from "../layout";
import { addressText, counted, plain, pretty, tuple } from "../numbers";
import { change, page } from "../page";
import { followThread, pointAt, thread, visit } from "../thread";
import { calm } from "../typing";
import { Arrow } from "./arrow";
import { dragged, IconButton } from "./controls";
import { live } from "./live";
import { later } from "./later";
import { MiniGrid, type Placed } from "./minigrid";
import { sentence } from "./mistake";
import { Scrub } from "./scrub";

followThread();

/** The place for a small grid, in pixels: where there are many, more of them are in sight. */
const WIDE = { few: 148, many: 112 };
const FEW = 6;
const TALL = 72;
/** Small grids have at most so many cells across and down: of more elements every how-manieth is shown. */
const CELLS = [36, 18] as const;
/** So many addresses can be told apart by their shade. */
const SHADES = 256;

/** The colour of an address in all pictures: the same through all steps. */
const shade = computed(() => {
  const [range, strides] = [layout.value?.addresses ?? null, start.value?.strides ?? null];
  return range === null || strides === null || Number(range[1]) - Number(range[0]) < SHADES ? null : scaled(range, strides);
});

/** The text of an operation or a start with its numbers as fields. */
function Numbers({
  text,
  name,
  block,
  first,
  aside,
}: {
  text: string;
  name: string;
  block: number | null;
  /** Numbers before those of the text. */
  first: number;
  aside: boolean;
}) {
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
            aside={aside}
            change={(value, stepped) => renumber({ block, number: first + (at - 1) / 2 }, value, stepped)}
          />
        ),
      )}
    </code>
  );
}

/** A call as it stands in the text: of a method, with brackets of at most two levels. */
const CALL = /^([A-Za-z_]\w*)(\([^()]*(?:\([^()]*\)[^()]*)*\))$/;

/**
 * What a block is called: as it was written where that is one call, and then its numbers can be changed where they are
 * those of the operation.
 */
function called({ name, text, written }: Operation): { name: string; rest: string; fixed: boolean } {
  const numbers = (of: string): string => (of.match(/[+-]?\d+/g) ?? []).join();
  const own = { name, rest: text.slice(name.length), fixed: false };
  const call = CALL.exec(written.trim());
  if (call === null || call[1] === name || call[2]!.length > 40) return own;
  return { name: call[1]!, rest: call[2]!, fixed: numbers(call[2]!) !== numbers(own.rest) };
}

/** Moves a block by one place. The focus goes with it, so that it can be moved on; at an end it may only go back. */
function shift(at: number, by: 1 | -1): void {
  move(at, at + by);
  for (const icon of by < 0 ? ["right", "left"] : ["left", "right"]) {
    // A disabled button does not take it.
    document.querySelector<HTMLElement>(`[data-block="${at + by}"] [data-icon=${icon}]`)?.focus();
  }
}

/** How far a step along each axis goes in memory: an arrow for each axis, as long as the stride has digits. */
function Strides({ shape, strides }: { shape: readonly Integer[]; strides: readonly Integer[] | null }) {
  if (strides == null) return <span class="soft strides">several views: no one stride an axis</span>;
  const axes = shape.map((size, axis) => ({ size, stride: strides[axis]! })).filter(({ size }) => Number(size) !== 1);
  if (axes.length === 0 || axes.length > MOST_ARROWS) return null;
  return (
    <ul class="strides" aria-label="Strides">
      {axes.map(({ size, stride }) => (
        <li title={`an axis of ${plain(size)}: the next element is ${plain(stride)} further in memory`}>
          <span>{pretty(size)}</span> <Arrow stride={Number(stride)} /> <b>{pretty(stride)}</b>
        </li>
      ))}
    </ul>
  );
}

/** More axes have no arrows. */
const MOST_ARROWS = 8;

const Devices = later("has the devices", async () => (await import("./devices")).Devices);

/** What stands before the number of views that there are after an operation. */
const VERDICTS = { no_new_view: "", merged: "merged: ", new_view: "", copied: "copied: " } as const;

/** What becomes of an operation on a tensor that is spread over devices. */
const ACROSS = {
  free: "free",
  moves: "data moves",
  unsayable: "no placement",
  undecided: "not decided",
  unasked: "",
} as const;

function verdictOf(block: Block, failed: boolean): { name: string; kind: string } {
  if (block.muted) return { name: "left out", kind: "muted" };
  // What is not finished yet has not failed.
  if (failed) return calm.value ? { name: "not finished", kind: "later" } : { name: "cannot be done", kind: "failed" };
  if (block.step === null) return { name: "not reached", kind: "later" };
  const { verdict, copies } = block.step;
  if (verdict === "copied" && copies != null) return { name: `copies ${pretty(copies)}`, kind: verdict };
  return { name: `${VERDICTS[verdict]}${counted(block.step.views, "view")}`, kind: verdict };
}

/** The block that is dragged, and the one whose place it would take. */
const drag = signal<{ from: number; to: number } | null>(null);

/** Where the thread goes through each picture: the middle of a cell and half of its size, in pixels of the picture. */
const places = signal<ReadonlyMap<number, Placed>>(new Map());

function place(station: number, at: Placed | null): void {
  const old = places.peek().get(station);
  if (JSON.stringify(old) === JSON.stringify(at ?? undefined)) return;
  const next = new Map(places.peek());
  if (at === null) next.delete(station);
  else next.set(station, at);
  places.value = next;
}

effect(() => {
  // What is shown is brought into sight, in its own row and no further.
  const number = shown.value;
  requestAnimationFrame(() => {
    const block = document.querySelector<HTMLElement>(`#flow [data-station="${number}"]`);
    const list = block?.parentElement;
    if (block == null || list == null || page.peek().step === null) return;
    const [left, right] = [block.offsetLeft - 30, block.offsetLeft + block.offsetWidth + 30];
    if (left < list.scrollLeft) list.scrollLeft = left;
    else if (right > list.scrollLeft + list.clientWidth) list.scrollLeft = right - list.clientWidth;
  });
});

/** The index of the element in focus in the tensor of a station. */
function indexAt(station: number): number[] | null {
  if (station === shown.value) {
    const known = detail.value;
    return (known?.layout === layout.value ? known?.index : null) ?? selected.value;
  }
  return thread.value?.of === stations.value ? (thread.value.indices[station] ?? null) : null;
}

interface PictureProps {
  station: number;
  source: Source;
  /** The same as operations, to which others can be added; null where it is none. */
  plain: Source | null;
  shape: readonly Integer[];
  index: number[] | null;
  name: string;
  pressed: boolean;
  pick: ((index: number[] | null) => void) | null;
  point(index: number[] | null): void;
}

/** A small grid that can be pressed. */
function Picture({ station, source, plain, shape, index, name, pressed, pick, point }: PictureProps) {
  // A click on a cell is a click on the button too.
  let cell: number[] | null = null;
  const empty = shape.some((size) => Number(size) === 0);
  const steps = plain === null || empty ? null : thinned(shape.map(Number), ...CELLS);
  const large = steps?.some((step) => step > 1) === true;
  const grid = empty ? (
    <span class="soft empty">no elements</span>
  ) : (
    <MiniGrid
      source={large ? plain! : source}
      shape={shape}
      index={index}
      {...(steps === null ? {} : { steps })}
      shade={large ? shade.value : null}
      addresses={result.value === null ? null : (layout.value?.addresses ?? null)}
      width={stations.value.length > FEW ? WIDE.many : WIDE.few}
      height={TALL}
      placed={(at) => place(station, at)}
      onPoint={point}
      {...(pick === null ? {} : { onPick: (index: number[]) => (cell = index) })}
    />
  );
  if (pick === null) return <span class="station-picture">{grid}</span>;
  return (
    <button
      type="button"
      class="station-picture"
      aria-pressed={pressed}
      aria-label={empty ? `${name}, no elements` : name}
      tabIndex={pressed ? 0 : -1}
      onClick={() => {
        pick(cell);
        cell = null;
      }}
    >
      {grid}
    </button>
  );
}

/** The arrow keys go from picture to picture, which are one stop of the tab key. */
function along(event: KeyboardEvent): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined || !(event.target instanceof HTMLElement) || !event.target.matches(".station-picture")) return;
  const next = shown.peek() + by;
  if (next < 0 || next >= stations.peek().length) return;
  event.preventDefault();
  const list = event.currentTarget as HTMLElement;
  visit(next);
  list.querySelector<HTMLElement>(`[data-station="${next}"] .station-picture`)?.focus();
}

const BlockStation = live(({ block, at }: { block: Block; at: number }) => {
  const { operation, step } = block;
  const failed = trouble.value?.block === at;
  const verdict = verdictOf(block, failed);
  const name = `${operation.name}, operation ${at + 1}`;
  const number = stations.value.findIndex((station) => station.block === at);
  const station = stations.value[number];
  const here = number >= 0 && number === shown.value;
  // Only the block that is shown, and one that must be mended, has stops of the tab key for its parts.
  const aside = !(here || failed || block.muted);
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
  const across = number > 0 ? devices.value?.answer?.steps[number - 1] : undefined;
  const shownAs = called(operation);
  return (
    <li
      class="block"
      data-block={at}
      data-station={number < 0 ? undefined : number}
      data-verdict={verdict.kind}
      data-shown={here ? "yes" : undefined}
      data-drop={target}
      data-dragged={dragging?.from === at ? "yes" : undefined}
    >
      <div class="block-line">
        <span class="handle" data-icon="drag" title="Drag to another place" onPointerDown={grab} />
        <span class="block-text" title={shownAs.name === operation.name ? undefined : operation.text}>
          <b>{shownAs.name}</b>
          {shownAs.fixed ? (
            <code>{shownAs.rest}</code>
          ) : (
            <Numbers
              text={shownAs.rest}
              name={name}
              block={at}
              first={(operation.name.match(/\d+/g) ?? []).length}
              aside={aside}
            />
          )}
        </span>
      </div>
      {station === undefined ? (
        <span class="station-picture none" />
      ) : (
        <Picture
          station={number}
          source={station.source}
          plain={station.chain}
          shape={station.shape}
          index={indexAt(number)}
          name={`Show the tensor after ${operation.text}, shape ${tuple(station.shape)}`}
          pressed={here}
          pick={(index) => visit(number, index)}
          point={(index) => void pointAt(number, index)}
        />
      )}
      {step !== null && <Strides shape={step.shape} strides={step.strides} />}
      <div class="block-line foot">
        {step !== null && (
          <span class="soft shape" title="The shape after it">
            {tuple(step.shape)}
          </span>
        )}
        <span class="fill" />
        {across !== undefined && across !== "unasked" && (
          <span class="verdict" data-verdict={across === "free" ? "merged" : "new_view"}>
            {ACROSS[across]}
          </span>
        )}
        <span
          class="verdict"
          data-verdict={verdict.kind}
          title={step?.reason == null ? undefined : sentence(step.reason.sentence)}
        >
          {verdict.name}
        </span>
        <span class="block-tools">
          <IconButton
            icon="left"
            label={`Move ${name} earlier`}
            title="Earlier"
            disabled={at === 0}
            aside={aside}
            click={() => shift(at, -1)}
          />
          <IconButton
            icon="right"
            label={`Move ${name} later`}
            title="Later"
            disabled={at === blocks.value.length - 1}
            aside={aside}
            click={() => shift(at, 1)}
          />
          <IconButton
            icon={block.muted ? "off" : "on"}
            label={`Mute ${name}`}
            title={block.muted ? "Left out: do it again" : "Leave it out"}
            pressed={block.muted}
            aside={aside}
            click={() => {
              const list = pieces();
              rewriteMuted(list.map((piece, each) => (each === at ? !piece.muted : piece.muted)));
            }}
          />
          <IconButton icon="remove" label={`Delete ${name}`} title="Delete" aside={aside} click={() => remove(at)} />
        </span>
      </div>
    </li>
  );
});

/** Leaves operations out, and the text as it is. */
function rewriteMuted(muted: readonly boolean[]): void {
  change({ muted: muted.flatMap((quiet, at) => (quiet ? [at] : [])), step: null, camera: null, places: null }, true);
}

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
  const shape = result.value?.shape.map(Number) ?? [];
  return (
    <select
      aria-label="Add an operation"
      value=""
      disabled={!current.value || trouble.value !== null}
      onChange={(event) => {
        const name = event.currentTarget.value;
        event.currentTarget.value = "";
        add({ name, text: sample(name, shape) });
      }}
    >
      <option value="">+ operation</option>
      {ADDABLE.filter((name) => shape.length > 0 || name === "unsqueeze").map((name) => (
        <option value={name}>{name}</option>
      ))}
    </select>
  );
});

/** The line that goes through the element in every picture, drawn over them. */
class Line extends Component<{ places: ReadonlyMap<number, Placed>; ends: boolean }> {
  private readonly svg = createRef<SVGSVGElement>();
  /** Where sizes change, so do the places, though nothing else does. */
  private readonly observer = new ResizeObserver(() => this.draw());

  override componentDidMount(): void {
    const box = this.svg.current?.parentElement;
    if (box != null) this.observer.observe(box);
    this.draw();
  }

  override componentWillUnmount(): void {
    this.observer.disconnect();
  }

  override componentDidUpdate(): void {
    this.draw();
  }

  private draw(): void {
    const svg = this.svg.current;
    const box = svg?.parentElement;
    if (svg === null || box == null) return;
    // A block may become larger or smaller without the list doing so.
    for (const block of box.children) if (block !== svg) this.observer.observe(block);
    const points: { left: number; right: number; y: number }[] = [];
    for (const picture of box.querySelectorAll<HTMLElement>("[data-station]")) {
      const at = this.props.places.get(Number(picture.dataset["station"]));
      const canvas = picture.querySelector("canvas");
      if (at === undefined || canvas === null) continue;
      // A block is what its picture is placed in, and the list is what blocks are placed in.
      const x = picture.offsetLeft + picture.clientLeft + canvas.offsetLeft;
      const y = picture.offsetTop + picture.clientTop + canvas.offsetTop + at.y;
      points.push({ left: x + at.left, right: x + at.right, y });
    }
    const end = box.querySelector<HTMLElement>(".memory-end output");
    if (end !== null && this.props.ends) {
      const place = box.querySelector<HTMLElement>(".memory-end")!;
      const x = place.offsetLeft + (place.firstElementChild as HTMLElement).offsetLeft - 4;
      const y = place.offsetTop + end.offsetTop + end.offsetHeight / 2;
      points.push({ left: x, right: x, y });
    }
    // From the edge of one picture to that of the next, at the height of the element: what cells say stays readable.
    const below = getComputedStyle(box).flexDirection === "column";
    const pictures = points.slice(0, this.props.places.size);
    const gutter = Math.min(...pictures.map(({ left }) => left)) - 18;
    const parts = points.slice(1).map((to, at) => {
      const from = points[at]!;
      if (below) return `M${from.left} ${from.y}C${gutter} ${from.y} ${gutter} ${to.y} ${to.left} ${to.y}`;
      const bend = Math.max((to.left - from.right) / 2, 12);
      return `M${from.right} ${from.y}C${from.right + bend} ${from.y} ${to.left - bend} ${to.y} ${to.left} ${to.y}`;
    });
    // The thread is not what it is measured by: it would never become smaller.
    svg.setAttribute("width", "0");
    svg.setAttribute("height", "0");
    const [wide, high] = [box.scrollWidth, box.scrollHeight];
    svg.setAttribute("width", String(wide));
    svg.setAttribute("height", String(high));
    svg.firstElementChild?.setAttribute("d", parts.join(""));
  }

  override render() {
    return (
      <svg class="thread" ref={this.svg} aria-hidden="true">
        <path d="" />
      </svg>
    );
  }
}

const End = live(() => {
  const known = detail.value?.layout === layout.value ? detail.value : null;
  const address = known?.address ?? null;
  return (
    <li class="memory-end">
      <span class="soft">memory</span>
      <output>{known === null ? "\u2026" : address === null ? "masked" : addressText(address, page.value.label)}</output>
      <span class="soft">{address === null ? "no address" : "address"}</span>
    </li>
  );
});

/** The views between the result and memory, as tensors of their own: the last one is what an index enters. */
const ViewStations = live(() => {
  const views = layout.value?.chain?.views ?? [];
  const trace = detail.value?.layout === layout.value ? detail.value?.trace : null;
  return (
    <>
      {views
        .map((view, at) => {
          const chain = views
            .slice(0, at + 1)
            .map(({ text }) => text)
            .reverse()
            .join(" over ");
          const level = trace?.levels.find((level) => level.view === at);
          return (
            <li class="block" key={`view ${at}`} data-station={views.length - 1 - at}>
              <div class="block-line">
                <b>View {at + 1}</b>
                <span class="soft">{at === 0 ? "reads memory" : `reads view ${at}`}</span>
              </div>
              <Picture
                station={views.length - 1 - at}
                source={{ chain }}
                plain={null}
                shape={view.shape}
                index={level?.index.map(Number) ?? null}
                name={`View ${at + 1}`}
                pressed={false}
                pick={null}
                point={() => undefined}
              />
              <div class="block-line foot">
                <code class="soft shape" title={view.text}>
                  {view.text}
                </code>
                <span class="fill" />
                {at > 0 && level !== undefined && level.address !== null && (
                  <span class="soft shape">position {plain(level.address)}</span>
                )}
              </div>
            </li>
          );
        })
        .reverse()}
    </>
  );
});

const Which = live(() => {
  const { flow } = page.value;
  const views = layout.value?.chain?.views.length ?? 0;
  return (
    <div class="switch" role="group" aria-label="What the flow goes through">
      {(
        [
          ["steps", "Operations"],
          ["views", views > 1 ? `${views} views` : "Views"],
        ] as const
      ).map(([kind, name]) => (
        <button type="button" aria-pressed={flow === kind} onClick={() => change({ flow: kind })}>
          {name}
        </button>
      ))}
    </div>
  );
});

export const FlowPane = live(() => {
  const begun = start.value;
  const base = stations.value[0];
  const at = trouble.value?.block ?? null;
  const unread = at !== null && blocks.value[at] === undefined;
  const known = detail.value?.layout === layout.value ? detail.value : null;
  const byViews = page.value.flow === "views";
  const title = byViews ? "View by view" : "Step by step";
  return (
    <section class="pane flow" id="flow" aria-labelledby="flow-title">
      <div class="pane-head">
        <h2 id="flow-title">{title}</h2>
        {!byViews && named.value === null && <Add />}
        {page.value.mesh === "" && begun?.kind === "shape" && (
          <button
            type="button"
            class="spread"
            title="Spread the base over devices"
            onClick={() => change({ mesh: "2 : S(0)", color: "device" }, true)}
          >
            + devices
          </button>
        )}
        <Which />
      </div>
      {page.value.mesh !== "" && <Devices />}
      {/* A text that cannot be read to its end, or has names in it, must not be written anew from what was read. */}
      <fieldset disabled={unread || named.value !== null}>
        <ol class="blocks" aria-label={byViews ? "The views" : "The chain as blocks"} tabIndex={-1} onKeyDown={along}>
          {byViews ? (
            <ViewStations />
          ) : (
            <>
              <li
                class="block base"
                data-station={base === undefined ? undefined : 0}
                data-shown={shown.value === 0 ? "yes" : undefined}
              >
                <div class="block-line">
                  <span class="block-text">
                    {begun === null ? (
                      "\u00a0"
                    ) : (
                      <Numbers text={begun.text} name="base" block={null} first={0} aside={shown.value !== 0} />
                    )}
                  </span>
                </div>
                {base === undefined ? (
                  <span class="station-picture none" />
                ) : (
                  <Picture
                    station={0}
                    source={base.source}
                    plain={base.chain}
                    shape={base.shape}
                    index={indexAt(0)}
                    name={`Show the base, shape ${tuple(base.shape)}`}
                    pressed={shown.value === 0}
                    pick={(index) => visit(0, index)}
                    point={(index) => void pointAt(0, index)}
                  />
                )}
                {begun?.shape != null && <Strides shape={begun.shape} strides={begun.strides} />}
                <div class="block-line foot">
                  <span class="soft">{begun?.kind === "views" ? "views" : "base"}</span>
                </div>
              </li>
              {blocks.value.map((block, at) => (
                <BlockStation key={at} block={block} at={at} />
              ))}
            </>
          )}
          <End />
          <Line places={places.value} ends={known?.address != null && trouble.value === null} />
        </ol>
      </fieldset>
    </section>
  );
});
