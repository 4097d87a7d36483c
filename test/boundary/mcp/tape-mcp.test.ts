import { readFile } from "node:fs/promises";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, test } from "vitest";
import { createDeck, FrameMismatch, memoryStore, parseCassette, ReplayStalled, ScriptExhausted } from "wiretape";
import { FakeMcpTransport, type JsonRpcMessage, type McpTransport, tapeMcp } from "wiretape/mcp";
import { pause } from "../../fixtures/mcp/server-v1.ts";
import "../../support/settled.ts";
import { twice } from "./mcp-session.ts";

const info = { name: "test", version: "1.0.0" };
const initialized = {
  result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" } },
};
const done = { result: { content: [{ type: "text", text: "done" }] } };

const never = (): never => {
  throw new Error("a replay made a transport");
};

/** A cassette of a v1 client that lists, and calls a tool once. */
async function recorded(): Promise<ReturnType<typeof memoryStore>> {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record" });
  const wire = new FakeMcpTransport()
    .script("initialize", initialized)
    .script("tools/list", { result: { tools: [] } })
    .script("tools/call", done);
  const client = new ClientV1(info);
  await client.connect(tapeMcp(deck, () => wire));
  await client.listTools();
  await client.callTool({ name: "t", arguments: { city: "Kraków" } });
  await client.close();
  await deck.finish();
  return store;
}

async function replayed(
  store: ReturnType<typeof memoryStore>,
): Promise<{ client: ClientV1; deck: Awaited<ReturnType<typeof createDeck>> }> {
  const deck = await createDeck({ store, mode: "replay", stallAfterMs: 100 });
  const client = new ClientV1(info);
  await client.connect(tapeMcp(deck, never));
  return { client, deck };
}

describe("what was not recorded", () => {
  test("another message rejects, and is on the deck", async () => {
    const { client, deck } = await replayed(await recorded());
    await client.listTools();
    const failure = await client
      .callTool({ name: "t", arguments: { city: "Poznań" } })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FrameMismatch);
    expect((failure as Error).message).toMatch(/Poznań[\s\S]*Kraków/);
    await client.close();
    await expect(deck.finish()).rejects.toThrow(FrameMismatch);
  });

  test("one message more is past the end, though the program swallows it", async () => {
    const { client, deck } = await replayed(await recorded());
    await client.listTools();
    await client.callTool({ name: "t", arguments: { city: "Kraków" } });
    const failure = await client.listTools().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ScriptExhausted);
    await client.close();
    await expect(deck.finish()).rejects.toThrow(ScriptExhausted);
  });

  test("one conversation more rejects at its start", async () => {
    const { client, deck } = await replayed(await recorded());
    await client.listTools();
    await client.callTool({ name: "t", arguments: { city: "Kraków" } });
    await client.close();
    const second = new ClientV1(info).connect(tapeMcp(deck, never));
    await expect(second).rejects.toThrow(/MCP conversation/);
    deck.expectViolation("script-exhausted");
    await deck.finish();
  });

  test("a server message that waits for what the program never sends ends the conversation", async () => {
    const store = await recorded();
    const text = new TextDecoder().decode(await store.read("deck.cassette.json"));
    // A second answer after a call that the program does not make.
    const cassette = parseCassette(
      text.replace(/(\n {8}\{ "at": \d+, "from": "client", "json": \{ "method": "tools\/list")/, (line) => {
        return `\n        { "from": "client", "json": { "jsonrpc": "2.0", "id": 9, "method": "ping" } },${line}`;
      }),
    );
    const deck = await createDeck({ cassette, mode: "replay", stallAfterMs: 50 });
    const client = new ClientV1(info);
    const faults: unknown[] = [];
    client.onerror = (error) => faults.push(error);
    await client.connect(tapeMcp(deck, never));
    await expect(client.listTools()).rejects.toThrow("Connection closed");
    expect(faults[0]).toBeInstanceOf(ReplayStalled);
    expect(String(faults[0])).toMatch(/ping/);
    await expect(deck.finish()).rejects.toThrow(ReplayStalled);
  });
});

