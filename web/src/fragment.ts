/** The URL fragment: `key=value&key=value`, with everything that may stand in a fragment left readable. */
export type Fields = Map<string, string>;

/** A longer link is refused: it was not made by this page. */
export const LONGEST_FRAGMENT = 16_000;

/** What stays as it is; anything else is percent-encoded, and a space is a plus. */
const READABLE = /%(?:2C|3A|3D|2F|3B|40|24|3F|5B|5D|3C|3E|7C)/g;

export function write(fields: Fields): string {
  const parts: string[] = [];
  for (const [key, value] of fields) {
    const text = encodeURIComponent(value).replace(READABLE, decodeURIComponent).replace(/%20/g, "+");
    parts.push(`${key}=${text}`);
  }
  return parts.join("&");
}

/** The fields of a fragment without its `#`. Parts that are not well formed are left out. */
export function read(fragment: string): Fields {
  const fields: Fields = new Map();
  for (const part of fragment.split("&")) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    try {
      fields.set(part.slice(0, at), decodeURIComponent(part.slice(at + 1).replace(/\+/g, " ")));
    } catch {
      // A stray percent sign; the rest of the link is still good.
    }
  }
  return fields;
}
