import type { Json } from "./json.ts";

/** A place in a JSON-RPC message that holds an id. */
export interface JsonRpcIdPlace {
  readonly path: readonly (string | number)[];
  /** Whose ids they are; those of requests and those of progress are counted apart. */
  readonly space: `${"request" | "progress"} of ${"client" | "server"}`;
  /** `gives`: made up here. `names`: one that was given before. */
  readonly role: "gives" | "names";
}

type Spoken = {
  readonly id?: Json;
  readonly method?: string;
  readonly params?: { readonly requestId?: Json; readonly _meta?: { readonly [name: string]: Json } };
};

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** Whether a value is a JSON-RPC 2.0 message. */
export function isJsonRpc(value: Json | undefined): value is { readonly [name: string]: Json } {
  return isObject(value) && value.jsonrpc === "2.0";
}

/**
 * The ids in a message of JSON-RPC, and of MCP on top of it: of requests and their answers, of progress, of what is taken
 * back, of subscriptions. Each side makes up its own.
 */
export function jsonRpcIds(message: Json, from: "client" | "server"): readonly JsonRpcIdPlace[] {
  if (!isObject(message)) return [];
  const { id, method, params } = message as Spoken;
  const other = from === "client" ? "server" : "client";
  if (typeof method !== "string") return [{ path: ["id"], space: `request of ${other}`, role: "names" }];
  const places: JsonRpcIdPlace[] = [];
  if (id !== undefined) places.push({ path: ["id"], space: `request of ${from}`, role: "gives" });
  if (method === "notifications/progress")
    places.push({ path: ["params", "progressToken"], space: `progress of ${other}`, role: "names" });
  if (method === "notifications/cancelled") {
    // Each side takes back its own requests; a server a subscription of the client's as well, whose id is a text.
    const whose = typeof params?.requestId === "string" ? "client" : from;
    places.push({ path: ["params", "requestId"], space: `request of ${whose}`, role: "names" });
  }
  const meta = params?._meta;
  if (meta?.progressToken !== undefined)
    places.push({ path: ["params", "_meta", "progressToken"], space: `progress of ${from}`, role: "gives" });
  if (from === "server" && meta?.[SUBSCRIPTION] !== undefined)
    places.push({ path: ["params", "_meta", SUBSCRIPTION], space: "request of client", role: "names" });
  return places;
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
