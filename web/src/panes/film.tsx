/** The copy, played: which address is read and which is written, one element after the other. */
import { Component, createRef, h } from "preact";
import { effect, signal } from "@preact/signals-core";
import { ask } from "../ask";
import { theme, type Theme } from "../draw/theme";
import { addressOf } from "shapetracker/engine";
import { pointed } from "../focus";
import { stations, type Station } from "../layout";
import { clamp, counted, pretty, tuple } from "../numbers";
import { indexAt, reelOf, type Reel } from "../reel";
import { pointAt } from "../thread";
import { IconButton } from "./controls";
import { sentence } from "./mistake";

interface Props {
  /** The number of the tensor that is copied, and what copies it. */
  station: number;
  by: string;
  close(): void;
}

/** What is copied: the address of each element that is shown, null where it is masked. */
interface Copied {
  of: Station;
  reel: Reel;
  shape: number[];
  numel: number;
  /** The addresses of the buffer that is read: the first, and the end. */
  memory: [number, number];
  addresses: (number | null)[];
}

const HEIGHT = 128;
/** The two rows of memory, and how tall they are. */
const [ABOVE, BELOW, TALL] = [22, 88, 24];
/** Cells that are narrower have no numbers, and are no cells. */
const NARROWEST = 20;
const WIDEST = 46;
/** Elements that are seen for less time than this, in milliseconds, are not pointed at in the other pictures. */
const POINTED = 250;

async function copied(station: Station): Promise<Copied | string> {
  const shape = station.shape.map(Number);
  const numel = shape.reduce((all, size) => all * size, 1);
  if (!Number.isSafeInteger(numel)) return "The tensor has too many elements to go through them.";
  const reel = reelOf(numel);
  const { source } = station;
  const whole = await ask("chain", { text: source.chain, base: source.base ?? null }, "film");
  if (whole?.ok !== true || whole.value.result === null) return whole?.ok === false ? whole.fault.message : "";
  const { address_range: range, buffer_len: length } = whole.value.result;
  const said = await ask("tile", {
    source,
    rows: [],
    columns: shape.map((_, axis) => axis),
    fixed: shape.map(() => 0),
    row: { begin: 0, end: 1 },
    column: { begin: 0, end: numel, step: reel.step },
  });
  if (said?.ok !== true) return said?.ok === false ? said.fault.message : "";
  const addresses = Array.from({ length: reel.count }, (_, at) => {
    const address = addressOf(said.value.addresses, at);
    return address === null ? null : Number(address);
  });
  const high = Math.max(Number(range?.[1] ?? 0) + 1, Number(length ?? 0));
  return { of: station, reel, shape, numel, memory: [Math.min(Number(range?.[0] ?? 0), 0), high], addresses };
}

/** Where addresses are drawn, and how wide each is. */
function line([begin, end]: readonly [number, number], width: number): { x(at: number): number; wide: number; cells: boolean } {
  const wide = Math.min((width - 2) / Math.max(end - begin, 1), WIDEST);
  return { x: (at) => 1 + (at - begin) * wide, wide, cells: wide >= NARROWEST };
}

