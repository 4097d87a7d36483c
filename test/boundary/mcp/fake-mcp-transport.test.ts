import { Client, isJSONRPCRequest, ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { OptionInvalid, ScriptExhausted } from "wiretape";
import { FakeMcpTransport, type FakeMcpTransportOptions, type ScriptedAnswer } from "wiretape/mcp";
import { ledger } from "../../../src/engine/ledger.ts";
import "../../support/settled.ts";

const info = { name: "test", version: "1.0.0" };

const discovered: ScriptedAnswer = {
  result: {
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "fake", version: "1.0.0" } },
  },
};
// The page has `serverInfo: {}`; the SDKs' schema demands a name and a version.
const initialized: ScriptedAnswer = {
  result: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "fake", version: "1.0.0" },
  },
};
const done: ScriptedAnswer = { result: { content: [{ type: "text", text: "done" }] } };
const tools: ScriptedAnswer = { result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } };

const auto = { versionNegotiation: { mode: "auto", probe: { timeoutMs: 30 } } } as const;

async function modern(wire: FakeMcpTransport, options = {}): Promise<Client> {
  wire.script("server/discover", discovered);
  const client = new Client(info, { ...auto, ...options });
  await client.connect(wire);
  return client;
}

async function first(wire: FakeMcpTransport): Promise<ClientV1> {
  wire.script("initialize", initialized);
  const client = new ClientV1(info);
  await client.connect(wire);
  return client;
}

/** A wire whose probe fails as said, and whose handshake answers. */
function legacyWire(probe: ScriptedAnswer, options?: FakeMcpTransportOptions): FakeMcpTransport {
  return new FakeMcpTransport(options).script("server/discover", probe).script("initialize", initialized);
}

async function era(wire: FakeMcpTransport): Promise<string | undefined> {
  const client = new Client(info, auto);
  await client.connect(wire);
  return client.getProtocolEra();
}

describe("the page's examples", () => {
  test("the era probe: modern", async () => {
    const wire = new FakeMcpTransport();
    wire.script("server/discover", {
      result: {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "fake" } },
      },
    });
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(wire);
    expect(client.getProtocolEra()).toBe("modern");
    expect(wire.sentMethods).toEqual(["server/discover"]);
    expect(wire.protocolVersion).toBe("2026-07-28");
    expect(wire.notifiedMethods).toEqual([]);
    expect(wire.unused).toBe(0);
  });

  test("the era probe: legacy", async () => {
    const wire = new FakeMcpTransport();
    wire.script("server/discover", { error: { code: -32601, message: "nope" } });
    wire.script("initialize", initialized);
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(wire);
    expect(client.getProtocolEra()).toBe("legacy");
    expect(wire.sentMethods).toEqual(["server/discover", "initialize"]);
    expect(wire.notifiedMethods).toEqual(["notifications/initialized"]);
  });

  test("multi round-trips, one entry per round", async () => {
    const wire = new FakeMcpTransport();
    const client = await modern(wire, { capabilities: { elicitation: { form: {} } } });
    const asked: unknown[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params);
      return { action: "accept", content: { name: "Ada" } };
    });
    const ask = {
      method: "elicitation/create",
      params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
    };
    wire.script(
      "tools/call",
      { result: { resultType: "input_required", inputRequests: { ask }, requestState: "opaque-blob" } },
      { result: { content: [{ type: "text", text: "done" }] } },
    );
    const answer = await client.callTool({ name: "t", arguments: {} });
    expect(answer.content).toEqual([{ type: "text", text: "done" }]);
    expect(asked).toHaveLength(1);
    const [begun, again] = wire.requestsFor("tools/call");
    expect(again?.params?.requestState).toBe("opaque-blob");
    expect(again?.params?.inputResponses).toEqual({ ask: { action: "accept", content: { name: "Ada" } } });
    expect(again?.id).not.toBe(begun?.id);
  });
});

