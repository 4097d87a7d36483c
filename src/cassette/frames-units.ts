import { decodeUtf8, encodeBase64 } from "../wire/bytes.ts";
import { type RecognisedJson, recogniseJson } from "../wire/json.ts";
import { splitLines } from "../wire/lines.ts";
import { recogniseEvent, splitEvents } from "../wire/sse.ts";
import type { Frame, Sidecar, Style } from "./schema.ts";

/** Which readable unit a stretch of bytes is. What is told here is exact: the content encodes to the same bytes. */

export interface Unit {
  /** The offset after its last byte; it begins where the unit before it ends. */
  readonly end: number;
  /** A content key, and `pad`. */
  readonly content: Frame;
  readonly style?: Style | undefined;
  /** The exact text, where the style decides how the content is printed. */
  readonly printed?: string | undefined;
}

/** Stores what is not JSON and large in a file beside the cassette, or says no. */
export type StoreSidecar = (bytes: Uint8Array) => Sidecar | undefined;

export interface Bytes {
  readonly whole: Uint8Array;
  /** Offsets at which a chunk begins, ascending, possibly equal. */
  readonly starts: readonly number[];
}

interface Source extends Bytes {
  readonly text: (start: number, end: number) => string | undefined;
  readonly sidecar: StoreSidecar | undefined;
}

/** What is not JSON and larger than this may go to a file. */
export const SIDECAR_SIZE = 256 * 1024;
const BYTE_ORDER_MARK = "\ufeff";

/** Cuts a body into units, in the most readable form that is exact. `media` says what to try first. */
export function findUnits(bytes: Bytes, media = "", sidecar?: StoreSidecar): Unit[] {
  if (bytes.whole.length === 0) return [];
  const source: Source = { ...bytes, text: textReader(bytes.whole), sidecar };
  const marked = bytes.whole[0] === 0xef && bytes.whole[1] === 0xbb && bytes.whole[2] === 0xbf;
  const mark: Unit[] = marked ? [{ end: 3, content: { text: BYTE_ORDER_MARK } }] : [];
  const begin = marked ? 3 : 0;
  const units = begin === bytes.whole.length ? [] : readableUnits(source, begin, media);
  return units ? [...mark, ...units] : binaryUnits(source);
}

/** A text reader that decodes the whole once where a character is a byte, which is what most bodies are. */
function textReader(whole: Uint8Array): Source["text"] {
  const all = decodeUtf8(whole);
  if (all?.length === whole.length) return (start, end) => all.slice(start, end);
  return (start, end) => (start === 0 && end === whole.length ? all : decodeUtf8(whole.subarray(start, end)));
}

function readableUnits(source: Source, begin: number, media: string): Unit[] | undefined {
  const type = media.toLowerCase();
  const named = [
    ...(type.includes("event-stream") ? [() => eventUnits(source, begin, 0)] : []),
    ...(/ndjson|jsonl|json-?lines|json-seq|stream\+json/.test(type) ? [() => lineUnits(source, begin, 0)] : []),
  ];
  const sniffed = [
    () => jsonUnit(source, begin, type.includes("json")),
    () => lineUnits(source, begin, 0.5),
    () => eventUnits(source, begin, 0.5),
    () => textUnits(source, begin),
  ];
  for (const attempt of [...named, ...sniffed]) {
    const units = attempt();
    if (units !== undefined) return units;
  }
  return undefined;
}

function jsonUnit(source: Source, begin: number, scalars: boolean): Unit[] | undefined {
  if (!scalars && !opensContainer(source.whole, begin)) return undefined;
  const end = source.whole.length;
  const text = source.text(begin, end);
  const found = text === undefined ? undefined : recogniseJson(text);
  return found && [jsonLike("json", found, text!, end)];
}

function jsonLike(key: "json" | "line", found: RecognisedJson, printed: string, end: number): Unit {
  const content = { [key]: found.tree, ...(found.pad !== undefined && { pad: found.pad }) };
  return { end, content, style: found.style && { json: found.style }, printed };
}

function opensContainer(bytes: Uint8Array, offset: number): boolean {
  return bytes[offset] === 0x7b || bytes[offset] === 0x5b;
}

/** Lines that are each an object or an array, where more than a `share` of the lines are. */
function lineUnits(source: Source, begin: number, share: number): Unit[] | undefined {
  if (share > 0 && !opensContainer(source.whole, begin)) return undefined;
  const found = (start: number, end: number): Unit | undefined => {
    if (!opensContainer(source.whole, start)) return undefined;
    const text = source.text(start, end);
    if (text === undefined) return undefined;
    const ended = text.endsWith("\n");
    const json = recogniseJson(ended ? text.slice(0, -1) : text);
    return json && jsonLike(ended ? "line" : "json", json, text, end);
  };
  return someUnits(source, begin, splitLines(source.whole.subarray(begin)), share, found);
}

