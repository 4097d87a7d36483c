import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
import { createRecordingAgentTransport } from "../../src/boundary/agent/record.ts";
import { agentTarget } from "../../src/boundary/agent/target.ts";
import { tapeFunction, tapeObject } from "../../src/boundary/function/function.ts";
import { functionTarget } from "../../src/boundary/function/target.ts";
import { tapeMcp } from "../../src/boundary/mcp/tape-mcp.ts";
import { mcpTarget } from "../../src/boundary/mcp/target.ts";
import { tapeSpawn } from "../../src/boundary/process/tape-spawn.ts";
import { processTarget } from "../../src/boundary/process/target.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { drive } from "../../src/drive/drive.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import type { Lane } from "../../src/engine/session.ts";

async function recorded(body: (lane: Lane) => Promise<unknown>): Promise<Cassette> {
  const deck = await createDeck({ mode: "record" });
  await body(deck);
  await deck.finish();
  return deck.cassette as Cassette;
}

describe("functions", () => {
  const shop = (first: number) => {
    let next = first;
    return {
      order: async (item: string) => ({ id: `order_${next++}`, item }),
      price: async (order: { id: string }) => {
        if (order.id !== `order_${next - 1}`) throw new RangeError(`no ${order.id}`);
        return 3;
      },
    };
  };
  const count = (to: number) =>
    async function* (from: number) {
      for (let i = from; i <= to; i++) yield { i };
    };

  test("are called with what was recorded, ids carried on; what differs is told", async () => {
    const cassette = await recorded(async (lane) => {
      const port = tapeObject(lane, "shop", shop(1));
      const order = await port.order("pen");
      await port.price(order);
      for await (const _ of tapeFunction(lane, "count", count(3))(1));
    });
    const of = (first: number, to: number) => {
      const { order, price } = shop(first);
      return functionTarget({ "shop.order": order, "shop.price": price, count: count(to) });
    };
    expect(await drive(cassette, of(40, 3))).toMatchObject({
      ok: true,
      differences: [],
      links: { order_1: "order_40" },
    });
    const longer = await drive(cassette, of(40, 4));
    expect(longer.differences).toMatchObject([{ track: "t3", tier: "events", path: "/events/3" }]);
    const missing = await drive(cassette, functionTarget({ count: count(3) }));
    expect(missing.tracks[0]).toMatchObject({ outcome: "skipped", reason: "there is no function shop.order" });
  });
});

describe("an agent", () => {
  const session = async (mock: ReturnType<typeof createMockAgentTransport>): Promise<void> => {
    const client = createAgentClient(mock);
    const thread = client.thread("thread-1");
    const stop = new AbortController();
    const watched = (async () => {
      for await (const _ of thread.watch({ signal: stop.signal }));
    })();
    await (await thread.send("Hello")).waitUntilIdle();
    await (await thread.send("And?")).waitUntilIdle();
    await client.files.upload({ filename: "a.txt", mediaType: "text/plain", body: new Blob(["text"]) });
    stop.abort();
    await watched;
  };
  const mockOf = (text = "More.") => {
    const mock = createMockAgentTransport();
    mock.responses.queue((r) => r.assistant([r.text("Hi there.")]));
    mock.responses.queue((r) => r.assistant([r.text(text), r.tool("look").result({ input: { a: 1 }, output: [1] })]));
    return mock;
  };

  test("gets the recorded actions, reads and watches", async () => {
    const cassette = await recorded((lane) => session(createRecordingAgentTransport(mockOf(), lane as never) as never));
    const same = await drive(cassette, agentTarget(mockOf()));
    expect(same.differences).toEqual([]);
    expect(same.ok).toBe(true);
    const other = await drive(cassette, agentTarget(mockOf("Less.")), { failOn: ["value"] });
    expect(other.ok).toBe(false);
    expect(other.differences.some(({ recorded: was, live }) => was === "More." && live === "Less.")).toBe(true);
  });
});

const path = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

describe("a program", () => {
  test("is started anew and gets what the recorded one got, piece by piece", async () => {
    const cassette = await recorded(async (lane) => {
      const child = tapeSpawn(lane, spawn)(process.execPath, [path("process/tape-echo.mjs")]);
      const lines: string[] = [];
      child.stdout.on("data", (data: Buffer) => lines.push(String(data)));
      await once(child.stdout, "data");
      child.stdin.write("hello\n");
      await once(child.stdout, "data");
      child.stdin.write("err oh\nbye\n");
      await once(child, "close");
    });
    expect(await drive(cassette, processTarget())).toMatchObject({ ok: true, differences: [] });
    const edited = structuredClone(cassette) as unknown as {
      tracks: { frames: { from: string; text?: string }[]; close: { code: number } }[];
    };
    const heard = edited.tracks[0]!.frames.find(({ text }) => text?.startsWith("HELLO"))!;
    heard.text = "HALLO\n";
    edited.tracks[0]!.close.code = 7;
    const report = await drive(edited as never, processTarget(), { failOn: ["value"] });
    expect(report.differences.map(({ path: at, live }) => [at, live])).toEqual(
      expect.arrayContaining([
        ["/events/1/stdout", "HELLO"],
        ["/close/code", 3],
      ]),
    );
  });
});

describe("an MCP server", () => {
  const transport = () =>
    new StdioClientTransport({ command: process.execPath, args: ["--import", "tsx", path("mcp/stdio-v1.ts")] });

  test("gets the client's messages, its own requests answered under the ids of this time", async () => {
    const cassette = await recorded(async (lane) => {
      const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "Ada" } }));
      await client.connect(tapeMcp(lane, transport) as never);
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(0);
      await client.ping();
      await client.close();
    });
    const report = await drive(cassette, mcpTarget(transport));
    expect(report.differences).toEqual([]);
    expect(report.ok).toBe(true);
    const renamed = JSON.parse(JSON.stringify(cassette).replaceAll('"inputSchema"', '"schemaOfInput"')) as Cassette;
    const { differences } = await drive(renamed, mcpTarget(transport));
    expect(differences[0]).toMatchObject({ tier: "removed", path: expect.stringContaining("schemaOfInput") });
  });
});
