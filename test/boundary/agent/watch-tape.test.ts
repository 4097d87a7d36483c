import { describe, expect, test } from "vitest";
import { type CallTrack, type CassetteStore, createDeck, type Deck, memoryStore, parseCassette } from "wiretape";
import { createRecordingAgentTransport } from "../../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../../src/boundary/agent/replay.ts";
import type { SupportContract } from "../../agent/support-contract.ts";
import "../../support/settled.ts";
import { textIn } from "../../support/twice.ts";
import { readWatch, type Transport, textOf } from "./agent-session.ts";
import { fedWatch, scriptedAgent } from "./scripted-agent.ts";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

async function recording(transport: Transport) {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record" });
  return { store, deck, taped: createRecordingAgentTransport(transport, deck) };
}
async function replaying(store: CassetteStore): Promise<{ deck: Deck; taped: Transport }> {
  const deck = await createDeck({ store, mode: "replay" });
  return { deck, taped: createReplayAgentTransport<SupportContract>(deck) };
}
const tracksOf = async (store: CassetteStore): Promise<CallTrack[]> =>
  parseCassette(await textIn(store)).tracks as CallTrack[];

describe("a recorded watch", () => {
  test("asks for nothing that the program did not ask for", async () => {
    const fed = fedWatch();
    const { deck, taped } = await recording(scriptedAgent({ watchThread: fed.watchThread }));
    const items = taped.watchThread("a")[Symbol.asyncIterator]();
    for (const n of [1, 2, 3]) fed.give(`{"type":"state.changed","n":${n}}`);
    await turn();
    expect(fed.pulled).toBe(0);
    await items.next();
    await turn();
    expect(fed.pulled).toBe(1);
    await items.return?.();
    await deck.finish();
    expect(deck.cassette?.tracks).toMatchObject([{ events: [{}] }]);
  });

  test("that the program leaves while an event is awaited ends at once, below as well, by the client", async () => {
    for (const how of ["return", "abort"] as const) {
      const fed = fedWatch();
      const { deck, taped, store } = await recording(scriptedAgent({ watchThread: fed.watchThread }));
      const leaving = new AbortController();
      const program = async (transport: Transport, give: () => void) => {
        const own = new AbortController();
        const signal = how === "abort" ? own.signal : leaving.signal;
        const items = transport.watchThread("a", { signal })[Symbol.asyncIterator]();
        give();
        const first = await items.next();
        const pending = items.next();
        await turn();
        if (how === "abort") own.abort();
        else await items.return?.();
        return [first, await pending, await items.next()];
      };
      const seen = await program(taped, () => fed.give('{"type":"state.changed"}'));
      expect(seen.slice(1)).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      expect([fed.signal?.aborted, fed.returned]).toEqual([true, 1]);
      fed.give('{"type":"state.changed","late":true}');
      await turn();
      await deck.finish();
      const [track] = await tracksOf(store);
      expect(track?.end).toEqual({ at: expect.any(Number), by: "client" });
      expect(track?.events).toHaveLength(1);
      const replay = await replaying(store);
      expect(await program(replay.taped, () => undefined)).toEqual(seen);
      await replay.deck.finish();
    }
  });

  test("that is still open at the end of the deck ends there, and stays open in a replay", async () => {
    const fed = fedWatch();
    const { deck, taped, store } = await recording(scriptedAgent({ watchThread: fed.watchThread }));
    const watch = readWatch(taped, "a");
    fed.give('{"type":"state.changed"}');
    await watch.seen("state.changed");
    await deck.finish();
    const replay = await replaying(store);
    const again = readWatch(replay.taped, "a");
    await again.seen("state.changed");
    expect(await Promise.race([again.ended, turn().then(() => "open")])).toBe("open");
    await replay.deck.finish();
    await again.leave();
  });

  test("that breaks, or that the backend closes, does so again, behind the action that made it", async () => {
    for (const ending of ["broken", "closed"] as const) {
      const fed = fedWatch();
      const real = scriptedAgent({
        watchThread: fed.watchThread,
        deleteThread: async () => {
          if (ending === "broken") fed.fail(Object.assign(new TypeError("terminated"), { code: "E_BROKEN" }));
          else fed.end();
        },
      });
      const { deck, taped, store } = await recording(real);
      const program = async (transport: Transport) => {
        const watch = readWatch(transport, "a");
        await watch.seen("state.changed");
        const early = await Promise.race([watch.ended, turn().then(() => "open")]);
        await transport.deleteThread("a");
        const ended = await watch.ended;
        return [early, ended instanceof Error ? [ended.name, ended.message, (ended as { code?: string }).code] : ended];
      };
      fed.give('{"type":"state.changed"}');
      const seen = await program(taped);
      expect(seen).toEqual(["open", ending === "broken" ? ["TypeError", "terminated", "E_BROKEN"] : "ended"]);
      await deck.finish();
      const [track] = await tracksOf(store);
      expect((ending === "broken" ? track?.end : track?.result)?.after).toBe("t2");
      const replay = await replaying(store);
      expect(await program(replay.taped)).toEqual(seen);
      await replay.deck.finish();
    }
  });

  test("of an aborted signal is nothing: no request, no track, no event", async () => {
    const { deck, taped } = await recording(scriptedAgent());
    for await (const _ of taped.watchThread("a", { signal: AbortSignal.abort() })) expect.fail("an event");
    await deck.finish();
    expect(deck.cassette?.tracks).toEqual([]);
  });
});

