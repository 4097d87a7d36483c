import { cassetteLayout, childLayout, type Layout, trackLayout } from "./layout.ts";
import type { Cassette, Json, Seal, Track } from "./schema.ts";

const lineWidth = 120;
const frameWidth = 400;
const indentStep = "  ";

type Values = Readonly<Record<string, unknown>>;

/**
 * The canonical text of a cassette. Two spaces; our keys in the order of the schema, payload keys in their own.
 * `tracks`, a track, its `request`, `response` and `open`, and lists of frames are always opened; a frame in a list
 * stands on one line while the line fits in 400 columns, any other value while its line fits in 120, comma included; in
 * an opened object below the top level the leading scalars share the first line. A column is a code point. The text
 * ends with a newline, and printing what was parsed from it gives it again.
 *
 * Keys that are `undefined` are not printed. A key that is not in the schema is printed after those that are.
 */
export function formatCassette(cassette: Cassette): string {
  const lines: string[] = [];
  const values = cassette as object as Values;
  const keys = orderedKeys(values, cassetteLayout);
  keys.forEach((key, i) => {
    const comma = i < keys.length - 1 ? "," : "";
    const value = values[key];
    const text = key === "tracks" ? printTracks(cassette.tracks) : printField(key, value, cassetteLayout, "  ", comma);
    lines.push((key === "tracks" ? `  "tracks": ${text}` : text) + comma);
  });
  return `{\n${lines.join("\n")}\n}\n`;
}

/** A track as it stands in the list of tracks of a canonical text: every line indented, no comma, no newline at the end. */
export function formatTrack(track: Track): string {
  // A concatenated string is a tree until it is read, and the trees of ten thousand tracks, kept until the text is whole,
  // cost the collector five times what printing costs. `join` makes a flat string.
  return ["    ", openObject(track as object as Values, trackLayout(track.kind), "    ")].join("");
}

/** The line or lines of the seal in a canonical text, without the newline at the end. */
export function formatSeal(seal: Seal): string {
  return printField("seal", seal, cassetteLayout, "  ", "");
}

/**
 * A value of a payload, or of ours at a place whose order of keys does not matter, as it is printed after a key.
 * `indent`: that of the line it begins on; `column`: how many columns of the line are taken.
 */
export function formatValue(value: Json, indent: string, column: number, layout?: Layout): string {
  return print(value, layout, indent, lineWidth - column);
}

function printTracks(tracks: readonly Track[]): string {
  return tracks.length === 0 ? "[]" : `[\n${tracks.map(formatTrack).join(",\n")}\n  ]`;
}

/** `"key": value` on its own line or lines, indented, without the comma, for which room is left. */
function printField(key: string, value: unknown, layout: Layout | undefined, indent: string, comma: string): string {
  const field = layout?.fields?.get(key);
  const prefix = `${indent}${quote(key)}: `;
  const child = childLayout(layout, key);
  if (field?.open && isObject(value)) return prefix + open(value, child, indent);
  return prefix + print(value, child, indent, lineWidth - columns(prefix) - comma.length);
}

/** A value on one line where it fits in `room` columns, else opened. */
function print(value: unknown, layout: Layout | undefined, indent: string, room: number): string {
  if (!isObject(value)) return scalar(value, layout);
  if (!(layout?.frames && Array.isArray(value) && value.length > 0)) {
    // A code point is one or two code units: past twice the room nothing fits, up to it the columns are counted.
    const text = inline(value, layout, 2 * room);
    if (text !== undefined && (text.length <= room || columns(text) <= room)) return text;
  }
  return open(value, layout, indent);
}

function open(value: Values | readonly unknown[], layout: Layout | undefined, indent: string): string {
  return Array.isArray(value) ? openList(value, layout, indent) : openObject(value as Values, layout, indent);
}

