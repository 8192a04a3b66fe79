/** The memory strip on a canvas. */
import { signal } from "@preact/signals-core";
import { ask, drop } from "../ask";
import type { CoverageAnswer, Integer } from "shapetracker/engine";
import type { Layout } from "../layout";
import { addressText, clamp, integer } from "../numbers";
import type { Camera } from "../page";
import { bounds, isVast, limits, type StripView } from "../panes/memory";
import { niceStep } from "./grid";
import { Sheet } from "./sheet";
import type { Theme } from "./theme";

/** Strips of no more addresses are known as a whole. */
const WHOLE = 65_536;
/** Cells as large as they are when everything is seen, and as they can be. */
const LARGEST = 40;
const LARGEST_ZOOMED = 64;
/** Rows have no more cells than fit with this size. */
const SMALLEST_WRAPPED = 4;
const SMALLEST_ZOOMED = 3;
const LEFT = 10;
export const TOP = 8;

/** Room for the address that a row begins with. */
function gutter({ layout, label }: StripView): number {
  return 12 + 6.5 * addressText(bounds(layout)[1], label).length;
}

/** Where the addresses lie on the canvas. */
interface Frame {
  begin: number;
  end: number;
  /** Pixels an address. */
  scale: number;
  /** The smallest and the largest scale. */
  least: number;
  most: number;
  /** The first address in view, or the first column of the rows, with a fraction. */
  from: number;
  /** Addresses in a row; infinite when there is one row. */
  row: number;
  /** The first row in view, with a fraction. */
  top: number;
  left: number;
}

export class StripCanvas extends Sheet {
  private coverage: { layout: Layout; answer: CoverageAnswer } | null = null;
  private asked: string | null = null;
  private askedOf: Layout | null = null;
  /** Letters of the longest address. */
  private letterCount = 1;
  /** How many addresses a row has: fewer than were asked for, where there is no room. */
  readonly row = signal(0);
  /** What is not known of memory, and why. */
  readonly note = signal<string | null>(null);
  /** How often addresses are read is not known. */
  readonly uncounted = signal(false);

  /** How many addresses a row has. */
  rowLength(view: StripView, width: number): number {
    const room = width - LEFT - gutter(view);
    const most = Math.max(Math.floor(room / SMALLEST_WRAPPED), 1);
    if (view.rowLength !== null) return Math.min(view.rowLength, most);
    const [begin, end] = bounds(view.layout);
    const fits = Math.max(Math.floor(room / (end - begin > 512 ? 10 : 30)), 1);
    // Rows of a whole number of innermost rows of the tensor show its structure.
    const last = view.layout.shape.filter((size) => size > 1).at(-1) ?? 1;
    return fits > last ? fits - (fits % last) : fits;
  }

  wantedHeight(view: StripView, width: number, most: number): number {
    if (!view.wrapped) return 88;
    const [begin, end] = bounds(view.layout);
    const row = this.rowLength(view, width);
    const scale = Math.min((width - LEFT - gutter(view)) / row, LARGEST);
    return Math.round(clamp(Math.ceil((end - begin) / row) * scale + 2 * TOP, 56, most));
  }

  frame(view: StripView): Frame {
    const [begin, end] = bounds(view.layout);
    const { camera } = view;
    if (view.wrapped) {
      const row = this.rowLength(view, this.width);
      const left = gutter(view);
      const fit = Math.min((this.width - LEFT - left) / row, LARGEST);
      const [least, most] = [Math.min(fit, SMALLEST_ZOOMED), LARGEST_ZOOMED];
      const scale = clamp(camera?.scale ?? fit, least, most);
      return { begin, end, scale, least, most, from: camera?.x ?? 0, row, top: camera?.y ?? 0, left };
    }
    const least = Math.min((this.width - 2 * LEFT) / Math.max(end - begin, 1), LARGEST);
    const most = isVast(view.layout) ? 2 ** -10 : LARGEST_ZOOMED;
    const scale = clamp(camera?.scale ?? least, least, most);
    return { begin, end, scale, least, most, from: camera?.x ?? begin, row: Infinity, top: 0, left: LEFT };
  }

  /** The camera nearest to another that shows nothing beyond memory; null where it shows all of it. */
  within(view: StripView, { scale: wanted, x, y }: Camera): Camera | null {
    const { begin, end, least, most, row, left } = this.frame(view);
    const scale = clamp(wanted, least, most);
    const [wide, tall] = [(this.width - LEFT - left) / scale, (this.height - 2 * TOP) / scale];
    if (!view.wrapped)
      return scale <= least ? null : { scale, x: clamp(x, begin, Math.max(end - wide, begin)), y: 0 };
    const rows = Math.ceil((end - begin) / row);
    return { scale, x: clamp(x, 0, Math.max(row - wide, 0)), y: clamp(y, 0, Math.max(rows - tall, 0)) };
  }

