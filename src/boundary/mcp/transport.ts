import type { JsonRpcId, JsonRpcMessage } from "./json-rpc.ts";

/** What an MCP client may say beside a message. The SDKs' own options fit. */
export interface McpSendOptions {
  /** The request of the other side that this message belongs to. */
  readonly relatedRequestId?: JsonRpcId | undefined;
  /** Goes on with an answer that was cut off, after the event with this id. */
  readonly resumptionToken?: string | undefined;
  readonly onresumptiontoken?: ((token: string) => void) | undefined;
  /** Aborting it takes the request back, where each request has a stream of its own. */
  readonly requestSignal?: AbortSignal | undefined;
  /** Told when the stream of this request ends, other than by `requestSignal`. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A transport of MCP, as the clients of the TypeScript SDKs take it (`@modelcontextprotocol/sdk` and
 * `@modelcontextprotocol/client`).
 */
export interface McpTransport {
  start(): Promise<void>;
  send(message: JsonRpcMessage, options?: McpSendOptions): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JsonRpcMessage, extra?: unknown) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  /** Whether each request has a stream of its own, whose end takes it back. */
  readonly hasPerRequestStream?: boolean;
}

/** What any transport of any MCP SDK can be given as: its own messages and options are its own. */
export interface AnyMcpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  readonly hasPerRequestStream?: boolean;
}
