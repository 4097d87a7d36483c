import type { EndpointMessage } from "./endpoint-request.ts";

/** What an agent gets: a request that somebody made of its model. */
export interface EndpointRequest {
  readonly model: string;
  readonly messages: readonly (EndpointMessage & { readonly role: string })[];
  readonly tools: readonly unknown[];
  /** The generation parameters as a JSON text; `{}` where there are none. */
  readonly params: string;
  readonly stream: boolean;
}

/** The session of a request, as the agent sees it. */
export interface EndpointSession {
  /** Made up anew in every run. */
  readonly id: string;
  /** Aborts when the caller goes away: the reason is `EndpointClosed` after a close, an `AbortError` after an abort. */
  readonly signal: AbortSignal;
  /** Logs that the agent calls something: `{ kind: "call", op, … }`. Gates of other requests look at it. */
  call(op: string, more?: Readonly<Record<string, unknown>>): void;
}

/** What an agent answers with: a text, a list of deltas, a stream of them, or a promise of one of these. */
export type EndpointAnswer = unknown;
export type EndpointHandler = (request: EndpointRequest, session: EndpointSession) => EndpointAnswer;

/** What became of a request. */
export interface EndpointReply {
  /** The number of the request in the script, from 1. */
  readonly request: number;
  readonly model: string;
  readonly session: { readonly id: string; readonly label?: string | undefined };
  /** What was drained, in order. */
  readonly deltas: readonly unknown[];
  /** The texts among the deltas, in one. */
  readonly text: string;
  /** `done`: the reply ended by itself; `closed`, `aborted`: the script ended the session; `failed`: the agent threw. */
  readonly ended: "done" | "closed" | "aborted" | "failed";
  readonly error?: unknown;
}