describe("the era machine, by what the probe meets", () => {
  test.each<[string, ScriptedAnswer]>([
    ["a result without versions", { result: { hello: "there" } }],
    ["versions that are no list", { result: { supportedVersions: "no", capabilities: {} } }],
    ["no version in common", { result: { supportedVersions: ["2030-01-01"], capabilities: {} } }],
    ["no versions at all", { result: { supportedVersions: [], capabilities: {} } }],
    ["-32022 that names the old version alone", unsupported(["2025-11-25"])],
  ])("legacy: %s", async (_, probe) => {
    const wire = legacyWire(probe);
    expect(await era(wire)).toBe("legacy");
    expect(wire.sentMethods).toEqual(["server/discover", "initialize"]);
  });

  test.each<[string, ScriptedAnswer]>([
    ["no answer", { timeout: 5 }],
    ["a result that is null", { raw: null }],
    ["a result that is a string", { raw: "not an object at all" }],
  ])("legacy over stdio: %s", async (_, probe) =>
    expect(await era(legacyWire(probe, { like: "stdio" }))).toBe("legacy"),
  );

  test("modern: -32022 that names a version in common is asked again", async () => {
    const wire = new FakeMcpTransport().script("server/discover", unsupported(["2026-07-28"]), discovered);
    expect(await era(wire)).toBe("modern");
    expect(wire.sentIds).toEqual(["server-discover-probe-1", "server-discover-probe-2"]);
  });

  test("neither: a dead wire says nothing about the era", async () => {
    const gone = new Error("the server is gone");
    const wire = legacyWire({ throw: gone });
    await expect(era(wire)).rejects.toMatchObject({ code: SdkErrorCode.EraNegotiationFailed, cause: gone });
    expect(wire.requestsFor("initialize")).toEqual([]);
    expect(wire.violations).toEqual([]);
  });

  test("neither: a probe that the script does not know is no legacy server", async () => {
    const wire = new FakeMcpTransport().script("initialize", initialized);
    await expect(era(wire)).rejects.toThrow(/FakeMcpTransport has no answer and was asked for answer 1/);
    expect(wire.sentMethods).toEqual(["server/discover"]);
    expect(wire.violations[0]).toBeInstanceOf(ScriptExhausted);
  });
});

function unsupported(supported: readonly string[]): ScriptedAnswer {
  return { error: { code: -32022, message: "Unsupported", data: { supported, requested: "2026-07-28" } } };
}

