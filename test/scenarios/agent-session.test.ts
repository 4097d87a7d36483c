import { beforeAll, describe, expect, test } from "vitest";
import {
  type CassetteStore,
  createDeck,
  type Deck,
  lintCassette,
  memoryStore,
  parseCassette,
  tapeFetch,
} from "wiretape";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { createRecordingAgentTransport } from "../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../src/boundary/agent/replay.ts";
import type { SupportContract } from "../agent/support-contract.ts";
import { startBackend } from "../boundary/agent/agent-session.ts";
import "../support/settled.ts";
import { afternoon, backendOfTheAfternoon } from "../support/agent-afternoon.ts";
import { textIn } from "../support/twice.ts";

let store: CassetteStore;
let seen: Awaited<ReturnType<typeof afternoon>>;

beforeAll(async () => {
  store = memoryStore();
  await using backend = await startBackend();
  const script = backendOfTheAfternoon(backend.mock);
  const deck = await createDeck({ store, mode: "record" });
  seen = await afternoon(createRecordingAgentTransport(backend.http, deck));
  await script;
  await deck.finish();
});

async function replay(): ReturnType<typeof afternoon> {
  const deck = await createDeck({ store, mode: "replay" });
  const again = await afternoon(createReplayAgentTransport<SupportContract>(deck));
  await deck.finish();
  return again;
}

describe("a session over a socket, replayed with the server gone", () => {
  test("the program sees the same: states, events as bytes, results", async () => {
    const again = await replay();
    expect(again.streams).toEqual(seen.streams);
    expect(again.results).toEqual(seen.results);
    expect(again.states).toEqual(seen.states);
  });

  test("two hundred times in a row", async () => {
    const first = JSON.stringify(await replay());
    for (let play = 1; play < 200; play++) expect(JSON.stringify(await replay())).toBe(first);
  });

  test("whatever the order in which things happened to come, over HTTP and in memory", async () => {
    for (let run = 0; run < 10; run++) {
      await using backend = await startBackend();
      const script = backendOfTheAfternoon(backend.mock);
      const once = memoryStore();
      const recorder = await createDeck({ store: once, mode: "record" });
      const real = run % 2 === 0 ? backend.http : backend.mock;
      const recorded = await afternoon(createRecordingAgentTransport(real, recorder));
      await script;
      await recorder.finish();
      const player = await createDeck({ store: once, mode: "replay" });
      const { states, results } = await afternoon(createReplayAgentTransport<SupportContract>(player));
      expect(JSON.stringify({ states, results })).toBe(
        JSON.stringify({ states: recorded.states, results: recorded.results }),
      );
      await player.finish();
    }
  });

  test("the cassette is a text that people read", async () => {
    const text = await textIn(store);
    expect(lintCassette(text)).toEqual([]);
    expect(parseCassette(text).tracks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["agent"]));
  });
});

test("the same session recorded on the wire, through a taped fetch, is replayed as well", async () => {
  const wire = memoryStore();
  const session = async (deck: Deck, baseUrl: string, fetch?: typeof globalThis.fetch) =>
    afternoon(createHttpAgentTransport<SupportContract>({ baseUrl, fetch: tapeFetch(deck, fetch) }));
  const backend = await startBackend();
  const { url } = backend.served;
  const script = backendOfTheAfternoon(backend.mock);
  // On the wire nothing tells that the client made the id up.
  const recorder = await createDeck({ store: wire, mode: "record", match: { ignore: ["/body/id"] } });
  const recorded = await session(recorder, url);
  await script;
  await recorder.finish();
  await backend.served.close();
  const player = await createDeck({ store: wire, mode: "replay" });
  const again = await session(player, url, () => Promise.reject(new Error("replay touched the network")));
  expect(again.streams).toEqual(recorded.streams);
  expect(again.results).toEqual(recorded.results);
  await player.finish();
});
