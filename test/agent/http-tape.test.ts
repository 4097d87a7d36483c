import "../support/settled.ts";
import { expect, test } from "vitest";
import { createDeck, memoryStore, ScriptExhausted, tapeFetch } from "wiretape";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
import { serveAgentTransport } from "../../src/agent/server.ts";
import { rawEventText } from "../../src/agent/sse-events.ts";
import type { AgentClientTransport } from "../../src/agent/transport.ts";
import { twice } from "../support/twice.ts";
import { memoryTransport } from "./memory-transport.ts";

const PIXELS = new Uint8Array(5000).map((_, i) => (i * 7919) >> 3);

/** What a call gave, an error as far as a program can tell errors apart. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    const { name, message, code, status } = error as Error & { code?: unknown; status?: unknown };
    return { name, message, code, status };
  }
}

/** Reads a watch until an event of a type has come so often, then leaves it; the texts as they came. */
async function readUntil(transport: AgentClientTransport, type: string, times = 1, begun?: () => void) {
  const texts: (string | undefined)[] = [];
  let left = times;
  for await (const event of transport.watchThread("thread/1")) {
    begun?.();
    texts.push(rawEventText(event));
    if (event.type === type && --left === 0) break;
  }
  return texts;
}

async function session(transport: AgentClientTransport): Promise<unknown> {
  const threadId = "thread/1";
  const seen: unknown[] = [];
  for (const turn of ["One", "Two", "Three"]) {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const type = turn === "Two" ? "generation.failed" : "generation.completed";
    const watch = readUntil(transport, type, 1, begin);
    await begun;
    seen.push(await transport.send({ threadId, text: turn }), await watch);
  }
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const again = readUntil(transport, "generation.completed", 1, begin);
  await begun;
  seen.push(await transport.regenerate({ threadId }), await again);

  const upload = { filename: "日本.png", mediaType: "image/png", body: new Blob([PIXELS]), metadata: { page: 1 } };
  const { fileId } = await transport.uploadFile(upload);
  const { file, body } = await transport.readFile(fileId);
  seen.push(file, [...new Uint8Array(await body.arrayBuffer())], await transport.createFileUrl(fileId));
  seen.push(await transport.executeCommand({ threadId, name: "double", input: { n: 21 } }));
  seen.push(await outcome(transport.executeCommand({ threadId, name: "no such", input: null })));
  seen.push(await outcome(transport.readFile("none")), await outcome(transport.retry({ threadId: "empty" })));
  seen.push(await transport.renameThread({ threadId, title: "New" }), await transport.getThreadState(threadId));
  for await (const event of transport.watchThreadHeads()) {
    seen.push(event, rawEventText(event));
    break;
  }
  seen.push(await transport.listThreads(), await transport.getManifest(), await transport.deleteThread(threadId));
  return seen;
}

async function backend() {
  const mock = createMockAgentTransport();
  mock.commands.set("double", (({ input }: { input: { n: number } }) => ({ n: input.n * 2 })) as never);
  mock.responses.queue((r) => r.assistant([r.text("First, über 日本 🎈.")]));
  mock.responses.queue((r) => r.error(new Error("Provider failed")));
  mock.responses.queue((r) => r.assistant([r.text("Third.")]));
  mock.responses.queue((r) => r.assistant([r.text("Third, anew.")]));
  return serveAgentTransport(mock);
}

test("a session through tapeFetch is played again byte for byte, the server gone", async () => {
  const server = await backend();
  const program = (fetch: typeof globalThis.fetch): Promise<unknown> =>
    session(createHttpAgentTransport({ baseUrl: server.url, fetch }));
  const { recorded, replayed, store } = await twice(program, { gone: server.close });
  expect(JSON.stringify(replayed)).toBe(JSON.stringify(recorded));
  for (const text of ["über 日本 🎈", "Provider failed", "Third, anew.", "日本.png"])
    expect(JSON.stringify(recorded)).toContain(text);
  for (let i = 0; i < 30; i++) {
    const deck = await createDeck({ store, mode: "replay" });
    expect(JSON.stringify(await program(tapeFetch(deck)))).toBe(JSON.stringify(recorded));
    await deck.finish();
  }
});

test("one request too many keeps its class through the transport, a watch's too", async () => {
  const server = await serveAgentTransport(memoryTransport());
  const store = memoryStore();
  const transportOf = (fetch: typeof globalThis.fetch) => createHttpAgentTransport({ baseUrl: server.url, fetch });
  const recorder = await createDeck({ store, mode: "record" });
  const transport = transportOf(tapeFetch(recorder));
  await transport.send({ threadId: "t", text: "x" });
  for await (const _ of transport.watchThread("t")) break;
  await recorder.finish();
  await server.close();

  const deck = await createDeck({ store, mode: "replay" });
  const replayed = transportOf(tapeFetch(deck));
  await replayed.send({ threadId: "t", text: "x" });
  for await (const _ of replayed.watchThread("t")) break;
  await expect(replayed.send({ threadId: "t", text: "x" })).rejects.toBeInstanceOf(ScriptExhausted);
  await expect(replayed.watchThread("t")[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(ScriptExhausted);
  await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
});
