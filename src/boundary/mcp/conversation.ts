import type { Json, McpTrack } from "../../cassette/schema.ts";
import type { DuplexKind } from "../../engine/duplex-kind.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import { jsonRpcIds } from "../../wire/json-rpc.ts";

/** What is known of a conversation when it begins; in replay nothing is, because no transport is made. */
export type McpOpening = NonNullable<McpTrack["open"]>;

/** Conversations are told apart by their order in the lane: in replay nothing is known of the server. */
export const mcpOpenings: RequestKind<McpOpening> = {
  kind: "mcp",
  boundary: "mcp",
  redact: (_, opening) => opening,
  facets: () => ({}),
  recorded: (track) => (track as McpTrack).open ?? {},
  parts: () => ({}),
  bucket: () => "",
  alike: () => true,
  describe: ({ command, url }) => `MCP conversation${(command ?? url) ? ` with ${command ?? url}` : ""}`,
  event: ({ command, url }) => ({
    kind: "request",
    boundary: "mcp",
    ...(command === undefined ? {} : { name: command }),
    ...(url === undefined ? {} : { url }),
  }),
};

/**
 * The messages of a conversation. Requests race, so of those that were recorded each may be the next. Their ids and
 * progress tokens are made up by the side that asks, and each side has its own.
 */
export const mcpConversations: DuplexKind = {
  kind: "mcp",
  boundary: "mcp",
  client: "client",
  unit: "message",
  order: "any",
  ids: (message, from) => {
    // What is said about the transport names requests of the client's.
    const note = isObject(message) && typeof message.method === "string" && message.method.startsWith("$/");
    return note
      ? [{ path: ["params", "requestId"], space: "request of client", role: "names" }]
      : jsonRpcIds(message, from);
  },
  counts: (message) => {
    if (!isObject(message) || typeof message.method !== "string") return without(message, "jsonrpc");
    const { method, params } = message;
    const counting = without(params ?? {}, "_meta");
    return isObject(counting) && Object.keys(counting).length === 0 ? { method } : { method, params: counting };
  },
  event: (message) => {
    if (!isObject(message)) return {};
    const { method, id, params } = message;
    const name = isObject(params) ? params.name : undefined;
    return {
      ...(typeof method === "string" ? { method } : {}),
      ...(typeof id === "string" || typeof id === "number" ? { id } : {}),
      ...(typeof name === "string" ? { name } : {}),
    };
  },
};

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function without(value: Json, key: string): Json {
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
