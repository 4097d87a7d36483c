import { afterEach, expect, test } from "vitest";
import { createDeck, type Deck, memoryStore, OptionInvalid, tapeFetch } from "wiretape";
import "wiretape/vitest";

const url = "https://api.example.com";
const answer: typeof fetch = async (input) => new Response(`to ${String(input)}`);
const decks: Deck[] = [];

// The violations of these decks are what the tests are about.
afterEach(async () => {
  for (const deck of decks.splice(0)) await deck.finish("failed").catch(() => undefined);
});

async function recordedDeck(paths: readonly string[]): Promise<{ recording: Deck; replay: Deck }> {
  const store = memoryStore();
  const recording = await createDeck({ store, mode: "record" });
  for (const path of paths) await (await tapeFetch(recording, answer)(url + path)).text();
  await recording.finish();
  const replay = await createDeck({ store, mode: "replay" });
  decks.push(replay);
  return { recording, replay };
}

const ask = async (deck: Deck, path: string): Promise<void> => {
  await tapeFetch(deck)(url + path).then(
    (response) => response.text(),
    () => undefined,
  );
};

const messageOf = (run: () => void): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it did not fail");
};

test("toHavePlayedAll", async () => {
  const { recording, replay } = await recordedDeck(["/one", "/two"]);
  await ask(replay, "/one");
  expect(replay).not.toHavePlayedAll();
  expect(messageOf(() => expect(replay).toHavePlayedAll())).toBe(
    "expected the deck to have played all, but a recorded track was never asked for:\n  unplayed  track t2 GET https://api.example.com/two",
  );
  await ask(replay, "/two");
  expect(replay).toHavePlayedAll();
  expect(messageOf(() => expect(replay).not.toHavePlayedAll())).toMatch(/all 2 were played/);
  // A recording has nothing to play: what a test says of its replay must not fail it.
  expect(recording).toHavePlayedAll();
  expect(recording).not.toHavePlayedAll();
});

test("toHavePlayedAll asks only for tracks that had to be played", async () => {
  const { recording } = await recordedDeck(["/one", "/two", "/three"]);
  const [one, two, three] = recording.cassette?.tracks ?? [];
  const tracks = [one, { ...two, optional: true }, { ...three, repeat: "forever" }];
  const deck = await createDeck({ cassette: { wiretape: 1, tracks } as never, mode: "replay" });
  await ask(deck, "/one");
  expect(deck).toHavePlayedAll();
  await deck.finish();
});

test("toHaveExhausted acknowledges one violation with its repetitions", async () => {
  const { replay } = await recordedDeck(["/one"]);
  expect(replay).not.toHaveExhausted();
  expect(messageOf(() => expect(replay).toHaveExhausted())).toMatch(/nothing beyond the recording \(1 left to play\)/);
  await ask(replay, "/one");
  await ask(replay, "/one");
  await ask(replay, "/one");
  expect(messageOf(() => expect(replay).not.toHaveExhausted())).toMatch(
    /expected the deck not to be exhausted, but:\nGET .*recorded once/,
  );
  expect(replay).toHaveExhausted();
  expect(replay).toHaveExhausted();
  await replay.finish();
});

test("toHaveExhausted leaves what it is not about", async () => {
  const { replay } = await recordedDeck(["/one"]);
  await ask(replay, "/one");
  await ask(replay, "/one");
  await ask(replay, "/another");
  expect(replay).toHaveExhausted();
  await expect(replay.finish()).rejects.toThrow(/another/);
});

test("toHaveExhausted names what came instead", async () => {
  const { recording, replay } = await recordedDeck(["/one"]);
  await ask(replay, "/another");
  expect(messageOf(() => expect(replay).toHaveExhausted())).toMatch(
    /instead {3}UnrecordedRequest: GET .*another was never recorded/,
  );
  expect(messageOf(() => expect(recording).toHaveExhausted())).toMatch(
    /its mode is record: only a replay can be exhausted/,
  );
});

test("toMatchTrace: an ordered subsequence, the same in every mode", async () => {
  const { recording, replay } = await recordedDeck(["/one", "/two", "/three"]);
  for (const path of ["/one", "/two", "/three"]) await ask(replay, path);
  for (const deck of [recording, replay]) {
    expect(deck).toMatchTrace([
      { kind: "request", url: "/one$" },
      { kind: "request", url: "/three$" },
    ]);
    expect(deck).not.toMatchTrace([
      { kind: "request", url: "/three$" },
      { kind: "request", url: "/one$" },
    ]);
  }
});

test("toMatchTrace says how far it got and what followed", async () => {
  const { replay } = await recordedDeck(["/one", "/two"]);
  for (const path of ["/one", "/two"]) await ask(replay, path);
  const text = messageOf(() => expect(replay).toMatchTrace([{ kind: "request", url: "/one$" }, { method: "POST" }]));
  expect(text).toMatch(
    /^expected the trace to match, but pattern 2 of 2 found no event in the \d+ events after event 1:\n/,
  );
  expect(text).toContain(
    '  matched   {"kind":"request","url":"/one$"}\n            event 1: {"kind":"request","boundary":"http","method":"GET"',
  );
  expect(text).toContain('  missing   {"method":"POST"}');
  expect(text).toMatch(/ {2}followed {2}event 2: /);
  expect(text).toContain("https://api.example.com/two");
  const none = messageOf(() => expect(replay).toMatchTrace([{ kind: "close", track: "t9" }]));
  expect(none).toMatch(/pattern 1 of 1 found no event in the trace:/);
  const not = messageOf(() => expect(replay).not.toMatchTrace([{ url: "/two$" }]));
  expect(not).toMatch(/expected the trace not to match, but the pattern found its event/);
});

test("toMatchTrace tells no secret of a recording", async () => {
  const store = memoryStore();
  const deck = await createDeck({ store, mode: "record" });
  await (await tapeFetch(deck, answer)(`${url}/one?api_key=a-very-secret-value`)).text();
  const text = messageOf(() => expect(deck).toMatchTrace([{ method: "POST" }]));
  expect(text).toContain("api_key=");
  expect(text).not.toContain("a-very-secret-value");
  await deck.finish();
});

test("what is no deck is refused, also with not", async () => {
  const { replay } = await recordedDeck([]);
  const refused = (value: unknown, next: RegExp): void => {
    expect(() => expect(value).toHavePlayedAll()).toThrow(OptionInvalid);
    expect(() => expect(value).not.toHaveExhausted()).toThrow(next);
    expect(() => expect(value).not.toMatchTrace([{ kind: "request" }])).toThrow(next);
  };
  refused(undefined, /got undefined/);
  refused(null, /got null/);
  refused("deck", /got string/);
  refused({}, /got object/);
  refused(() => replay, /got a function.*\n.*expect\(deck\(\)\)/);
  refused(Promise.resolve(replay), /got a promise.*\n.*await it first/);
  refused(replay.lane("a"), /got a lane/);
  for (const patterns of [[], "request", undefined, { kind: "request" }]) {
    expect(() => expect(replay).not.toMatchTrace(patterns as never)).toThrow(/takes a list of patterns/);
  }
});
