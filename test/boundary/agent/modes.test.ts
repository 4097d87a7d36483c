import { describe, expect, test } from "vitest";
import { type CassetteStore, createDeck, memoryStore, OptionInvalid, parseCassette, ScriptExhausted } from "wiretape";
import { createRecordingAgentTransport } from "../../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../../src/boundary/agent/replay.ts";
import { tapeAgent } from "../../../src/boundary/agent/tape-agent.ts";
import type { SupportContract } from "../../agent/support-contract.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import { bytesOf, readWatch, startBackend, type Transport } from "./agent-session.ts";
import { scriptedAgent } from "./scripted-agent.ts";

const never = (): never => {
  throw new Error("a replay made the transport");
};
const listing = (...ids: string[]): Transport =>
  scriptedAgent({
    supports: { watch: true, heads: false, files: false, commands: true, regeneration: false },
    listThreads: async () => ids.map((id) => ({ id }) as never),
  });

describe("tapeAgent goes by the deck's mode", () => {
  test("record, replay, extend, live", async () => {
    const store = memoryStore();
    const made: string[] = [];
    const make = (id: string) => () => {
      made.push(id);
      return listing(id);
    };
    const recorder = await createDeck({ store, mode: "record" });
    const recording = tapeAgent(recorder, make("record"));
    expect(await recording.listThreads()).toEqual([{ id: "record" }]);
    await recorder.finish();

    const player = await createDeck({ store, mode: "replay" });
    const replaying = tapeAgent(player, never);
    expect(replaying.supports).toEqual(recording.supports);
    expect(await replaying.listThreads()).toEqual([{ id: "record" }]);
    await player.finish();

    const extender = await createDeck({ store, mode: "extend" });
    const extending = tapeAgent(extender, make("extend"));
    expect(extending.supports).toEqual(recording.supports);
    expect(await extending.listThreads()).toEqual([{ id: "record" }]);
    expect(made).toEqual(["record"]);
    expect(await extending.listThreads()).toEqual([{ id: "extend" }]);
    expect(await extending.listThreads()).toEqual([{ id: "extend" }]);
    expect(made).toEqual(["record", "extend"]);
    await extender.finish();
    expect(parseCassette(await textIn(store)).tracks).toHaveLength(3);

    const live = await createDeck({ store, mode: "live" });
    const real = listing("live");
    expect(tapeAgent(live, () => real)).toBe(real);
    await live.finish();
  });

  test("a recording transport on a deck that replays answers from the recording", async () => {
    const store = memoryStore();
    const program = async (mode: "record" | "replay", real: Transport) => {
      const deck = await createDeck({ store, mode });
      const list = await createRecordingAgentTransport(real, deck).listThreads();
      await deck.finish();
      return list;
    };
    expect(await program("record", listing("a"))).toEqual(await program("replay", listing("b")));
  });

  test("lanes have tracks of their own, and say what their agents support", async () => {
    const store = memoryStore();
    const program = async (mode: "record" | "replay", make: (id: string) => Transport) => {
      const deck = await createDeck({ store, mode });
      const one = tapeAgent(deck.lane("planner"), () => make("planner"));
      const two = tapeAgent(deck, () => scriptedAgent({ listThreads: async () => [] }));
      const seen = [one.supports, two.supports, await one.listThreads(), await two.listThreads()];
      await deck.finish();
      return seen;
    };
    const seen = await program("record", (id) => listing(id));
    expect(seen[0]).not.toEqual(seen[1]);
    expect(await program("replay", never)).toEqual(seen);
    expect(Object.keys(parseCassette(await textIn(store)).vars ?? {})).toEqual([
      "agent.supports.planner",
      "agent.supports",
    ]);
  });

  test("what a replay is asked for, and cannot be", async () => {
    const recorder = await createDeck({ mode: "record" });
    expect(() => createReplayAgentTransport(recorder)).toThrow(OptionInvalid);
    expect(() => createReplayAgentTransport(recorder)).toThrow(/needs a deck that replays[\s\S]*tapeAgent\(deck/);
    await recorder.finish();
    const player = await createDeck({ cassette: { wiretape: 1, tracks: [] } });
    expect(() => createReplayAgentTransport(player, { read: "world" } as never)).toThrow(/no option "read"/);
    expect(() => createReplayAgentTransport(player, { reads: "live" as never })).toThrow(/"reads" is "recorded" or/);
    expect(createReplayAgentTransport(player).supports).toMatchObject({ watch: true, heads: true });
    await player.finish();
  });
});

test("what cannot be kept fails the call and the recording", async () => {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record" });
  const real = scriptedAgent({ executeCommand: async () => ({ deep: () => 1 }) });
  const taped = createRecordingAgentTransport(real, deck);
  const input = { threadId: "a", name: "x", input: { fn: () => 1 } };
  await expect(taped.executeCommand(input)).rejects.toThrow(/\$\.input\.fn/);
  expect(deck.violations).toEqual([]);
  await expect(taped.executeCommand({ ...input, input: 1 })).rejects.toThrow(/\$\.deep/);
  await expect(deck.finish()).rejects.toThrow(/\$\.deep/);
  expect(await store.read("deck.cassette.json")).toBeUndefined();
});

test("secrets are taken out of what crosses, and a replay finds its way all the same", async () => {
  const store = memoryStore();
  const program = async (transport: Transport, token: string) => {
    const watch = readWatch(transport, "a");
    await watch.seen("snapshot");
    const run = await transport.send({ threadId: "a", text: `use ${token}` });
    await watch.seen("message.appended");
    await watch.leave();
    return run.runId;
  };
  await using backend = await startBackend();
  const recorder = await createDeck({ store, mode: "record" });
  const token = `sk-ant-api03-${"q8Zr".repeat(12)}`;
  const runId = await program(createRecordingAgentTransport(backend.http, recorder), token);
  await recorder.finish();
  expect(await textIn(store)).not.toContain(token);
  const player = await createDeck({ store, mode: "replay" });
  expect(await program(createReplayAgentTransport<SupportContract>(player), token)).toBe(runId);
  await player.finish();
});

describe('reads: "world"', () => {
  async function recorded(): Promise<CassetteStore> {
    const store = memoryStore();
    await using backend = await startBackend();
    backend.mock.responses.queue((r) => r.assistant([r.text("Done.")]));
    const deck = await createDeck({ store, mode: "record" });
    await program(createRecordingAgentTransport(backend.http, deck));
    await deck.finish();
    return store;
  }
  async function program(transport: Transport) {
    const watch = readWatch(transport, "a");
    await watch.seen("snapshot");
    await transport.send({ threadId: "a", text: "Hello" });
    await watch.seen("generation.completed");
    const body = new Blob([Uint8Array.of(1, 2, 255)], { type: "image/png" });
    const file = await transport.uploadFile({ filename: "a.png", mediaType: "image/png", body });
    return { watch, file };
  }

  test("answers reads and watches beyond the recording from what was played; actions stay strict", async () => {
    const deck = await createDeck({ store: await recorded(), mode: "replay" });
    const transport = createReplayAgentTransport<SupportContract>(deck, { reads: "world" });
    expect(await transport.getThreadState("a")).toMatchObject({ messages: [], runs: [] });
    const early = readWatch(transport as unknown as Transport, "a"); // plays the recorded watch
    await early.seen("snapshot");
    const beside = readWatch(transport as unknown as Transport, "a"); // is answered by the world
    await beside.seen("snapshot");
    await transport.send({ threadId: "a", text: "Hello" });
    await Promise.all([early.seen("generation.completed"), beside.seen("generation.completed")]);
    expect(beside.texts.slice(1)).toEqual(early.texts.slice(1));
    const state = await transport.getThreadState("a");
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(transport.inspect.thread("a")).toEqual(state);
    expect((await transport.listThreads()).map(({ id }) => id)).toEqual(["a"]);
    const body = new Blob([Uint8Array.of(1, 2, 255)], { type: "image/png" });
    const file = await transport.uploadFile({ filename: "a.png", mediaType: "image/png", body });
    expect(await bytesOf((await transport.readFile(file.fileId)).body)).toEqual([1, 2, 255]);
    expect(transport.inspect.files()).toEqual([file]);
    expect(transport.inspect.requests.send()).toEqual([{ threadId: "a", text: "Hello" }]);
    await Promise.all([early.leave(), beside.leave()]);
    expect(deck.violations).toEqual([]);
    await expect(transport.send({ threadId: "a", text: "Hello" })).rejects.toBeInstanceOf(ScriptExhausted);
    await expect(transport.getManifest()).rejects.toThrow(/getManifest is past the end|getManifest was never recorded/);
    expect(deck.violations).toHaveLength(2);
    await expect(deck.finish()).rejects.toThrow("2 violations");
  });

  test("a watch in the middle of a generation gets a snapshot, then the generation from its start", async () => {
    const deck = await createDeck({ store: await recorded(), mode: "replay" });
    const transport = createReplayAgentTransport<SupportContract>(deck, { reads: "world" });
    const seen: string[] = [];
    const late: string[] = [];
    const sending = (async () => {
      let sent = false;
      for await (const event of transport.watchThread("a")) {
        seen.push(event.type);
        if (!sent) void transport.send({ threadId: "a", text: "Hello" });
        sent = true;
        if (event.type !== "generation.message.chunk" || event.seq !== 3) continue;
        const items = transport.watchThread("a")[Symbol.asyncIterator]();
        for (let n = 0; n < 5; n++) {
          const step = await items.next();
          const { type, seq } = step.value as { type: string; seq?: number };
          late.push(seq === undefined ? type : `${type} ${seq}`);
        }
        await items.return?.();
        return;
      }
    })();
    await sending;
    expect(late).toEqual([
      "snapshot",
      "generation.started 0",
      "generation.message.chunk 1",
      "generation.message.chunk 2",
      "generation.message.chunk 3",
    ]);
    await deck.finish("failed");
  });

  test("a world that a cassette does not tell enough of is refused, not made up", async () => {
    const track = {
      id: "w",
      kind: "agent",
      call: { name: "watchThread", thread: "a" },
      events: [{ json: { type: "snapshot", state: { messages: [] } } }],
    };
    const deck = await createDeck({ cassette: { wiretape: 1, tracks: [track as never] }, mode: "replay" });
    const transport = createReplayAgentTransport(deck, { reads: "world" });
    for await (const { type } of transport.watchThread("a")) expect(type).toBe("snapshot");
    expect(() => transport.inspect.thread("a")).toThrow(/state of thread a is not known/);
    await expect(transport.getThreadState("a")).rejects.toThrow(/state of thread a is not known/);
    await expect(deck.finish()).rejects.toThrow(/state of thread a is not known/);
  });
});