describe("events", () => {
  const texts = [
    '{"type":"state.changed"}',
    '{ "type": "state.changed", "n": 1.0 }',
    '{"type":"state.changed","n":12345678901234567890,"e":1e-7}',
    '{"n":1,"n":2,"type":"state.changed"}',
    '{"type":"state.changed","text":"\\u00e9 \\/ ü \\ud83d\\ude00"}',
    '{\n  "type": "state.changed"\n}',
    '{"type":"from the future","__proto__":{"a":1}}',
  ];

  test("keep their exact text, whatever its style", async () => {
    const fed = fedWatch();
    const { deck, taped, store } = await recording(scriptedAgent({ watchThread: fed.watchThread }));
    const program = async (transport: Transport): Promise<string[]> => {
      const seen: string[] = [];
      for await (const one of transport.watchThread("a")) seen.push(textOf(one));
      return seen;
    };
    for (const text of texts) fed.give(text);
    fed.end();
    expect(await program(taped)).toEqual(texts);
    await deck.finish();
    const [track] = await tracksOf(store);
    expect(track?.events?.[0]).toMatchObject({ json: { type: "state.changed" } });
    const replay = await replaying(store);
    expect(await program(replay.taped)).toEqual(texts);
    await replay.deck.finish();
  });

  test("without a text are printed", async () => {
    const real = scriptedAgent({
      async *watchThread() {
        yield { type: "state.changed" } as const;
      },
    });
    const { deck, taped } = await recording(real);
    for await (const one of taped.watchThread("a")) expect(one).toEqual({ type: "state.changed" });
    await deck.finish();
    expect(deck.cassette?.tracks).toMatchObject([{ events: [{ json: { type: "state.changed" } }] }]);
  });

  test("that a program changes are played as they were", async () => {
    const fed = fedWatch();
    const { deck, taped, store } = await recording(scriptedAgent({ watchThread: fed.watchThread }));
    fed.give('{"type":"state.changed","list":[1]}');
    fed.end();
    for await (const one of taped.watchThread("a")) (one as unknown as { list: number[] }).list.push(2);
    await deck.finish();
    for (let play = 0; play < 2; play++) {
      const replay = await replaying(store);
      for await (const one of replay.taped.watchThread("a")) {
        expect(one).toEqual({ type: "state.changed", list: [1] });
        (one as unknown as { list: number[] }).list.push(2);
      }
      await replay.deck.finish();
    }
  });

  test("that are none fail with their track and number", async () => {
    const track = { id: "w", kind: "agent", call: { name: "watchThread", thread: "a" }, events: [{ text: "[1" }] };
    const deck = await createDeck({ cassette: { wiretape: 1, tracks: [track as never] }, mode: "replay" });
    const items = createReplayAgentTransport(deck).watchThread("a")[Symbol.asyncIterator]();
    await expect(items.next()).rejects.toThrow(/^Event 1 of track w \(watchThread\) is no event of a watch: /);
    await expect(deck.finish()).rejects.toThrow("Event 1 of track w");
  });
});

