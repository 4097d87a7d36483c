/** The id of a request, and of what answers it. */
export type JsonRpcId = string | number;

/** A JSON-RPC 2.0 message as MCP uses it: a request, a notification or an answer. */
export interface JsonRpcMessage {
  readonly jsonrpc: "2.0";
  /** Absent in a notification. */
  readonly id?: JsonRpcId | null | undefined;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown } | undefined;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

/** A message that wants an answer. */
export type JsonRpcRequest = JsonRpcMessage & { readonly id: JsonRpcId; readonly method: string };

/** Whether a message wants an answer. */
export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return typeof message.method === "string" && message.id !== undefined && message.id !== null;
}

/** Whether a message is a notification: a method, and no answer wanted. */
export function isNotification(message: JsonRpcMessage): message is JsonRpcMessage & { readonly method: string } {
  return typeof message.method === "string" && !isRequest(message);
}
