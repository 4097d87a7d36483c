import stableStringify from "fast-json-stable-stringify";
import { base64url, sha256Base64url } from "../wire/digest.ts";
import { contentText, encodeContent } from "./content.ts";
import { formatCassette } from "./print.ts";
import type { Body, Cassette, Frame, Seal, StoredError, Style, Track } from "./schema.ts";
import { attachSeal } from "./sealed-text.ts";
import { requireSound } from "./sound.ts";

/** What a seal says of a track: as it was recorded, changed since, or not recorded at all. */
export type TrackState = "recorded" | "edited" | "authored";

/**
 * The digest of a track's meaning: SHA-256, base64url, of the stable JSON text of the track with every content replaced
 * by the digest of the bytes it encodes, and without `note`, `style`, `pad` and `decoded`. Choosing another form for the
 * same bytes, another style or other white space changes nothing; a byte, a header, a status or a gate does.
 */
export function trackDigest(track: Track): string {
  return sha256Base64url(stableStringify(meaningOf(track)));
}

/** The digest of what stands around the tracks: `match`, `vars` and the list of ids in order. */
export function headDigest(cassette: Cassette): string {
  const { match, vars, tracks } = cassette;
  return sha256Base64url(
    stableStringify({ match: match && withoutNote(match), vars, tracks: tracks.map((track) => track.id) }),
  );
}

/** The seal of a cassette as it stands, without a checksum: that belongs to a text. A note on the old seal is kept. */
export function sealOf(cassette: Cassette): Seal {
  const tracks = Object.fromEntries(cassette.tracks.map((track) => [track.id, trackDigest(track)]));
  const note = cassette.seal?.note;
  return { algorithm: "sha256", head: headDigest(cassette), tracks, ...(note !== undefined && { note }) };
}

/** The cassette with every track stamped as recorded. Whoever calls it says that they mean it. */
export function sealCassette(cassette: Cassette): Cassette {
  return { ...cassette, seal: sealOf(cassette) };
}

/** The state of one track under a seal. */
export function trackState(track: Track, seal: Seal | undefined): TrackState {
  // A track may be called "constructor".
  if (seal === undefined || !Object.hasOwn(seal.tracks, track.id)) return "authored";
  return seal.tracks[track.id] === trackDigest(track) ? "recorded" : "edited";
}

/** The state of every track, by id, in file order. */
export function trackStates(cassette: Cassette): Map<string, TrackState> {
  return new Map(cassette.tracks.map((track) => [track.id, trackState(track, cassette.seal)]));
}

/**
 * The canonical text of a cassette, its checksum stamped, so that readers may take the fast path. The digests of its
 * seal stay as they are; a cassette without one is sealed. CassetteInvalid for a cassette that is not valid: the
 * checksum vouches for the rules, too.
 */
export function formatSealed(cassette: Cassette): string {
  requireSound(cassette);
  const { seal, ...unsealed } = cassette;
  return attachSeal(formatCassette(unsealed), seal ?? sealOf(cassette));
}

type Values = Readonly<Record<string, unknown>>;

function meaningOf(track: Track): Values {
  const { note: _note, ...meaning } = track;
  switch (meaning.kind) {
    case "http": {
      const { request, response, fault, end } = meaning;
      return {
        ...meaning,
        request: messageMeaning(request),
        response: response && { ...messageMeaning(response), end: endMeaning(response.end) },
        fault: errorMeaning(fault),
        end: endMeaning(end),
      };
    }
    case "websocket":
    case "process":
    case "mcp": {
      const { style, frames, open, close, fault, end, ...rest } = meaning;
      return {
        ...rest,
        open: open && withoutNote(open),
        frames: frames?.map((frame) => frameMeaning(frame, style)),
        close: close && withoutNote(close),
        fault: errorMeaning(fault),
        end: endMeaning(end),
      };
    }
    default: {
      const { style, call, result, error, events, end, ...rest } = meaning;
      return {
        ...rest,
        call: withoutNote(call),
        result: result && withoutNote(result),
        error: errorMeaning(error),
        events: events?.map((frame) => frameMeaning(frame, style)),
        end: endMeaning(end),
      };
    }
  }
}

function messageMeaning(message: {
  body?: Body | undefined;
  style?: Style | undefined;
  note?: string | undefined;
}): Values {
  const { body, style, note: _note, decoded: _decoded, ...rest } = message as typeof message & { decoded?: Body };
  return { ...rest, body: body && bodyMeaning(body, style) };
}

function bodyMeaning(body: Body, style: Style | undefined): Values | Values[] {
  return isList(body) ? body.map((frame) => frameMeaning(frame, style)) : frameMeaning(body, style);
}

function frameMeaning(frame: Frame, style: Style | undefined): Values {
  const { at, from, after, joined, binary, cuts } = frame;
  return { at, from, after, joined, binary, cuts, content: contentDigest(frame, style) };
}

function contentDigest(frame: Frame, style: Style | undefined): string {
  if (frame.value !== undefined) return sha256Base64url(stableStringify(frame.value));
  // The digest of a sidecar stands for its bytes, so that sealing reads no file.
  if (frame.file !== undefined) return base64url(fromHex(frame.file.sha256));
  return sha256Base64url(contentText(frame, style) ?? encodeContent(frame, style));
}

function errorMeaning(error: StoredError | undefined): Values | undefined {
  return error && { ...withoutNote(error), cause: errorMeaning(error.cause) };
}

function endMeaning(end: Track["end"]): Values | undefined {
  return end && { ...withoutNote(end), error: errorMeaning(end.error) };
}

function withoutNote<T extends object>(object: T): Values {
  const { note: _, ...rest } = object as T & { note?: unknown };
  return rest;
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

function isList(body: Body): body is readonly Frame[] {
  return Array.isArray(body);
}