function draw(pen: CanvasRenderingContext2D, width: number, look: Theme, film: Copied, done: number): void {
  const { reel, addresses, memory, numel } = film;
  const [above, below] = [line(memory, width), line([0, numel], width)];
  pen.fillStyle = look.pane;
  pen.fillRect(0, 0, width, HEIGHT);
  const all = memory[1] - memory[0] - 1;
  const shade = (address: number): number => Math.round((255 * (address - memory[0])) / Math.max(all, 1));
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = `12px ${look.sans}`;
  pen.fillStyle = look.soft;
  pen.fillText("read", 1, 10);
  pen.fillText("written", 1, BELOW + TALL + 11);
  pen.fillStyle = look.blank;
  pen.fillRect(above.x(memory[0]), ABOVE, Math.max(above.wide * (all + 1), 1), TALL);
  pen.fillRect(below.x(0), BELOW, Math.max(below.wide * numel, 1), TALL);
  const cell = (row: typeof above, top: number, at: number, fill: string, ink: string, text: string): void => {
    const gap = row.cells ? 1 : 0;
    pen.fillStyle = fill;
    pen.fillRect(row.x(at) + gap, top + gap, Math.max(row.wide - 2 * gap, 1), TALL - 2 * gap);
    if (!row.cells) return;
    pen.font = `12px ${look.mono}`;
    pen.textAlign = "center";
    pen.fillStyle = ink;
    pen.fillText(text, row.x(at) + row.wide / 2, top + TALL / 2 + 0.5);
  };
  if (above.cells) {
    for (let at = memory[0]; at < memory[1]; at++) cell(above, ABOVE, at, look.blank, look.soft, pretty(at));
  }
  if (below.cells) {
    for (let at = 0; at < numel; at++) cell(below, BELOW, at, look.blank, look.soft, "");
  }
  const colours = (address: number | null): [string, string] =>
    address === null ? [look.pane, look.soft] : [look.rampText[shade(address)]!, look.rampInk[shade(address)]!];
  for (let at = 0; at < done; at++) {
    const address = addresses[at] ?? null;
    const [fill, ink] = colours(address);
    if (address !== null) cell(above, ABOVE, address, fill, ink, pretty(address));
    // What is not shown in between is written as well.
    const wide = below.cells ? 1 : Math.min(reel.step, numel - at * reel.step);
    if (below.cells) cell(below, BELOW, at, fill, ink, address === null ? "\u00d7" : pretty(address));
    else {
      pen.fillStyle = fill;
      pen.fillRect(below.x(at * reel.step), BELOW, Math.max(below.wide * wide, 1), TALL);
    }
  }
  if (done === 0) return;
  const last = addresses[done - 1] ?? null;
  const position = (done - 1) * reel.step;
  pen.strokeStyle = pen.fillStyle = look.accent;
  pen.lineWidth = 2;
  const to = below.x(position) + below.wide / 2;
  const mark = (row: typeof above, top: number, at: number): void => {
    const wide = Math.max(row.wide, 5);
    pen.strokeRect(row.x(at) + row.wide / 2 - wide / 2 + 1, top, wide - 2, TALL);
  };
  mark(below, BELOW, position);
  if (last === null) return;
  mark(above, ABOVE, last);
  const from = above.x(last) + above.wide / 2;
  const [y0, y1] = [ABOVE + TALL + 2, BELOW - 3];
  pen.beginPath();
  pen.moveTo(from, y0);
  pen.bezierCurveTo(from, (y0 + y1) / 2, to, (y0 + y1) / 2, to, y1);
  pen.moveTo(to - 4, y1 - 6);
  pen.lineTo(to, y1);
  pen.lineTo(to + 4, y1 - 6);
  pen.stroke();
}

