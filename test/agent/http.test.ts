import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { agentRoutes, matchRoute, routeNames, routePath } from "../../src/agent/routes.ts";
import { type ServeAgentOptions, serveAgentTransport } from "../../src/agent/server.ts";
import { rawEventText } from "../../src/agent/sse-events.ts";
import { OptionInvalid } from "../../src/errors.ts";
import { headOf, memoryTransport } from "./memory-transport.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function served(options: ServeAgentOptions = {}, supports = {}) {
  const memory = memoryTransport(supports);
  const server = await serveAgentTransport(memory, options);
  closing.push(server.close);
  return { memory, server, transport: createHttpAgentTransport({ baseUrl: server.url }) };
}

/** Waits until something is so; fails the test's own limit otherwise. */
async function until(so: () => boolean): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe("every route", () => {
  test("actions carry their input and give back what the transport gave", async () => {
    const { memory, transport } = await served();
    const input = { threadId: "t", text: "Grüße 🎈", id: "m1", fileIds: ["f"], metadata: { rating: null }, further: 1 };
    expect(await transport.send(input)).toEqual({
      threadId: "t",
      runId: "run_1",
      messageId: "message_1",
      status: "running",
      version: { threadInstanceId: "instance_1", revision: 1 },
    });
    expect(await transport.retry({ threadId: "t" })).toMatchObject({ runId: "run_2" });
    await transport.retry({ threadId: "t", runId: "r" });
    await transport.regenerate({ threadId: "t", messageId: "m" });
    await transport.submitAction({ threadId: "t", actionId: "a", output: { approved: true } });
    expect(await transport.submitAction({ threadId: "t", actionId: "a", output: undefined })).toEqual({});
    expect(await transport.submitAction({ threadId: "t", actionId: "a", output: null })).toHaveProperty("run.runId");
    const shown = { threadId: "t", runId: "r", messageId: "m", toolCallId: "c", name: "progress" };
    expect(await transport.writeToolData({ ...shown, data: { percent: 50 }, id: "current", transient: true })).toBe(
      undefined,
    );
    expect(memory.calls).toEqual([
      ["send", input],
      ["retry", { threadId: "t" }],
      ["retry", { threadId: "t", runId: "r" }],
      ["regenerate", { threadId: "t", messageId: "m" }],
      ["submitAction", { threadId: "t", actionId: "a", output: { approved: true } }],
      ["submitAction", { threadId: "t", actionId: "a", output: undefined }],
      ["submitAction", { threadId: "t", actionId: "a", output: null }],
      ["writeToolData", { ...shown, data: { percent: 50 }, id: "current", transient: true }],
    ]);
  });

  test("reads, renames, deletes and commands", async () => {
    const { memory, transport } = await served();
    expect(await transport.getThreadState("t")).toEqual(await memoryTransport().getThreadState("t"));
    expect(await transport.listThreads()).toEqual([headOf("a"), headOf("b", "Bee")]);
    expect(await transport.getManifest()).toEqual(await memoryTransport().getManifest());
    expect(await transport.renameThread({ threadId: "t", title: "New" })).toEqual(headOf("t", "New"));
    expect(await transport.deleteThread("t")).toBe(undefined);
    for (const input of [undefined, null, 0, "", [1], { a: "b" }])
      expect(await transport.executeCommand({ threadId: "t", name: "double", input })).toEqual({
        name: "double",
        ...(input !== undefined && { input }),
      });
    expect(await transport.executeCommand({ threadId: "t", name: "nothing", input: 1 })).toBe(undefined);
    expect(memory.calls.slice(3, 6)).toEqual([
      ["renameThread", { threadId: "t", title: "New" }],
      ["deleteThread", "t"],
      ["executeCommand", { threadId: "t", name: "double", input: undefined }],
    ]);
  });

  test("files survive byte for byte, with their names", async () => {
    const { memory, transport } = await served();
    const all = new Uint8Array(70_000).map((_, i) => (i * 7919) >> 3);
    const filename = 'Ünï "quoted" ; 日本.pdf';
    const metadata = { page: 1, note: "% & = + é" };
    const file = await transport.uploadFile({
      filename,
      mediaType: "application/pdf",
      body: new Blob([all]),
      metadata,
    });
    expect(file).toEqual({ fileId: "file_1", filename, mediaType: "application/pdf", size: 70_000, metadata });
    const read = await transport.readFile("file_1");
    expect(read.file).toEqual(file);
    expect(Buffer.from(await read.body.arrayBuffer()).equals(all)).toBe(true);
    expect(read.body.type).toBe("application/pdf");
    expect(await transport.createFileUrl("file_1")).toBe("memory:file_1");
    expect(await transport.createFileUrl("none")).toBe(null);

    const empty = await transport.uploadFile({ filename: "", mediaType: "x y\r\nz: 1", body: new Blob([]) });
    expect(empty).toEqual({ fileId: "file_2", filename: "", mediaType: "x y\r\nz: 1", size: 0 });
    expect((await transport.readFile("file_2")).file).toEqual(empty);
    expect(memory.calls[0]).toEqual(["uploadFile", { filename, mediaType: "application/pdf", metadata }]);
  });

  test("a file's record that cannot cross is refused on either side", async () => {
    const { memory, transport } = await served();
    const metadata = { long: "x".repeat(13_000) };
    const upload = { filename: "n", mediaType: "text/plain", body: new Blob(["x"]), metadata };
    await expect(transport.uploadFile(upload)).rejects.toThrow(/take 13\d\d\d bytes; 12288 cross HTTP/);
    await memory.uploadFile(upload);
    await expect(transport.readFile("file_1")).rejects.toThrow(/record of file "file_1" takes 13\d\d\d bytes/);
  });

  test("watches of a thread and of the heads", async () => {
    const { memory, transport } = await served();
    const watch = transport.watchThread("t")[Symbol.asyncIterator]();
    expect((await watch.next()).value).toEqual({ type: "snapshot", state: await memory.getThreadState("t") });
    const odd = { type: "future.event", text: "line\nline\r\u2028 🎈", nested: [{ a: null }] };
    memory.push("t", odd);
    const got = (await watch.next()).value;
    expect(got).toEqual(odd);
    expect(rawEventText(got as object)).toBe(JSON.stringify(odd));
    memory.endWatches("t");
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(await watch.next()).toEqual({ done: true, value: undefined });

    const bare = transport.watchThread("t", { includeInitial: false })[Symbol.asyncIterator]();
    const first = bare.next();
    await until(() => memory.watchers === 1);
    memory.push("t", { type: "state.changed" });
    expect((await first).value).toEqual({ type: "state.changed" });
    await bare.return?.();

    const heads = transport.watchThreadHeads()[Symbol.asyncIterator]();
    expect((await heads.next()).value).toEqual({ type: "snapshot", heads: [headOf("a"), headOf("b")] });
    memory.pushHead({ type: "thread.head.changed", reason: "attributes", head: headOf("a", "A") });
    expect((await heads.next()).value).toMatchObject({ reason: "attributes" });
    await heads.return?.();
    expect(memory.calls.filter(([name]) => name.startsWith("watch"))).toEqual([
      ["watchThread", "t", undefined],
      ["watchThread", "t", false],
      ["watchThreadHeads"],
    ]);
  });

  test("what the served transport supports crosses, and the rest is refused", async () => {
    const { transport, memory } = await served({}, { files: false, watch: false, heads: false, regeneration: false });
    expect(transport.supports.files).toBe(true);
    const supports = { watch: false, heads: false, files: false, commands: true, regeneration: false };
    expect(await transport.readSupports()).toEqual(supports);
    expect(transport.supports).toEqual(supports);
    const refused = { status: 501, code: "not-supported" };
    await expect(transport.readFile("f")).rejects.toMatchObject(refused);
    await expect(transport.regenerate({ threadId: "t" })).rejects.toMatchObject({
      ...refused,
      message:
        'POST /threads/:threadId/regenerate is not there: the served transport does not support "regeneration" (GET /supports).',
    });
    await expect(transport.watchThread("t")[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    await expect(transport.watchThreadHeads()[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    expect(memory.calls).toEqual([]);
    expect(createHttpAgentTransport({ baseUrl: "http://x", supports: { files: false } }).supports).toEqual({
      watch: true,
      heads: true,
      files: false,
      commands: true,
      regeneration: true,
    });
  });

  test("the table in the documentation is the table", () => {
    const source = readFileSync(join(import.meta.dirname, "../../src/agent/server.ts"), "utf8");
    expect([...source.matchAll(/^ \* \| `([A-Z]+ [^`]+)`/gm)].map(([, name]) => name)).toEqual(routeNames);
  });
});

describe("ids and names", () => {
  const odd = [
    "",
    ".",
    "..",
    "~.",
    "~~..",
    "a/b",
    "a b",
    "%2F",
    "?#&",
    "ü/日本/🎈",
    "../../files",
    "~",
    "a~.",
    "\u0000\n",
    "…",
  ];

  test.each(odd)("%j crosses", async (id) => {
    const { memory, transport } = await served();
    await transport.getThreadState(id);
    await transport.executeCommand({ threadId: id, name: id, input: id });
    expect(memory.calls).toEqual([
      ["getThreadState", id],
      ["executeCommand", { threadId: id, name: id, input: id }],
    ]);
  });

  test("any text has a path of its own that leads back to it", () => {
    const id = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[~.]{0,4}$/), fc.constantFrom(...odd));
    fc.assert(
      fc.property(id, id, (threadId, name) => {
        const path = routePath("executeCommand", { threadId, name });
        expect(new URL(`http://h${path}`).pathname).toBe(path);
        expect(matchRoute("POST", path)).toEqual({ kind: "route", name: "executeCommand", params: { threadId, name } });
      }),
      { numRuns: 1000 },
    );
  });

  test("every route finds itself", () => {
    for (const [name, route] of Object.entries(agentRoutes)) {
      const path = route.path.replace(/:\w+/g, "x");
      expect(matchRoute(route.method, path)).toMatchObject({ kind: "route", name });
    }
  });

  test("what no URL can carry is told", async () => {
    const { transport } = await served();
    await expect(transport.getThreadState("\ud800")).rejects.toThrow(/"threadId" is "\\ud800": half of a surrogate/);
    await expect(transport.getThreadState(undefined as never)).rejects.toThrow(
      '"threadId" must be a text, not undefined.',
    );
  });
});

describe("errors", () => {
  test("cross with name, message and code, and without a stack", async () => {
    const { memory, transport } = await served();
    class QuotaError extends Error {
      override readonly name = "QuotaError";
      readonly code = "quota";
    }
    memory.failNext("send", new QuotaError("Three a day."));
    const error = await transport.send({ threadId: "t", text: "x" }).catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "QuotaError", message: "Three a day.", code: "quota", status: 500 });
    expect(Object.keys(error as Error).sort()).toEqual(["code", "status"]);

    memory.failNext("send", Object.assign(new Error("Busy."), { status: 409, code: 17 }));
    await expect(transport.send({ threadId: "t", text: "x" })).rejects.toMatchObject({
      name: "Error",
      status: 409,
      code: 17,
    });
    memory.failNext("retry", "just a text");
    await expect(transport.retry({ threadId: "t" })).rejects.toMatchObject({ message: "just a text", status: 500 });
    memory.failNext("watchThread", new QuotaError("No more watches."));
    await expect(transport.watchThread("t")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      name: "QuotaError",
    });
  });

  test("a violation of the tape is 599 and must not be asked again", async () => {
    const { memory, server, transport } = await served();
    memory.failNext("send", new OptionInvalid("Wrong."));
    await expect(transport.send({ threadId: "t", text: "x" })).rejects.toMatchObject({
      status: 400,
      code: "option-invalid",
    });
    const { ScriptExhausted } = await import("../../src/errors.ts");
    memory.failNext("getThreadState", new ScriptExhausted("Asked 2, recorded 1."));
    const response = await fetch(`${server.url}/threads/t`);
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([599, "false"]);
    const text = await response.text();
    expect(JSON.parse(text).error).toEqual({
      name: "ScriptExhausted",
      message: "Asked 2, recorded 1.",
      code: "script-exhausted",
      status: 599,
    });
    expect(text).not.toContain("memory-transport");
  });

  test("in the middle of a watch", async () => {
    const { memory, transport } = await served();
    const watch = transport.watchThread("t")[Symbol.asyncIterator]();
    await watch.next();
    memory.endWatches("t", Object.assign(new Error("Access was taken away."), { status: 403, code: "forbidden" }));
    await expect(watch.next()).rejects.toMatchObject({
      message: "Access was taken away.",
      status: 403,
      code: "forbidden",
    });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(memory.watchers).toBe(0);
  });

  test("no server there", async () => {
    const { server, transport } = await served();
    await server.close();
    const error = await transport.listThreads().catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toBe(`GET /threads got no answer from ${server.url}: ECONNREFUSED.`);
    expect((error as Error).cause).toBeInstanceOf(TypeError);
  });
});

