/**
 * The text of a link after its `#`: the chain as it is read aloud, then `key=value`, joined by `&`. What may stand in a
 * fragment stays readable.
 */
export type Fields = Map<string, string>;

/** A longer link is refused: it was not made by this page. */
export const LONGEST_FRAGMENT = 16_000;

/** The field that needs no key where it comes first, and its key where it needs one. */
const BARE = "c";

/** The fields that are sums: their plus signs stay, and a space is an underscore. Elsewhere a space is a plus. */
const SUMS: ReadonlySet<string> = new Set(["f", "if"]);

/** What stays as it is; anything else is percent-encoded. */
const READABLE = /%(?:2C|3A|3D|2F|3B|40|24|3F|5B|5D|3C|3E|7C)/g;

function encoded(key: string, value: string): string {
  const text = encodeURIComponent(value).replace(READABLE, decodeURIComponent);
  if (!SUMS.has(key)) return text.replace(/%20/g, "+");
  return text.replace(/_/g, "%5F").replace(/%20/g, "_").replace(/%2B/g, "+");
}

function decoded(key: string, text: string): string {
  // Who writes a link by hand means a percent sign by one: a remainder.
  const whole = text.replace(/%(?![0-9A-Fa-f]{2})/g, "%25");
  return decodeURIComponent(whole.replace(SUMS.has(key) ? /_/g : /\+/g, " "));
}

/** A text with a space after each comma, as it is usually written: a link without a key leaves these spaces out. */
function spaced(text: string): string {
  return text.replace(/,/g, ", ");
}

/** The text without a key; null where it would be read as another, or as a key or the name of a place on the page. */
function bare(value: string): string | null {
  const short = value.replace(/, /g, ",");
  const text = encoded(BARE, short);
  return spaced(short) === value && isBare(text) ? text : null;
}

function isBare(part: string): boolean {
  return !/^[\w-]*(=|$)/.test(part);
}

export function write(fields: Fields): string {
  const parts: string[] = [];
  for (const [key, value] of fields) {
    const short = key === BARE && parts.length === 0 ? bare(value) : null;
    parts.push(short ?? `${key}=${encoded(key, value)}`);
  }
  return parts.join("&");
}

/** The fields of a fragment without its `#`. Parts that are not well formed are left out. */
export function read(fragment: string): Fields {
  const fields: Fields = new Map();
  for (const [place, part] of fragment.split("&").entries()) {
    const at = part.indexOf("=");
    try {
      if (place === 0 && isBare(part)) fields.set(BARE, spaced(decoded(BARE, part)));
      else if (at > 0) fields.set(part.slice(0, at), decoded(part.slice(0, at), part.slice(at + 1)));
    } catch {
      // Bytes that are no text; the rest of the link is still good.
    }
  }
  return fields;
}

/** Lists of lists of short texts, as `2:6,3:2`: whatever they are, they come back as they were. */
export function listed(rows: readonly (readonly string[])[]): string {
  const escaped = (text: string): string => text.replace(/[%,:]/g, encodeURIComponent);
  return rows.map((row) => row.map(escaped).join(":")).join(",");
}

export function unlisted(text: string): string[][] {
  const plain = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return text === "" ? [] : text.split(",").map((row) => row.split(":").map(plain));
}
