import fc from "fast-check";
import { expect, test } from "vitest";
import { createDeck, memoryStore, tapeFetch } from "wiretape";
import { createHttpAgentTransport } from "../../../src/agent/http.ts";
import { serveAgentTransport } from "../../../src/agent/server.ts";
import { agentErrorToStored, storedToAgentError } from "../../../src/boundary/agent/agent-error.ts";
import { createRecordingAgentTransport } from "../../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../../src/boundary/agent/replay.ts";
import { rawServer } from "../../support/raw-server.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import type { Transport } from "./agent-session.ts";
import { scriptedAgent } from "./scripted-agent.ts";

/** What a system's error says in its message as well. */
const SYSTEM = ["errno", "syscall", "address", "port"];

/** Everything by which a program can tell an error, its causes as well. */
function told(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, cause } = error;
  const own = Object.fromEntries(Object.entries(error).filter(([key]) => !SYSTEM.includes(key)));
  return { name, message, own, text: String(error), hasCause: "cause" in error, cause: told(cause) };
}

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => told(error),
  );

async function drained(transport: Transport, threadId: string): Promise<void> {
  for await (const _ of transport.watchThread(threadId));
}

/** The same failures again, the servers gone. */
async function twice(
  program: (transport: (url: string) => Transport) => Promise<unknown[]>,
  close: () => Promise<unknown>,
): Promise<{ readonly seen: unknown[]; readonly text: string }> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record" });
  const seen = await program((baseUrl) =>
    createRecordingAgentTransport(createHttpAgentTransport({ baseUrl }), recorder),
  );
  await recorder.finish();
  await close();
  const player = await createDeck({ store, mode: "replay" });
  const again = await program(() => createReplayAgentTransport(player) as unknown as Transport);
  await player.finish();
  expect(again).toEqual(seen);
  return { seen, text: await textIn(store) };
}

test("what a served agent refuses with is the same error in a replay: status, code, name, message", async () => {
  const refuse = (facts: object, message = "No."): never => {
    throw Object.assign(new Error(message), facts);
  };
  const served = await serveAgentTransport(
    scriptedAgent({
      executeCommand: async ({ name }) =>
        ({
          gone: () => refuse({ status: 410, code: "gone" }),
          busy: () => refuse({ status: 429, code: 7 }),
          plain: () => refuse({}, "Broken."),
          named: () => refuse({ status: 403, name: "Forbidden" }),
        })[name as "gone"](),
      watchThread: async function* () {
        yield { type: "state.changed" };
        refuse({ status: 503, code: "draining" });
      },
    }),
  );
  const { seen, text } = await twice(
    async (at) => {
      const transport = at(served.url);
      const errors: unknown[] = [];
      for (const name of ["gone", "busy", "plain", "named"])
        errors.push(await failure(transport.executeCommand({ threadId: "t", name, input: null })));
      errors.push(await failure(drained(transport, "t")));
      return errors;
    },
    () => served.close(),
  );
  expect(seen).toMatchObject([
    { own: { status: 410, code: "gone" }, hasCause: false },
    { own: { status: 429, code: 7 } },
    { own: { status: 500 }, message: "Broken." },
    { own: { status: 403 }, name: "Forbidden" },
    { own: { status: 503, code: "draining" } },
  ]);
  expect(text).toContain('"cause": { "name": "HttpStatus", "message": "HTTP 410", "code": 410 }');
});

test("what was no agent server, and no answer, is the same error too", async () => {
  const answers = [
    "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n<html>",
    "HTTP/1.1 401 Who\r\nconnection: close\r\n\r\n",
  ];
  const odd = await rawServer(() => [answers.shift() ?? "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello"]);
  const nobody = await rawServer(() => []);
  await nobody.close();
  const { seen } = await twice(
    async (at) => {
      const [transport, away] = [at(odd.url), at(nobody.url)];
      return [
        await failure(transport.getManifest()),
        await failure(drained(transport, "t")),
        await failure(transport.listThreads()),
        await failure(away.getThreadState("t")),
      ];
    },
    () => odd.close(),
  );
  expect(seen).toMatchObject([
    { own: { status: 404 } },
    { own: { status: 401 } },
    { own: { status: 200 } },
    { own: {}, hasCause: true, cause: { message: "fetch failed", cause: { own: { code: "ECONNREFUSED" } } } },
  ]);
});

test("and over a recorded wire", async () => {
  const served = await serveAgentTransport(
    scriptedAgent({ getThreadState: () => Promise.reject(Object.assign(new Error("No."), { status: 409 })) }),
  );
  const store = memoryStore();
  const run = async (mode: "record" | "replay"): Promise<unknown> => {
    const deck = await createDeck({ store, mode });
    const transport = createHttpAgentTransport({ baseUrl: served.url, fetch: tapeFetch(deck) });
    const error = await failure(transport.getThreadState("t"));
    await deck.finish();
    return error;
  };
  const seen = await run("record");
  await served.close();
  expect(await run("replay")).toEqual(seen);
  expect(seen).toMatchObject({ own: { status: 409 } });
});

test("any error goes there and back", () => {
  const code = fc.option(fc.oneof(fc.string(), fc.integer()), { nil: undefined });
  const status = fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined });
  const link = fc.record({ name: fc.constantFrom("Error", "TypeError", "Own"), message: fc.string(), code, status });
  fc.assert(
    fc.property(fc.array(link, { minLength: 1, maxLength: 4 }), (links) => {
      const error = links.reduceRight<Error | undefined>((cause, { name, message, code, status }, index) => {
        const made = new (name === "TypeError" ? TypeError : Error)(message, cause === undefined ? {} : { cause });
        if (name === "Own") Object.defineProperty(made, "name", { value: name });
        // Of causes only what every error has is kept.
        return Object.assign(
          made,
          code === undefined ? {} : { code },
          status === undefined || index > 0 ? {} : { status },
        );
      }, undefined);
      const stored = JSON.parse(JSON.stringify(agentErrorToStored(error)));
      expect(told(storedToAgentError(stored))).toEqual(told(error));
    }),
  );
});
