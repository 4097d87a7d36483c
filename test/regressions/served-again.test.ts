import { expect, test } from "vitest";
import { type Cassette, createDeck, tapeFetch } from "wiretape";
import "../support/settled.ts";

/** Faults of other tools that give a program an answer which is not its own. */
const url = "https://api.example.com/todos";
type Track = Cassette["tracks"][number];

function track(id: string, request: object, text: string, extra: object = {}): Track {
  return {
    id,
    kind: "http",
    ...extra,
    request: { method: "GET", url, ...request },
    response: { status: 200, body: { text } },
  } as Track;
}

async function open(...tracks: Track[]) {
  const deck = await createDeck({ cassette: { wiretape: 1, tracks }, mode: "replay", unplayed: "ignore" });
  const fetch = tapeFetch(deck);
  const ask = async (init?: RequestInit, to = url): Promise<string> =>
    fetch(to, init).then(
      (response) => response.text(),
      (error: { code: string }) => error.code,
    );
  return { deck, ask };
}

const post = (text: string): RequestInit => ({ method: "POST", body: text });

test("read, modify, read: the second read gets the second answer, not the first for ever", async () => {
  const { deck, ask } = await open(
    track("t1", {}, "[]"),
    track("t2", { method: "POST", body: { text: "milk" } }, "ok"),
    track("t3", {}, "[milk]"),
  );
  expect([await ask(), await ask(post("milk")), await ask()]).toEqual(["[]", "ok", "[milk]"]);
  expect(await ask()).toBe("script-exhausted"); // nor the last one for ever
  deck.expectViolation("script-exhausted");
  await deck.finish();
});

test("two URLs do not share one sequence, and a sequence does not come back reversed", async () => {
  const other = `${url}?page=2`;
  const tracks = ["a1", "b1", "a2", "b2", "a3"].map((name, i) =>
    track(`t${i}`, { url: name.startsWith("a") ? url : other }, name),
  );
  const { deck, ask } = await open(...tracks);
  const got = [await ask({}, other), await ask(), await ask(), await ask({}, other), await ask()];
  expect(got).toEqual(["b1", "a1", "a2", "b2", "a3"]);
  await deck.finish();
});

test("equal requests with different answers are not merged: the later, different answer is kept", async () => {
  const { ask } = await open(track("t1", {}, "same"), track("t2", {}, "same"), track("t3", {}, "different"));
  expect([await ask(), await ask(), await ask()]).toEqual(["same", "same", "different"]);
});

test("a request with another body is no match for the same method and URL", async () => {
  const { deck, ask } = await open(track("t1", { method: "POST", body: { json: { prompt: "one" } } }, "answer one"));
  expect(await ask(post('{"prompt":"one, slightly edited"}'))).toBe("unrecorded-request");
  deck.expectViolation("unrecorded-request");
  expect(await ask(post('{"prompt":"one"}'))).toBe("answer one");
  await deck.finish();
});

test("the nearest recording is named in the error and never served", async () => {
  const { deck, ask } = await open(track("t1", { url: `${url}/1` }, "one"));
  for (let i = 0; i < 3; i++) expect(await ask({}, `${url}/2`)).toBe("unrecorded-request");
  expect(deck.violations[0]?.details).toMatchObject({ nearest: "t1" });
  expect(deck.played).toEqual([]);
  deck.expectViolation("unrecorded-request");
  await deck.finish();
});

test("exhausted is not reported as never recorded: nobody looks for a fault in the matcher", async () => {
  const { deck, ask } = await open(track("t1", {}, "one"), track("t2", { url: `${url}/2` }, "two"));
  await ask();
  expect(await ask()).toBe("script-exhausted");
  expect(deck.violations[0]?.message).toMatch(/recorded once and is asked for a 2nd time/);
  deck.expectViolation("script-exhausted");
  await deck.finish();
});

test("parallel agents that ask alike do not take each other's answers: each lane has its own order", async () => {
  const tracks = ["p1", "w1", "p2", "w2"].map((name) =>
    track(name, {}, name, { lane: name.startsWith("p") ? "planner" : "writer" }),
  );
  const deck = await createDeck({ cassette: { wiretape: 1, tracks }, mode: "replay" });
  const run = async (lane: string): Promise<string[]> => {
    const fetch = tapeFetch(deck.lane(lane));
    return [await (await fetch(url)).text(), await (await fetch(url)).text()];
  };
  const [writer, planner] = await Promise.all([run("writer"), run("planner")]);
  expect([planner, writer]).toEqual([
    ["p1", "p2"],
    ["w1", "w2"],
  ]);
  await deck.finish();
});

test("two decks over one cassette do not move each other's cursors", async () => {
  const cassette: Cassette = { wiretape: 1, tracks: [track("t1", {}, "one"), track("t2", {}, "two")] };
  const decks = await Promise.all([1, 2].map(() => createDeck({ cassette, mode: "replay" })));
  const ask = async (deck: (typeof decks)[number]): Promise<string> => (await tapeFetch(deck)(url)).text();
  const got = [];
  for (const deck of [...decks, ...decks]) got.push(await ask(deck));
  expect(got).toEqual(["one", "one", "two", "two"]);
  for (const deck of decks) await deck.finish();
});

test("an automatic retry after a stream that was cut gets the next answer, not half of the old one", async () => {
  const cut = {
    ...track("t1", {}, ""),
    response: { status: 200, body: [{ text: "half" }], end: { error: { name: "TypeError", message: "terminated" } } },
  } as Track;
  const { deck, ask } = await open(cut, track("t2", {}, "whole"));
  await expect(ask()).rejects.toThrow("terminated");
  expect(await ask()).toBe("whole");
  await deck.finish();
});
