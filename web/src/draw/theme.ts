/** The colours of the canvases, taken from the style sheet. */
import { signal } from "@preact/signals-core";

export interface Theme {
  pane: string;
  ink: string;
  soft: string;
  line: string;
  accent: string;
  accentInk: string;
  accentSoft: string;
  hatch: string;
  blank: string;
  mono: string;
  sans: string;
  /** 256 shades from the least to the most, as words of image data. */
  ramp: Uint32Array;
  rampText: string[];
  /** The two shades of a masked cell that is too small for hatching. */
  masked: [number, number];
}

type Rgb = [number, number, number];

const LIGHT: readonly Rgb[] = [
  [238, 241, 247],
  [203, 214, 236],
  [150, 172, 216],
];
const DARK: readonly Rgb[] = [
  [30, 35, 44],
  [44, 55, 84],
  [70, 88, 140],
];

function mix(stops: readonly Rgb[], t: number): Rgb {
  const at = Math.min(Math.floor(t * (stops.length - 1)), stops.length - 2);
  const part = t * (stops.length - 1) - at;
  const [from, to] = [stops[at]!, stops[at + 1]!];
  return [0, 1, 2].map((k) => Math.round(from[k]! + (to[k]! - from[k]!) * part)) as Rgb;
}

function word([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function read(): Theme {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const shades = Array.from({ length: 256 }, (_, shade) => mix(dark ? DARK : LIGHT, shade / 255));
  return {
    pane: get("--pane"),
    ink: get("--ink"),
    soft: get("--soft"),
    line: get("--line"),
    accent: get("--accent"),
    accentInk: get("--accent-ink"),
    accentSoft: get("--accent-soft"),
    hatch: get("--hatch"),
    blank: get("--blank"),
    mono: get("--mono"),
    sans: get("--sans"),
    ramp: Uint32Array.from(shades, word),
    rampText: shades.map((rgb) => `rgb(${rgb.join(",")})`),
    masked: dark ? [word([22, 25, 30]), word([52, 58, 68])] : [word([255, 255, 255]), word([205, 208, 212])],
  };
}

export const theme = signal<Theme | null>(null);

export function followTheme(): void {
  theme.value = read();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    theme.value = read();
  });
}

/** Stripes for what is masked: it must be told apart without colour too. */
export function hatching(context: CanvasRenderingContext2D, color: string, ratio: number): CanvasPattern | string {
  const size = Math.max(4, Math.round(6 * ratio));
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  if (pen === null) return color;
  pen.strokeStyle = color;
  pen.lineWidth = Math.max(1, ratio);
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern ?? color;
}