describe("options", () => {
  test("are checked", async () => {
    expect(() => createHttpAgentTransport({ baseURL: "x" } as never)).toThrow(
      'createHttpAgentTransport has no option "baseURL". It has baseUrl, fetch, headers, supports, onWarning.',
    );
    for (const baseUrl of [undefined, 1, "http://h/?a=1", "http://h/#x"])
      expect(() => createHttpAgentTransport({ baseUrl } as never)).toThrow(/"baseUrl" must be/);
    const memory = memoryTransport();
    await expect(serveAgentTransport(memory, { prot: 1 } as never)).rejects.toThrow(/no option "prot"/);
    await expect(serveAgentTransport(memory, { port: -1 })).rejects.toThrow(/"port" must be a whole number from 0/);
    await expect(serveAgentTransport(memory, { host: "" })).rejects.toThrow(/"host" must be/);
  });

  test("headers may be a function, asked before each request, and do not displace ours", async () => {
    const seen: Headers[] = [];
    let token = 0;
    const { server } = await served();
    const transport = createHttpAgentTransport({
      baseUrl: new URL(`${server.url}/`),
      headers: async () => ({ Authorization: `Bearer ${++token}`, "Content-Type": "text/plain", Accept: "text/html" }),
      fetch: (input, init) => {
        seen.push(new Headers(init?.headers));
        return fetch(input, init);
      },
    });
    await transport.listThreads();
    await transport.send({ threadId: "t", text: "x" });
    const watch = transport.watchThread("t")[Symbol.asyncIterator]();
    await watch.next();
    await watch.return?.();
    expect(seen.map((headers) => headers.get("authorization"))).toEqual(["Bearer 1", "Bearer 2", "Bearer 3"]);
    expect(seen.map((headers) => headers.get("accept"))).toEqual([
      "application/json",
      "application/json",
      "text/event-stream",
    ]);
    expect(seen[1]?.get("content-type")).toBe("application/json");
    const failing = createHttpAgentTransport({
      baseUrl: server.url,
      headers: () => Promise.reject(new Error("no token")),
    });
    await expect(failing.listThreads()).rejects.toThrow("no token");
    await expect(failing.watchThread("t")[Symbol.asyncIterator]().next()).rejects.toThrow("no token");
  });
});
