/** A canvas as wide as its box, sharp on any screen. */
export class Sheet {
  protected readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    protected readonly redraw: () => void,
  ) {
    this.context = canvas.getContext("2d")!;
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
    this.context.setTransform(w / width, 0, 0, h / height, 0, 0);
  }

  /** Paints everything in a colour. */
  protected clear(color: string): void {
    this.context.fillStyle = color;
    this.context.fillRect(0, 0, this.width, this.height);
  }

  /** How the next text is written. */
  protected pen(font: string, color: string, align: CanvasTextAlign): void {
    const { context } = this;
    context.font = font;
    context.fillStyle = color;
    context.textAlign = align;
    context.textBaseline = "middle";
  }
}
