/** A small grid: a tensor seen as a whole, drawn as the large one is. */
import { Component, createRef, h } from "preact";
import { effect } from "@preact/signals-core";
import { GridCanvas, type GridView } from "../draw/grid";
import { theme } from "../draw/theme";
import type { Drawn } from "../draw/tiles";
import type { Integer, Source } from "shapetracker/engine";
import { fixedPlaces, plan, usualPlaces } from "../lane";
import type { Label } from "../page";

/** Where the marked element is drawn, in pixels: its middle, half of its width and height, and the edges of all cells. */
export interface Placed {
  x: number;
  y: number;
  half: number;
  high: number;
  left: number;
  right: number;
}

interface FigureProps {
  /** What is drawn, anew whenever a signal that it reads has changed; null for nothing. */
  view(): GridView | null;
  width: number;
  height: number;
  /** What it shows, for those who do not see it; without it, it is an ornament of what stands beside it. */
  name: string | undefined;
  /** The canvas, once it is there. */
  canvas?(grid: GridCanvas): void;
  placed: ((place: Placed | null) => void) | undefined;
  /** Where someone presses: an element, and the place in the picture in steps of the grid. */
  onPick: ((index: number[] | null, column: number, row: number) => void) | undefined;
  onPoint: ((index: number[] | null) => void) | undefined;
}

/** A grid that is seen as a whole, and neither zooms nor pans. */
export class Figure extends Component<FigureProps> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  private grid: GridCanvas | null = null;
  private frame = 0;
  private end = (): void => undefined;

  private readonly draw = (): void => {
    this.frame = 0;
    const [view, grid] = [this.props.view(), this.grid];
    if (view === null || grid === null) return;
    const { width, height } = this.props;
    if (!grid.prepare(view, width, height)) return;
    grid.resize(width, height);
    grid.draw(view);
    this.tell(view, grid);
  };

  /** Says where the marked element is. */
  private tell(view: GridView, grid: GridCanvas): void {
    const { placed } = this.props;
    if (placed === undefined) return;
    if (view.focus === null) {
      placed(null);
      return;
    }
    const { left, top, wide, tall } = grid.frame(view);
    const { row, column } = view.scene.plan;
    const middle = (lane: typeof row): number => lane.place(lane.ofIndex(view.focus!)) + 0.5;
    placed({
      x: left + middle(column) * wide,
      y: top + middle(row) * tall,
      half: wide / 2,
      high: tall / 2,
      left,
      right: left + column.extent * wide,
    });
  }

  private readonly redraw = (): void => {
    if (this.frame === 0) this.frame = requestAnimationFrame(this.draw);
  };

  private at({ clientX, clientY }: MouseEvent): { index: number[] | null; column: number; row: number } | null {
    const [view, grid, canvas] = [this.props.view(), this.grid, this.canvas.current];
    if (view === null || grid === null || canvas === null) return null;
    const box = canvas.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const { left, top, wide, tall } = grid.frame(view);
    return { index: grid.indexAt(view, x, y), column: (x - left) / wide, row: (y - top) / tall };
  }

  override componentDidMount(): void {
    this.grid = new GridCanvas(this.canvas.current!, this.redraw);
    this.props.canvas?.(this.grid);
    const forget = effect(() => {
      this.props.view();
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
        data-picks={onPick === undefined ? undefined : "yes"}
        onClick={
          onPick &&
          ((event) => {
            const at = this.at(event);
            if (at !== null) onPick(at.index, at.column, at.row);
          })
        }
        onPointerMove={onPoint && ((event) => onPoint(this.at(event)?.index ?? null))}
        onPointerLeave={onPoint && (() => onPoint(null))}
      />
    );
  }
}

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
  /** The lowest and the highest address, where they are known, so that labels have room and colours fit those beside. */
  addresses?: [Integer, Integer] | null;
  /** The sizes of the modes inside each axis, the fastest first. */
  modes?: Integer[][] | null;
  /** Axes go where their place says, and every how-manieth element of each is shown: none for all. */
  steps?: readonly number[];
  /** The colour of an address, where it is not that of the ramp over all of them. */
  shade?: ((address: number) => number) | null;
  /** The numbers of rows and columns. */
  headers?: boolean;
  /** What it shows, for those who do not see it; without it, it is an ornament of what stands beside it. */
  name?: string;
  placed?(place: Placed | null): void;
  onPick?(index: number[]): void;
  onPoint?(index: number[] | null): void;
}

const NONE: readonly number[][] = [];

export class MiniGrid extends Component<Props> {
  private known = "";
  private drawn: Drawn | null = null;

  /** What is drawn; the same object as long as it is the same tensor. */
  private layout(): Drawn {
    const { shape, steps, addresses = null, modes = null } = this.props;
    let { source } = this.props;
    const key = JSON.stringify([source, shape, steps, addresses, modes]);
    if (this.drawn === null || key !== this.known) {
      const sizes = shape.map((size, axis) => Math.ceil(Number(size) / (steps?.[axis] ?? 1)));
      if (steps?.some((step) => step > 1) === true && "chain" in source) {
        source = { ...source, chain: `${source.chain}.step(${steps.join(", ")})` };
      }
      const numel = sizes.reduce((all, size) => all * size, 1);
      const names = sizes.map((_, axis) => `axis ${axis}`);
      this.known = key;
      this.drawn = { source, shape: sizes, numel, names, begins: sizes.map(() => 0), addresses, modes };
    }
    return this.drawn;
  }

  private readonly view = (): GridView | null => {
    const { index = null, readers = NONE, label = "address", color = "address", headers = false } = this.props;
    const shades = theme.value;
    const layout = this.layout();
    const { shape } = layout;
    if (shades === null || shape.includes(0) || !shape.every(Number.isSafeInteger)) return null;
    const { steps, shade = null } = this.props;
    const lanes = plan(shape, steps === undefined ? usualPlaces(shape) : fixedPlaces(shape));
    const shown = index?.map((at, axis) => Math.floor(at / (steps?.[axis] ?? 1))) ?? null;
    const inside = shown !== null && shown.length === shape.length && shown.every((at, axis) => at < shape[axis]!);
    const fixed = shape.map((_, axis) => (inside && lanes.sliders.includes(axis) ? shown[axis]! : 0));
    return {
      scene: { layout, plan: lanes, fixed, color, shade },
      label,
      theme: shades,
      camera: null,
      focus: inside ? [...shown] : null,
      selected: null,
      readers,
      moving: false,
      bare: !headers,
    };
  };

  override render() {
    const { width, height, name, placed, onPick, onPoint } = this.props;
    const { steps } = this.props;
    const whole = (index: number[] | null): number[] | null => index?.map((at, axis) => at * (steps?.[axis] ?? 1)) ?? null;
    const pick =
      onPick === undefined ? undefined : (index: number[] | null) => void (index !== null && onPick(whole(index)!));
    return (
      <Figure
        view={this.view}
        width={width}
        height={height}
        name={name}
        placed={placed?.bind(null)}
        onPick={pick}
        onPoint={onPoint && ((index) => onPoint(whole(index)))}
      />
    );
  }
}