  /** The camera nearest to this one that shows an address; null where this one does. */
  showing(view: StripView, address: number): Camera | null {
    const { begin, scale, from, row, top, left } = this.frame(view);
    const [column, line] = view.wrapped
      ? [(address - begin) % row, Math.floor((address - begin) / row)]
      : [address, 0];
    const [wide, tall] = [(this.width - LEFT - left) / scale, (this.height - 2 * TOP) / scale];
    const x = clamp(from, column + 1 - wide, column);
    const y = view.wrapped ? clamp(top, line + 1 - tall, line) : 0;
    return x === from && y === top ? null : this.within(view, { scale, x, y });
  }

  /** The address at a point; null outside. */
  addressAt(view: StripView, x: number, y: number): Integer | null {
    const { begin, end, scale, from, row, top, left } = this.frame(view);
    if (x < left) return null;
    const column = Math.floor(from + (x - left) / scale);
    const address = view.wrapped ? begin + Math.floor(top + (y - TOP) / scale) * row + column : column;
    return column < row && address >= begin && address < end ? integer(address) : null;
  }

  /** Asks for what is in view unless it is known. */
  private need(view: StripView, first: number, last: number, buckets: number): CoverageAnswer | null {
    const { layout } = view;
    const [begin, end] = limits(layout);
    const exact = (address: number): Integer =>
      address >= Number(end) ? integer(end) : address <= Number(begin) ? integer(begin) : integer(address);
    const whole = end - begin <= WHOLE;
    const request = whole
      ? { begin: integer(begin), end: integer(end), buckets: WHOLE }
      : { begin: exact(first), end: exact(last), buckets: clamp(buckets, 1, WHOLE) };
    if (BigInt(request.end) - BigInt(request.begin) >= 2n ** 63n) {
      this.note.value = "these are more addresses than can be counted: zoom in to see which are read";
      this.asked = null;
      return null;
    }
    const key = `${request.begin} ${request.end} ${request.buckets}`;
    if (this.askedOf !== layout || this.asked !== key) {
      this.askedOf = layout;
      this.asked = key;
      drop("coverage");
      void ask("coverage", { source: layout.source, ...request }, "coverage").then((said) => {
        if (said === null || this.askedOf !== layout) return;
        this.note.value = said.ok ? said.value.note : said.fault.message;
        this.coverage = said.ok ? { layout, answer: said.value } : null;
        this.uncounted.value = said.ok && said.value.distinct === null;
        this.redraw();
      });
    }
    return this.coverage?.layout === layout ? this.coverage.answer : null;
  }

  /** What is known of memory, and of which layout. */
  get known(): CoverageAnswer | null {
    return this.coverage?.answer ?? null;
  }

  get knownOf(): Layout | null {
    return this.coverage?.layout ?? null;
  }

  draw(view: StripView): void {
    const { theme } = view;
    this.clear(theme.pane);
    const frame = this.frame(view);
    if (frame.end <= frame.begin) return;
    this.letterCount = Math.max(addressText(frame.end - 1, view.label).length, addressText(frame.begin, view.label).length);
    if (view.wrapped) this.drawWrapped(view, frame);
    else this.drawLinear(view, frame);
  }

  private drawLinear(view: StripView, frame: Frame): void {
    const { pen } = this;
    const { theme } = view;
    const { begin, end, scale, from, left } = frame;
    const first = Math.max(Math.floor(from), begin);
    const last = Math.min(Math.ceil(from + (this.width - left) / scale) + 1, end);
    if (last <= first) return;
    const coverage = this.need(view, first, last, Math.ceil((last - first) * Math.min(4 * scale, 1)) + 1);
    const [y, height] = [22, 34];
    const x = (address: number): number => left + (address - from) * scale;
    pen.fillStyle = theme.blank;
    pen.fillRect(x(first), y, (last - first) * scale, height);
    if (coverage !== null) {
      const origin = Number(coverage.begin);
      const width = Number(coverage.width);
      const k0 = Math.max(Math.floor((first - origin) / width), 0);
      const k1 = Math.min(Math.ceil((last - origin) / width), coverage.reads.length);
      if (width === 1 && scale >= 3) {
        for (let k = k0; k < k1; k++)
          this.cell(view, origin + k, coverage.reads[k]!, x(origin + k), y, scale, height);
      } else {
        this.bars(view, coverage, k0, k1, x, y, height, end);
      }
    }
    pen.strokeStyle = theme.line;
    pen.lineWidth = 1;
    pen.strokeRect(x(first) - 0.5, y - 0.5, (last - first) * scale + 1, height + 1);
    this.ticks(view, frame, first, last, x, y + height);
    this.offset(view, x, y, frame);
    const focus = Number(view.focus ?? NaN);
    if (focus >= first && focus < last) {
      const side = Math.max(scale, 3);
      const middle = x(focus) + scale / 2;
      if (scale >= 6) {
        this.lit(view, focus, x(focus), y, scale, height);
      } else {
        pen.fillStyle = theme.accent;
        pen.fillRect(middle - side / 2, y - 4, side, height + 8);
      }
    }
  }

