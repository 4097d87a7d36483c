import { decodeLatin1, encodeUtf8 } from "../../wire/bytes.ts";

/**
 * What a text says once an encoding is taken off, with the way back to the offsets of the text. A secret is looked for
 * in every view, so it does not matter which of its characters an encoder chose to escape, nor how often.
 *
 * Texts here are byte texts: one code point a byte, UTF-8 as its bytes.
 */
export interface View {
  readonly text: string;
  /** The offset in the original text of an offset in this one. */
  origin(offset: number): number;
  /** What replaces a part of this view, in the encoding of the original text. */
  encode(replacement: string): string;
}

interface Encoding {
  readonly marker: string;
  /** How many characters the escape at this marker has; 0 where there is none. */
  length(text: string, at: number): number;
  decode(text: string, at: number, length: number): string;
  encode(text: string): string;
}

const shortEscapes: Readonly<Record<string, string>> = {
  ...{ '"': '"', "'": "'", "\\": "\\", "/": "/" },
  ...{ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" },
};

const unicodeEscape = /\\u(?:[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|[\da-fA-F]{4})/y;

const jsonString: Encoding = {
  marker: "\\",
  length(text, at) {
    const next = text[at + 1] ?? "";
    if (next !== "u") return next in shortEscapes ? 2 : 0;
    unicodeEscape.lastIndex = at;
    return unicodeEscape.test(text) ? unicodeEscape.lastIndex - at : 0;
  },
  decode(text, at, length) {
    if (length === 2) return shortEscapes[text[at + 1]!]!;
    const units = [at + 2, at + 8].slice(0, length / 6).map((from) => Number.parseInt(text.slice(from, from + 4), 16));
    const character = String.fromCharCode(...units);
    return units[0]! < 0x80 ? character : decodeLatin1(encodeUtf8(character));
  },
  encode: (text) => text.replace(/["\\]/g, "\\$&"),
};

const percentEscape = /%[\da-fA-F]{2}/y;

const percent: Encoding = {
  marker: "%",
  length(text, at) {
    percentEscape.lastIndex = at;
    return percentEscape.test(text) ? 3 : 0;
  },
  decode: (text, at) => String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 3), 16)),
  encode: encodeURIComponent,
};

/** How many encodings may lie over one another. */
const maxDepth = 3;

/** The view with one more encoding taken off; `undefined` where it has none of it. */
function decoded(source: View, encoding: Encoding): View | undefined {
  const { text } = source;
  const parts: string[] = [];
  // Where each escape begins, in this view and in the source.
  const starts: number[] = [];
  const sourceStarts: number[] = [];
  let from = 0;
  let length = 0;
  for (let at = text.indexOf(encoding.marker); at >= 0; ) {
    const size = encoding.length(text, at);
    if (size > 0) {
      const character = encoding.decode(text, at, size);
      parts.push(text.slice(from, at), character);
      length += at - from;
      starts.push(length);
      sourceStarts.push(at);
      length += character.length;
      from = at + size;
    }
    at = text.indexOf(encoding.marker, at + Math.max(size, 1));
  }
  if (starts.length === 0) return undefined;
  parts.push(text.slice(from));
  return {
    text: parts.join(""),
    origin(offset) {
      // The last escape that begins before the offset; one that begins at it lies wholly behind.
      let low = 0;
      let high = starts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle]! < offset) low = middle + 1;
        else high = middle;
      }
      if (low === 0) return source.origin(offset);
      const at = sourceStarts[low - 1]!;
      const size = encoding.length(text, at);
      const behind = offset - starts[low - 1]! - encoding.decode(text, at, size).length;
      return source.origin(behind < 0 ? at : at + size + behind);
    },
    encode: (replacement) => source.encode(encoding.encode(replacement)),
  };
}

/** The text with one encoding taken off, where offsets do not matter. */
function decodeAll(text: string, encoding: Encoding): string {
  if (!text.includes(encoding.marker)) return text;
  return decoded(plainView(text), encoding)?.text ?? text;
}

const plainView = (text: string): View => ({ text, origin: (offset) => offset, encode: (replacement) => replacement });

/** The text itself, then what it says with JSON escapes and percent-encoding taken off, up to three layers deep. */
export function viewsOf(text: string): readonly View[] {
  const views = [plainView(text)];
  if (!text.includes("\\") && !text.includes("%")) return views;
  let layer: readonly View[] = views;
  for (let depth = 0; depth < maxDepth && layer.length > 0; depth++) {
    const next: View[] = [];
    for (const view of layer) {
      for (const encoding of [jsonString, percent]) {
        const inner = decoded(view, encoding);
        if (inner !== undefined) next.push(inner);
      }
    }
    views.push(...next);
    layer = next;
  }
  return views;
}

/** A JSON string's inside, unescaped. */
export function unescapeJson(text: string): string {
  return decodeAll(text, jsonString);
}

/** A text with percent-encoding taken off. */
export function decodePercent(text: string): string {
  return decodeAll(text, percent);
}

/** The value of a query's or a form's parameter: "+" is a space. */
export function decodeQuery(text: string): string {
  return decodePercent(text.replaceAll("+", " "));
}
