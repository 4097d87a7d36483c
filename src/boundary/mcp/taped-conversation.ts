import type { JsonRpcMessage } from "./json-rpc.ts";
import type { McpSendOptions, McpTransport } from "./transport.ts";
import type { TransportFacts } from "./transport-note.ts";

/** One conversation on tape, from a transport's start to its close. */
export interface TapedConversation {
  readonly facts: TransportFacts;
  start(): Promise<void>;
  send(message: JsonRpcMessage, options: McpSendOptions | undefined): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion?(version: string): void;
  /** The transport that is recorded; none in replay. */
  readonly inner?: object;
}

/** What a conversation tells the program: the transport's callbacks, as they are set at the moment. */
export type Listener = Pick<McpTransport, "onmessage" | "onerror" | "onclose" | "sessionId">;
