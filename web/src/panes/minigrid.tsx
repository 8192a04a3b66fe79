/** A small grid: a tensor seen as a whole, drawn as the large one is. */
import { Component, createRef, h } from "preact";
import { effect } from "@preact/signals-core";
import { GridCanvas, type GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import type { Drawn } from "../draw/tiles";
import type { Integer, Source } from "../engine";
import { plan, usualPlaces } from "../lane";
import type { Label } from "../page";

interface Props {
  source: Source;
  shape: readonly Integer[];
  /** The element that is marked. */
  index?: readonly number[] | null;
  /** Elements that are lit with it. */
  readers?: readonly number[][];
  /** What the cells say. */
  label?: Label;
  /** What colours the cells, as in the large picture. */
  color?: string;
  width: number;
  height: number;
  /** The lowest and the highest address, where they are known, so that labels have room. */
  addresses?: [Integer, Integer] | null;
  /** The sizes of the modes inside each axis, the fastest first. */
  modes?: Integer[][] | null;
  /** The numbers of rows and columns. */
  headers?: boolean;
  /** What it shows, for those who do not see it; without it, it is an ornament of what stands beside it. */
  name?: string;
  onPick?(index: number[]): void;
  onPoint?(index: number[] | null): void;
}

const NONE: readonly number[][] = [];

export class MiniGrid extends Component<Props> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  private grid: GridCanvas | null = null;
  private known = "";
  private drawn: Drawn | null = null;
  private frame = 0;
  private end = (): void => undefined;

  /** What is drawn; the same object as long as it is the same tensor. */
  private layout(): Drawn {
    const { source, shape, addresses = null, modes = null } = this.props;
    const key = JSON.stringify([source, shape, addresses, modes]);
    if (this.drawn === null || key !== this.known) {
      const sizes = shape.map(Number);
      const numel = sizes.reduce((all, size) => all * size, 1);
      const names = sizes.map((_, axis) => `axis ${axis}`);
      this.known = key;
      this.drawn = { source, shape: sizes, numel, names, begins: sizes.map(() => 0), addresses, modes };
    }
    return this.drawn;
  }

  private view(): GridView | null {
    const { index = null, readers = NONE, label = "address", color = "address", headers = false } = this.props;
    const shades = theme.peek();
    const layout = this.layout();
    const { shape } = layout;
    if (shades === null || shape.includes(0) || !shape.every(Number.isSafeInteger)) return null;
    const lanes = plan(shape, usualPlaces(shape));
    const inside = index !== null && index.length === shape.length && index.every((at, axis) => at < shape[axis]!);
    const fixed = shape.map((_, axis) => (inside && lanes.sliders.includes(axis) ? index[axis]! : 0));
    return {
      scene: { layout, plan: lanes, fixed, color },
      label,
      theme: shades,
      camera: null,
      focus: inside ? [...index] : null,
      selected: null,
      readers,
      moving: false,
      bare: !headers,
    };
  }

  private readonly draw = (): void => {
    this.frame = 0;
    const [view, grid] = [this.view(), this.grid];
    if (view === null || grid === null) return;
    const { width, height } = this.props;
    if (!grid.prepare(view, width, height)) return;
    grid.resize(width, height);
    grid.draw(view);
  };

  private readonly redraw = (): void => {
    if (this.frame === 0) this.frame = requestAnimationFrame(this.draw);
  };

  private at(event: MouseEvent): number[] | null {
    const [view, grid, canvas] = [this.view(), this.grid, this.canvas.current];
    if (view === null || grid === null || canvas === null) return null;
    const box = canvas.getBoundingClientRect();
    return grid.indexAt(view, event.clientX - box.left, event.clientY - box.top);
  }

  override componentDidMount(): void {
    const canvas = this.canvas.current!;
    this.grid = new GridCanvas(canvas, this.redraw);
    const forget = effect(() => {
      void theme.value;
      this.redraw();
    });
    this.end = () => {
      forget();
      cancelAnimationFrame(this.frame);
    };
    this.size();
  }

  override componentDidUpdate(): void {
    this.size();
    this.redraw();
  }

  override componentWillUnmount(): void {
    this.end();
  }

  private size(): void {
    const { style } = this.canvas.current!;
    style.setProperty("width", `${this.props.width}px`);
    style.setProperty("height", `${this.props.height}px`);
  }

  override render() {
    const { name, onPick, onPoint } = this.props;
    return (
      <canvas
        class="minigrid"
        ref={this.canvas}
        role={name === undefined ? undefined : "img"}
        aria-label={name}
        aria-hidden={name === undefined}
        onClick={
          onPick &&
          ((event) => {
            const index = this.at(event);
            if (index !== null) onPick(index);
          })
        }
        onPointerMove={onPoint && ((event) => onPoint(this.at(event)))}
        onPointerLeave={onPoint && (() => onPoint(null))}
      />
    );
  }
}
