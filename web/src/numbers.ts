/** Numbers as they are shown. */
import type { Integer } from "shapetracker/engine";

/** Integers with thin spaces between groups of three, and a true minus sign. */
export function pretty(value: Integer | bigint): string {
  const text = String(value);
  const grouped = text.replace(/^-/, "").replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return text.startsWith("-") ? `\u2212${grouped}` : grouped;
}

/** An address as it is shown: with `0x` in hexadecimal. */
export function addressText(value: Integer | bigint, label: string): string {
  if (label !== "hex") return pretty(value);
  return `0x${BigInt(value).toString(16)}`.replace("0x-", "\u22120x");
}

/** Integers as they are typed, except for a true minus sign. */
export function plain(value: Integer | bigint): string {
  return String(value).replace(/^-/, "\u2212");
}

/** `(2, 3)`, and `(6,)` for one axis. */
export function tuple(values: readonly Integer[]): string {
  return values.length === 1 ? `(${plain(values[0]!)},)` : `(${values.map(plain).join(", ")})`;
}

/** `[2, 3]`: an index. */
export function bracket(values: readonly Integer[]): string {
  return `[${values.map(plain).join(", ")}]`;
}

/** `1 element`, `2 elements`. */
export function counted(value: Integer, word: string): string {
  return `${pretty(value)} ${word}${String(value) === "1" ? "" : "s"}`;
}

/** The integer that is not larger than a number, exact where numbers are not. */
export function integer(value: number | bigint): Integer {
  const exact = typeof value === "bigint" ? value : BigInt(Math.floor(value));
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : String(exact);
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