/** Whether things that move by themselves are not wanted. */
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Film extends Component<Props> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  private readonly film = signal<Copied | string | null>(null);
  /** How many of the elements that are shown have been copied. */
  private readonly done = signal(0);
  private readonly playing = signal(false);
  private frame = 0;
  private last = 0;
  private end = (): void => undefined;
  private readonly observer = new ResizeObserver(() => this.draw());

  private get count(): number {
    const film = this.film.peek();
    return typeof film === "object" && film !== null ? film.reel.count : 0;
  }

  override componentDidMount(): void {
    const picture = this.canvas.current!.parentElement!;
    this.observer.observe(picture);
    picture.focus({ preventScroll: true });
    picture.parentElement!.scrollIntoView({ block: "nearest" });
    const stop = [
      effect(() => {
        const of = stations.value[this.props.station];
        this.halt();
        this.done.value = 0;
        this.film.value = null;
        if (of === undefined) return;
        void copied(of).then((film) => {
          if (stations.peek()[this.props.station] !== of) return;
          this.film.value = film;
          if (!calm.matches) this.play();
        });
      }),
      effect(() => {
        void [this.film.value, this.done.value, this.playing.value, theme.value];
        this.setState({});
        this.draw();
      }),
    ];
    this.end = () => stop.forEach((each) => each());
  }

  override componentWillUnmount(): void {
    this.end();
    this.halt();
    this.observer.disconnect();
    pointed.value = null;
  }

  private draw(): void {
    const [canvas, film, look] = [this.canvas.current, this.film.peek(), theme.peek()];
    if (canvas === null || look === null || film === null || typeof film === "string") return;
    const width = canvas.parentElement!.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    draw(pen, width, look, film, this.done.peek());
  }

  private halt(): void {
    this.playing.value = false;
    cancelAnimationFrame(this.frame);
  }

  /** Goes to where so many elements have been copied; the other pictures show the last of them. */
  private go(done: number, points = true): void {
    const film = this.film.peek();
    if (film === null || typeof film === "string") return;
    this.done.value = clamp(done, 0, film.reel.count);
    const last = this.done.peek() - 1;
    if (points) void pointAt(this.props.station, last < 0 ? null : indexAt(last * film.reel.step, film.shape));
  }

  private readonly step = (by: number): void => {
    this.halt();
    this.go(this.done.peek() + by);
  };

  private readonly tick = (now: number): void => {
    const film = this.film.peek();
    if (!this.playing.peek() || film === null || typeof film === "string") return;
    const { each, count } = film.reel;
    const passed = Math.floor((now - this.last) / each);
    if (passed > 0) {
      this.last += passed * each;
      const ends = this.done.peek() + passed >= count;
      this.go(this.done.peek() + passed, ends || each >= POINTED);
      if (ends) return this.halt();
    }
    this.frame = requestAnimationFrame(this.tick);
  };

  private readonly play = (): void => {
    if (this.count === 0) return;
    if (this.playing.peek()) {
      this.halt();
      this.go(this.done.peek());
      return;
    }
    if (this.done.peek() >= this.count) this.done.value = 0;
    this.playing.value = true;
    this.last = performance.now();
    this.frame = requestAnimationFrame(this.tick);
  };

  private readonly key = (event: KeyboardEvent): void => {
    const { key, target } = event;
    if (target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (key in steps) this.step(steps[key]!);
    else if (key === "Escape") this.props.close();
    else if (key === " " && !(target instanceof HTMLButtonElement) && !calm.matches) this.play();
    else return;
    event.preventDefault();
  };

  /** What happens, for those who do not see it as well. */
  private says(film: Copied): string {
    const done = this.done.peek();
    const { reel, addresses, numel, shape } = film;
    if (done === 0) {
      const each = reel.step === 1 ? "" : `, of which every ${pretty(reel.step)}th is shown`;
      return `${counted(numel, "element")} of shape ${tuple(shape)} to copy, in the order of the tensor${each}.`;
    }
    const position = (done - 1) * reel.step;
    const address = addresses[done - 1] ?? null;
    const whole = done === reel.count ? " All is copied." : "";
    const at = `${pretty(position + 1)} of ${pretty(numel)}: `;
    if (address === null) return `${at}no address is read, the fill value is written to ${pretty(position)}.${whole}`;
    return `${at}address ${pretty(address)} is read, ${pretty(position)} is written.${whole}`;
  }

  override render() {
    const film = this.film.peek();
    const { by, close } = this.props;
    const ready = film !== null && typeof film !== "string";
    const [playing, done] = [this.playing.peek(), this.done.peek()];
    return (
      <section class="film" aria-label="The copy" onKeyDown={this.key}>
        <div class="film-head">
          <h3>
            Copying the tensor before <code>{by}</code>
          </h3>
          <IconButton icon="remove" label="Close the copy" title="Close (Escape)" click={close} />
        </div>
        <div class="film-picture" tabIndex={0} role="group" aria-label="The copy: arrow keys go an element on or back, space plays it">
          <canvas ref={this.canvas} height={HEIGHT} role="img" aria-label={ready ? this.says(film) : ""} />
        </div>
        {typeof film === "string" ? (
          <p class="soft">{sentence(film)}</p>
        ) : (
          <div class="film-tools">
            {!calm.matches && (
              <IconButton
                icon={playing ? "pause" : "play"}
                label={playing ? "Pause" : "Play"}
                title={playing ? "Pause (space)" : "Play (space)"}
                disabled={!ready}
                click={this.play}
              />
            )}
            <IconButton icon="left" label="Back" title="An element back" disabled={done === 0} click={() => this.step(-1)} />
            <IconButton
              icon="right"
              label="On"
              title="An element on"
              disabled={!ready || done >= this.count}
              click={() => this.step(1)}
            />
            <input
              type="range"
              aria-label="How much is copied"
              min={0}
              max={this.count}
              value={done}
              disabled={!ready}
              onInput={(event) => {
                this.halt();
                this.go(Number(event.currentTarget.value));
              }}
            />
          </div>
        )}
        {ready && (
          <p class="film-says" aria-live={playing ? "off" : "polite"}>
            {this.says(film)}
          </p>
        )}
      </section>
    );
  }
}
