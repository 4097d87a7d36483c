import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Cassette,
  createDeck,
  DeckFinished,
  ExpectationUnmet,
  formatCassette,
  OutOfOrder,
  parseCassette,
  ScriptExhausted,
  type Track,
  tapeFetch,
  UnplayedTracks,
  UnrecordedRequest,
  type WiretapeError,
} from "wiretape";
import "../support/settled.ts";
import { start, useScratch } from "../support/scratch.ts";

const scratch = useScratch();
const origin = "https://api.example.com";

type Extra = Partial<Track> & { body?: unknown; method?: string; answer?: string };

/** A track by hand. */
function track(id: string, path: string, { body, method = "GET", answer = id, ...extra }: Extra = {}): Track {
  const request = { method, url: origin + path, ...(body === undefined ? {} : { body: { json: body as never } }) };
  return { id, kind: "http", request, response: { status: 200, body: { text: answer } }, ...extra } as Track;
}

const cassette = (tracks: Track[], match?: Cassette["match"]): Cassette => ({
  wiretape: 1,
  ...(match === undefined ? {} : { match }),
  tracks,
});

async function play(tracks: Track[], match?: Cassette["match"]) {
  // Through the text, so that messages know lines.
  const text = formatCassette(cassette(tracks, match));
  const deck = await createDeck({ cassette: parseCassette(text), mode: "replay" });
  const fetch = tapeFetch(deck);
  const get = async (path: string): Promise<string> => (await fetch(origin + path)).text();
  const post = async (path: string, body: unknown): Promise<string> =>
    (await fetch(origin + path, { method: "POST", body: JSON.stringify(body) })).text();
  return { deck, fetch, get, post };
}

async function caught<E extends WiretapeError>(promise: Promise<unknown>): Promise<E> {
  return promise.then(
    () => expect.fail("it did not fail"),
    (error: E) => error,
  );
}

