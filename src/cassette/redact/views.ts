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
  readonly escape: RegExp;
  decode(match: RegExpExecArray): string;
  encode(text: string): string;
}

const shortEscapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

const byteText = (text: string): string => decodeLatin1(encodeUtf8(text));

const jsonString: Encoding = {
  marker: "\\",
  escape: /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|(["\\/bfnrt']))/g,
  decode([, high, low, unit, short]) {
    if (short !== undefined) return shortEscapes[short] ?? short;
    const code = Number.parseInt(unit ?? high!, 16);
    if (code < 0x80) return String.fromCharCode(code);
    return byteText(
      low === undefined ? String.fromCharCode(code) : String.fromCharCode(code, Number.parseInt(low, 16)),
    );
  },
  encode: (text) => text.replace(/["\\]/g, "\\$&"),
};

const percent: Encoding = {
  marker: "%",
  escape: /%([\da-fA-F]{2})/g,
  decode: ([, digits]) => String.fromCharCode(Number.parseInt(digits!, 16)),
  encode: (text) => encodeURIComponent(text),
};

/** How many encodings may lie over one another. */
const maxDepth = 3;

function decoded(source: View, encoding: Encoding): View | undefined {
  const { text } = source;
  if (!text.includes(encoding.marker)) return undefined;
  const parts: string[] = [];
  // Where each escape begins and ends, in this view and in the source.
  const starts: number[] = [];
  const ends: number[] = [];
  const sourceStarts: number[] = [];
  const sourceEnds: number[] = [];
  let from = 0;
  let length = 0;
  encoding.escape.lastIndex = 0;
  for (let match = encoding.escape.exec(text); match !== null; match = encoding.escape.exec(text)) {
    const character = encoding.decode(match);
    parts.push(text.slice(from, match.index), character);
    length += match.index - from;
    starts.push(length);
    sourceStarts.push(match.index);
    length += character.length;
    from = match.index + match[0].length;
    ends.push(length);
    sourceEnds.push(from);
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
      const last = low - 1;
      if (last < 0) return source.origin(offset);
      if (offset < ends[last]!) return source.origin(sourceStarts[last]!);
      return source.origin(sourceEnds[last]! + offset - ends[last]!);
    },
    encode: (replacement) => source.encode(encoding.encode(replacement)),
  };
}

/** The text itself, then what it says with JSON escapes and percent-encoding taken off, up to three layers deep. */
export function viewsOf(text: string): readonly View[] {
  const plain: View = { text, origin: (offset) => offset, encode: (replacement) => replacement };
  const views = [plain];
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
  if (!text.includes("\\")) return text;
  return text.replace(jsonString.escape, (...match) => jsonString.decode(match as unknown as RegExpExecArray));
}

/** A text with percent-encoding taken off. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(percent.escape, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The value of a query's or a form's parameter: "+" is a space. */
export function decodeQuery(text: string): string {
  return decodePercent(text.replaceAll("+", " "));
}