describe("how a conversation begins and ends", () => {
  test("a process that cannot be started fails alike", async () => {
    const { recorded: seen } = await twice(async (deck, mode) => {
      const client = new ClientV1(info);
      const transport = tapeMcp(
        deck,
        mode === "replay" ? never : () => new StdioV1({ command: "no-such-program-here" }),
      );
      const { name, message, code } = (await client.connect(transport).catch((error: unknown) => error)) as {
        name: string;
        message: string;
        code: string;
      };
      return { name, message, code };
    });
    expect(seen).toMatchObject({ code: "ENOENT" });
  });

  test("a server that goes away closes the client's side", async () => {
    const { recorded: seen, text } = await twice(async (deck, mode) => {
      const log: string[] = [];
      const program = `
        process.stdin.once("data", (line) => {
          const { id } = JSON.parse(String(line));
          const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "brief", version: "1" } };
          process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
          process.stdin.once("data", () => process.exit(3));
        });`;
      const client = new ClientV1(info);
      const closed = new Promise<void>((resolve) => {
        client.onclose = () => {
          log.push("closed");
          resolve();
        };
      });
      const command = { command: process.execPath, args: ["-e", program] };
      await client.connect(tapeMcp(deck, mode === "replay" ? never : () => new StdioV1(command)));
      await closed;
      await client.ping().catch((error: Error) => log.push(error.message));
      return log;
    });
    expect(seen).toEqual(["closed", "Not connected"]);
    expect(text).toMatch(/"close": \{ "at": \d+ \}/);
  });

  test("a transport that is started again is the next conversation", async () => {
    const { recorded: seen, text } = await twice(async (deck, mode) => {
      let made = 0;
      const make = (): McpTransport => {
        made++;
        return new FakeMcpTransport()
          .script("initialize", initialized)
          .script("tools/call", { result: { content: [{ type: "text", text: `from ${made}` }] } });
      };
      const transport = tapeMcp(deck, mode === "replay" ? never : make);
      // The client goes on counting: its ids are others than those of a new one.
      const client = new ClientV1(info);
      const log: unknown[] = [];
      for (let round = 0; round < 2; round++) {
        await client.connect(transport);
        await expect(transport.start()).rejects.toThrow("started already");
        log.push((await client.callTool({ name: "t" })).content);
        await client.close();
      }
      return log;
    });
    expect(seen).toEqual([[{ type: "text", text: "from 1" }], [{ type: "text", text: "from 2" }]]);
    expect(text.match(/"kind": "mcp"/g)).toHaveLength(2);
  });

  test("a transport that cannot be made is the program's own fault, and no track", async () => {
    const deck = await createDeck({ mode: "record" });
    const open = (): never => {
      throw new TypeError("Invalid URL");
    };
    expect(() => tapeMcp(deck, open)).toThrow(TypeError);
    await deck.finish();
    expect(deck.cassette?.tracks).toEqual([]);
  });

  test("several servers at a time go in lanes", async () => {
    await twice(async (deck, mode) => {
      const open = async (name: string): Promise<unknown> => {
        const wire = new FakeMcpTransport()
          .script("initialize", initialized)
          .script("tools/call", { result: { content: [{ type: "text", text: `from ${name}` }] } });
        const client = new ClientV1(info);
        await client.connect(tapeMcp(deck.lane(name), mode === "replay" ? never : () => wire));
        const { content } = await client.callTool({ name: "t" });
        await client.close();
        return content;
      };
      // In replay the other one is first.
      const [one, two] = mode === "record" ? ["a", "b"] : ["b", "a"];
      const seen = new Map([
        [one, await open(one as string)],
        [two, await open(two as string)],
      ]);
      return [seen.get("a"), seen.get("b")];
    });
  });

  test("what the program leaves open stays open, and is over with the deck", async () => {
    const { text } = await twice(async (deck, mode) => {
      const client = new ClientV1(info);
      const wire = new FakeMcpTransport().script("initialize", initialized);
      await client.connect(tapeMcp(deck, mode === "replay" ? never : () => wire));
      return client.getServerVersion();
    });
    expect(text).toContain('"by": "client"');
  });

  test("live is the transport itself", async () => {
    const deck = await createDeck({ mode: "live" });
    const wire = new FakeMcpTransport();
    expect(tapeMcp(deck, () => wire)).toBe(wire);
    await deck.finish();
  });
});

