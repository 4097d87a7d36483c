import { beforeAll, describe, expect, test } from "vitest";
import { type CassetteStore, createDeck, lintCassette, memoryStore, parseCassette } from "wiretape";
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

  test("the cassette is a text that people read", async () => {
    const text = await textIn(store);
    expect(lintCassette(text)).toEqual([]);
    expect(parseCassette(text).tracks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["agent"]));
  });
});