function openList(list: readonly unknown[], layout: Layout | undefined, indent: string): string {
  if (list.length === 0) return "[]";
  const inner = indent + indentStep;
  const width = (layout?.frames ? frameWidth : lineWidth) - inner.length;
  const last = list.length - 1;
  let text = "[";
  for (let i = 0; i <= last; i++)
    text += `${i === 0 ? "" : ","}\n${inner}${print(list[i], layout?.item, inner, i < last ? width - 1 : width)}`;
  return `${text}\n${indent}]`;
}

function openObject(object: Values, layout: Layout | undefined, indent: string): string {
  const keys = orderedKeys(object, layout);
  if (keys.length === 0) return "{}";
  const inner = indent + indentStep;
  let text = "{\n";
  let leading = true;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = object[key];
    const comma = i < keys.length - 1 ? "," : "";
    if (leading && !isObject(value)) {
      const prefix = i === 0 ? inner : " ";
      text += `${prefix}${quote(key)}: ${scalar(value, childLayout(layout, key))}${comma}`;
      continue;
    }
    leading = false;
    if (i > 0) text += "\n";
    text += printField(key, value, layout, inner, comma) + comma;
  }
  return `${text}\n${indent}}`;
}

/** A value on one line, or `undefined` as soon as it is longer than `room` code units. */
function inline(value: unknown, layout: Layout | undefined, room: number): string | undefined {
  if (!isObject(value)) {
    if (typeof value === "string" && value.length + 2 > room) return undefined;
    const text = scalar(value, layout);
    return text.length > room ? undefined : text;
  }
  if (Array.isArray(value)) return inlineList(value, layout?.item, room);
  return inlineObject(value as Values, layout, room);
}

function inlineList(list: readonly unknown[], layout: Layout | undefined, room: number): string | undefined {
  let text = "[";
  for (let i = 0; i < list.length; i++) {
    if (i > 0) text += ", ";
    const item = inline(list[i], layout, room - text.length - 1);
    if (item === undefined) return undefined;
    text += item;
  }
  return `${text}]`;
}

function inlineObject(object: Values, layout: Layout | undefined, room: number): string | undefined {
  const keys = orderedKeys(object, layout);
  if (keys.length === 0) return "{}";
  let text = "{ ";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (i > 0) text += ", ";
    text += `${quote(key)}: `;
    const item = inline(object[key], childLayout(layout, key), room - text.length - 2);
    if (item === undefined) return undefined;
    text += item;
  }
  return `${text} }`;
}

/** The keys that are printed, in their order. */
function orderedKeys(object: Values, layout: Layout | undefined): readonly string[] {
  let keys = Object.keys(object);
  for (const key of keys) {
    if (object[key] !== undefined) continue;
    keys = keys.filter((k) => object[k] !== undefined);
    break;
  }
  const fields = layout?.fields;
  if (fields === undefined || layout?.unordered) return keys;
  const rank = (key: string): number => fields.get(key)?.rank ?? fields.size;
  let before = 0;
  for (const key of keys) {
    const own = rank(key);
    if (own < before) return keys.sort((a, b) => rank(a) - rank(b));
    before = own;
  }
  return keys;
}

function scalar(value: unknown, layout: Layout | undefined): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return number(value, layout);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null || value === undefined) return "null";
  throw new TypeError(`a cassette holds JSON values, not a ${typeof value}`);
}

function number(value: number, layout: Layout | undefined): string {
  if (layout?.payload && (!Number.isFinite(value) || Object.is(value, -0)))
    // JSON has no such number, or JavaScript prints another: `String` and `JSON.stringify` would change it in silence.
    return `{ "$number": "${Object.is(value, -0) ? "-0" : value}" }`;
  if (!Number.isFinite(value)) throw new TypeError(`a cassette holds JSON values, not ${value}`);
  return String(value);
}

const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

function quote(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The width of a text: its code points. */
function columns(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) pairs++;
  }
  return text.length - pairs;
}

function isObject(value: unknown): value is Values | readonly unknown[] {
  return typeof value === "object" && value !== null;
}