test("_meta and the order of keys do not count, anything else does", async () => {
  const program = async (transport: McpTransport, params: Record<string, unknown>): Promise<unknown> => {
    const answer = new Promise((resolve) => {
      transport.onmessage = ({ id, result }) => resolve([id, result]);
    });
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: "mine", method: "tools/call", params });
    const seen = await answer;
    await transport.close();
    return seen;
  };
  const store = memoryStore();
  const recording = await createDeck({ store, mode: "record" });
  const wire = new FakeMcpTransport().script("tools/call", { result: { ok: true } });
  const recorded = { name: "t", arguments: { a: 1, b: [{}] }, _meta: { trace: "x" } };
  await program(
    tapeMcp(recording, () => wire),
    recorded,
  );
  await recording.finish();
  for (const params of [recorded, { arguments: { b: [{}], a: 1 }, name: "t" }, { ...recorded, _meta: { other: 1 } }]) {
    const deck = await createDeck({ store, mode: "replay" });
    expect(await program(tapeMcp(deck, never), params)).toEqual(["mine", { ok: true }]);
    await deck.finish();
  }
  const deck = await createDeck({ store, mode: "replay" });
  const wrong = program(tapeMcp(deck, never), { ...recorded, arguments: { a: 1, b: [{ c: 1 }] } });
  await expect(wrong).rejects.toThrow(FrameMismatch);
  deck.expectViolation("frame-mismatch");
  await deck.finish();
});

test("each message has a turn of its own, recorded as replayed", async () => {
  const burst = (id: number): JsonRpcMessage[] => [
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } },
    { jsonrpc: "2.0", id, result: {} },
  ];
  const { recorded: seen } = await twice(async (deck) => {
    const inner: McpTransport = {
      start: async () => undefined,
      close: async () => inner.onclose?.(),
      send: async ({ id }) => {
        for (const message of burst(id as number)) inner.onmessage?.(message);
      },
    };
    const transport = tapeMcp(deck, () => inner);
    const log: string[] = [];
    let turn = 0;
    transport.onmessage = ({ method }) => {
      const here = ++turn;
      log.push(method ?? "answer");
      setImmediate(() => log.push(`turn after ${here}`));
    };
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await pause(20);
    await transport.close();
    return log;
  });
  expect(seen[0]).toBe("notifications/progress");
  expect(seen).toHaveLength(4);
});

test("the example in cassettes/ plays", async () => {
  const text = await readFile(new URL("../../../cassettes/mcp.cassette.json", import.meta.url), "utf8");
  const deck = await createDeck({ cassette: parseCassette(text), mode: "replay" });
  const client = new ClientV1({ name: "example", version: "1.0.0" });
  await client.connect(tapeMcp(deck, never));
  expect(client.getServerVersion()).toEqual({ name: "weather", version: "2.1.0" });
  const reports: number[] = [];
  const call = { name: "forecast", arguments: { city: "Kraków" } };
  const { content } = await client.callTool(call, undefined, { onprogress: ({ progress }) => reports.push(progress) });
  expect(content).toEqual([{ type: "text", text: "Rain, 9 °C" }]);
  expect(reports).toEqual([1]);
  await client.close();
  await deck.finish();
});