  /** The addresses of a pixel: how many of them are read, and how often. */
  private bars(
    view: StripView,
    coverage: CoverageAnswer,
    k0: number,
    k1: number,
    x: (address: number) => number,
    y: number,
    height: number,
    last: number,
  ): void {
    const { pen } = this;
    const { theme } = view;
    const origin = Number(coverage.begin);
    const width = Number(coverage.width);
    const ratio = window.devicePixelRatio || 1;
    // Edges between pixels would be drawn as stripes that are not there.
    const pixel = (address: number): number => Math.round(x(Math.min(address, last)) * ratio) / ratio;
    for (let k = k0; k < k1;) {
      const from = pixel(origin + k * width);
      let [reads, distinct, end] = [0, 0, k];
      // Buckets narrower than a pixel are drawn together.
      do {
        reads += coverage.reads[end]!;
        distinct += coverage.distinct?.[end] ?? 0;
        end++;
      } while (end < k1 && pixel(origin + end * width) <= from);
      const wide = pixel(origin + end * width) - from;
      if (reads > 0 && wide > 0) {
        // The last bucket may reach beyond what there is.
        const addresses = Math.min(end * width, last - origin) - k * width;
        const share = coverage.distinct === null ? 1 : clamp(distinct / addresses, 0, 1);
        const tall = Math.max(height * share, 2);
        pen.fillStyle = coverage.distinct === null ? theme.hatch : readsColor(reads / Math.max(distinct, 1), theme);
        pen.fillRect(from, y + height - tall, wide, tall);
      }
      k = end;
    }
  }

  private drawWrapped(view: StripView, frame: Frame): void {
    const { pen } = this;
    const { theme } = view;
    const { begin, end, scale, from, row, top, left } = frame;
    this.row.value = row;
    const r0 = Math.max(Math.floor(top), 0);
    const r1 = Math.min(Math.ceil(top + this.height / scale) + 1, Math.ceil((end - begin) / row));
    const [first, last] = [begin + r0 * row, Math.min(begin + r1 * row, end)];
    if (last <= first) return;
    const coverage = this.need(view, first, last, last - first);
    const place = (address: number): [number, number] => {
      const at = address - begin;
      return [left + ((at % row) - from) * scale, TOP + (Math.floor(at / row) - top) * scale];
    };
    const exact = coverage !== null && Number(coverage.width) === 1 ? coverage : null;
    const c0 = Math.floor(from);
    const c1 = Math.min(row, Math.ceil(from + (this.width - left) / scale));
    for (let line = r0; line < r1; line++) {
      const beyond = Math.min(begin + line * row + c1, end);
      for (let address = begin + line * row + c0; address < beyond; address++) {
        const reads = exact?.reads[address - Number(exact.begin)];
        const [x, y] = place(address);
        if (reads === undefined) {
          pen.fillStyle = theme.blank;
          pen.fillRect(x, y, scale - 1, scale - 1);
        } else {
          this.cell(view, address, reads, x, y, scale, scale);
        }
      }
    }
    const focus = Number(view.focus ?? NaN);
    if (focus >= first && focus < last) {
      const [x, y] = place(focus);
      if (scale >= 6) this.lit(view, focus, x, y, scale, scale);
      else {
        pen.fillStyle = theme.accent;
        pen.fillRect(x - 1, y - 1, scale + 1, scale + 1);
      }
    }
    pen.fillStyle = theme.pane;
    pen.fillRect(0, 0, left - 3, this.height);
    this.letters(`10.5px ${theme.mono}`, theme.soft, "right");
    const every = niceStep(14 / scale);
    for (let line = Math.ceil(r0 / every) * every; line < r1; line += every) {
      const [, y] = place(begin + line * row + c0);
      pen.fillText(addressText(begin + line * row, view.label), left - 6, y + scale / 2);
    }
  }

