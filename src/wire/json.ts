/**
 * JSON text as a tree that gives back the same text: what `JSON.parse` forgets (how numbers were written, which style
 * the text was printed in) is kept beside the tree. Nothing is taken on trust: a text is a tree only when encoding the
 * tree gives the text again.
 */

/** A JSON value. Objects keep the order of their keys; a number that JavaScript would print otherwise is `{ "$number": "1.0" }`. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** How JSON text is printed. What is absent is compact, unindented, unescaped, without a final newline. */
export interface JsonStyle {
  readonly colon?: ":" | ": " | undefined;
  readonly comma?: "," | ", " | undefined;
  readonly indent?: number | undefined;
  readonly escape?: "none" | "ascii" | "html" | "slash" | "ascii-slash" | "html-quote" | undefined;
  readonly tail?: "" | "\n" | undefined;
}

/** A JSON text that is known to be printed again exactly by `encodeJson(tree, style, pad)`. */
export interface RecognisedJson {
  readonly tree: Json;
  /** Absent for what `JSON.stringify` prints. */
  readonly style?: JsonStyle;
  /** Spaces before the last bracket; absent for none. */
  readonly pad?: number;
}

type Escape = NonNullable<JsonStyle["escape"]>;

/** Texts that nest deeper are not made trees: whatever walks a tree may recurse, and a `$literal` adds a level to each. */
const DEPTH_LIMIT = 500;
const INDENT_LIMIT = 16;

/** The exact text of a tree in a style, with `pad` spaces before the last bracket. */
export function encodeJson(tree: Json, style?: JsonStyle, pad = 0): string {
  const { colon = ":", comma = ",", indent = 0, tail = "" } = style ?? {};
  return finish(printTree(tree, colon, comma, indent), style?.escape ?? "none", pad, tail);
}

/**
 * The tree of a JSON text and the style it is printed in, or `undefined` when no style reproduces the text: duplicate
 * keys, irregular spacing, unusual escapes, keys that JavaScript puts in another order, or no JSON at all.
 */
export function recogniseJson(text: string): RecognisedJson | undefined {
  const plain = parsePlain(text);
  if (plain === undefined) return undefined;
  const { colon, comma, indent } = separators(text);
  if (indent > INDENT_LIMIT) return undefined;
  const compact = colon === ":" && comma === "," && indent === 0;
  if (compact && JSON.stringify(plain) === text && !hasMarkers(text)) return { tree: plain };

  const tail = text.endsWith("\n") ? "\n" : "";
  const pad = spacesBeforeLastBracket(text, text.length - tail.length);
  const tree = readTree(text);
  const printed = printTree(tree, colon, comma, indent);
  for (const escaping of escapesIn(text)) {
    if (finish(printed, escaping, pad, tail) !== text) continue;
    const style: JsonStyle = {
      ...(colon !== ":" && { colon }),
      ...(comma !== "," && { comma }),
      ...(indent !== 0 && { indent }),
      ...(escaping !== "none" && { escape: escaping }),
      ...(tail !== "" && { tail }),
    };
    return { tree, ...(Object.keys(style).length > 0 && { style }), ...(pad > 0 && { pad }) };
  }
  return undefined;
}

/**
 * The tree of any JSON text, whatever its style, with numbers as they are written; of duplicate keys the last wins.
 * `undefined` when the text is not JSON, or nests deeper than 500 levels.
 */
export function parseJsonTree(text: string): Json | undefined {
  const plain = parsePlain(text);
  if (plain === undefined) return undefined;
  return JSON.stringify(plain) === text && !hasMarkers(text) ? plain : readTree(text);
}

/** A number where JavaScript prints it as it is written, else `{ "$number": literal }`. The literal must be a JSON number. */
export function numberLiteral(literal: string): Json {
  const number = Number(literal);
  return String(number) === literal ? number : { $number: literal };
}

/** What `JSON.parse` makes of a text; `undefined` where it is not JSON or nests too deep. */
function parsePlain(text: string): Json | undefined {
  if (text.length > DEPTH_LIMIT && nestsTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: the only way in which it fails below the depth limit
  }
}

function hasMarkers(text: string): boolean {
  return text.includes('"$') && (text.includes('"$number"') || text.includes('"$literal"'));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the quote that ends the string which begins at `start`, or -1. */
function closingQuote(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = closingQuote(text, i);
      if (i === -1) return false; // not JSON anyway
    } else if (c === 0x5b || c === 0x7b) {
      if (++depth > DEPTH_LIMIT) return true;
    } else if (c === 0x5d || c === 0x7d) depth--;
  }
  return false;
}

