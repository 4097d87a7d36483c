import type { Json } from "../wire/json.ts";

/**
 * A cassette as a value, written out: what schema.ts declares, in types that people and compilers read quickly (what
 * zod infers is a hundred times as long). The compiler proves that both say the same: test/types/cassette.test-d.ts.
 * What each key means is told in cassettes/README.md.
 */

/** A cassette as a value. Deeply read-only: change means a new value. */
export interface Cassette {
  readonly $schema?: string | undefined;
  readonly wiretape: 1;
  readonly recorded?: Recorded | undefined;
  readonly note?: string | undefined;
  readonly match?: Match | undefined;
  readonly vars?: Readonly<Record<string, Json>> | undefined;
  readonly tracks: readonly Track[];
  readonly seal?: Seal | undefined;
}

/** Where a cassette comes from. */
export interface Recorded {
  readonly at?: string | undefined;
  readonly with?: string | undefined;
  readonly name?: string | undefined;
  readonly origins?: readonly string[] | undefined;
  readonly note?: string | undefined;
}

export interface Match {
  readonly order?: "identity" | "strict" | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly normalize?: string | undefined;
  readonly note?: string | undefined;
}

export interface Seal {
  readonly algorithm: "sha256";
  readonly crc32?: string | undefined;
  readonly head: string;
  readonly tracks: Readonly<Record<string, string>>;
  readonly note?: string | undefined;
}

/** One recorded interaction. */
export type Track = HttpTrack | WebSocketTrack | ProcessTrack | McpTrack | CallTrack;
export type CallTrack = AgentTrack | ModelTrack | FunctionTrack;
export type TrackKind = Track["kind"];

/** What every track has. */
export interface TrackCommon {
  readonly id: string;
  readonly at?: number | undefined;
  readonly lane?: string | undefined;
  readonly after?: Gate | undefined;
  readonly repeat?: number | "forever" | undefined;
  readonly optional?: true | undefined;
  readonly note?: string | undefined;
}

export interface HttpTrack extends TrackCommon {
  readonly kind: "http";
  readonly request: StoredRequest;
  readonly response?: StoredResponse | undefined;
  readonly fault?: StoredError | undefined;
  readonly end?: End | undefined;
}

export interface StoredRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Headers | undefined;
  readonly style?: Style | undefined;
  readonly body?: Body | undefined;
  readonly decoded?: Body | undefined;
  readonly trailers?: Headers | undefined;
  readonly note?: string | undefined;
}

export interface StoredResponse {
  readonly at?: number | undefined;
  readonly after?: Gate | undefined;
  readonly status: number;
  readonly reason?: string | undefined;
  readonly url?: string | undefined;
  readonly redirected?: boolean | undefined;
  readonly seen?: "decoded" | "wire" | undefined;
  readonly informational?: readonly InformationalHead[] | undefined;
  readonly headers?: Headers | undefined;
  readonly style?: Style | undefined;
  readonly body?: Body | undefined;
  readonly decoded?: Body | undefined;
  readonly trailers?: Headers | undefined;
  readonly end?: End | undefined;
  readonly note?: string | undefined;
}

/** A head with a status below 200, before the response's own. */
export interface InformationalHead {
  readonly at?: number | undefined;
  readonly status: number;
  readonly headers?: Headers | undefined;
}

/** What conversations have in common. */
export interface DuplexTrack extends TrackCommon {
  readonly style?: Style | undefined;
  readonly frames?: readonly Frame[] | undefined;
  readonly fault?: StoredError | undefined;
  readonly end?: End | undefined;
}

/** When a conversation was closed. */
export interface Close {
  readonly at?: number | undefined;
  readonly after?: Gate | undefined;
  readonly note?: string | undefined;
}

export interface WebSocketTrack extends DuplexTrack {
  readonly kind: "websocket";
  readonly open: {
    readonly url: string;
    readonly protocols?: readonly string[] | undefined;
    readonly protocol?: string | undefined;
    readonly headers?: Headers | undefined;
    readonly note?: string | undefined;
  };
  readonly close?: WebSocketClose | undefined;
}

export interface WebSocketClose extends Close {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
}

