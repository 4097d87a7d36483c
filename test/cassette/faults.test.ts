import { describe, expect, test } from "vitest";
import { tapeFetch } from "../../src/boundary/http/fetch.ts";
import { applyFault, canHappen } from "../../src/cassette/fault-apply.ts";
import type { Fault } from "../../src/cassette/fault-kinds.ts";
import { openBody } from "../../src/cassette/frames.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import type { Cassette, HttpTrack, Track } from "../../src/cassette/schema.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { OptionInvalid } from "../../src/errors.ts";

const URL_OF = "https://api.example.com/v1/stream";
const cassette: Cassette = parseCassette(`{
  "wiretape": 1,
  "tracks": [{
    "id": "t1", "kind": "http", "at": 0,
    "request": { "method": "GET", "url": "${URL_OF}" },
    "response": {
      "at": 3, "status": 200, "headers": [["content-type", "text/event-stream"]],
      "body": [
        { "at": 4, "sse": { "event": "a", "json": { "n": 1 } } },
        { "at": 5, "sse": { "json": { "n": "zwei – 2" } } },
        { "joined": true, "sse": { "json": { "n": 3 } }, "cuts": [[5, 9]] }
      ]
    }
  }]
}`);

/** What a program reads: its chunks, how it ended, and the status. */
async function read(faults: Fault[]): Promise<{ chunks: string[]; end: string; status: number }> {
  const deck = await createDeck({ cassette, faults, unplayed: "ignore" });
  const response = await tapeFetch(deck)(URL_OF);
  const chunks: string[] = [];
  let end = "done";
  try {
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk as Uint8Array).toString("latin1"));
  } catch (error) {
    end = `${(error as Error).name}: ${((error as Error).cause as { code?: string }).code}`;
  }
  await deck.finish();
  return { chunks, end, status: response.status };
}

const whole = (await read([])).chunks.join("");
const track = cassette.tracks[0] as HttpTrack;

describe("what a program sees of", () => {
  test("no fault: three chunks", async () => {
    expect((await read([])).chunks).toHaveLength(3);
  });

  test.each([
    [0, 0],
    [1, 1],
    [2, 2],
  ])("a cut after frame %i: it ends well, and early", async (frame, events) => {
    const { chunks, end } = await read([{ type: "cut", track: "t1", frame }]);
    expect(chunks.join("")).toBe(
      whole
        .split("\n\n")
        .slice(0, events)
        .map((event) => `${event}\n\n`)
        .join(""),
    );
    expect(end).toBe("done");
  });

  test("a reset in a frame: a part of it, then a broken connection", async () => {
    const { chunks, end } = await read([{ type: "reset", track: "t1", frame: 2, bytes: 9 }]);
    expect(chunks.join("")).toBe(whole.slice(0, whole.indexOf("\n\n") + 2 + 9));
    expect(end).toBe("TypeError: UND_ERR_SOCKET");
  });

  test.each([1, 2, 7])("torn into %i: the same bytes, in small chunks", async (size) => {
    const { chunks } = await read([{ type: "tear", track: "t1", size }]);
    expect(chunks.join("")).toBe(whole);
    expect(Math.max(...chunks.map(({ length }) => length))).toBe(size);
  });

  test("all in one", async () => {
    expect((await read([{ type: "coalesce", track: "t1" }])).chunks).toEqual([whole]);
  });

  test("a frame twice", async () => {
    const { chunks } = await read([{ type: "duplicate", track: "t1", frame: 1 }]);
    expect(chunks.join("")).toBe(`event: a\ndata: {"n":1}\n\n${whole}`);
  });

  test("an empty body", async () => {
    expect(await read([{ type: "empty", track: "t1" }])).toEqual({ chunks: [], end: "done", status: 200 });
  });

  test("malformed JSON: cut in the middle, the event is whole", async () => {
    const { chunks } = await read([{ type: "malformed", track: "t1", frame: 1 }]);
    expect(chunks.join("")).toBe(whole.replace('{"n":1}', '{"n"'));
  });

  test("several at once, in the order in which they are given", async () => {
    const { chunks, end } = await read([
      { type: "malformed", track: "t1", frame: 1 },
      { type: "cut", track: "t1", frame: 1 },
      { type: "tear", track: "t1", size: 4 },
    ]);
    expect(chunks.join("")).toBe('event: a\ndata: {"n"\n\n');
    expect([chunks.length, end]).toEqual([6, "done"]);
  });
});

