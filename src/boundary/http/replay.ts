import { contentText } from "../../cassette/content.ts";
import type { Chunk } from "../../cassette/draft.ts";
import { type BodyReader, bodyBytes, openBody } from "../../cassette/frames.ts";
import type { End, Frame, Headers, HttpTrack, Sidecar, StoredResponse } from "../../cassette/schema.ts";
import { storedToError } from "../../cassette/stored-error.ts";
import type { Pending } from "../../engine/deliveries.ts";
import type { Play } from "../../engine/play.ts";
import type { Session } from "../../engine/session.ts";
import type { TraceEvent } from "../../engine/trace.ts";
import { unlessAborted, untilAborted } from "../../engine/unless-aborted.ts";
import { CassetteInvalid } from "../../errors.ts";
import { utf8Length } from "../../wire/bytes.ts";
import { hasNullBody, RecordedResponse, type ResponseFacts } from "./recorded-response.ts";
import type { HttpRequest } from "./request.ts";
import { answerWithLiveIds } from "./rpc-answer.ts";

type LoadSidecar = (file: Sidecar) => Uint8Array;

/** Answers a request from a recorded track, with the recorded head, chunks and end. */
export async function replayFetch(
  play: Play,
  request: HttpRequest,
  signal: AbortSignal | undefined,
  session: Session,
): Promise<Response> {
  const track = play.track as HttpTrack;
  const { fault } = track;
  const response = answerWithLiveIds(track, request, session);
  if (track.after !== undefined) await unlessAborted(play.wait(0, "the answer", track.after), signal, play.giveBack);
  if (response === undefined) {
    if (fault !== undefined) {
      await unlessAborted(play.wait(fault.at ?? 0, "the failure", undefined), signal, play.giveBack);
      throw storedToError(fault);
    }
    // The program gave up before an answer came: it does so again, or waits as long as it would have waited.
    return untilAborted(signal, play);
  }
  const files = sidecarsOf(response);
  const load = files.length === 0 ? undefined : await session.sidecars(files);
  const head = play.wait(response.at ?? 0, "the head", response.after);
  if (head !== undefined) await unlessAborted(head, signal, play.giveBack);
  play.note({ kind: "response", boundary: "http", status: response.status });
  const { status, reason = "", url = request.url, redirected = false } = response;
  const facts = { status, reason, url, redirected };
  if (hasNullBody(request.method, status)) return respond(play, null, { ...facts, headers: response.headers ?? [] });
  const text = signal === undefined && play.alone ? wholeText(response) : undefined;
  if (text !== undefined) {
    // One chunk of text and nothing else to be handed out by anybody: the platform's own body of this text is the same
    // to the program, and costs it no stream.
    const headers = statedHeaders(track, response, utf8Length(text), load);
    play.note({ kind: "frame", boundary: "http" });
    return respond(play, text, { ...facts, headers });
  }
  const at = response.at ?? 0;
  const reader = openBody(response.body, response.style, load === undefined ? { at } : { at, sidecar: load });
  const first = reader.next();
  const second = first === undefined ? undefined : reader.next();
  const whole = second === undefined ? (first?.bytes.length ?? 0) : undefined;
  const headers = statedHeaders(track, response, whole, load);
  return respond(play, bodyStream(play, at, [first, second], reader, response.end, signal), {
    ...facts,
    headers,
  });
}

// Only an edited head can be one that the platform refuses. The program may swallow the platform's error; it says no place.
function respond(play: Play, body: BodyInit | null, facts: ResponseFacts): Response {
  try {
    return new RecordedResponse(body, facts);
  } catch (error) {
    const { id } = play.track;
    throw play.fail(
      new CassetteInvalid(
        `The answer of track ${id} cannot be given: ${(error as Error).message}\n  next      correct the "headers" of its response in the cassette`,
        { track: id },
        { cause: error },
      ),
    );
  }
}

// The text of a body that is one ungated chunk of text and ended cleanly. A content type must be stated: the platform
// makes one up for a text without.
function wholeText({ body, style, headers, end }: StoredResponse): string | undefined {
  if (body === undefined || Array.isArray(body) || end !== undefined) return undefined;
  const frame = body as Frame;
  if (frame.after !== undefined || frame.cuts !== undefined) return undefined;
  if (headers?.some(([name]) => name.toLowerCase() === "content-type") !== true) return undefined;
  return contentText(frame, style) || undefined;
}