/** Sets a key as a plain own key: `__proto__` is data like any other. */
export function setKey<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Reads a text that is known to be JSON. Unlike `JSON.parse` it keeps numbers as they are written. */
function readTree(text: string): Json {
  let i = 0;

  function token(): number {
    let c = text.charCodeAt(i);
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = text.charCodeAt(++i);
    return c;
  }

  function string(): string {
    const start = i;
    i = closingQuote(text, start) + 1;
    const raw = text.slice(start + 1, i - 1);
    return raw.includes("\\") ? JSON.parse(text.slice(start, i)) : raw;
  }

  function object(): Json {
    const members: { [key: string]: Json } = {};
    i++;
    while (token() !== 0x7d) {
      if (text.charCodeAt(i) === 0x2c) i++;
      token();
      const key = string();
      token();
      i++;
      setKey(members, key, value());
    }
    i++;
    return Object.hasOwn(members, "$number") || Object.hasOwn(members, "$literal") ? { $literal: members } : members;
  }

  function array(): Json {
    const items: Json[] = [];
    i++;
    while (token() !== 0x5d) {
      if (text.charCodeAt(i) === 0x2c) i++;
      items.push(value());
    }
    i++;
    return items;
  }

  function scalar(): Json {
    const start = i;
    while (i < text.length && !",]} \n\r\t".includes(text[i]!)) i++;
    const word = text.slice(start, i);
    if (word === "true") return true;
    if (word === "false") return false;
    return word === "null" ? null : numberLiteral(word);
  }

  function value(): Json {
    const c = token();
    if (c === QUOTE) return string();
    if (c === 0x7b) return object();
    return c === 0x5b ? array() : scalar();
  }

  return value();
}

/** The separators of a text, as its first colon, first comma and first line show them; proven by encoding. */
function separators(text: string): { colon: ":" | ": "; comma: "," | ", "; indent: number } {
  let indent = 0;
  if (text[1] === "\n") while (text[2 + indent] === " ") indent++;
  let colon: ":" | ": " | undefined;
  let comma: "," | ", " | undefined;
  for (let i = 0; i < text.length && (colon === undefined || comma === undefined); i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = closingQuote(text, i);
    else if (c === 0x3a) colon ??= text[i + 1] === " " ? ": " : ":";
    else if (c === 0x2c) comma ??= text[i + 1] === " " ? ", " : ",";
  }
  return { colon: colon ?? ":", comma: comma ?? ",", indent };
}

function spacesBeforeLastBracket(text: string, end: number): number {
  const last = text[end - 1];
  if (last !== "}" && last !== "]") return 0;
  let first = end - 1;
  while (text[first - 1] === " ") first--;
  return end - 1 - first;
}

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

// Outside strings JSON has none of these characters, so the escapes can be laid over the whole text.
const escapers: Record<Escape, (text: string) => string> = {
  none: (text) => text,
  ascii: (text) => text.replace(/[\x7f-\uffff]/g, unicodeEscape),
  html: (text) => text.replace(/[<>&\u2028\u2029]/g, unicodeEscape),
  slash: (text) => text.replaceAll("/", "\\/"),
  "ascii-slash": (text) => escapers.slash(text).replace(/[\x80-\uffff]/g, unicodeEscape),
  "html-quote": (text) => text.replace(/[<>&='\u2028\u2029]/g, unicodeEscape),
};

/** The escapes that may have printed a text, the plainest first. */
function escapesIn(text: string): readonly Escape[] {
  if (!text.includes("\\u") && !text.includes("\\/")) return ["none"];
  return /[\x80-\uffff]/.test(text)
    ? ["none", "html", "html-quote", "slash"]
    : ["none", "ascii", "html", "html-quote", "slash", "ascii-slash"];
}

function finish(printed: string, escaping: Escape, pad: number, tail: string): string {
  const text = escapers[escaping](printed);
  const bracket = text.length - 1;
  const padded = pad > 0 && /[\]}]$/.test(text) ? text.slice(0, bracket) + " ".repeat(pad) + text[bracket] : text;
  return padded + tail;
}

function printTree(tree: Json, colon: string, comma: string, indent: number): string {
  // The engine's own printer covers the two commonest layouts and knows no markers.
  if (comma === "," && (indent === 0 ? colon === ":" : indent <= 10 && colon === ": ")) {
    const text = indent === 0 ? JSON.stringify(tree) : JSON.stringify(tree, null, indent);
    if (!hasMarkers(text)) return text;
  }
  const space = " ".repeat(indent);

  function list(open: string, items: readonly string[], close: string, margin: string): string {
    if (items.length === 0) return open + close;
    if (indent === 0) return open + items.join(comma) + close;
    return `${open}\n${margin}${space}${items.join(`${comma}\n${margin}${space}`)}\n${margin}${close}`;
  }

  function members(object: { readonly [key: string]: Json }, margin: string): string {
    const items = Object.keys(object).map((key) => JSON.stringify(key) + colon + print(object[key]!, margin + space));
    return list("{", items, "}", margin);
  }

  function print(value: Json, margin: string): string {
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (isArray(value)) {
      const items = value.map((item) => print(item, margin + space));
      return list("[", items, "]", margin);
    }
    return markedNumber(value) ?? members(markedLiteral(value) ?? value, margin);
  }

  return print(tree, "");
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

function markedNumber(object: { readonly [key: string]: Json }): string | undefined {
  const literal = Object.hasOwn(object, "$number") ? object.$number : undefined;
  if (typeof literal !== "string" || Object.keys(object).length !== 1) return undefined;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(literal) ? literal : undefined;
}

function markedLiteral(object: { readonly [key: string]: Json }): { readonly [key: string]: Json } | undefined {
  const literal = Object.hasOwn(object, "$literal") ? object.$literal : undefined;
  if (typeof literal !== "object" || literal === null || isArray(literal)) return undefined;
  return Object.keys(object).length === 1 ? literal : undefined;
}
