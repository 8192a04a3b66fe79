/** A canvas as wide as its box, sharp on any screen. */
import type { SvgPen } from "./svg";

/** What the pictures are drawn with: a canvas, or a pen that writes SVG. */
export type Pen = CanvasRenderingContext2D | SvgPen;

export class Sheet {
  protected readonly screen: CanvasRenderingContext2D;
  protected pen: Pen;
  width = 0;
  height = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly redraw: () => void,
  ) {
    this.screen = this.pen = canvas.getContext("2d")!;
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    this.screen.setTransform(w / width, 0, 0, h / height, 0, 0);
  }

  /** Draws once with another pen. */
  with(pen: Pen, draw: () => void): void {
    this.pen = pen;
    try {
      draw();
    } finally {
      this.pen = this.screen;
    }
  }

  /** Paints everything in a colour. */
  protected clear(color: string): void {
    this.pen.fillStyle = color;
    this.pen.fillRect(0, 0, this.width, this.height);
  }

  /** How the next text is written. */
  protected letters(font: string, color: string, align: CanvasTextAlign): void {
    const { pen } = this;
    pen.font = font;
    pen.fillStyle = color;
    pen.textAlign = align;
    pen.textBaseline = "middle";
  }
}
