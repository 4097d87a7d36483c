import type { Json, McpTrack } from "../../cassette/schema.ts";
import type { DuplexKind, IdPlace } from "../../engine/duplex-kind.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import type { JsonRpcMessage } from "./json-rpc.ts";

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

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

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
  ids: (message, from) => (isObject(message) ? idsOf(message as unknown as Spoken, from) : []),
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

type Spoken = Pick<JsonRpcMessage, "id" | "method"> & {
  readonly params?: { readonly requestId?: unknown; readonly _meta?: Readonly<Record<string, unknown>> };
};

function idsOf({ id, method, params }: Spoken, from: "client" | "server"): readonly IdPlace[] {
  const other = from === "client" ? "server" : "client";
  if (method === undefined) return [{ path: ["id"], space: `request of ${other}`, role: "names" }];
  const places: IdPlace[] = [];
  if (id !== undefined) places.push({ path: ["id"], space: `request of ${from}`, role: "gives" });
  if (method === "notifications/progress")
    places.push({ path: ["params", "progressToken"], space: `progress of ${other}`, role: "names" });
  // Each side takes back its own requests; the server a subscription of the client's as well, whose id is a text. What is
  // said about the transport names the client's.
  if (method === "notifications/cancelled" || method.startsWith("$/")) {
    const whose =
      from === "client" || method.startsWith("$/") || typeof params?.requestId === "string" ? "client" : from;
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

function without(value: Json, key: string): Json {
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
