import { concatBytes, decodeUtf8 } from "../wire/bytes.ts";

/**
 * The watch stream's framing: one JSON event in each `data:` field. Read incrementally, over any chunk boundaries.
 */

const texts = new WeakMap<object, string>();

/**
 * The exact text of the `data:` field in which an event of a watch stream arrived (the lines of a field with several
 * are joined by `"\n"`), or `undefined` for an event that did not come so: one of an in-memory transport, or the
 * `state.changed` that stands in for a malformed event.
 */
export function rawEventText(event: object): string | undefined {
  return texts.get(event);
}

/** Has `rawEventText` give this text for the event, and `serveAgentTransport` send it. Returns the event. */
export function keepEventText<E extends object>(event: E, text: string): E {
  texts.set(event, text);
  return event;
}

/** One message of the framing. */
export interface SseMessage {
  /** The `event:` field; transport events have none. */
  readonly name: string | undefined;
  readonly data: string;
  /** `false`: the bytes of `data` are not UTF-8, and what is not was replaced. */
  readonly intact: boolean;
}

export interface SseReader {
  /** The messages that this chunk completes. The chunk is not kept. Throws where one is longer than the limit. */
  push(chunk: Uint8Array): SseMessage[];
  /** Whether a message was begun and not ended; its blank line never came. */
  readonly torn: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** 64 MiB: an event that never ends must not fill the memory. */
export const EVENT_LIMIT: number = 64 * 1024 * 1024;

/**
 * Reads server-sent events as https://html.spec.whatwg.org/multipage/server-sent-events.html parses them: line ends of
 * all three kinds, a byte order mark at the start, comments, several `data:` lines. `id:` and `retry:` mean nothing here.
 */
export function createSseReader(limit: number = EVENT_LIMIT): SseReader {
  let line: Uint8Array[] = []; // what there is of a line whose end has not come
  let atStart = true;
  let afterCr = false;
  let data: string[] | undefined;
  let name: string | undefined;
  let intact = true;
  let size = 0;

  function grow(bytes: number): void {
    size += bytes;
    if (size > limit)
      throw new Error(`An event of the stream is longer than ${limit} bytes, the most that is read into memory.`);
  }

  function endLine(rest: Uint8Array, messages: SseMessage[]): void {
    let bytes = rest;
    if (line.length > 0) {
      bytes = concatBytes([...line, rest]);
      line = [];
    }
    if (atStart) {
      atStart = false;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
    }
    if (bytes.length > 0) {
      readField(bytes);
      return;
    }
    if (data !== undefined) messages.push({ name, data: data.length === 1 ? data[0]! : data.join("\n"), intact });
    data = undefined;
    name = undefined;
    intact = true;
    size = 0;
  }

  function readField(bytes: Uint8Array): void {
    const colon = bytes.indexOf(COLON);
    const field = decodeUtf8(colon < 0 ? bytes : bytes.subarray(0, colon));
    if (field !== "data" && field !== "event") {
      size -= bytes.length; // a comment, or a field that means nothing here: it is not kept
      return;
    }
    const start = colon < 0 ? bytes.length : colon + (bytes[colon + 1] === SPACE ? 2 : 1);
    const value = bytes.subarray(start);
    const text = decodeUtf8(value);
    if (field === "event") name = text ?? lossy.decode(value);
    else {
      if (text === undefined) intact = false;
      (data ??= []).push(text ?? lossy.decode(value));
    }
  }

  return {
    push(chunk) {
      const messages: SseMessage[] = [];
      let from = 0;
      if (afterCr && chunk.length > 0) {
        if (chunk[0] === LF) from = 1; // the rest of a CRLF that was torn
        afterCr = false;
      }
      let lf = chunk.indexOf(LF, from);
      let cr = chunk.indexOf(CR, from);
      while (lf >= 0 || cr >= 0) {
        const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
        grow(end - from);
        endLine(chunk.subarray(from, end), messages);
        from = end + 1;
        if (end === cr && chunk[from] === LF) from++;
        else if (end === cr && from === chunk.length) afterCr = true;
        if (lf >= 0 && lf < from) lf = chunk.indexOf(LF, from);
        if (cr >= 0 && cr < from) cr = chunk.indexOf(CR, from);
      }
      if (from < chunk.length) {
        grow(chunk.length - from);
        line.push(new Uint8Array(chunk.subarray(from))); // a copy: slice() of a Node Buffer is none
      }
      return messages;
    },
    get torn() {
      return data !== undefined || line.length > 0;
    },
  };
}

/** The event that a message carries, or why it carries none. Its text is kept for `rawEventText`. */
export function readEvent<E extends object>(message: SseMessage): { event: E } | { fault: string } {
  if (!message.intact) return { fault: "it is not UTF-8" };
  let value: unknown;
  try {
    value = JSON.parse(message.data);
  } catch (error) {
    return { fault: `it is not JSON (${(error as Error).message})` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { fault: "it is not a JSON object" };
  if (typeof (value as { type?: unknown }).type !== "string") return { fault: `it has no "type" that is a text` };
  return { event: keepEventText(value as E, message.data) };
}
