import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { generateText } from "ai";
import { describe, expect, test, vi } from "vitest";
import { createMockAgentClient } from "../src/agent/mock.ts";
import { FakeMcpTransport } from "../src/boundary/mcp/fake-mcp-transport.ts";
import { scriptedModel } from "../src/boundary/model/scripted-model.ts";
import { OptionInvalid } from "../src/errors.ts";
import type { FlatEvent } from "../src/pattern.ts";
import { createTraceLog, readScriptGate } from "../src/trace-gate.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a gate", () => {
  test("opens with what is logged, has been logged, or lies in another trace", async () => {
    const other: FlatEvent[] = [];
    const log = createTraceLog({ trace: other }, "it");
    const gate = readScriptGate({ kind: "call", op: "^go" }, "it");
    const order: string[] = [];
    const opened = log.opened(gate).then(() => order.push("open"));
    log.log({ kind: "call", op: "stop" });
    await later(10);
    order.push("other");
    other.push({ kind: "call", op: "going" });
    await opened;
    await log.opened(gate);
    expect(order).toEqual(["other", "open"]);
    expect(log.isOpen(readScriptGate("start", "it"))).toBe(true);
  });

  test("gives up with its signal", async () => {
    const log = createTraceLog(undefined, "it");
    const gate = readScriptGate({ op: "never" }, "it");
    await expect(log.opened(gate, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    const stop = new AbortController();
    const waiting = log.opened(gate, stop.signal);
    stop.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
  });

  test("without a trace is open at once, with one warning", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const log = createTraceLog(false, "it");
    const gate = readScriptGate({ op: "never" }, "it");
    expect([log.isOpen(gate), log.isOpen(gate)]).toEqual([true, true]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^it waits for \{"op":"never"\}.*goes on at once/);
    warn.mockRestore();
  });

  test("that is none, and a trace that is none, are told", () => {
    expect(() => readScriptGate({ op: "(" }, "turn 2")).toThrow(/turn 2: after .*no regular expression/);
    expect(() => readScriptGate("begin" as never, "turn 2")).toThrow(/turn 2: after is "start" or a pattern/);
    expect(() => createTraceLog({} as never, "it")).toThrow(OptionInvalid);
    expect(() => createTraceLog(7 as never, "it")).toThrow(/trace is a deck/);
  });
});

describe("a queued response of the mock", () => {
  test("is held until what it waits for has been asked; what stands behind it waits too", async () => {
    const mock = createMockAgentClient();
    mock.responses.queue((r) => r.assistant([r.text("After the rename.")]), {
      after: { kind: "call", op: "renameThread", thread: "^t$" },
    });
    mock.responses.queue((r) => r.assistant([r.text("Second.")]));
    const thread = mock.client.thread("t");
    const run = await thread.send("Hello");
    await later(10);
    expect([mock.responses.size(), mock.inspect.thread("t")?.activeRunId]).toEqual([2, run.runId]);
    await thread.rename("Named");
    const state = await run.waitUntilIdle();
    expect(state.messages.at(-1)?.parts).toMatchObject([{ type: "step-start" }, { text: "After the rename." }]);
    expect(mock.trace.map(({ op }) => op)).toContain("renameThread");
    await (await thread.send("And?")).waitUntilIdle();
    expect(mock.responses.size()).toBe(0);
  });

  test("may wait for what happens elsewhere, streamed ones too", async () => {
    const trace: FlatEvent[] = [];
    const mock = createMockAgentClient({ trace });
    const response = mock.responses.stream({ after: { kind: "frame", type: "ready" } });
    const run = await mock.client.thread("t").send("Hello");
    let started = false;
    void response.waitUntilStarted().then(() => (started = true));
    await later(10);
    expect(started).toBe(false);
    trace.push({ kind: "frame", type: "ready" });
    await response.waitUntilStarted();
    await response.complete();
    await run.waitUntilIdle();
  });

  test("with a wrong gate is refused when it is queued", () => {
    const mock = createMockAgentClient();
    expect(() => mock.responses.stream({ after: { op: "[" } })).toThrow(
      /responses.stream\(\): after .*no regular expression/,
    );
    expect(() => mock.responses.queue((r) => r.assistant([]), { afer: 1 } as never)).toThrow(/no option "afer"/);
  });
});

test("a scripted model's turn waits for another double's trace", async () => {
  const wire = new FakeMcpTransport().script("ping", { result: {} });
  await wire.start();
  wire.onmessage = () => undefined;
  const model = scriptedModel([{ text: "first", after: { kind: "call", op: "^ping$" } }, "second"], { trace: wire });
  let done = false;
  const asked = generateText({ model: model as never, prompt: "Say." }).then((result) => {
    done = true;
    return result.text;
  });
  await later(15);
  expect(done).toBe(false);
  await wire.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await asked).toBe("first");
  expect((await generateText({ model: model as never, prompt: "Say." })).text).toBe("second");
  expect(model.trace).toHaveLength(2);
  expect(() => scriptedModel([{ text: "x", after: { op: "(" } }])).toThrow(/Turn 1/);
});

test("an MCP answer waits for a notification of the client's", async () => {
  const wire = new FakeMcpTransport()
    .script("initialize", {
      result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "fake", version: "1" } },
    })
    .script("ping", { result: {}, after: { op: "roots/list_changed$" } });
  const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: { listChanged: true } } });
  await client.connect(wire as never);
  let ponged = false;
  const ping = client.ping().then(() => (ponged = true));
  await later(10);
  expect(ponged).toBe(false);
  await client.sendRootsListChanged();
  await ping;
  expect(() => wire.script("ping", { result: {}, after: "soon" as never })).toThrow(/after is "start"/);
});