function eventUnits(source: Source, begin: number, share: number): Unit[] | undefined {
  if (share > 0 && !/^(?:data|event|id|retry)?:/.test(asciiAt(source.whole, begin, 6))) return undefined;
  const found = (start: number, end: number): Unit | undefined => {
    const text = source.text(start, end);
    const event = text === undefined ? undefined : recogniseEvent(text);
    if (event === undefined) return undefined;
    const content = { sse: event.event, ...(event.pad !== undefined && { pad: event.pad }) };
    return { end, content, style: event.style, printed: text };
  };
  return someUnits(source, begin, splitEvents(source.whole.subarray(begin)), share, found);
}

function asciiAt(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length));
}

/** The units that were found, and the rest as it is; `undefined` where not more than a `share` of them was found. */
function someUnits(
  source: Source,
  begin: number,
  ends: readonly number[],
  share: number,
  find: (start: number, end: number) => Unit | undefined,
): Unit[] | undefined {
  const units: Unit[] = [];
  const styles = new Map<string, Style>();
  const chunkStarts = new Set(source.starts);
  let found = 0;
  let other = 0;
  let rest: { start: number; valid: boolean } | undefined;
  let start = begin;
  const closeRest = (): void => {
    if (rest !== undefined) units.push(rawUnit(source, rest.start, start));
    rest = undefined;
  };
  for (const offset of ends) {
    const end = begin + offset;
    const unit = find(start, end);
    if (unit !== undefined) {
      closeRest();
      units.push(unit.style === undefined ? unit : { ...unit, style: shared(styles, unit.style) });
      found++;
    } else {
      const valid = source.text(start, end) !== undefined;
      if (rest?.valid !== valid || chunkStarts.has(start)) closeRest();
      rest ??= { start, valid };
      if (end - start > 2) other++; // a blank line is no line of another kind
    }
    start = end;
  }
  closeRest();
  return found > 0 && found > (found + other) * share ? units : undefined;
}

/** One object for all styles that are alike, so that they are told apart without looking inside. */
function shared(styles: Map<string, Style>, style: Style): Style {
  const key = JSON.stringify(style); // recognisers leave defaults out and write keys in one order
  const known = styles.get(key);
  if (known === undefined) styles.set(key, style);
  return known ?? style;
}

/** Bytes that are no unit of the body's form: text where they are text. */
function rawUnit(source: Source, start: number, end: number): Unit {
  const file = storedFile(source, start, end);
  const text = source.text(start, end);
  return file ?? { end, content: text !== undefined ? { text } : base64(source, start, end) };
}

function base64(source: Source, start: number, end: number): Frame {
  return { base64: encodeBase64(source.whole.subarray(start, end)) };
}

function storedFile(source: Source, start: number, end: number): Unit | undefined {
  if (end - start <= SIDECAR_SIZE) return undefined;
  const file = source.sidecar?.(source.whole.slice(start, end));
  return file && { end, content: { file } };
}

/** Text, cut where chunks begin unless that would tear a character. */
function textUnits(source: Source, begin: number): Unit[] | undefined {
  const { whole, starts } = source;
  if (source.text(begin, whole.length) === undefined) return undefined;
  const wholeCharacters = starts.filter((start) => (whole[start]! & 0xc0) !== 0x80);
  return pieces(source, begin, wholeCharacters, (start, end) => ({ text: source.text(start, end)! }));
}

function binaryUnits(source: Source): Unit[] {
  return pieces(source, 0, source.starts, (start, end) => base64(source, start, end));
}

function pieces(
  source: Source,
  begin: number,
  starts: readonly number[],
  content: (start: number, end: number) => Frame,
): Unit[] {
  const size = source.whole.length;
  const file = storedFile(source, begin, size);
  if (file !== undefined) return [file];
  const units: Unit[] = [];
  let last = begin;
  for (const start of [...starts, size]) {
    if (start <= last) continue;
    units.push({ end: start, content: content(last, start) });
    last = start;
  }
  return units;
}

/** Units that each end at the latest at the next of `offsets`: one that runs past it is kept as text or bytes. */
export function splitUnits(units: readonly Unit[], whole: Uint8Array, offsets: ReadonlySet<number>): readonly Unit[] {
  if (offsets.size === 0) return units;
  const places = [...offsets].sort((a, b) => a - b);
  const source: Source = { whole, starts: [], text: textReader(whole), sidecar: undefined };
  let begin = 0;
  let next = 0;
  return units.flatMap((unit) => {
    const inside: number[] = [];
    while (next < places.length && places[next]! < unit.end) {
      if (places[next]! > begin) inside.push(places[next]!);
      next++;
    }
    const parts = [...inside, unit.end].map((end, i) => rawUnit(source, inside[i - 1] ?? begin, end));
    begin = unit.end;
    return inside.length === 0 ? [unit] : parts;
  });
}