describe("order", () => {
  test("two watches of a thread, a reconnect and concurrent sends keep their own tracks", async () => {
    let opened = 0;
    const feeds = [fedWatch(), fedWatch(), fedWatch()];
    const real = scriptedAgent({
      watchThread: (id, options) => (feeds[opened++] as (typeof feeds)[number]).watchThread(id, options),
      async send({ text, threadId }) {
        for (const feed of feeds.slice(0, opened)) feed.give(`{"type":"message.appended","text":"${text}"}`);
        if (text === "one") await turn();
        const version = { threadInstanceId: "i", revision: 1 };
        return { threadId, runId: `run-${text}`, messageId: "m", status: "running", version } as const;
      },
    });
    const { deck, taped, store } = await recording(real);
    const program = async (transport: Transport, prepare: () => void) => {
      prepare();
      const first = readWatch(transport, "a");
      const second = readWatch(transport, "a");
      await Promise.all([first.seen("state.changed"), second.seen("state.changed")]);
      const [one, two] = await Promise.all(
        ["one", "two"].map(async (text) => (await transport.send({ threadId: "a", text })).runId),
      );
      await Promise.all([first.seen("message.appended", 2), second.seen("message.appended", 2)]);
      await first.leave();
      const third = readWatch(transport, "a");
      await third.seen("state.changed");
      await Promise.all([second.leave(), third.leave()]);
      return { texts: [first.texts, second.texts, third.texts], one, two };
    };
    const prepare = (): void => {
      for (const [n, feed] of feeds.entries()) feed.give(`{"type":"state.changed","watch":${n}}`);
    };
    const seen = await program(taped, prepare);
    expect(seen).toMatchObject({ one: "run-one", two: "run-two" });
    expect(new Set(seen.texts.map(([first]) => first)).size).toBe(3);
    await deck.finish();
    for (let play = 0; play < 20; play++) {
      const replay = await replaying(store);
      expect(await program(replay.taped, () => undefined)).toEqual(seen);
      await replay.deck.finish();
    }
  });

  test("no event comes before the action that it is the effect of, the first one neither", async () => {
    const fed = fedWatch();
    const real = scriptedAgent({
      watchThread: fed.watchThread,
      executeCommand: async () => void fed.give('{"type":"state.changed"}'),
    });
    const { deck, taped, store } = await recording(real);
    const program = async (transport: Transport, pause: () => Promise<void>) => {
      const order: string[] = [];
      const watching = (async () => {
        for await (const { type } of transport.watchThread("a")) return void order.push(type);
      })();
      await pause();
      order.push("command");
      await transport.executeCommand({ threadId: "a", name: "touch", input: null });
      await watching;
      return order;
    };
    expect(await program(taped, turn)).toEqual(["command", "state.changed"]);
    await deck.finish();
    const replay = await replaying(store);
    expect(await program(replay.taped, () => new Promise((resolve) => setTimeout(resolve, 50)))).toEqual([
      "command",
      "state.changed",
    ]);
    await replay.deck.finish();
  });

  test("the trace tells operations, threads and types of events, and a gate may wait for one", async () => {
    const tracks = [
      {
        id: "w",
        kind: "agent",
        call: { name: "watchThread", thread: "a" },
        events: [
          { json: { type: "state.changed" } },
          { after: { kind: "call", op: "renameThread" }, json: { type: "run.updated" } },
        ],
      },
      {
        id: "r",
        kind: "agent",
        call: { name: "renameThread", thread: "a", input: { title: "T" } },
        result: { after: { kind: "frame", type: "state.*" }, value: null },
      },
    ];
    const deck = await createDeck({ cassette: { wiretape: 1, tracks: tracks as never }, mode: "replay" });
    const transport = createReplayAgentTransport(deck);
    const watch = readWatch(transport as unknown as Transport, "a");
    await watch.seen("state.changed");
    await transport.renameThread({ threadId: "a", title: "T" });
    await watch.ended;
    await deck.finish();
    expect(deck.trace).toEqual([
      { kind: "call", boundary: "agent", op: "watchThread", thread: "a", track: "w" },
      { kind: "frame", boundary: "agent", op: "watchThread", thread: "a", type: "state.changed", track: "w" },
      { kind: "call", boundary: "agent", op: "renameThread", thread: "a", track: "r" },
      { kind: "frame", boundary: "agent", op: "watchThread", thread: "a", type: "run.updated", track: "w" },
      { kind: "close", boundary: "agent", op: "watchThread", thread: "a", track: "w" },
      { kind: "response", boundary: "agent", op: "renameThread", thread: "a", track: "r" },
    ]);
  });
});