export interface ProcessTrack extends DuplexTrack {
  readonly kind: "process";
  readonly open: {
    readonly command: string;
    readonly argv?: readonly string[] | undefined;
    readonly cwd?: string | undefined;
    readonly env?: Readonly<Record<string, string>> | undefined;
    readonly note?: string | undefined;
  };
  readonly close?: ProcessClose | undefined;
}

export interface ProcessClose extends Close {
  readonly code?: number | null | undefined;
  readonly signal?: string | null | undefined;
}

export interface McpTrack extends DuplexTrack {
  readonly kind: "mcp";
  readonly open?:
    | {
        readonly url?: string | undefined;
        readonly command?: string | undefined;
        readonly argv?: readonly string[] | undefined;
        readonly note?: string | undefined;
      }
    | undefined;
  readonly close?: Close | undefined;
}

/** What calls have in common. */
export interface CallCommon extends TrackCommon {
  readonly call: {
    readonly name: string;
    readonly thread?: string | undefined;
    readonly input?: Json | undefined;
    readonly note?: string | undefined;
  };
  readonly result?: CallResult | undefined;
  readonly error?: StoredError | undefined;
  readonly style?: Style | undefined;
  readonly events?: readonly Frame[] | undefined;
  readonly end?: End | undefined;
}

export interface CallResult {
  readonly at?: number | undefined;
  readonly after?: Gate | undefined;
  readonly value?: Json | undefined;
  readonly note?: string | undefined;
}

export interface AgentTrack extends CallCommon {
  readonly kind: "agent";
}

export interface ModelTrack extends CallCommon {
  readonly kind: "model";
}

export interface FunctionTrack extends CallCommon {
  readonly kind: "function";
}

/** One readable unit on a track's timeline. */
export interface Frame {
  readonly at?: number | undefined;
  readonly from?: "client" | "server" | "stdin" | "stdout" | "stderr" | undefined;
  readonly after?: Gate | undefined;
  readonly joined?: true | undefined;
  readonly binary?: true | undefined;
  readonly json?: Json | undefined;
  readonly line?: Json | undefined;
  readonly sse?: ServerSentEvent | undefined;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly file?: Sidecar | undefined;
  readonly value?: Json | undefined;
  readonly style?: Style | undefined;
  readonly pad?: number | undefined;
  readonly cuts?: readonly Cut[] | undefined;
  readonly note?: string | undefined;
}

/** A body: one content object (it arrived in one piece), or a list of frames. */
export type Body = Frame | readonly Frame[];

export type Headers = readonly (readonly [string, string])[];

export type Gate =
  | string
  | readonly string[]
  | Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

export type Cut = readonly [number, number] | readonly [number, number, Gate];

export interface Style {
  readonly json?: JsonStyle | undefined;
  readonly sse?: SseStyle | undefined;
}

export interface JsonStyle {
  readonly colon?: ":" | ": " | undefined;
  readonly comma?: "," | ", " | undefined;
  readonly indent?: number | undefined;
  readonly escape?: "none" | "ascii" | "html" | "slash" | "ascii-slash" | "html-quote" | undefined;
  readonly tail?: "" | "\n" | undefined;
}

export interface SseStyle {
  readonly newline?: "\n" | "\r\n" | "\r" | undefined;
  readonly space?: boolean | undefined;
}

export interface ServerSentEvent {
  readonly comment?: string | undefined;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly retry?: number | undefined;
  readonly data?: string | undefined;
  readonly json?: Json | undefined;
  readonly ended?: "" | "\n" | "\r\n" | "\r" | undefined;
}

/** A file beside the cassette. */
export interface Sidecar {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
}

export interface End {
  readonly at?: number | undefined;
  readonly after?: Gate | undefined;
  readonly by?: "client" | undefined;
  readonly error?: StoredError | undefined;
  readonly note?: string | undefined;
}

/** An error as it is stored. */
export interface StoredError {
  readonly at?: number | undefined;
  readonly name: string;
  readonly message: string;
  readonly code?: string | number | undefined;
  readonly cause?: StoredError | undefined;
  readonly note?: string | undefined;
}
