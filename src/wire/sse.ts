import { encodeJson, type Json, type JsonStyle, recogniseJson } from "./json.ts";

/**
 * Server-sent events as objects that give back the same text. Only what is printed in one regular way is an event
 * here; anything else (mixed line ends or spacing, unknown fields, a field without a colon) is left to be kept as text.
 */

export type LineEnd = "\n" | "\r\n" | "\r";

/** The line end, and whether a space follows the colon. Absent: `"\n"` and `true`. */
export interface SseStyle {
  readonly newline?: LineEnd | undefined;
  readonly space?: boolean | undefined;
}

/** The fields of one event, sent in the order of the keys. Newlines in a value make several lines of its field. */
export interface SseEvent {
  readonly comment?: string | undefined;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly retry?: number | undefined;
  readonly data?: string | undefined;
  readonly json?: Json | undefined;
  /** What stands in place of the last line end and the blank line, where that is missing. */
  readonly ended?: "" | LineEnd | undefined;
}

export interface EventStyle {
  readonly sse?: SseStyle | undefined;
  readonly json?: JsonStyle | undefined;
}

/** A text that is known to be printed again exactly by `encodeEvent(event, style, pad)`. */
export interface RecognisedEvent {
  readonly event: SseEvent;
  readonly style?: EventStyle;
  readonly pad?: number;
}

const LF = 0x0a;
const CR = 0x0d;

/** The end offsets of the events of a stream, each with its blank line; the last may have none. */
export function splitEvents(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  let lineStart = 0;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    if (c !== LF && c !== CR) continue;
    const blank = i === lineStart;
    if (c === CR && bytes[i + 1] === LF) i++;
    lineStart = i + 1;
    if (blank) ends.push(lineStart);
  }
  if (bytes.length > (ends.at(-1) ?? 0)) ends.push(bytes.length);
  return ends;
}

/** The exact text of an event in a style, with `pad` spaces before the last bracket of its `json`. */
export function encodeEvent(event: SseEvent, style?: EventStyle, pad?: number): string {
  const { newline = "\n", space = true } = style?.sse ?? {};
  let text = "";
  for (const key of Object.keys(event) as (keyof SseEvent)[]) {
    const value = event[key];
    if (value === undefined || key === "ended") continue;
    if (key === "json") text += field("data", encodeJson(value, style?.json, pad), newline, space);
    else text += field(key === "comment" ? "" : key, String(value), newline, space);
  }
  return finish(text, newline, event.ended);
}

/** Fields with what ends the event: a blank line, or in its stead and that of the last line end `ended`. */
function finish(fields: string, newline: LineEnd, ended: SseEvent["ended"]): string {
  return ended === undefined ? fields + newline : fields.slice(0, fields.length - newline.length) + ended;
}

function field(name: string, value: string, newline: string, space: boolean): string {
  if (/[\r\n]/.test(value))
    return value.split(/\r\n|\r|\n/).reduce((text, line) => text + field(name, line, newline, space), "");
  // A reader of the stream drops one space after the colon, so a value that begins with one needs another.
  return `${name}:${space || value.startsWith(" ") ? " " : ""}${value}${newline}`;
}

/** The event in a text and the style it is printed in, or `undefined` where no style reproduces the text. */
export function recogniseEvent(text: string): RecognisedEvent | undefined {
  const newline = firstLineEnd(text);
  const ended = missingEnd(text, newline);
  const content = ended === undefined ? newline.length * 2 : ended.length;
  const fields = readFields(text.slice(0, text.length - content).split(newline));
  if (fields === undefined) return undefined;

  // The text is proven field by field: here as it is printed with `data`, in recogniseJson that `json` prints the same.
  const event: { [key: string]: Json } = {};
  let json: ReturnType<typeof recogniseJson>;
  let printed = "";
  for (const { name, value } of fields.values) {
    printed += field(name === "comment" ? "" : name, value, newline, fields.space);
    if (name === "data") json = recogniseContainer(value);
    if (name === "data" && json !== undefined) event.json = json.tree;
    else event[name] = name === "retry" ? Number(value) : value;
  }
  if (ended !== undefined) event.ended = ended;
  if (finish(printed, newline, ended) !== text) return undefined;

  const plain = newline === "\n" && fields.space;
  if (plain && json?.style === undefined) return json?.pad === undefined ? { event } : { event, pad: json.pad };
  const sse: SseStyle = { ...(newline !== "\n" && { newline }), ...(!fields.space && { space: false }) };
  return {
    event,
    style: { ...(json?.style && { json: json.style }), ...(!plain && { sse }) },
    ...(json?.pad !== undefined && { pad: json.pad }),
  };
}

function firstLineEnd(text: string): LineEnd {
  const lf = text.indexOf("\n");
  const cr = text.indexOf("\r");
  if (cr === -1 || (lf !== -1 && lf < cr)) return "\n";
  return lf === cr + 1 ? "\r\n" : "\r";
}

/** What the text ends with where it has no blank line at its end, else `undefined`. */
function missingEnd(text: string, newline: LineEnd): "" | LineEnd | undefined {
  if (text.endsWith(newline + newline)) return undefined;
  if (text.endsWith("\r\n")) return "\r\n";
  if (text.endsWith("\n")) return "\n";
  return text.endsWith("\r") ? "\r" : "";
}

interface Field {
  readonly name: string;
  value: string;
}

function readFields(lines: readonly string[]): { space: boolean; values: readonly Field[] } | undefined {
  const values: Field[] = [];
  const space = spaceAfterColon(lines[0]!);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = colon === 0 ? "comment" : line.slice(0, colon);
    if (colon === -1 || !isField(name) || spaceAfterColon(line) !== space) return undefined;
    const value = line.slice(colon + (space ? 2 : 1));
    const last = values.at(-1);
    if (last?.name === name && (name === "data" || name === "comment")) last.value += `\n${value}`;
    else if (values.some((other) => other.name === name)) return undefined;
    else if (name === "retry" && !isCount(value)) return undefined;
    else values.push({ name, value });
  }
  return { space, values };
}

function isField(name: string): boolean {
  return name === "data" || name === "event" || name === "id" || name === "retry" || name === "comment";
}

/** Digits that a whole number prints again. */
function isCount(text: string): boolean {
  return /^\d+$/.test(text) && String(Number(text)) === text && Number.isSafeInteger(Number(text));
}

function spaceAfterColon(line: string): boolean {
  return line[line.indexOf(":") + 1] === " ";
}

/** Only an object or an array is shown as a tree: `data: 1` and `data: "a"` are text that happens to be JSON. */
function recogniseContainer(text: string): ReturnType<typeof recogniseJson> {
  const first = text[0];
  return first === "{" || first === "[" ? recogniseJson(text) : undefined;
}
