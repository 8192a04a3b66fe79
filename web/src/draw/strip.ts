/** The memory strip on a canvas. */
import { ask, drop } from "../ask";
import type { CoverageAnswer } from "../engine";
import type { Layout } from "../layout";
import { clamp, plain } from "../numbers";
import type { Camera } from "../page";
import { niceStep } from "./grid";
import { Sheet } from "./sheet";
import type { Theme } from "./theme";

export interface StripView {
  layout: Layout;
  theme: Theme;
  wrapped: boolean;
  /** Addresses in a row of the wrapped strip; null for as many as fit well. */
  rowLength: number | null;
  camera: Camera | null;
  /** The address in focus. */
  focus: number | null;
}

/** Strips of no more addresses are known as a whole. */
const WHOLE = 65_536;
const LARGEST = 34;
const SMALLEST_WRAPPED = 4;
const LEFT = 10;

/** The first address and the end of what is shown: the buffer, and what lies before it. */
export function bounds(layout: Layout): [number, number] {
  const [low, high] = layout.addresses ?? [0, -1];
  return [Math.min(Number(low), 0), Math.max(Number(high) + 1, Number(layout.chain?.buffer_len ?? 0))];
}

/** Room for the address that a row begins with. */
function gutter(layout: Layout): number {
  return 12 + 6.5 * plain(bounds(layout)[1]).length;
}

/** Where the addresses lie on the canvas. */
interface Frame {
  begin: number;
  end: number;
  /** Pixels an address. */
  scale: number;
  /** The first address in view, with a fraction. */
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
  note: string | null = null;

  /** How many addresses a row has. */
  rowLength(view: StripView, width: number): number {
    const room = width - LEFT - gutter(view.layout);
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
    const scale = Math.min((width - LEFT - gutter(view.layout)) / row, LARGEST);
    return Math.round(clamp(Math.ceil((end - begin) / row) * scale + 16, 56, most));
  }

  frame(view: StripView): Frame {
    const [begin, end] = bounds(view.layout);
    const room = this.width - 2 * LEFT;
    if (view.wrapped) {
      const row = this.rowLength(view, this.width);
      const scale = Math.min((this.width - LEFT - gutter(view.layout)) / row, LARGEST);
      return { begin, end, scale, from: begin, row, top: view.camera?.y ?? 0, left: gutter(view.layout) };
    }
    const fit = Math.min(room / Math.max(end - begin, 1), LARGEST);
    const scale = view.camera?.scale ?? fit;
    return { begin, end, scale, from: view.camera?.x ?? begin, row: Infinity, top: 0, left: LEFT };
  }

  /** The address at a point; null outside. */
  addressAt(view: StripView, x: number, y: number): number | null {
    const { begin, end, scale, from, row, top, left } = this.frame(view);
    const column = (x - left) / scale;
    if (column < 0) return null;
    const address = view.wrapped
      ? column >= row
        ? null
        : begin + Math.floor(top + (y - 8) / scale) * row + Math.floor(column)
      : Math.floor(from + column);
    return address !== null && address >= begin && address < end ? address : null;
  }

