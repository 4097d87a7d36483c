import type {
  End,
  Gate,
  Headers,
  HttpTrack,
  Json,
  McpTrack,
  ProcessTrack,
  StoredError,
  TrackKind,
  WebSocketTrack,
} from "./schema.ts";

/**
 * A track in hand: what a boundary has seen, before it is redacted, framed and printed. It has the shape of a stored
 * track, but for payloads, which are bytes in the chunks in which they came.
 */

/** What the program was handed at once. `at`: milliseconds since the track began. */
export interface Chunk {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly after?: Gate | undefined;
}

/** A body as it was seen. `media` is its content type, a hint for choosing the readable form. */
export interface ChunkedBody {
  readonly chunks: readonly Chunk[];
  readonly media?: string | undefined;
}

/** A chunk of one side of a conversation. `binary`: a WebSocket binary message. */
export interface SentChunk extends Chunk {
  readonly from: "client" | "server" | "stdin" | "stdout" | "stderr";
  readonly binary?: boolean | undefined;
}

/** A value of a call that streams, already tagged (cassette/values.ts), or the text of an event as it came. */
export interface EventDraft {
  readonly at: number;
  readonly after?: Gate | undefined;
  readonly value?: Json | undefined;
  readonly text?: string | undefined;
}

interface CommonDraft {
  readonly id: string;
  readonly kind: TrackKind;
  readonly at: number;
  readonly lane?: string | undefined;
}

export interface HttpDraft extends CommonDraft {
  readonly kind: "http";
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Headers;
    readonly body?: ChunkedBody | undefined;
    readonly trailers?: Headers | undefined;
  };
  readonly response?:
    | (Omit<NonNullable<HttpTrack["response"]>, "body" | "decoded" | "style" | "headers" | "note"> & {
        readonly headers: Headers;
        readonly body?: ChunkedBody | undefined;
      })
    | undefined;
  readonly fault?: StoredError | undefined;
  readonly end?: End | undefined;
}

export interface DuplexDraft extends CommonDraft {
  readonly kind: "websocket" | "process" | "mcp";
  readonly open?: WebSocketTrack["open"] | ProcessTrack["open"] | McpTrack["open"];
  readonly frames: readonly SentChunk[];
  readonly close?: WebSocketTrack["close"] | ProcessTrack["close"] | McpTrack["close"];
  readonly fault?: StoredError | undefined;
  readonly end?: End | undefined;
}

export interface CallDraft extends CommonDraft {
  readonly kind: "agent" | "model" | "function";
  readonly call: { readonly name: string; readonly thread?: string | undefined; readonly input?: Json | undefined };
  readonly result?:
    | { readonly at: number; readonly after?: Gate | undefined; readonly value?: Json | undefined }
    | undefined;
  readonly error?: StoredError | undefined;
  readonly events?: readonly EventDraft[] | undefined;
  readonly end?: End | undefined;
}

export type TrackDraft = HttpDraft | DuplexDraft | CallDraft;
