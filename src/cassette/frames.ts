import { concatBytes, decodeUtf8, encodeBase64 } from "../wire/bytes.ts";
import { recogniseJson } from "../wire/json.ts";
import { encodeContent, type ReadSidecar } from "./content.ts";
import type { Chunk, ChunkedBody, EventDraft, SentChunk } from "./draft.ts";
import { deliveries, isPipe, type ReadOptions, sentChunks } from "./frames-read.ts";
import { commonStyle, ownStyle } from "./frames-style.ts";
import { findUnits, SIDECAR_SIZE, type StoreSidecar, splitUnits, type Unit } from "./frames-units.ts";
import type { Body, Cut, Frame, Style } from "./schema.ts";

export type { ReadOptions } from "./frames-read.ts";
export type { StoreSidecar } from "./frames-units.ts";

export interface FrameBodyOptions {
  /** The time of the delivery before, which is the head: a body in one piece that came with it needs no `at`. */
  readonly at?: number | undefined;
  /** Is offered what is not JSON and over 256 KiB; what it stores it answers with a reference. */
  readonly sidecar?: StoreSidecar | undefined;
}

/**
 * The readable form of a body. `openBody` gives the same bytes in the same chunks back; `style` belongs on the request
 * or response. No `body`: there was no chunk.
 */
export function frameBody(body: ChunkedBody, options: FrameBodyOptions = {}): { body?: Body; style?: Style } {
  const { chunks } = body;
  if (chunks.length === 0) return {};
  const units = findUnits(joinChunks(chunks), body.media, options.sidecar);
  const style = commonStyle(units);
  const frames: Frame[] = [];
  layOut(units, chunks, style, (frame) => frames.push(frame));
  const only = frames.length === 1 && chunks.length === 1 ? frames[0] : undefined;
  return { body: only ? withoutTime(only, options.at) : frames, ...(style && { style }) };
}

function withoutTime(frame: Frame, before: number | undefined): Frame {
  if (frame.at !== before) return frame;
  const { at: _, ...content } = frame;
  return content;
}

function joinChunks(chunks: readonly Chunk[]): { whole: Uint8Array; starts: number[] } {
  let size = 0;
  const starts = chunks.map(({ bytes }) => (size += bytes.length) - bytes.length);
  const whole = chunks.length === 1 ? chunks[0]!.bytes : concatBytes(chunks.map((chunk) => chunk.bytes));
  return { whole, starts };
}

/** Lays chunk boundaries over units. `emit` is given each frame and the index of the chunk in which it begins. */
function layOut(
  units: readonly Unit[],
  chunks: readonly Chunk[],
  style: Style | undefined,
  emit: (frame: Frame, chunk: number) => void,
): void {
  let next = 0; // the next chunk to begin, at `start`
  let start = 0;
  let begin = 0;

  const take = (): Chunk => {
    const chunk = chunks[next++]!;
    start += chunk.bytes.length;
    return chunk;
  };
  const emitEmptyChunks = (): void => {
    while (start === begin && chunks[next]?.bytes.length === 0) emit({ ...timing(take()), text: "" }, next - 1);
  };

  for (const unit of units) {
    emitEmptyChunks();
    const place = start === begin && next < chunks.length ? timing(take()) : ({ joined: true } as const);
    const chunk = next - 1;
    const cuts: Cut[] = [];
    while (next < chunks.length && start < unit.end) {
      const offset = start - begin;
      const { at, after } = take();
      cuts.push(after === undefined ? [offset, at] : [offset, at, after]);
    }
    const own = ownStyle(unit, style);
    emit({ ...place, ...unit.content, ...(own && { style: own }), ...(cuts.length > 0 && { cuts }) }, chunk);
    begin = unit.end;
  }
  emitEmptyChunks();
}

function timing({ at, after }: Chunk): Pick<Frame, "at" | "after"> {
  return after === undefined ? { at } : { at, after };
}

/** Gives a body's chunks one after the other. */
export interface BodyReader {
  /** The next chunk, in memory that nothing else uses; `undefined` after the last. */
  next(): Chunk | undefined;
}

/** Reads a body chunk by chunk; each frame is encoded when its chunk is asked for, and not before. */
export function openBody(body: Body | undefined, style: Style | undefined, options: ReadOptions = {}): BodyReader {
  const frames = framesOf(body);
  if (frames.length === 1 && frames[0]?.cuts === undefined) return onlyChunk(frames[0] as Frame, style, options);
  const source = deliveries(frames, style, options);
  return { next: () => source.next().value?.chunk };
}

// Most bodies are one frame in one chunk, and most replays are of such bodies.
function onlyChunk(frame: Frame, style: Style | undefined, { at = 0, sidecar }: ReadOptions): BodyReader {
  let read = false;
  const next = (): Chunk | undefined => {
    if (read) return undefined;
    read = true;
    const chunk = { at: frame.at ?? at, bytes: encodeContent(frame, style, sidecar) };
    return frame.after === undefined ? chunk : { ...chunk, after: frame.after };
  };
  return { next };
}

/** All bytes of a body. */
export function bodyBytes(body: Body | undefined, style: Style | undefined, sidecar?: ReadSidecar): Uint8Array {
  const frames = framesOf(body);
  if (frames.length === 1) return encodeContent(frames[0]!, style, sidecar);
  return concatBytes(frames.map((frame) => encodeContent(frame, style, sidecar)));
}