  /** One address: a hole, read once, or more often. */
  private cell(
    view: StripView,
    address: number,
    reads: number,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void {
    const { pen } = this;
    const { theme } = view;
    const gap = width >= 10 ? 2 : width >= 5 ? 1 : 0;
    const room = Math.max(width - gap, 1);
    const tall = height - (height === width ? gap : 0);
    if (reads === 0) {
      pen.fillStyle = theme.pane;
      pen.fillRect(x, y, room, tall);
      if (width >= 10) {
        pen.strokeStyle = theme.hatch;
        pen.setLineDash([2, 2]);
        pen.lineWidth = 1;
        pen.strokeRect(x + 0.5, y + 0.5, room - 1, tall - 1);
        pen.setLineDash([]);
      }
    } else {
      pen.fillStyle = readsColor(reads, theme);
      pen.fillRect(x, y, room, tall);
    }
    this.number(view, address, x, y, room, tall, reads > 0 ? theme.rampInk[shadeOf(reads)]! : theme.soft, reads);
  }

  private number(
    view: StripView,
    address: number,
    x: number,
    y: number,
    width: number,
    height: number,
    color: string,
    reads: number,
  ): void {
    const { pen } = this;
    // All numbers are as large as the longest may be.
    const size = Math.min(12, (width - 3) / (0.61 * this.letterCount));
    if (size < 8) return;
    const text = addressText(address, view.label);
    const twice = reads > 1 && height >= 26 && width >= 16;
    this.letters(`${Math.floor(size * 2) / 2}px ${view.theme.mono}`, color, "center");
    pen.fillText(text, x + width / 2, y + height / 2 + (twice ? -5 : 0.5));
    if (twice) {
      pen.font = `9px ${view.theme.mono}`;
      pen.fillText(`\u00d7${reads}`, x + width / 2, y + height - 8);
    }
  }

  private lit(view: StripView, address: number, x: number, y: number, width: number, height: number): void {
    const { pen } = this;
    pen.fillStyle = view.theme.accent;
    const gap = width >= 10 ? 2 : width >= 5 ? 1 : 0;
    const tall = height - (height === width ? gap : 0);
    pen.beginPath();
    pen.roundRect(x - 1, y - 1, width - gap + 2, tall + 2, 4);
    pen.fill();
    this.number(view, address, x, y, width - gap, tall, view.theme.accentInk, 0);
  }

  private ticks(
    view: StripView,
    { scale }: Frame,
    first: number,
    last: number,
    x: (address: number) => number,
    y: number,
  ): void {
    const { pen } = this;
    const { theme } = view;
    const digits = Math.max(...[first, last].map((end) => addressText(Math.round(end), view.label).length));
    const least = (digits * 7 + 24) / scale;
    const every = view.label === "hex" ? 2 ** Math.max(Math.ceil(Math.log2(least)), 0) : niceStep(least);
    this.letters(`10.5px ${theme.mono}`, theme.soft, "center");
    for (let address = Math.ceil(first / every) * every; address < last; address += every) {
      const middle = x(address) + (scale >= 3 ? scale / 2 : 0);
      pen.fillRect(Math.round(middle), y + 2, 1, 4);
      const text = addressText(address, view.label);
      const half = pen.measureText(text).width / 2;
      pen.fillText(text, clamp(middle, half + 2, this.width - half - 2), y + 14);
    }
  }

  /** Where index 0 of the view next to memory lies. */
  private offset(view: StripView, x: (address: number) => number, y: number, { scale, begin, end }: Frame): void {
    const offset = Number(view.layout.chain?.views[0]?.offset ?? NaN);
    if (!(offset >= begin && offset < end)) return;
    const { pen } = this;
    const middle = x(offset) + scale / 2;
    pen.fillStyle = view.theme.soft;
    pen.beginPath();
    pen.moveTo(middle - 4, y - 8);
    pen.lineTo(middle + 4, y - 8);
    pen.lineTo(middle, y - 3);
    pen.fill();
    pen.font = `10.5px ${view.theme.sans}`;
    const text = "offset";
    const right = middle + 8 + pen.measureText(text).width < this.width;
    pen.textAlign = right ? "left" : "right";
    pen.textBaseline = "middle";
    pen.fillText(text, middle + (right ? 8 : -8), y - 7);
  }
}

/** The shade of an address that is read so often, of which a pixel has the mean. */
function shadeOf(reads: number): number {
  const share = reads <= 1 ? 0.15 : reads < 2 ? 0.15 + 0.37 * (reads - 1) : Math.min(Math.log2(reads) / 6 + 0.353, 1);
  return Math.round(share * 255);
}

function readsColor(reads: number, theme: Theme): string {
  return theme.rampText[shadeOf(reads)]!;
}
