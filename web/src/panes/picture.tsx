/** A canvas in a pane: what the tensor and memory have in common. */
import { Component, createRef, h } from "preact";
import { effect, type ReadonlySignal, type Signal } from "@preact/signals-core";
import { listen } from "../draw/gestures";
import type { Sheet } from "../draw/sheet";
import { pointed, type Pointed } from "../focus";
import { current, layout, type Layout } from "../layout";
import type { Camera } from "../page";

export interface Subject<S extends Sheet, View> {
  /** What it is, for those who do not see it, and what keys do. */
  name: string;
  keys: string;
  view: ReadonlySignal<View | null>;
  /** Where the canvas is known to the rest of the page. */
  now: Signal<S | null>;
  make(canvas: HTMLCanvasElement, redraw: () => void): S;
  /** The height that it takes in its box; null to leave the canvas as it is for a moment. */
  height(sheet: S, view: View, box: HTMLElement): number | null;
  draw(sheet: S, view: View): void;
  /** What is at a point of the canvas, to be pointed at. */
  at(sheet: S, view: View, x: number, y: number): Pointed | null;
  click(at: Pointed): void;
  pan(sheet: S, view: View, dx: number, dy: number): void;
  zoom(sheet: S, view: View, factor: number, x: number, y: number): void;
  /** Whether dragging moves anything. */
  movable(): boolean;
  /** Says whether the key means anything. */
  key(event: KeyboardEvent, sheet: S, view: View): boolean;
  blur?(): void;
}

export class Picture<S extends Sheet, View extends { camera: Camera | null }> extends Component<{
  of: Subject<S, View>;
}> {
  private readonly box = createRef<HTMLDivElement>();
  private readonly canvas = createRef<HTMLCanvasElement>();
  private end = (): void => undefined;

  override componentDidMount(): void {
    const { of } = this.props;
    const [canvas, box] = [this.canvas.current, this.box.current];
    if (canvas === null || box === null) return;
    let frame = 0;
    let last: Layout | null = null;
    const view = (): View | null => of.view.peek();
    const draw = (): void => {
      frame = 0;
      const now = view();
      if (now === null) return;
      const width = box.clientWidth;
      const height = of.height(sheet, now, box);
      if (height === null) return;
      canvas.style.setProperty("height", `${height}px`);
      // The browser itself scrolls the page over a picture that is seen as a whole.
      canvas.style.setProperty("touch-action", now.camera === null ? "pan-y" : "none");
      sheet.resize(width, height);
      of.draw(sheet, now);
    };
    const redraw = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const sheet = of.make(canvas, redraw);
    of.now.value = sheet;
    const at = (x: number, y: number): Pointed | null => {
      const now = view();
      return now === null || !current.peek() ? null : of.at(sheet, now, x, y);
    };
    const stop = listen(canvas, {
      pan(dx, dy) {
        const now = view();
        if (now !== null) of.pan(sheet, now, dx, dy);
      },
      zoom(factor, x, y) {
        const now = view();
        if (now !== null) of.zoom(sheet, now, factor, x, y);
      },
      hover(x, y) {
        const found = at(x, y);
        // A pointer that stays on the same cell changes nothing.
        if (JSON.stringify(found) !== JSON.stringify(pointed.peek())) pointed.value = found;
      },
      leave() {
        pointed.value = null;
      },
      click(x, y) {
        box.focus({ preventScroll: true });
        const found = at(x, y);
        if (found !== null) of.click(found);
      },
      movable: () => of.movable(),
      engaged: () => document.activeElement === box,
    });
    box.onkeydown = (event) => {
      const now = view();
      if (now !== null && of.key(event, sheet, now)) event.preventDefault();
    };
    box.onblur = () => of.blur?.();
    const observer = new ResizeObserver(redraw);
    observer.observe(box);
    // The pictures share the height of the window.
    const both = box.closest(".pictures");
    if (both !== null) observer.observe(both);
    const forget = effect(() => {
      // What is new is asked for at once, not with the next frame.
      if (of.view.value !== null && last !== layout.peek()) {
        last = layout.peek();
        draw();
      }
      redraw();
    });
    this.end = () => {
      stop();
      forget();
      observer.disconnect();
      cancelAnimationFrame(frame);
      of.now.value = null;
    };
  }

  override componentWillUnmount(): void {
    this.end();
  }

  override render() {
    const { name, keys } = this.props.of;
    return (
      <div
        class="canvas-host"
        ref={this.box}
        tabIndex={0}
        role="application"
        aria-roledescription={name}
        aria-label={keys}
      >
        <canvas ref={this.canvas} aria-hidden="true" />
      </div>
    );
  }
}
