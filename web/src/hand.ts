/** A view that is entered by hand, as the text that the engine reads. */
import type { Span } from "shapetracker/engine";
import type { HandAxis } from "./page";

/** One field: of an axis, or the offset. */
export interface HandPiece {
  axis: number | null;
  key: keyof HandAxis | "offset";
}

export type HandText =
  { text: string; pieces: { piece: HandPiece; span: Span }[] } | { fault: string; piece: HandPiece };

const INTEGER = /^[+-]?\d{1,19}$/;
const NAMES = { size: "size", stride: "stride", begin: "first valid index", end: "end of the valid range" } as const;

export function handText(axes: readonly HandAxis[], offset: string): HandText {
  const read = (text: string): string => text.trim().replace("\u2212", "-");
  for (const [axis, fields] of axes.entries()) {
    for (const key of ["size", "stride", "begin", "end"] as const) {
      if (!INTEGER.test(read(fields[key]))) {
        const fault = `"${fields[key].slice(0, 40)}" is no whole number: axis ${axis} needs one as its ${NAMES[key]}.`;
        return { fault, piece: { axis, key } };
      }
    }
  }
  if (!INTEGER.test(read(offset))) {
    return {
      fault: `"${offset.slice(0, 40)}" is no whole number: the offset must be one.`,
      piece: { axis: null, key: "offset" },
    };
  }
  const pieces: { piece: HandPiece; span: Span }[] = [];
  let text = "View(";
  const put = (value: string, axis: number | null, key: HandPiece["key"]): void => {
    pieces.push({ piece: { axis, key }, span: [text.length, text.length + value.length] });
    text += value;
  };
  const list = (key: "size" | "stride"): void => {
    text += "(";
    for (const [axis, fields] of axes.entries()) {
      if (axis > 0) text += ", ";
      put(read(fields[key]), axis, key);
    }
    text += axes.length === 1 ? ",)" : ")";
  };
  text += "shape=";
  list("size");
  text += ", strides=";
  list("stride");
  text += ", offset=";
  put(read(offset), null, "offset");
  if (axes.some((fields) => Number(read(fields.begin)) !== 0 || read(fields.end) !== read(fields.size))) {
    text += ", mask=(";
    for (const [axis, fields] of axes.entries()) {
      text += axis > 0 ? ", (" : "(";
      put(read(fields.begin), axis, "begin");
      text += ", ";
      put(read(fields.end), axis, "end");
      text += ")";
    }
    text += axes.length === 1 ? ",)" : ")";
  }
  return { text: `${text})`, pieces };
}
