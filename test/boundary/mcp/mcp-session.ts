import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioClientTransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import { createDeck, type Deck, type DeckOptions, memoryStore } from "wiretape";
import type { McpTransport } from "wiretape/mcp";
import { textIn } from "../../support/twice.ts";

/** A client of either SDK, and everything that it was told, in order. */
export interface Session {
  readonly client: ClientV1 | Client;
  readonly log: unknown[];
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
}

interface CallOptions {
  onprogress?: (progress: { progress: number }) => void;
  signal?: AbortSignal;
  onresumptiontoken?: (token: string) => void;
}

export type Era = "v1" | "v2 legacy" | "v2 modern";

const info = { name: "test", version: "1.0.0" };

/** Connects a client that answers what it is asked, and logs what it sees. */
export async function connect(era: Era, transport: McpTransport): Promise<Session> {
  const log: unknown[] = [];
  const capabilities = { elicitation: { form: {} } };
  const answer = async (request: { params: { message?: string } }) => {
    log.push(["asked", request.params.message]);
    return { action: "accept" as const, content: { name: "Ada" } };
  };
  let client: ClientV1 | Client;
  if (era === "v1") {
    const v1 = new ClientV1(info, { capabilities });
    v1.setRequestHandler(ElicitRequestSchema, answer as never);
    client = v1;
  } else {
    const mode = era === "v2 modern" ? ("auto" as const) : ("legacy" as const);
    const v2 = new Client(info, { capabilities, versionNegotiation: { mode } });
    v2.setRequestHandler("elicitation/create", answer as never);
    client = v2;
  }
  client.fallbackNotificationHandler = async (notification: { method: string; params?: unknown }) => {
    log.push([notification.method, (notification.params as { data?: unknown } | undefined)?.data]);
  };
  client.onerror = (error) => log.push(["error", error.name, error.message]);
  client.onclose = () => log.push("closed");
  await client.connect(transport as never);
  log.push(["server", client.getServerVersion()?.name]);
  if (client instanceof Client) log.push(["era", client.getProtocolEra()]);
  return {
    client,
    log,
    async call(name, args = {}, options = {}) {
      const request = { name, arguments: args };
      try {
        const result = await (client instanceof Client
          ? client.callTool(request, options)
          : client.callTool(request, undefined, options));
        const text = (result.content as { text: string }[])[0]?.text ?? "";
        log.push([name, text]);
        return text;
      } catch (error) {
        const { name: kind, code, message } = error as { name: string; code?: unknown; message: string };
        log.push([name, "failed", kind, code, message]);
        return message;
      }
    },
  };
}

/** A program of test/fixtures/mcp over stdio. */
export function stdio(program: "stdio-v1" | "stdio-v2", sdk: "v1" | "v2"): McpTransport {
  const script = fileURLToPath(new URL(`../../fixtures/mcp/${program}.ts`, import.meta.url));
  const parameters = { command: process.execPath, args: ["--import", "tsx", script], stderr: "inherit" as const };
  return (sdk === "v1" ? new StdioClientTransportV1(parameters) : new StdioClientTransport(parameters)) as never;
}

export interface Played<T> {
  readonly recorded: T;
  readonly text: string;
  /** Replays again, what was recorded or an edit of it. */
  again(options?: DeckOptions, text?: string): Promise<{ seen: T; deck: Deck }>;
}

/** Runs a program while recording, then while replaying with the server gone: it must see the same. */
export async function twice<T>(
  program: (deck: Deck, mode: "record" | "replay") => Promise<T>,
  options: { gone?: () => Promise<void>; record?: DeckOptions } = {},
): Promise<Played<T>> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record", ...options.record });
  const recorded = await program(recorder, "record");
  await recorder.finish();
  await options.gone?.();
  const text = await textIn(store);
  const again = async (more: DeckOptions = {}): Promise<{ seen: T; deck: Deck }> => {
    const deck = await createDeck({ store, mode: "replay", ...more });
    const seen = await program(deck, "replay");
    await deck.finish();
    return { seen, deck };
  };
  const { seen } = await again();
  expect(seen).toEqual(recorded);
  return { recorded, text, again };
}
