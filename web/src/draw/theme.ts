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
  /** What is written on each of them. */
  rampInk: string[];
  /** Elements that lie far apart in one pixel. */
  neutral: number;
  bad: string;
  /** The two shades of a masked cell that is too small for hatching. */
  masked: [number, number];
}

type Rgb = [number, number, number];

/**
 * A ramp whose steps look alike: lightness falls evenly, from a pale yellow to a deep teal or, in the dark, the other
 * way. Blue is left to what is selected.
 */
function shadeOf(share: number, dark: boolean): Rgb {
  const lightness = dark ? 0.31 + 0.55 * share : 0.945 - 0.5 * share;
  const hue = ((dark ? 215 - 110 * share : 105 + 110 * share) * Math.PI) / 180;
  const chroma = 0.065 + 0.2 * share * (1 - share);
  return fromOklch(lightness, chroma, hue);
}

/** A colour of Oklab, whose distances are those that are seen, on the screen. */
function fromOklch(lightness: number, chroma: number, hue: number): Rgb {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const encode = (linear: number): number => {
    const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(value, 0), 1));
  };
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function word([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** So much of another colour in one, as words of image data. */
export function mixed(one: number, other: number, part: number): number {
  const at = (shift: number): number => {
    const from = (one >> shift) & 255;
    return Math.round(from + (((other >> shift) & 255) - from) * part) << shift;
  };
  return ((255 << 24) | at(16) | at(8) | at(0)) >>> 0;
}

/** Whether text on a colour is white: which of white and black is told apart from it more easily. */
function isDark(rgb: Rgb): boolean {
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179;
}

function read(): Theme {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const shades = Array.from({ length: 256 }, (_, shade) => shadeOf(shade / 255, dark));
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
    rampInk: shades.map((rgb) => (isDark(rgb) ? "#ffffff" : "#14171b")),
    neutral: dark ? word([104, 106, 110]) : word([172, 174, 178]),
    bad: get("--bad"),
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
