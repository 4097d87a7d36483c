import { describe, expect, test } from "vitest";
import {
  type Cassette,
  createDeck,
  formatCassette,
  memoryStore,
  ScriptExhausted,
  type Track,
  UnplayedTracks,
  UnrecordedRequest,
  type WiretapeError,
} from "wiretape";
import { createAgentClient } from "../../src/agent/client.ts";
import { createReplayAgentTransport } from "../../src/boundary/agent/replay.ts";
import type { SupportContract } from "../agent/support-contract.ts";
import "../support/settled.ts";

const accepted = (threadId: string, runId: string): object => ({
  threadId,
  runId,
  messageId: `m-${runId}`,
  status: "running",
  version: { threadInstanceId: "i", revision: 1 },
});
const sent = (id: string, thread: string, text: string): Track =>
  ({
    id,
    kind: "agent",
    call: { name: "send", thread, input: { text } },
    result: { value: accepted(thread, id) },
  }) as unknown as Track;
const read = (id: string, thread: string): Track =>
  ({ id, kind: "agent", call: { name: "getThreadState", thread }, result: { value: { id } } }) as unknown as Track;

async function play(...tracks: Track[]) {
  const cassette: Cassette = { wiretape: 1, tracks };
  // Through a text, so that messages know lines.
  const store = memoryStore();
  await store.createExclusive("deck.cassette.json", new TextEncoder().encode(formatCassette(cassette)));
  const deck = await createDeck({ store, mode: "replay" });
  return { deck, transport: createReplayAgentTransport<SupportContract>(deck) };
}

const caught = <E extends WiretapeError>(promise: Promise<unknown>): Promise<E> =>
  promise.then(
    () => expect.fail("it did not fail"),
    (error: E) => error,
  );

describe("one send more than was recorded is ScriptExhausted", () => {
  test("a known text: names thread, action and counts, and who played what", async () => {
    const { deck, transport } = await play(sent("t1", "a", "Hello"), sent("t2", "b", "Hello"), sent("t3", "b", "More"));
    await transport.send({ threadId: "a", text: "Hello" });
    const error = await caught<ScriptExhausted>(transport.send({ threadId: "a", text: "Hello" }));
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect(error.message).toMatch(
      /^send to thread a with \{"text":"Hello"\} was recorded once and is asked for a 2nd time\.\n/,
    );
    expect(error.message).toMatch(/played {4}track t1 \(line \d+\) send answered request 1\n/);
    expect(error.message).toMatch(/last {6}track t1 \(line \d+\) send was the last one played\n/);
    expect(error.details).toMatchObject({ recorded: 1, asked: 2, last: "t1", playedBy: [{ track: "t1", request: 1 }] });
    await expect(deck.finish()).rejects.toBe(error);
  });

  test("a new text past the end of its thread, while other threads go on", async () => {
    const { deck, transport } = await play(
      read("t0", "a"),
      sent("t1", "a", "One"),
      sent("t2", "a", "Two"),
      sent("t3", "b", "One"),
    );
    await transport.send({ threadId: "a", text: "One" });
    const early = await caught<UnrecordedRequest>(transport.send({ threadId: "a", text: "Three" }));
    expect(early).toBeInstanceOf(UnrecordedRequest);
    await transport.send({ threadId: "a", text: "Two" });
    const error = await caught<ScriptExhausted>(transport.send({ threadId: "a", text: "Three" }));
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect(error.message).toMatch(
      /^send to thread a with \{"text":"Three"\} is past the end of the recording: all 2 actions of thread a were played\.\n/,
    );
    expect(error.message).toContain("(4 tracks, 2 not yet played)");
    expect(error.message).toMatch(/last {6}track t2 \(line \d+\) send was the last one played\n/);
    expect(error.message).toContain('/input/text: recorded "One", now "Three"');
    expect(error.details).toMatchObject({ last: "t2", nearest: "t1" });
    // Another action in the same thread is past its end as well; in a thread that goes on it is not.
    expect(await caught(transport.retry({ threadId: "a" }))).toBeInstanceOf(ScriptExhausted);
    expect(await caught(transport.retry({ threadId: "b" }))).toBeInstanceOf(UnrecordedRequest);
    await expect(deck.finish()).rejects.toThrow("violations");
  });

  test("swallowed by the program it fails finish() all the same", async () => {
    const { deck, transport } = await play(sent("t1", "a", "One"));
    await transport.send({ threadId: "a", text: "One" });
    await transport.send({ threadId: "a", text: "Two" }).catch(() => "swallowed");
    await expect(deck.finish()).rejects.toBeInstanceOf(ScriptExhausted);
  });

  test("a thread that was recorded and whose reads are left: its actions are past their end", async () => {
    const { deck, transport } = await play(sent("t1", "a", "One"), read("t2", "a"));
    await transport.send({ threadId: "a", text: "One" });
    expect(await caught(transport.send({ threadId: "a", text: "Two" }))).toBeInstanceOf(ScriptExhausted);
    deck.expectViolation("script-exhausted");
    await expect(deck.finish()).rejects.toBeInstanceOf(UnplayedTracks);
  });

  test("what was recorded and not asked for is told", async () => {
    const { deck, transport } = await play(sent("t1", "a", "One"), sent("t2", "a", "Two"));
    await transport.send({ threadId: "a", text: "One" });
    await expect(deck.finish()).rejects.toThrow(/never asked for[\s\S]*track t2/);
  });
});

describe("reads beyond the recording", () => {
  test("are ScriptExhausted: states, watches and lists", async () => {
    const { deck, transport } = await play(read("t1", "a"));
    await transport.getThreadState("a");
    expect(await caught(transport.getThreadState("a"))).toBeInstanceOf(ScriptExhausted);
    expect(await caught(transport.listThreads())).toBeInstanceOf(ScriptExhausted);
    const watch = transport.watchThread("a")[Symbol.asyncIterator]();
    expect(await caught(watch.next())).toBeInstanceOf(ScriptExhausted);
    expect(deck.violations).toHaveLength(3);
    await expect(deck.finish()).rejects.toThrow("3 violations");
  });

  test("a client that watches again and again ends, and says why", async () => {
    const { deck, transport } = await play(sent("t1", "a", "One"), read("t2", "a"));
    const client = createAgentClient<SupportContract>(transport);
    const error = await caught<WiretapeError>(
      (async () => {
        for await (const _ of client.thread("a").watch()) void _;
      })(),
    );
    expect(error).toMatchObject({ code: expect.stringMatching(/unrecorded-request|script-exhausted/) });
    await expect(deck.finish()).rejects.toBe(error);
  });
});

test("an id that the client made up does not count; the text does", async () => {
  const { deck, transport } = await play(
    {
      ...sent("t1", "a", "One"),
      call: { name: "send", thread: "a", input: { text: "One", id: "made-up-1" } },
    } as Track,
    sent("t2", "a", "One"),
  );
  expect(await transport.send({ threadId: "a", text: "One", id: "made-up-2" })).toMatchObject({ runId: "t1" });
  expect(await transport.send({ threadId: "a", text: "One" })).toMatchObject({ runId: "t2" });
  await deck.finish();
});