function bodyStream(
  play: Play,
  headAt: number,
  read: (Chunk | undefined)[],
  reader: BodyReader,
  end: End | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  let [next, later] = read;
  let at = headAt;
  let number = 0;
  let pending: Pending | undefined;
  let closed = false;
  let abort: (() => void) | undefined;
  let endWait: (() => void) | undefined;
  const stream = {};
  const frame: TraceEvent = { kind: "frame", boundary: "http" }; // one for all: they say the same
  const stop = (): void => {
    closed = true;
    pending?.cancel();
    endWait?.();
    if (abort !== undefined) signal?.removeEventListener("abort", abort);
  };
  const hand = (controller: ReadableByteStreamController): void => {
    pending = undefined;
    if (closed) return;
    const { bytes } = next as Chunk;
    at = (next as Chunk).at;
    next = later;
    later = next === undefined ? undefined : reader.next();
    // A chunk of no bytes takes its turn; a byte stream cannot hand it on. (Enqueueing detaches the bytes.)
    const empty = bytes.length === 0;
    if (!empty) controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
    play.note(frame);
    if (next === undefined && end === undefined) {
      stop();
      controller.close();
      controller.byobRequest?.respond(0);
    } else if (empty) return void pull(controller);
  };
  const pull = (controller: ReadableByteStreamController): Promise<void> | undefined => {
    if (next === undefined) return endOf(controller);
    pending = play.wait(next.at, `chunk ${++number}`, next.after, stream);
    if (pending !== undefined) return pending.promise.then(() => hand(controller));
    hand(controller);
    return undefined;
  };
  const endOf = (controller: ReadableByteStreamController): Promise<void> => {
    if (end?.error === undefined) {
      if (signal !== undefined) endWait ??= play.linger();
      return new Promise(() => undefined); // by the client: the stream stays open
    }
    const wait = play.wait(end.at ?? at, "the end", end.after, stream);
    pending = wait;
    return (wait?.promise ?? Promise.resolve()).then(() => {
      if (closed) return;
      stop();
      play.note({ kind: "close", boundary: "http" });
      controller.error(storedToError(end.error as never));
    });
  };
  return new ReadableStream(
    {
      type: "bytes",
      start(controller: ReadableByteStreamController) {
        if (next === undefined && end === undefined) {
          closed = true;
          controller.close();
          return;
        }
        if (signal === undefined) return;
        abort = () => {
          if (closed) return;
          stop();
          controller.error(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
      },
      pull: pull as (controller: ReadableByteStreamController) => Promise<void>,
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

function sidecarsOf({ body }: StoredResponse): Sidecar[] {
  if (body === undefined) return [];
  if (!Array.isArray(body)) return (body as Frame).file === undefined ? [] : [(body as Frame).file as Sidecar];
  const files: Sidecar[] = [];
  for (const frame of body as readonly Frame[]) if (frame.file !== undefined) files.push(frame.file);
  return files;
}

const stated = new WeakMap<HttpTrack, Headers>();

// A hand edit of a body restates its length. Bodies that broke, and encoded ones (whose length is that of other
// bytes), keep what was seen. `whole`: the length, where it is known already.
function statedHeaders(
  track: HttpTrack,
  response: StoredResponse,
  whole: number | undefined,
  load: LoadSidecar | undefined,
): Headers {
  const { headers = [], body, style, end } = response;
  const place = headers.findIndex(([name]) => name.toLowerCase() === "content-length");
  if (place < 0 || end !== undefined || headers.some(([name]) => name.toLowerCase() === "content-encoding"))
    return headers;
  if (whole !== undefined) return stating(headers, place, whole);
  // An answer with the ids of this time is made for this play alone.
  if (response !== track.response) return stating(headers, place, bodyBytes(body, style, load).length);
  let list = stated.get(track);
  if (list === undefined) stated.set(track, (list = stating(headers, place, bodyBytes(body, style, load).length)));
  return list;
}

function stating(headers: Headers, place: number, length: number): Headers {
  const [name, value] = headers[place] as readonly [string, string];
  if (value === String(length)) return headers;
  return headers.map((pair, i) => (i === place ? ([name, String(length)] as const) : pair));
}
