/** A pen with as much of a canvas as the pictures need, that writes SVG instead: what is exported is what is seen. */

/** An image of more pixels than this stays one; of fewer, each becomes a box. */
const MOST_BOXES = 20_000;

const ANCHORS: Record<string, string> = { center: "middle", right: "end" };

/** Clip paths need names that no other picture in the document has. */
let clips = 0;

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export class SvgPen {
  fillStyle: string | CanvasPattern | CanvasGradient = "";
  strokeStyle: string | CanvasPattern | CanvasGradient = "";
  lineWidth = 1;
  font = "";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "middle";
  imageSmoothingEnabled = false;
  private readonly parts: string[] = [];
  private path = "";
  private dash = "";
  /** How many groups are open at each `save`. */
  private readonly saved: number[] = [];
  private open = 0;

  constructor(private readonly size: { width: number; height: number }) {}

  text(): string {
    return this.parts.join("\n");
  }

  save(): void {
    this.saved.push(this.open);
  }

  restore(): void {
    for (const before = this.saved.pop() ?? 0; this.open > before; this.open--) this.parts.push("</g>");
  }

  clip(): void {
    const id = `clip${++clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.open++;
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  roundRect(x: number, y: number, width: number, height: number, most: number): void {
    const radius = Math.min(most, width / 2, height / 2);
    const [across, down] = [short(width - 2 * radius), short(height - 2 * radius)];
    const turn = (dx: 1 | -1, dy: 1 | -1): string => `a${radius} ${radius} 0 0 1 ${dx * radius} ${dy * radius}`;
    this.path += `M${short(x + radius)} ${short(y)}h${across}${turn(1, 1)}v${down}${turn(-1, 1)}`;
    this.path += `h-${across}${turn(-1, -1)}v-${down}${turn(1, -1)}z`;
  }

  fill(): void {
    // The only pattern is the hatching of what is masked.
    const paint = typeof this.fillStyle === "string" ? this.fillStyle : "url(#masked)";
    if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="${paint}"/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.path = "";
    this.rect(x, y, width, height);
    this.fill();
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.path = "";
    this.rect(x, y, width, height);
    this.stroke();
  }

  stroke(): void {
    const { path, strokeStyle, lineWidth, dash } = this;
    this.parts.push(`<path d="${path}" fill="none" stroke="${strokeStyle}" stroke-width="${lineWidth}"${dash}/>`);
  }

  setLineDash(dash: number[]): void {
    this.dash = dash.length === 0 ? "" : ` stroke-dasharray="${dash.join(" ")}"`;
  }

  fillText(text: string, x: number, y: number): void {
    const [, bold, size] = /^(600 )?([\d.]+)px/.exec(this.font) ?? [];
    const weight = bold === undefined ? "" : ' font-weight="600"';
    const anchor = ANCHORS[this.textAlign] ?? "start";
    const style = `dy=".35em" font-size="${size}"${weight} text-anchor="${anchor}" fill="${this.fillStyle}"`;
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" ${style}>${escaped(text)}</text>`);
  }

  /** Letters are about as wide as those of the fixed-width font. */
  measureText(text: string): { width: number } {
    return { width: text.length * 6.5 };
  }

  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const [dx, dy] = [width / image.width, height / image.height];
    // Only the pixels in view.
    const [left, top] = [Math.max(Math.floor(-x / dx), 0), Math.max(Math.floor(-y / dy), 0)];
    const columns = Math.min(Math.ceil((this.size.width - x) / dx), image.width) - left;
    const rows = Math.min(Math.ceil((this.size.height - y) / dy), image.height) - top;
    if (columns <= 0 || rows <= 0) return;
    if (columns * rows > MOST_BOXES) {
      const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
      const style = 'preserveAspectRatio="none" style="image-rendering:pixelated"';
      this.parts.push(`<image href="${image.toDataURL()}" ${box} ${style}/>`);
      return;
    }
    const { data } = image.getContext("2d")!.getImageData(left, top, columns, rows);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const at = 4 * (row * columns + column);
        if (data[at + 3] === 0) continue;
        this.fillStyle = `rgb(${data[at]},${data[at + 1]},${data[at + 2]})`;
        this.fillRect(x + (left + column) * dx, y + (top + row) * dy, dx, dy);
      }
    }
  }
}