test("a status comes once, then what was recorded; a third request is one too many", async () => {
  const deck = await createDeck({ cassette, faults: [{ type: "status", track: "t1", status: 503 }] });
  const fetch = tapeFetch(deck);
  const statuses = [(await fetch(URL_OF)).status, (await fetch(URL_OF)).status];
  expect(statuses).toEqual([503, 200]);
  await expect(fetch(URL_OF)).rejects.toThrow(/recorded twice and is asked for a 3rd time/);
  deck.expectViolation("script-exhausted");
  await deck.finish();
});

test("a torn chunk waits where the whole one did, and its pieces for nothing more; one made of all waits for all", () => {
  const body = [
    { at: 1, after: "t1", text: "abc" },
    { at: 2, after: "t2", text: "d" },
  ];
  const gated = { ...track, response: { ...track.response!, headers: [], body } };
  const gatesOf = ([one]: readonly Track[]): unknown[] => {
    const answered = (one as HttpTrack).response!;
    const reader = openBody(answered.body, answered.style);
    const gates: unknown[] = [];
    for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) gates.push(chunk.after);
    return gates;
  };
  expect(gatesOf(applyFault(gated, { type: "tear", track: "t1" }))).toEqual(["t1", undefined, undefined, "t2"]);
  expect(gatesOf(applyFault(gated, { type: "coalesce", track: "t1" }))).toEqual([["t1", "t2"]]);
});

test("a delay moves the frame and what follows it, and nothing else", () => {
  const [late] = applyFault(track, { type: "delay", track: "t1", frame: 2, ms: 1000 }) as [HttpTrack];
  expect((late.response!.body as { at?: number; cuts?: unknown }[]).map(({ at, cuts }) => [at, cuts])).toEqual([
    [4, undefined],
    [1005, undefined],
    [undefined, [[5, 1009]]],
  ]);
  expect(track.response?.body).toMatchObject([{ at: 4 }, { at: 5 }, { joined: true }]);
});

test("a delay beyond a time limit of the program is met by it, where the replay keeps a pace", async () => {
  const late: Fault = { type: "delay", track: "t1", frame: 2, ms: 60_000 };
  const read = async (limit: number): Promise<string> => {
    const deck = await createDeck({ cassette, faults: [late], timing: 40, unplayed: "ignore" });
    const seen: string[] = [];
    try {
      const response = await tapeFetch(deck)(URL_OF, { signal: AbortSignal.timeout(limit) });
      for await (const chunk of response.body ?? []) seen.push(String(chunk));
      return `whole, ${seen.length}`;
    } catch (error) {
      return `${(error as Error).name}, ${seen.length}`;
    } finally {
      await deck.finish("failed");
    }
  };
  expect(await read(500)).toBe("TimeoutError, 1"); // 60 seconds are 1.5 at this speed
  expect(await read(20_000)).toBe("whole, 3");
});

test("wrong faults are told all at once, with the nearest", async () => {
  const faults = [
    { type: "cutt", track: "t1", frame: 1 },
    { type: "cut", track: "t7", frame: 1 },
    { type: "cut", track: "t1", frame: -1 },
    { type: "malformed", track: "t1", frame: 9 },
  ] as Fault[];
  const opening = createDeck({ cassette, faults });
  await expect(opening).rejects.toThrow(OptionInvalid);
  await expect(opening).rejects.toThrow(
    /nearest is "cut"[\s\S]*nearest is "t1"[\s\S]*frame of the fault "cut" is -1[\s\S]*malformed JSON in frame 9" cannot happen/,
  );
});

test("what cannot happen to a track is not offered", () => {
  const call = { id: "c", kind: "function", call: { name: "f" }, result: { value: 1 } } as const;
  for (const type of ["cut", "reset", "duplicate", "malformed"] as const) {
    expect(canHappen(call, { type, track: "c", frame: 1 })).toBe(false);
  }
  expect(canHappen(call, { type: "tear", track: "c" })).toBe(false);
  expect(canHappen(call, { type: "status", track: "c", status: 500 })).toBe(false);
  expect(canHappen(call, { type: "delay", track: "c", frame: 0, ms: 5 })).toBe(true);
});