const isList = (body: Body): body is readonly Frame[] => Array.isArray(body);

function framesOf(body: Body | undefined): readonly Frame[] {
  if (body === undefined) return [];
  return isList(body) ? body : [body];
}

export interface FrameSentOptions {
  readonly sidecar?: StoreSidecar | undefined;
}

/**
 * The readable form of a conversation. A chunk of a client's or server's is a whole message (WebSocket, MCP); those of a
 * process's pipes are pieces of three streams. `openFrames` gives the same chunks back in the same order, as long as
 * their times never decrease.
 */
export function frameSent(
  chunks: readonly SentChunk[],
  options: FrameSentOptions = {},
): { frames: readonly Frame[]; style?: Style } {
  return chunks.some(({ from }) => isPipe(from)) ? frameStreams(chunks, options) : frameMessages(chunks, options);
}

function frameMessages(chunks: readonly SentChunk[], options: FrameSentOptions): { frames: Frame[]; style?: Style } {
  const units = chunks.map((chunk) => messageUnit(chunk, options.sidecar));
  const style = commonStyle(units);
  const frames = chunks.map((chunk, i): Frame => {
    const own = ownStyle(units[i]!, style);
    const binary = chunk.binary === true && units[i]!.content.base64 === undefined;
    const place = { ...timing(chunk), from: chunk.from, ...(binary && ({ binary } as const)) };
    return { ...place, ...units[i]!.content, ...(own && { style: own }) };
  });
  return { frames, ...(style && { style }) };
}

function messageUnit({ bytes, binary = false }: SentChunk, sidecar: StoreSidecar | undefined): Unit {
  const end = bytes.length;
  const printed = decodeUtf8(bytes);
  const json = printed !== undefined && /^[[{]/.test(printed) ? recogniseJson(printed) : undefined;
  if (json !== undefined) {
    const content = { json: json.tree, ...(json.pad !== undefined && { pad: json.pad }) };
    return { end, content, style: json.style && { json: json.style }, printed };
  }
  const file = binary && end > SIDECAR_SIZE ? sidecar?.(bytes.slice()) : undefined;
  if (file !== undefined) return { end, content: { file } };
  return { end, content: printed === undefined ? { base64: encodeBase64(bytes) } : { text: printed } };
}

function frameStreams(chunks: readonly SentChunk[], options: FrameSentOptions): { frames: Frame[]; style?: Style } {
  const streams = new Map<SentChunk["from"], { chunks: SentChunk[]; order: number[] }>();
  for (const [index, chunk] of chunks.entries()) {
    let stream = streams.get(chunk.from);
    if (stream === undefined) streams.set(chunk.from, (stream = { chunks: [], order: [] }));
    stream.chunks.push(chunk);
    stream.order.push(index);
  }
  const tied = chunksTiedInTime(chunks);
  const framed = [...streams].map(([from, stream]) => {
    const bytes = joinChunks(stream.chunks);
    // Programs that talk over pipes talk in lines of JSON, if they talk JSON at all.
    const units = findUnits(bytes, "application/x-ndjson", options.sidecar);
    const apart = new Set(bytes.starts.filter((_, i) => tied.has(stream.order[i]!)));
    return { from, ...stream, units: splitUnits(units, bytes.whole, apart) };
  });
  const style = commonStyle(framed.flatMap((stream) => stream.units));
  const placed: { frame: Frame; order: number }[] = [];
  for (const { from, chunks, order, units } of framed)
    layOut(units, chunks, style, (frame, chunk) => placed.push({ frame: { ...frame, from }, order: order[chunk]! }));
  placed.sort((a, b) => a.order - b.order); // stable: frames that begin in one chunk keep their order
  return { frames: placed.map(({ frame }) => frame), ...(style && { style }) };
}

/**
 * The indexes of chunks that follow another sender's chunk of the same time. A cut tells only a chunk's time, so these
 * have to begin a frame to keep their place.
 */
function chunksTiedInTime(chunks: readonly SentChunk[]): Set<number> {
  const tied = new Set<number>();
  let first = 0; // where the run of chunks of this time begins
  let mixed = false;
  for (const [index, chunk] of chunks.entries()) {
    if (chunk.at !== chunks[first]!.at) [first, mixed] = [index, false];
    mixed ||= chunk.from !== chunks[first]!.from;
    if (mixed) tied.add(index);
  }
  return tied;
}

/** Reads the frames of a conversation chunk by chunk, as they were sent. */
export function openFrames(
  frames: readonly Frame[],
  style: Style | undefined,
  options: ReadOptions = {},
): { next(): SentChunk | undefined } {
  const source = sentChunks(frames, style, options);
  return { next: () => source.next().value };
}

/** The frames of what a call streamed: values as they are, texts as trees where that is exact. */
export function frameEvents(events: readonly EventDraft[]): readonly Frame[] {
  return events.map((event): Frame => {
    const place = event.after === undefined ? { at: event.at } : { at: event.at, after: event.after };
    if (event.text === undefined) return { ...place, value: event.value ?? null };
    const found = recogniseJson(event.text);
    if (found === undefined) return { ...place, text: event.text };
    const { tree, style, pad } = found;
    return { ...place, json: tree, ...(style && { style: { json: style } }), ...(pad !== undefined && { pad }) };
  });
}