describe("each kind of miss has its own class and its own words", () => {
  test("the same request once more, while others are left: ScriptExhausted with who played what", async () => {
    const { deck, get } = await play([track("t1", "/a"), track("t2", "/a"), track("t3", "/b")]);
    expect([await get("/a"), await get("/a")]).toEqual(["t1", "t2"]);
    const error = await caught<ScriptExhausted>(get("/a"));
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect(error.message).toMatch(
      /^GET https:\/\/api\.example\.com\/a was recorded twice and is asked for a 3rd time\.\n/,
    );
    expect(error.message).toContain("(3 tracks, 1 not yet played)");
    expect(error.message).toMatch(/track t1 .*answered request 1, track t2 .*answered request 2/);
    expect(error.message).not.toContain("was the last one played");
    expect(error.details).toMatchObject({
      recorded: 2,
      asked: 3,
      playedBy: [{ track: "t1", request: 1 }, { track: "t2" }],
    });
    expect((await caught<ScriptExhausted>(get("/a"))).message).toContain("asked for a 4th time");
    await caught(deck.finish());
  });

  test("the same request with nothing left: the last one played is named as well", async () => {
    const { deck, get } = await play([track("t1", "/a"), track("t2", "/b")]);
    await get("/a");
    await get("/b");
    const error = await caught<ScriptExhausted>(get("/a"));
    expect(error.message).toMatch(/was recorded once and is asked for a 2nd time/);
    expect(error.message).toContain("track t2");
    expect(error.message).toContain("was the last one played");
    await caught(deck.finish());
  });

  test("anything at all with nothing left: past the end, with the nearest difference", async () => {
    const { deck, get } = await play([track("t1", "/a?page=1"), track("t2", "/b")]);
    await get("/b");
    await get("/a?page=1");
    const error = await caught<ScriptExhausted>(get("/a?page=2"));
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect(error.message).toContain("is past the end of the recording: all 2 tracks of the main lane were played");
    expect(error.message).toMatch(
      /nearest +track t1 .*differs in one place:\n +\/query\/page\/0: recorded "1", now "2"/,
    );
    await caught(deck.finish());
  });

  test("past the end of one track is said in the singular", async () => {
    const { deck, get } = await play([track("t1", "/a")]);
    await get("/a");
    expect((await caught(get("/b"))).message).toContain("the one track of the main lane was played");
    await caught(deck.finish());
  });

  test("never recorded, while tracks remain: UnrecordedRequest with the nearest of those", async () => {
    const { deck, post } = await play([
      track("t1", "/chat", { method: "POST", body: { model: "m", input: "one", n: 1 } }),
      track("t2", "/chat", { method: "POST", body: { model: "m", input: "two", n: 1 } }),
    ]);
    expect(await post("/chat", { model: "m", input: "one", n: 1 })).toBe("t1");
    const error = await caught<UnrecordedRequest>(post("/chat", { model: "m", input: "one!", n: 2, extra: true }));
    expect(error).toBeInstanceOf(UnrecordedRequest);
    // t1 is nearer, and gone: what remains is what the program can still be given.
    expect(error.details).toMatchObject({ nearest: "t2" });
    expect(error.message).toMatch(/differs in 3 places/);
    expect(error.message).toContain('/body/input: recorded "two", now "one!"');
    expect(error.message).toContain("/body/extra: not recorded, now true");
    await caught(deck.finish("failed"));
  });

  test("a track that repeats for ever is left: another request was never recorded, and is not past the end", async () => {
    const { deck, get } = await play([track("t1", "/health", { repeat: "forever" })]);
    for (let i = 0; i < 20; i++) expect(await get("/health")).toBe("t1");
    expect(await caught(get("/other"))).toBeInstanceOf(UnrecordedRequest);
    await caught(deck.finish());
  });

  test("recorded, but not its turn: OutOfOrder says what comes next", async () => {
    const { deck, get } = await play([track("t1", "/a"), track("t2", "/b")], { order: "strict" });
    const error = await caught<OutOfOrder>(get("/b"));
    expect(error).toBeInstanceOf(OutOfOrder);
    expect(error.message).toMatch(/is recorded as track t2 .*, but it is not its turn/);
    expect(error.message).toMatch(/expected +track t1/);
    expect(await get("/a")).toBe("t1");
    expect(await get("/b")).toBe("t2"); // the miss consumed nothing
    expect(await caught(get("/b"))).toBeInstanceOf(ScriptExhausted);
    expect(await caught(get("/c"))).toBeInstanceOf(ScriptExhausted);
    await caught(deck.finish());
  });

  test("left unplayed: UnplayedTracks, in the singular and the plural; optional and repeating ones aside", async () => {
    const one = await play([track("t1", "/a"), track("t2", "/b"), track("t3", "/c", { optional: true })]);
    await one.get("/a");
    const single = await caught<UnplayedTracks>(one.deck.finish());
    expect(single).toBeInstanceOf(UnplayedTracks);
    expect(single.message).toMatch(/^A recorded track was never asked for\.\n/);
    expect(single.details).toMatchObject({ tracks: ["t2"] });
    const two = await play([track("t1", "/a"), track("t2", "/b"), track("t3", "/c", { repeat: 2 })]);
    expect((await caught(two.deck.finish())).message).toMatch(/^2 recorded tracks were never asked for\.\n/);
    const failed = await play([track("t1", "/a")]);
    await expect(failed.deck.finish("failed")).resolves.toMatchObject({ outcome: "failed", played: 0 });
  });

  test("an empty cassette, and an empty lane, know nothing", async () => {
    const { deck, get } = await play([]);
    expect(await caught(get("/a"))).toBeInstanceOf(UnrecordedRequest);
    const other = await play([track("t1", "/a")]);
    await expect(tapeFetch(other.deck.lane("side"))(`${origin}/a`)).rejects.toBeInstanceOf(UnrecordedRequest);
    await caught(deck.finish());
    await caught(other.deck.finish());
  });

  test("each method, lane and body is a sequence of its own", async () => {
    const { deck, get, post, fetch } = await play([
      track("t1", "/a"),
      track("t2", "/a", { method: "POST", body: 1 }),
      track("t3", "/a", { lane: "side" }),
      track("t4", "/a", { method: "POST", body: 2 }),
    ]);
    expect(await post("/a", 2)).toBe("t4");
    expect(await (await tapeFetch(deck.lane("side"))(`${origin}/a`)).text()).toBe("t3");
    expect(await get("/a")).toBe("t1");
    await caught(fetch(`${origin}/a`));
    expect(await post("/a", 1)).toBe("t2");
    await caught(deck.finish());
  });
});

describe("what was violated cannot be swallowed", () => {
  test("an empty catch around the call does not help; several are told together, the first one leads", async () => {
    const { deck, get } = await play([track("t1", "/a"), track("t2", "/b")]);
    await get("/a");
    for (const path of ["/a", "/x", "/y"]) await get(path).catch(() => undefined);
    const error = await caught<ScriptExhausted>(deck.finish());
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect(error.message).toContain("The deck saw 3 violations");
    expect(error.message).toMatch(/also: GET https:\/\/api\.example\.com\/x was never recorded/);
    expect(error.cause).toBe(deck.violations[0]);
    expect(error.details.violations).toHaveLength(3);
    await expect(deck.finish()).rejects.toBe(error); // asked again, it says the same
  });

  test("the body failed as well: violations still count, tracks that were left do not", async () => {
    const { deck, get } = await play([track("t1", "/a"), track("t2", "/b")]);
    await get("/x").catch(() => undefined);
    expect(await caught(deck.finish("failed"))).toBeInstanceOf(UnrecordedRequest);
  });

  test("use after finish is DeckFinished, and a violation too", async () => {
    const { deck, get } = await play([track("t1", "/a", { optional: true })]);
    await deck.finish();
    expect(await caught(get("/a"))).toBeInstanceOf(DeckFinished);
    await expect(deck.var("x", () => 1)).rejects.toBeInstanceOf(DeckFinished);
    expect(deck.violations.map(({ code }) => code)).toEqual(["deck-finished", "deck-finished"]);
    deck.expectViolation("deck-finished");
  });

  test("a plain Node process ends with 1, whatever hid the error", async () => {
    const path = scratch.cassette();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, formatCassette(cassette([track("t1", "/a")])));
    const ways = ["never-finished", "finish-swallowed", "exit-0", "clean", "expected"];
    const ended = await Promise.all(ways.map((way) => start("violate", [path, way]).ended));
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1, 0, 0]);
    for (const { stdout } of ended) expect(stdout).toContain("done");
    for (const { stderr } of ended.slice(0, 3)) {
      expect(stderr).toContain("wiretape: 1 violation in this process");
      expect(stderr).toMatch(/ScriptExhausted: GET .*\/a was recorded once and is asked for a 2nd time/);
    }
    for (const { stderr } of ended.slice(3)) expect(stderr).toBe("");
  });
});