  /** Asks for what is in view unless it is known. */
  private need(view: StripView, first: number, last: number, buckets: number): CoverageAnswer | null {
    const { layout } = view;
    const [begin, end] = bounds(layout);
    const whole = end - begin <= WHOLE;
    const request = whole
      ? { begin, end, buckets: WHOLE }
      : { begin: first, end: last, buckets: Math.max(Math.min(buckets, WHOLE), 1) };
    const key = `${request.begin} ${request.end} ${request.buckets}`;
    if (this.askedOf !== layout || this.asked !== key) {
      this.askedOf = layout;
      this.asked = key;
      drop("coverage");
      void ask("coverage", { source: layout.source, ...request }, "coverage").then((said) => {
        if (said === null || this.askedOf !== layout) return;
        this.note = said.ok ? said.value.note : said.fault.message;
        this.coverage = said.ok ? { layout, answer: said.value } : null;
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
    if (view.wrapped) this.drawWrapped(view, frame);
    else this.drawLinear(view, frame);
  }

  private drawLinear(view: StripView, frame: Frame): void {
    const { context } = this;
    const { theme } = view;
    const { begin, end, scale, from, left } = frame;
    const first = Math.max(Math.floor(from), begin);
    const last = Math.min(Math.ceil(from + (this.width - left) / scale) + 1, end);
    if (last <= first) return;
    const coverage = this.need(view, first, last, Math.ceil((last - first) * Math.min(scale, 1)) + 1);
    const [y, height] = [22, 34];
    const x = (address: number): number => left + (address - from) * scale;
    context.fillStyle = theme.blank;
    context.fillRect(x(first), y, (last - first) * scale, height);
    if (coverage !== null) {
      const origin = Number(coverage.begin);
      const width = Number(coverage.width);
      const k0 = Math.max(Math.floor((first - origin) / width), 0);
      const k1 = Math.min(Math.ceil((last - origin) / width), coverage.reads.length);
      if (width === 1 && scale >= 3) {
        for (let k = k0; k < k1; k++)
          this.cell(view, origin + k, coverage.reads[k]!, x(origin + k), y, scale, height);
      } else {
        this.bars(view, coverage, k0, k1, x, y, height, scale);
      }
    }
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(x(first) - 0.5, y - 0.5, (last - first) * scale + 1, height + 1);
    this.ticks(view, frame, first, last, x, y + height);
    this.offset(view, x, y, frame);
    if (view.focus !== null && view.focus >= first && view.focus < last) {
      const side = Math.max(scale, 3);
      const middle = x(view.focus) + scale / 2;
      if (scale >= 6) {
        this.lit(view, view.focus, x(view.focus), y, scale, height);
      } else {
        context.fillStyle = theme.accent;
        context.fillRect(middle - side / 2, y - 4, side, height + 8);
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
    scale: number,
  ): void {
    const { context } = this;
    const { theme } = view;
    const origin = Number(coverage.begin);
    const width = Number(coverage.width);
    for (let k = k0; k < k1;) {
      // Buckets narrower than a pixel are drawn together.
      const from = x(origin + k * width);
      let [reads, distinct, end] = [0, 0, k];
      do {
        reads += coverage.reads[end]!;
        distinct += coverage.distinct?.[end] ?? Math.min(coverage.reads[end]!, width);
        end++;
      } while (end < k1 && x(origin + end * width) < from + 1);
      const share = clamp(distinct / ((end - k) * width), 0, 1);
      if (share > 0) {
        const tall = Math.max(height * share, 2);
        context.fillStyle = readsColor(reads / Math.max(distinct, 1), theme);
        context.fillRect(from, y + height - tall, Math.max((end - k) * width * scale, 1), tall);
      }
      k = end;
    }
  }

  private drawWrapped(view: StripView, frame: Frame): void {
    const { context } = this;
    const { theme } = view;
    const { begin, end, scale, row, top, left } = frame;
    const r0 = Math.max(Math.floor(top), 0);
    const r1 = Math.min(Math.ceil(top + this.height / scale) + 1, Math.ceil((end - begin) / row));
    const [first, last] = [begin + r0 * row, Math.min(begin + r1 * row, end)];
    if (last <= first) return;
    const coverage = this.need(view, first, last, last - first);
    const place = (address: number): [number, number] => {
      const at = address - begin;
      return [left + (at % row) * scale, 8 + (Math.floor(at / row) - top) * scale];
    };
    const exact = coverage !== null && Number(coverage.width) === 1 ? coverage : null;
    for (let address = first; address < last; address++) {
      const reads = exact?.reads[address - Number(exact.begin)];
      const [x, y] = place(address);
      if (reads === undefined) {
        context.fillStyle = theme.blank;
        context.fillRect(x, y, scale - 1, scale - 1);
      } else {
        this.cell(view, address, reads, x, y, scale, scale);
      }
    }
    this.pen(`10.5px ${theme.mono}`, theme.soft, "right");
    const every = niceStep(14 / scale);
    for (let number = Math.ceil(r0 / every) * every; number < r1; number += every) {
      const [, y] = place(begin + number * row);
      context.fillText(plain(begin + number * row), left - 6, y + scale / 2);
    }
    if (view.focus !== null && view.focus >= first && view.focus < last) {
      const [x, y] = place(view.focus);
      if (scale >= 6) this.lit(view, view.focus, x, y, scale, scale);
      else {
        context.fillStyle = theme.accent;
        context.fillRect(x - 1, y - 1, scale + 1, scale + 1);
      }
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
    const { context } = this;
    const { theme } = view;
    const gap = width >= 10 ? 2 : width >= 5 ? 1 : 0;
    const room = Math.max(width - gap, 1);
    const tall = height - (height === width ? gap : 0);
    if (reads === 0) {
      context.fillStyle = theme.pane;
      context.fillRect(x, y, room, tall);
      if (width >= 10) {
        context.strokeStyle = theme.hatch;
        context.setLineDash([2, 2]);
        context.lineWidth = 1;
        context.strokeRect(x + 0.5, y + 0.5, room - 1, tall - 1);
        context.setLineDash([]);
      }
    } else {
      context.fillStyle = readsColor(reads, theme);
      context.fillRect(x, y, room, tall);
    }
    this.number(view, address, x, y, room, tall, reads > 0 ? theme.ink : theme.soft, reads);
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
    const { context } = this;
    const text = plain(address);
    const size = Math.min(
      12,
      (width - 3) / (0.61 * Math.max(String(bounds(view.layout)[1] - 1).length, text.length)),
    );
    if (size < 8) return;
    const twice = reads > 1 && height >= 26 && width >= 16;
    this.pen(`${Math.floor(size * 2) / 2}px ${view.theme.mono}`, color, "center");
    context.fillText(text, x + width / 2, y + height / 2 + (twice ? -5 : 0.5));
    if (twice) {
      context.font = `9px ${view.theme.mono}`;
      context.fillText(`\u00d7${reads}`, x + width / 2, y + height - 8);
    }
  }

  private lit(view: StripView, address: number, x: number, y: number, width: number, height: number): void {
    const { context } = this;
    context.fillStyle = view.theme.accent;
    const gap = width >= 10 ? 2 : width >= 5 ? 1 : 0;
    const tall = height - (height === width ? gap : 0);
    context.beginPath();
    context.roundRect(x - 1, y - 1, width - gap + 2, tall + 2, 4);
    context.fill();
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
    const { context } = this;
    const { theme } = view;
    const digits = Math.max(plain(first).length, plain(last).length);
    const every = niceStep((digits * 7 + 24) / scale);
    this.pen(`10.5px ${theme.mono}`, theme.soft, "center");
    for (let address = Math.ceil(first / every) * every; address < last; address += every) {
      const middle = x(address) + (scale >= 3 ? scale / 2 : 0);
      context.fillRect(Math.round(middle), y + 2, 1, 4);
      const text = plain(address);
      const half = context.measureText(text).width / 2;
      context.fillText(text, clamp(middle, half + 2, this.width - half - 2), y + 14);
    }
  }

  /** Where index 0 of the view next to memory lies. */
  private offset(view: StripView, x: (address: number) => number, y: number, { scale, begin, end }: Frame): void {
    const offset = Number(view.layout.chain?.views[0]?.offset ?? NaN);
    if (!(offset >= begin && offset < end)) return;
    const { context } = this;
    const middle = x(offset) + scale / 2;
    context.fillStyle = view.theme.soft;
    context.beginPath();
    context.moveTo(middle - 4, y - 8);
    context.lineTo(middle + 4, y - 8);
    context.lineTo(middle, y - 3);
    context.fill();
    context.font = `10.5px ${view.theme.sans}`;
    const text = "offset";
    const right = middle + 8 + context.measureText(text).width < this.width;
    context.textAlign = right ? "left" : "right";
    context.textBaseline = "middle";
    context.fillText(text, middle + (right ? 8 : -8), y - 7);
  }
}

/** The shade of an address that is read so often. */
function readsColor(reads: number, theme: Theme): string {
  const share = reads > 1 ? Math.min(Math.log2(reads) / 6 + 0.35, 1) : 0.15;
  return theme.rampText[Math.round(share * 255)]!;
}
