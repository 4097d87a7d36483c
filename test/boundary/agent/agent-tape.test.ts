import { expect, test } from "vitest";
import { createDeck, type Deck, memoryStore, parseCassette } from "wiretape";
import { createRecordingAgentTransport } from "../../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../../src/boundary/agent/replay.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import { bytesOf, outcome, readWatch, startBackend, type Transport } from "./agent-session.ts";

/** Runs a program over a recorded transport and over its replay, with the server gone; both must see the same. */
async function twice<S>(
  program: (transport: Transport, deck: Deck) => Promise<S>,
  prepare: (backend: Awaited<ReturnType<typeof startBackend>>) => void = () => undefined,
) {
  const store = memoryStore();
  const backend = await startBackend();
  prepare(backend);
  const recorder = await createDeck({ store, mode: "record" });
  const seen = await program(createRecordingAgentTransport(backend.http, recorder), recorder);
  await recorder.finish();
  await backend.served.close();
  const text = await textIn(store);
  const player = await createDeck({ store, mode: "replay" });
  const replay = createReplayAgentTransport<never>(player) as unknown as Transport;
  expect(await program(replay, player)).toEqual(seen);
  await player.finish();
  return { seen, text, cassette: parseCassette(text), store };
}

test("a send and its watch: the events are the same bytes, the results the same values", async () => {
  const { cassette, text } = await twice(
    async (transport) => {
      const watch = readWatch(transport, "a");
      await watch.seen("snapshot");
      const run = await transport.send({ threadId: "a", text: "Hello" });
      await watch.seen("generation.completed");
      return { run, texts: watch.texts, ended: await watch.leave() };
    },
    ({ mock }) => mock.responses.queue((r) => r.assistant([r.text("Done.")])),
  );
  expect(cassette.vars).toEqual({ "agent.supports": expect.objectContaining({ watch: true }) });
  expect(cassette.tracks.map(({ kind }) => kind)).toEqual(["agent", "agent"]);
  expect(text).toContain('"call": { "name": "send", "thread": "a", "input": { "text": "Hello" } }');
  expect(text).toMatch(/"after": "t2", "json": \{ "type": "thread.head.changed"/);
  expect(text).toContain('"by": "client"');
});

test("files, commands, lists and failures come back as they were", async () => {
  const { text } = await twice(
    async (transport) => {
      const binary = new Blob([Uint8Array.of(0, 255, 10, 13)], { type: "application/pdf" });
      const uploaded = await transport.uploadFile({ filename: "a.pdf", mediaType: "application/pdf", body: binary });
      const notes = await transport.uploadFile({
        filename: "notes.txt",
        mediaType: "text/plain",
        body: new Blob(["Grüße\n"], { type: "text/plain" }),
      });
      const read = await transport.readFile(uploaded.fileId);
      return {
        uploaded,
        notes,
        read: { ...read, type: read.body.type, body: await bytesOf(read.body) },
        url: await transport.createFileUrl(uploaded.fileId),
        missing: await outcome(transport.readFile("nobody")),
        command: await outcome(
          transport.executeCommand({ threadId: "a", name: "refreshJobBrief", input: { jobBriefId: "1" } }),
        ),
        unknown: await outcome(transport.executeCommand({ threadId: "a", name: "nobody", input: null })),
        manifest: await transport.getManifest(),
        list: await transport.listThreads(),
        state: await transport.getThreadState("a"),
      };
    },
    ({ mock }) => mock.commands.set("refreshJobBrief", ({ input }) => ({ ...input, status: "evaluating" })),
  );
  expect(text).toContain('"body": { "type": "application/pdf", "bytes": { "$bytes": "AP8KDQ==" } }');
  expect(text).toContain('"text": "Grüße\\n"');
});
