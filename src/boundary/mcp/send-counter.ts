import { isRequest, type JsonRpcId, type JsonRpcMessage } from "./json-rpc.ts";

/** How a message that failed is named: a request by its id, any other by what it is and its number among those. */
export type SendName = { readonly requestId: JsonRpcId } | { readonly message: string; readonly number: number };

/** Names the messages of a client in the order in which they are sent. */
export function createSendCounter(): (message: JsonRpcMessage) => SendName {
  const numbers = new Map<string, number>();
  return (message) => {
    if (isRequest(message)) return { requestId: message.id };
    const name = message.method ?? "answer";
    const number = (numbers.get(name) ?? 0) + 1;
    numbers.set(name, number);
    return { message: name, number };
  };
}