describe.each([
  ["v1", first],
  ["v2", modern],
] as const)("a %s client", (version, connected) => {
  test("lists and calls", async () => {
    const wire = new FakeMcpTransport().script("tools/list", tools).script("tools/call", done);
    const client = await connected(wire);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["t"]);
    expect((await client.callTool({ name: "t", arguments: { a: 1 } })).content).toEqual([
      { type: "text", text: "done" },
    ]);
    expect(wire.requestsFor("tools/call")[0]?.params).toMatchObject({ name: "t", arguments: { a: 1 } });
    expect(new Set(wire.sentIds).size).toBe(wire.sentIds.length);
    expect(wire.unused).toBe(0);
    await client.close();
    expect(wire.closes).toBe(1);
  });

  test("an error is a JSON-RPC error", async () => {
    const wire = new FakeMcpTransport().script("ping", {
      error: { code: -32002, message: "not here", data: { uri: "x" } },
    });
    wire.script("resources/read", { error: { code: -32603 } });
    const client = await first(wire);
    const failure = await client.ping().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(McpError);
    expect(failure).toMatchObject({ code: -32002, data: { uri: "x" } });
    expect(String(failure)).toContain("not here");
  });

  test("running out is told where it happens and on the ledger, once for each method", async () => {
    const wire = new FakeMcpTransport().script("tools/call", done).script("tools/list", tools);
    const client = await connected(wire);
    await client.listTools();
    await client.callTool({ name: "t" });
    const failure = await client.callTool({ name: "t" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ScriptExhausted);
    expect((failure as Error).message).toMatch(/has 1 answer and was asked for answer 2[\s\S]*tools\/call/);
    await client.callTool({ name: "t" }).catch(() => "swallowed");
    expect(wire.violations).toHaveLength(2);
    const open = (): unknown[] => ledger().entries.filter(({ owner, acknowledged }) => owner === wire && !acknowledged);
    expect(open()).toHaveLength(2);
    wire.expectViolation("script-exhausted");
    expect(open()).toEqual([]);
  });

  test("no answer in time fails as it fails in the client, and takes no time", async () => {
    const wire = new FakeMcpTransport().script("tools/list", { timeout: 30 });
    const client = await connected(wire);
    const failure = await client.listTools().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(version === "v1" ? McpError : SdkError);
    const code = version === "v1" ? ErrorCode.RequestTimeout : SdkErrorCode.RequestTimeout;
    expect(failure).toMatchObject({ code, data: { timeout: 30_000 } });
  });

  test("what is thrown is what the client sees", async () => {
    const gone = new TypeError("gone");
    const client = await connected(new FakeMcpTransport().script("tools/list", { throw: gone }));
    await expect(client.listTools()).rejects.toBe(gone);
  });

  test("notifications come before the answer, in order, progress to its request", async () => {
    const wire = new FakeMcpTransport().script("tools/list", tools).script("tools/call", {
      ...done,
      notify: [
        { method: "notifications/progress", params: { progress: 1 } },
        { method: "notifications/progress", params: { progress: 2, total: 2 } },
      ],
    });
    const client = await connected(wire);
    await client.listTools();
    const seen: unknown[] = [];
    const onprogress = (progress: unknown): unknown => seen.push(progress);
    const answer =
      version === "v1"
        ? await (client as ClientV1).callTool({ name: "t" }, undefined, { onprogress })
        : await (client as Client).callTool({ name: "t" }, { onprogress });
    seen.push(answer.content);
    expect(seen).toEqual([{ progress: 1 }, { progress: 2, total: 2 }, [{ type: "text", text: "done" }]]);
  });

  test("respond answers what was asked, with notifications of its own", async () => {
    const wire = new FakeMcpTransport()
      .script("tools/list", tools)
      .script(
        "tools/call",
        { respond: ({ params }) => ({ result: { content: [{ type: "text", text: `hello ${params?.name}` }] } }) },
        { respond: async () => ({ error: { code: -32000, message: "no" } }) },
        { respond: () => ({ result: {}, raw: 1 }) as never },
      );
    const client = await connected(wire);
    await client.listTools();
    expect((await client.callTool({ name: "t" })).content).toEqual([{ type: "text", text: "hello t" }]);
    await expect(client.callTool({ name: "t" })).rejects.toBeInstanceOf(version === "v1" ? McpError : ProtocolError);
    await expect(client.callTool({ name: "t" })).rejects.toThrow("more than one outcome, result and raw");
    expect(wire.violations.map(({ code }) => code)).toEqual(["option-invalid"]);
  });

  test("cancelled requests are known, and are not answered", async () => {
    const like = version === "v1" ? undefined : "http";
    const wire = new FakeMcpTransport(like === undefined ? {} : { like });
    let answer: (() => void) | undefined;
    wire.script("tools/list", {
      respond: () => new Promise((resolve) => (answer = () => resolve(tools as never))),
    });
    const client = await connected(wire);
    const faults: unknown[] = [];
    client.onerror = (error) => faults.push(error);
    const abort = new AbortController();
    const call = client.listTools({}, { signal: abort.signal });
    await expect.poll(() => wire.sentMethods).toContain("tools/list");
    abort.abort("enough");
    await expect(call).rejects.toThrow(/enough/);
    answer?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(wire.cancellations).toMatchObject([{ requestId: wire.sentIds.at(-1) }]);
    expect(wire.notifiedMethods.includes("notifications/cancelled")).toBe(version === "v1");
    expect(faults).toEqual([]);
  });

  test("a server's own notification reaches the client", async () => {
    const wire = new FakeMcpTransport();
    const client = await connected(wire);
    const seen: unknown[] = [];
    client.fallbackNotificationHandler = async (notification: unknown) => void seen.push(notification);
    wire.emitNotification({ method: "notifications/message", params: { level: "info", data: "hi" } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toMatchObject([{ method: "notifications/message", params: { level: "info", data: "hi" } }]);
  });

  test("a transport that was closed takes no more", async () => {
    const wire = new FakeMcpTransport().script("tools/list", tools);
    const client = await connected(wire);
    let closed = 0;
    client.onclose = () => closed++;
    await wire.close();
    await wire.close();
    expect(closed).toBe(1);
    expect(wire.closes).toBe(2);
    await expect(client.listTools()).rejects.toThrow();
    await expect(wire.send({ jsonrpc: "2.0", id: 9, method: "tools/list" })).rejects.toThrow("was closed");
    expect(wire.unused).toBe(1);
    expect(() => wire.emitNotification({ method: "notifications/message" })).toThrow("no client");
  });
});

test("scriptAny answers any method that has nothing of its own left", async () => {
  const wire = new FakeMcpTransport();
  const client = await first(wire);
  wire.script("tools/list", tools).scriptAny({ result: {} }, { result: { prompts: [] } });
  await client.ping();
  await client.listPrompts();
  await client.listTools();
  expect(wire.unused).toBe(0);
  await expect(client.ping()).rejects.toThrow(/has 1 answer and was asked for answer 2/);
  wire.expectViolation("script-exhausted");
});

test("what is sent and what is answered are copies", async () => {
  const wire = new FakeMcpTransport();
  const result = { tools: [] as unknown[] };
  wire.script("tools/list", { result });
  const params = { cursor: "a", gone: undefined };
  const seen: unknown[] = [];
  wire.onmessage = (message) => {
    seen.push(message);
    (message.result as { tools: unknown[] }).tools.push("scribble");
  };
  await wire.start();
  const sending = wire.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
  params.cursor = "b";
  await sending;
  expect(wire.sent).toEqual([{ jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "a" } }]);
  expect(isJSONRPCRequest(wire.sent[0])).toBe(true);
  expect(result.tools).toEqual([]);
  expect(seen).toEqual([{ jsonrpc: "2.0", id: 1, result: { tools: ["scribble"] } }]);
});

test("each notification and the answer have a turn of their own", async () => {
  const note = { method: "notifications/message", params: {} };
  const wire = new FakeMcpTransport().script("ping", { result: {}, notify: [note, note] });
  const seen: number[] = [];
  let ticks = 0;
  const tick = (): void => {
    ticks++;
    if (seen.length < 3) setImmediate(tick);
  };
  setImmediate(tick);
  wire.onmessage = () => seen.push(ticks);
  await wire.start();
  await wire.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(new Set(seen).size).toBe(3);
});

describe("a script that is wrong fails when it is written", () => {
  test.each<[unknown, string]>([
    [{}, 'Answer 1 of script("tools/list") has no outcome'],
    [{ notify: [] }, "no outcome"],
    [{ result: {}, error: { code: 1 } }, "more than one outcome, result and error"],
    [{ reslut: {} }, 'unknown key "reslut"; did you mean "result"?'],
    [{ result: {}, nofity: [] }, 'unknown key "nofity"; did you mean "notify"?'],
    [{ result: null }, "a result that is null; use raw"],
    [{ result: [] }, "a result that is a list"],
    [{ error: "no" }, "without an integer code"],
    [{ error: { code: 1, mesage: "x" } }, 'unknown key "mesage"; did you mean "message"?'],
    [{ timeout: "5" }, "a number of seconds"],
    [{ timeout: -1 }, "a number of seconds"],
    [{ respond: {} }, "a function"],
    [{ result: {}, notify: {} }, "a list of notifications"],
    [{ result: {}, notify: [{ params: {} }] }, 'notify[0] of Answer 1 of script("tools/list") is no notification'],
    [{ result: {}, notify: [{ method: "x", id: 1 }] }, "is no notification"],
    ["result", "is string result; an answer is an object"],
    [[{ result: {} }], "is a list"],
  ])("%j", (answer, message) => {
    const wire = new FakeMcpTransport();
    expect(() => wire.script("tools/list", answer as ScriptedAnswer)).toThrow(message);
    expect(() => wire.scriptAny(answer as ScriptedAnswer)).toThrow(OptionInvalid);
    expect(wire.unused).toBe(0);
  });

  test("its options too", () => {
    expect(() => new FakeMcpTransport({ like: "tcp" as never })).toThrow(OptionInvalid);
    expect(() => new FakeMcpTransport({ kind: "stdio" } as never)).toThrow(OptionInvalid);
  });
});
