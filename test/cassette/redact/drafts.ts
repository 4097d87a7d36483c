import type { HttpDraft, TrackDraft } from "../../../src/cassette/draft.ts";
import type { Headers } from "../../../src/cassette/schema.ts";
import { decodeLatin1, encodeUtf8 } from "../../../src/wire/bytes.ts";

/** Drafts to redact, and ways to look at what came out. */

export const chunksOf = (...texts: readonly string[]): { at: number; bytes: Uint8Array }[] =>
  texts.map((text, i) => ({ at: i, bytes: encodeUtf8(text) }));

export interface Parts {
  url?: string;
  headers?: Headers;
  sent?: readonly string[];
  answerHeaders?: Headers;
  answer?: readonly string[];
  media?: string;
}

export function exchange(parts: Parts, id = "t1"): HttpDraft {
  const {
    url = "https://api.example.com/v1/items",
    headers = [],
    sent,
    answerHeaders = [],
    answer = [],
    media,
  } = parts;
  return {
    id,
    kind: "http",
    at: 0,
    request: {
      method: "POST",
      url,
      headers,
      ...(sent === undefined ? {} : { body: { chunks: chunksOf(...sent), media } }),
    },
    response: { at: 1, status: 200, headers: answerHeaders, body: { chunks: chunksOf(...answer), media } },
  };
}

/** The whole draft as text: bytes as the Latin-1 text of the chunks joined. */
export function textOf(draft: TrackDraft): string {
  return JSON.stringify(draft, (key, value: unknown) => {
    if (key === "chunks") return (value as { bytes: Uint8Array }[]).map(({ bytes }) => decodeLatin1(bytes)).join("");
    return value instanceof Uint8Array ? decodeLatin1(value) : value;
  });
}

export const answerOf = (draft: HttpDraft): string =>
  draft.response!.body!.chunks.map(({ bytes }) => new TextDecoder().decode(bytes)).join("");