describe("expectViolation", () => {
  test("before and after the fact; repeated asks of one request count as one", async () => {
    const { deck, get } = await play([track("t1", "/a")]);
    await get("/a");
    deck.expectViolation("script-exhausted");
    for (let i = 0; i < 3; i++) await caught(get("/a"));
    await deck.finish();

    const late = await play([track("t1", "/a")]);
    await late.get("/a");
    for (let i = 0; i < 3; i++) await caught(late.get("/a"));
    late.deck.expectViolation("script-exhausted");
    await caught(late.get("/a"));
    await late.deck.finish();
    expect(late.deck.violations).toHaveLength(4);
  });

  test("another request is another violation, also where only the body differs", async () => {
    const { deck, post } = await play([track("t1", "/a", { optional: true })]);
    deck.expectViolation("unrecorded-request");
    await caught(post("/a", 1));
    await caught(post("/a", 1));
    await caught(post("/a", 2));
    const error = await caught(deck.finish());
    expect(error).toBeInstanceOf(UnrecordedRequest);
    expect(error).toBe(deck.violations[2]);
  });

  test("another code is not acknowledged", async () => {
    const { deck, get } = await play([track("t1", "/a")]);
    deck.expectViolation("out-of-order");
    await get("/a");
    await caught(get("/a"));
    expect(await caught(deck.finish())).toBeInstanceOf(ScriptExhausted);
  });

  test("one that never comes fails a body that passed, and not one that failed", async () => {
    const { deck, get } = await play([track("t1", "/a")]);
    deck.expectViolation("script-exhausted");
    await get("/a");
    expect(await caught(deck.finish())).toBeInstanceOf(ExpectationUnmet);
    const failed = await play([track("t1", "/a")]);
    failed.deck.expectViolation("script-exhausted");
    await expect(failed.deck.finish("failed")).resolves.toMatchObject({ outcome: "failed" });
  });
});

describe("a claim is given back once, when the program gives up before any part of the answer", () => {
  async function abortAtOnce(fetch: typeof globalThis.fetch): Promise<string> {
    const controller = new AbortController();
    const call = fetch(`${origin}/a`, { signal: controller.signal });
    controller.abort(new Error("gave up"));
    return call
      .then((response) => response.text())
      .catch((error: Error & { code?: string }) => error.code ?? error.message);
  }

  test("so that its retry gets the answer that was meant for it", async () => {
    const { deck, fetch, get } = await play([track("t1", "/a"), track("t2", "/a")]);
    expect(await abortAtOnce(fetch)).toBe("gave up");
    expect([await get("/a"), await get("/a")]).toEqual(["t1", "t2"]);
    await expect(deck.finish()).resolves.toMatchObject({ returned: 1, played: 2 });
  });

  test("a loop that always gives up comes to an end", async () => {
    const { deck, fetch } = await play([track("t1", "/a")]);
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push(await abortAtOnce(fetch));
    expect(outcomes).toEqual(["gave up", "gave up", "script-exhausted", "script-exhausted"]);
    const error = await caught<ScriptExhausted>(deck.finish());
    expect(error.details).toMatchObject({ recorded: 1, asked: 3 });
    expect(error.message).toContain("asked for a 3rd time");
  });

  test("with the order strict as well", async () => {
    const { deck, fetch, get } = await play([track("t1", "/a"), track("t2", "/b")], { order: "strict" });
    expect(await abortAtOnce(fetch)).toBe("gave up");
    expect(await caught(get("/b"))).toBeInstanceOf(OutOfOrder);
    deck.expectViolation("out-of-order");
    expect([await get("/a"), await get("/b")]).toEqual(["t1", "t2"]);
    await deck.finish();
  });

  test("but not once the head was delivered", async () => {
    const { deck, fetch } = await play([track("t1", "/a")]);
    const controller = new AbortController();
    await fetch(`${origin}/a`, { signal: controller.signal });
    controller.abort();
    await expect(fetch(`${origin}/a`)).rejects.toBeInstanceOf(ScriptExhausted);
    expect((await caught<ScriptExhausted>(deck.finish())).details).toMatchObject({ asked: 2 });
  });
});
