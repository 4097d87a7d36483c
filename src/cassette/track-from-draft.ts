import { equalBytes } from "../wire/bytes.ts";
import type { CallDraft, Chunk, ChunkedBody, DuplexDraft, HttpDraft, SentChunk, TrackDraft } from "./draft.ts";
import { frameBody, frameEvents, frameSent, openBody, openFrames } from "./frames.ts";
import type { Body, Frame, HttpTrack, Sidecar, Style, Track } from "./schema.ts";

/** Where large binary bodies go: keeps the bytes and returns the reference to store, or `undefined` to keep them inline. */
export type SidecarSink = (bytes: Uint8Array) => Sidecar | undefined;

/** Turns a track in hand into a track at rest: finds the readable form of every payload. */
export function trackFromDraft(draft: TrackDraft, sidecar?: SidecarSink): Track {
  return compact(draft.kind === "http" ? http(draft, sidecar) : "call" in draft ? call(draft) : duplex(draft));
}

function http(draft: HttpDraft, sidecar: SidecarSink | undefined): Track {
  const { request, response } = draft;
  return {
    ...draft,
    request: { ...request, headers: some(request.headers), ...framed(request.body, 0, sidecar) },
    response: response && {
      ...response,
      headers: some(response.headers),
      ...framed(response.body, response.at ?? 0, sidecar),
    },
  } as HttpTrack;
}

function call(draft: CallDraft): Track {
  return { ...draft, events: draft.events && frameEvents(draft.events) } as Track;
}

function duplex(draft: DuplexDraft): Track {
  return { ...draft, ...frameSent(draft.frames) } as Track;
}

function framed(
  body: ChunkedBody | undefined,
  at: number,
  sidecar: SidecarSink | undefined,
): { body?: Body | undefined; style?: Style | undefined } {
  return body === undefined
    ? { body: undefined }
    : frameBody(body, { at, ...(sidecar === undefined ? {} : { sidecar }) });
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

// A stored track has no keys without a value; payloads are left as they are.
function compact(track: Track): Track {
  const clean = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
  };
  return Object.fromEntries(
    Object.entries(clean(track) as object).map(([key, value]) => [key, clean(value)]),
  ) as unknown as Track;
}

/**
 * Where a track at rest does not give the bytes, chunks and outcome of the track in hand; `undefined` when it is
 * faithful. The proof that is asked for before a recording is committed.
 */
export function unfaithful(track: Track, draft: TrackDraft, load?: (file: Sidecar) => Uint8Array): string | undefined {
  if (track.kind !== draft.kind || track.id !== draft.id) return "it is another track";
  if (draft.kind === "http") {
    const { request, response } = track as HttpTrack;
    return (
      unlikeBody("the request body", request.body, request.style, draft.request.body, 0, load) ??
      unlikeBody("the response body", response?.body, response?.style, draft.response?.body, response?.at ?? 0, load)
    );
  }
  if ("frames" in draft) {
    const { frames, style } = track as { frames?: readonly Frame[]; style?: Style };
    const reader = openFrames(frames ?? [], style, load === undefined ? {} : { sidecar: load });
    return unlikeChunks("the frames", reader, draft.frames, (a, b) => (a as SentChunk).from === (b as SentChunk).from);
  }
  return undefined; // values of a call are JSON already: nothing was reframed but event texts, and those are proved when framed
}

function unlikeBody(
  what: string,
  body: Body | undefined,
  style: Style | undefined,
  seen: ChunkedBody | undefined,
  at: number,
  load: ((file: Sidecar) => Uint8Array) | undefined,
): string | undefined {
  return unlikeChunks(
    what,
    openBody(body, style, { at, ...(load === undefined ? {} : { sidecar: load }) }),
    seen?.chunks ?? [],
  );
}

function unlikeChunks(
  what: string,
  reader: { next(): Chunk | undefined },
  seen: readonly Chunk[],
  alike: (a: Chunk, b: Chunk) => boolean = () => true,
): string | undefined {
  for (let i = 0; ; i++) {
    const stored = reader.next();
    const expected = seen[i];
    if (stored === undefined || expected === undefined) {
      return stored === expected
        ? undefined
        : `${what} has ${stored === undefined ? i : "more than " + seen.length} chunks, ${seen.length} were seen`;
    }
    if (!equalBytes(stored.bytes, expected.bytes)) return `chunk ${i + 1} of ${what} has other bytes`;
    if (JSON.stringify(stored.after) !== JSON.stringify(expected.after))
      return `chunk ${i + 1} of ${what} has another gate`;
    if (!alike(stored, expected)) return `chunk ${i + 1} of ${what} has another sender`;
  }
}
