import type { JsonRpcId, JsonRpcMessage } from "./json-rpc.ts";
import type { NotedError } from "./noted-error.ts";

/**
 * What a transport tells its client beside messages. In the track it stands among them, in its order, as notifications of
 * the transport's own; their names begin with `$/`, which JSON-RPC protocols leave to implementations, and no server or
 * client is handed one.
 */
export type TransportNote =
  /** What the client is to take the transport for; before everything else. */
  | { readonly method: "$/transport"; readonly params: TransportFacts }
  /** There is a session now, or another one. */
  | { readonly method: "$/session"; readonly params: { readonly sessionId: string | null } }
  /** From here an answer that is cut off can be gone on with. */
  | { readonly method: "$/resumption"; readonly params: { readonly requestId: JsonRpcId; readonly eventId: string } }
  /** The stream of one request ended. */
  | { readonly method: "$/stream-end"; readonly params: { readonly requestId: JsonRpcId } }
  /** A message could not be sent: a request, or the how-manieth other message of this name. */
  | {
      readonly method: "$/failed";
      readonly params: { readonly error: NotedError } & (
        | { readonly requestId: JsonRpcId }
        | { readonly message: string; readonly number: number }
      );
    }
  /** Something went wrong that belongs to no message. */
  | { readonly method: "$/error"; readonly params: { readonly error: NotedError } };

/** What of a transport a client looks at before it says anything. */
export interface TransportFacts {
  /** A child process's: with `stderr` and `pid`. */
  readonly stdio?: boolean;
  readonly perRequestStream?: boolean;
  readonly sessionId?: string;
}

/** The client takes a request back by its signal, where each request has a stream of its own. From the client. */
export function cancelNote(requestId: JsonRpcId): JsonRpcMessage {
  return { jsonrpc: "2.0", method: "$/cancel", params: { requestId } };
}

const NOTES = new Set(["$/transport", "$/session", "$/resumption", "$/stream-end", "$/failed", "$/error"]);

/** The note that a frame of the server's is; `undefined`: it is a message, or anything that somebody wrote there. */
export function noteIn(message: unknown): TransportNote | undefined {
  const { method, params } = Object(message) as Partial<JsonRpcMessage>;
  const known = method !== undefined && NOTES.has(method) && typeof params === "object" && params !== null;
  return known ? (message as TransportNote) : undefined;
}
