import { describe, expect, test } from "vitest";
import { type Cassette, createDeck, type Gate, parseCassette, tapeFetch } from "wiretape";
import "../support/settled.ts";

const origin = "https://api.example.com";
type Track = Cassette["tracks"][number];

const get = (id: string, extra: object = {}, response: object = {}): Track => ({
  id,
  kind: "http",
  request: { method: "GET", url: `${origin}/${id}` },
  response: { status: 200, body: { text: id }, ...response },
  ...extra,
});
const post = (id: string, extra: object = {}): Track => ({
  id,
  kind: "http",
  request: { method: "POST", url: `${origin}/${id}` },
  response: { status: 202 },
  ...extra,
});

async function open(tracks: Track[], stallAfterMs = 60) {
  const deck = await createDeck({ cassette: { wiretape: 1, tracks }, mode: "replay", stallAfterMs });
  const fetch = tapeFetch(deck);
  const ask = async (id: string): Promise<string> => (await fetch(`${origin}/${id}`)).text();
  const send = async (id: string): Promise<number> => (await fetch(`${origin}/${id}`, { method: "POST" })).status;
  return { deck, ask, send };
}

/** Whether a promise is still waiting after the turns that anything ready takes. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.catch(() => undefined).finally(() => (settled = true));
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  return !settled;
}

describe("what a gate may say, and where it may stand", () => {
  const places: [string, (after: Gate) => Track][] = [
    ["on a track", (after) => get("a", { after })],
    ["on a response", (after) => get("a", {}, { after })],
    ["on a body in one piece", (after) => get("a", {}, { body: { after, text: "a" } })],
    ["on a frame", (after) => get("a", {}, { body: [{ text: "" }, { after, text: "a" }] })],
    ["on a cut", (after) => get("a", {}, { body: [{ text: "a", cuts: [[0, 1, after]] }] })],
  ];
  test.each(places)("a track id, %s", async (_, track) => {
    const { deck, ask, send } = await open([track("b"), post("b")]);
    const answer = ask("a");
    expect(await waits(answer)).toBe(true);
    await send("b");
    expect(await answer).toBe("a");
    await deck.finish();
  });

  test("on an end", async () => {
    const end = { after: "b", error: { name: "TypeError", message: "terminated" } };
    const { deck, ask, send } = await open([get("a", {}, { end }), post("b")]);
    const answer = ask("a");
    expect(await waits(answer)).toBe(true);
    await send("b");
    await expect(answer).rejects.toThrow("terminated");
    await deck.finish();
  });

  test("a list is open when all of them were requested, in any order", async () => {
    const { deck, ask, send } = await open([get("a", { after: ["b", "c"] }), post("b"), post("c")]);
    const answer = ask("a");
    await send("c");
    expect(await waits(answer)).toBe(true);
    await send("b");
    expect(await answer).toBe("a");
    await deck.finish();
  });

  test("start is open at once, alone and in a list; what was requested before is open at once", async () => {
    const { deck, ask, send } = await open([
      get("a", { after: "start" }),
      post("b"),
      get("c", { after: ["start", "b"] }),
    ]);
    expect(await ask("a")).toBe("a");
    await send("b");
    expect(await ask("c")).toBe("c");
    await deck.finish();
  });

  test("a pattern with wildcards looks at all of the trace, and consumes none of it", async () => {
    const after = { kind: "request", method: "POST", url: `${origin}/*` };
    const { deck, ask, send } = await open([get("a", { after }), get("c", { after }), post("b")]);
    const both = Promise.all([ask("a"), ask("c")]);
    expect(await waits(both)).toBe(true);
    await send("b");
    expect(await both).toEqual(["a", "c"]);
    await deck.finish();
  });

  test("a pattern may wait for an answer, not only for a request", async () => {
    const { deck, ask, send } = await open([
      get("a", { after: { kind: "response", status: 202, track: "b" } }),
      post("b"),
    ]);
    const answer = ask("a");
    const sent = send("b");
    expect([await answer, await sent]).toEqual(["a", 202]);
    expect(deck.trace.map(({ kind, track }) => `${kind} ${track}`)).toEqual([
      "request a",
      "request b",
      "response b",
      "response a",
      "frame a",
    ]);
    await deck.finish();
  });

  test("a gate holds answers, never matching: the track is claimed when it is asked for", async () => {
    const { deck, ask, send } = await open([get("a", { after: "b" }), post("b")]);
    const answer = ask("a");
    await expect(ask("a")).rejects.toMatchObject({ code: "script-exhausted" });
    deck.expectViolation("script-exhausted");
    await send("b");
    expect(await answer).toBe("a");
    await deck.finish();
  });
});

test("a gate on a request that is missed stays shut: a miss makes no track", async () => {
  const { deck, ask, send } = await open([
    get("a", { after: "b" }),
    post("b", { request: { method: "POST", url: `${origin}/b?x=1` } }),
  ]);
  const answer = ask("a").catch((error: { code: string }) => error.code);
  await send("b").catch(() => undefined);
  expect(await answer).toBe("replay-stalled");
  await expect(deck.finish()).rejects.toMatchObject({ code: "unrecorded-request" });
});

test("stallAfterMs 0 never stalls; finish ends what is held", async () => {
  const { deck, ask } = await open([get("a", { after: "b" }), post("b", { optional: true })], 0);
  const answer = ask("a").catch((error: { code: string }) => error.code);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await waits(answer)).toBe(true);
  await deck.finish();
  expect(await answer).toBe("deck-finished");
});

test("every stall of a moment is one violation, which names all that is held", async () => {
  const { deck, ask } = await open([
    get("a", { after: "x" }),
    get("b", { after: { kind: "close" } }),
    post("x", { optional: true }),
  ]);
  const errors = await Promise.all([ask("a"), ask("b")].map((answer) => answer.catch((error: unknown) => error)));
  expect(errors[0]).toBe(errors[1]);
  expect(deck.violations).toHaveLength(1);
  expect(deck.violations[0]?.message).toMatch(/the answer of track a .* waits for the request of track x/);
  expect(deck.violations[0]?.message).toContain('waits for an event that matches {"kind":"close"}');
  await expect(deck.finish()).rejects.toBe(errors[0]);
});

test("a gate that names no track is found when the file is read", () => {
  expect(() => parseCassette(JSON.stringify({ wiretape: 1, tracks: [get("a", { after: "nowhere" })] }))).toThrow(
    /nowhere/,
  );
});
