import type { Json, McpTrack } from "../../cassette/schema.ts";
import { playScript, readScript, refusesDuplex, type Script, scriptAnswer } from "../../engine/duplex-target.ts";
import type { Target } from "../../engine/target.ts";
import { decodeUtf8 } from "../../wire/bytes.ts";
import { parseJsonTree } from "../../wire/json.ts";
import { isRequest, type JsonRpcId, type JsonRpcMessage } from "./json-rpc.ts";
import type { AnyMcpTransport, McpTransport } from "./transport.ts";

/**
 * An MCP server as the target of a drive: what the recorded client sent is sent over the transport, each message when the
 * server's messages before it have come. Requests of the server are answered as they were, under the ids of this time.
 */
export function mcpTarget(open: () => AnyMcpTransport): Target {
  const scripts = new WeakMap<object, Script>();
  const scriptOf = (track: McpTrack): Script => {
    let script = scripts.get(track);
    if (script === undefined) {
      script = readScript(track, "client", (_, bytes) => [messageOf(bytes) as unknown as Json].filter(isMessage));
      scripts.set(track, script);
    }
    return script;
  };
  return {
    name: "the MCP server",
    refuses: (track) => refusesDuplex(track, "mcp"),
    recorded: (track) => scriptAnswer(scriptOf(track as McpTrack)),
    deliveries: (track) => scriptOf(track as McpTrack).units,
    async play(track, drive) {
      const script = scriptOf(track as McpTrack);
      const transport = open() as McpTransport;
      const events: Json[] = [];
      const ids = serverIds(script);
      let failure: Error | undefined;
      transport.onmessage = (message) => {
        ids.heard(message);
        const event = JSON.parse(JSON.stringify(message)) as Json;
        events.push(event);
        drive.arrived({ events: { [events.length - 1]: event } });
      };
      transport.onerror = (error) => {
        failure ??= error;
      };
      await transport.start();
      try {
        await playScript(script, drive, async ({ bytes }) => {
          const message = bytes === undefined ? undefined : messageOf(bytes);
          if (message === undefined || !isMessage(message as unknown as Json)) return;
          await transport.send(ids.answered(drive.live(message as unknown as Json) as unknown as JsonRpcMessage));
        });
      } finally {
        transport.onclose = undefined;
        await transport.close();
      }
      const lost = failure !== undefined && events.length < script.units.length;
      return { events, ...(lost && { error: { name: failure?.name ?? "Error", message: failure?.message ?? "" } }) };
    },
  };
}

function messageOf(bytes: Uint8Array): JsonRpcMessage | undefined {
  const text = decodeUtf8(bytes);
  return text === undefined ? undefined : (parseJsonTree(text) as unknown as JsonRpcMessage | undefined);
}

// What a transport tells beside messages is on tape as notifications whose names begin with "$/".
function isMessage(message: Json | undefined): boolean {
  const method = (message as { method?: unknown } | undefined)?.method;
  return message !== undefined && !(typeof method === "string" && method.startsWith("$/"));
}

/** The ids of the server's own requests: the recorded ones, and those of this time, request by request of a method. */
function serverIds({ units }: Script): {
  heard(message: JsonRpcMessage): void;
  answered(message: JsonRpcMessage): JsonRpcMessage;
} {
  const recorded = new Map<string, JsonRpcId[]>();
  for (const { value } of units) {
    const message = value as unknown as JsonRpcMessage;
    if (isRequest(message)) recorded.set(message.method, [...(recorded.get(message.method) ?? []), message.id]);
  }
  const live = new Map<JsonRpcId, JsonRpcId>();
  return {
    heard(message) {
      if (!isRequest(message)) return;
      const was = recorded.get(message.method)?.shift();
      if (was !== undefined) live.set(was, message.id);
    },
    answered(message) {
      const { id, method } = message;
      const is = method === undefined && id !== undefined && id !== null ? live.get(id) : undefined;
      return is === undefined ? message : { ...message, id: is };
    },
  };
}
