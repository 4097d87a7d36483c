import { describe, expect, test } from "vitest";
import { tapeFunction } from "../../src/boundary/function/function.ts";
import { editText } from "../../src/cassette/edit.ts";
import { lintCassette } from "../../src/cassette/lint.ts";
import { memoryStore } from "../../src/cassette/memory-store.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import type { Track } from "../../src/cassette/schema.ts";
import { trackStates } from "../../src/cassette/seal.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { readJournal, recoverCassette } from "../../src/engine/recover.ts";
import { CassetteInvalid } from "../../src/errors.ts";

const head = { wiretape: 1, recorded: { at: "2026-03-02T09:00:00.000Z", with: "wiretape/0.1.0" } };
const call = (id: string, more: object = {}): object => ({
  id,
  kind: "function",
  at: 1,
  call: { name: "add", input: [1, 2] },
  result: { at: 2, value: 3 },
  ...more,
});
const stream = (id: string, after: unknown): object => ({
  id,
  kind: "http",
  at: 1,
  request: { method: "GET", url: "https://example.com/watch" },
  response: {
    at: 1,
    status: 200,
    body: [
      { at: 1, json: { after: "t99", cuts: [[1, 2, "t99"]] } },
      { at: 5, after, text: "ab", cuts: [[1, 6, after]] },
    ],
    end: { at: 9, after, by: "client" },
  },
});
const journal = (...lines: (object | string)[]): Uint8Array =>
  Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

describe("a whole journal", () => {
  test("becomes the cassette that the recording would have written", async () => {
    const store = memoryStore();
    const lines: string[] = [];
    const spied = {
      ...store,
      journal: async (name: string) => {
        const own = await store.journal(name);
        return {
          ...own,
          append: (line: string) => void lines.push(line),
          rewrite: (all: readonly string[]) => void lines.splice(0, Infinity, ...all),
        };
      },
    };
    const deck = await createDeck({ mode: "record", store: spied, name: "a.cassette.json", note: "by hand" });
    const add = tapeFunction(deck, "add", async (a: number, b: number) => a + b);
    await deck.var("port", () => 8080);
    for (let i = 0; i < 12; i++) await add(i, i);
    await deck.finish();
    const written = new TextDecoder().decode(await store.read("a.cassette.json"));
    const reading = readJournal(journal(...lines));
    expect(reading).toMatchObject({ faults: [], torn: undefined, extended: undefined, vars: { port: 8080 } });
    expect(recoverCassette(reading)).toMatchObject({ text: written, missing: [], gates: [] });
  });

  test("tracks stand in the order of their numbers, not of their ends; origins are noted; it is sealed", () => {
    const bytes = journal(head, call("t10"), stream("t2", "start"), { var: "b", value: [1] }, call("t1"));
    const { text } = recoverCassette(readJournal(bytes));
    const cassette = parseCassette(text);
    expect(cassette.tracks.map(({ id }) => id)).toEqual(["t1", "t2", "t10"]);
    expect(cassette.vars).toEqual({ b: [1] });
    expect(cassette.recorded).toEqual({ ...head.recorded, origins: ["https://example.com"] });
    expect(new Set(trackStates(cassette).values())).toEqual(new Set(["recorded"]));
    expect(lintCassette(text)).toEqual([]);
  });
});

describe("a journal that was cut short", () => {
  const bytes = journal(head, call("t1", { note: "Grüße 你好" }), { var: "v", value: "x" }, call("t2"));

  test("at any byte: what was complete is there, the torn line is told, and nothing is a fault", () => {
    const firstLine = bytes.indexOf(0x0a);
    for (let length = 0; length <= bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      const reading = readJournal(cut);
      const whole = [...cut].filter((byte) => byte === 0x0a).length;
      const rest = cut.subarray(cut.lastIndexOf(0x0a) + 1).length;
      expect(reading.faults).toEqual([]);
      // The line break is the last byte of a line: without it, a line that is complete counts.
      const complete = rest > 0 && reading.torn === undefined;
      expect(complete).toBe(bytes[length] === 0x0a && rest > 0);
      if (rest > 0 && !complete) expect(reading.torn).toEqual({ line: whole + 1, bytes: rest });
      const lines = whole + (complete ? 1 : 0);
      expect(reading.head === undefined).toBe(length < firstLine);
      expect(reading.tracks.map(({ id }) => id)).toEqual(["t1", "t2"].slice(0, lines >= 4 ? 2 : lines >= 2 ? 1 : 0));
      expect(reading.vars).toEqual(lines >= 3 ? { v: "x" } : {});
      if (reading.tracks.length > 0) parseCassette(recoverCassette(reading).text);
      else expect(() => recoverCassette(reading)).toThrow(CassetteInvalid);
    }
  });

  test("numbers that are missing are told", () => {
    expect(recoverCassette(readJournal(journal(head, call("t5"), call("t2")))).missing).toEqual(["t1", "t3", "t4"]);
  });

  test("gates that name a lost track are taken out and told; payloads that look like gates are not touched", () => {
    const reading = readJournal(
      journal(head, stream("t1", ["t2", "t3"]), stream("t4", "t2"), call("t3"), stream("t5", "start")),
    );
    const { text, gates } = recoverCassette(reading);
    expect(gates).toEqual([
      { track: "t1", named: ["t2"] },
      { track: "t4", named: ["t2"] },
    ]);
    const [first, , second] = parseCassette(text).tracks as Extract<Track, { kind: "http" }>[];
    expect(first?.response?.body).toEqual([
      { at: 1, json: { after: "t99", cuts: [[1, 2, "t99"]] } },
      { at: 5, after: "t3", text: "ab", cuts: [[1, 6, "t3"]] },
    ]);
    expect(first?.response?.end).toEqual({ at: 9, after: "t3", by: "client" });
    expect(second?.response?.body).toEqual([
      { at: 1, json: { after: "t99", cuts: [[1, 2, "t99"]] } },
      { at: 5, text: "ab", cuts: [[1, 6]] },
    ]);
    expect(second?.response?.end).toEqual({ at: 9, by: "client" });
  });
});

describe("lines that cannot be used", () => {
  test.each([
    ["{ not json", "is not a line of JSON"],
    ["", "is not a line of JSON"],
    ["null", "is not a track"],
    ["[]", "is not a track"],
    ['{"id":"t9","kind":"htp"}', "is not a track: kind: "],
    [
      '{"id":"t9","kind":"http","request":{"method":"GET","url":"u","hedaers":[]},"response":{"status":200}}',
      'request.hedaers: unknown key "hedaers"',
    ],
    ['{"id":"t9","kind":"http","request":{"method":"GET","url":"u"}}', "has no outcome"],
    [
      '{"id":"t9","kind":"http","request":{"method":"GET","url":"u"},"response":{"status":200,"body":{"base64":"Q"}}}',
      "response.body.base64: must be base64",
    ],
    ['{"id":"t1","kind":"function","call":{"name":"x"},"result":{}}', 'is track "t1" again; the first is on line 2'],
    ['{"var":"a b","value":1}', "is not a variable"],
    ['{"var":1,"value":1}', "is not a variable"],
    [`${"[".repeat(5000)}${"]".repeat(5000)}`, "nests deeper"],
    [JSON.stringify(head), "is not a track"],
  ])("%j", (line, message) => {
    const reading = readJournal(journal(head, call("t1"), line, call("t2")));
    expect(reading.faults).toEqual([{ line: 3, message: expect.stringContaining(message) }]);
    expect(reading.tracks.map(({ id }) => id)).toEqual(["t1", "t2"]);
    expect(reading.torn).toBeUndefined();
  });

  test("bytes that are no UTF-8 spoil one line", () => {
    const reading = readJournal(
      Buffer.concat([journal(head, call("t1")), Buffer.from([0xff, 0x0a]), journal(call("t2"))]),
    );
    expect(reading.faults).toEqual([{ line: 3, message: "is not a line of JSON" }]);
    expect(reading.tracks).toHaveLength(2);
  });

  test("a first line that is no head is a fault, and the rest is read", () => {
    for (const line of [call("t1"), { wiretape: 2 }, { wiretape: 1, extends: 1 }, { wiretape: 1, nme: 1 }, "x"]) {
      const reading = readJournal(journal(line, call("t2")));
      expect(reading.head).toBeUndefined();
      expect(reading.faults).toHaveLength(1);
      expect(reading.faults[0]?.line).toBe(1);
      expect(parseCassette(recoverCassette(reading).text).tracks.map(({ id }) => id)).toEqual(["t2"]);
    }
  });
});

describe("a recording that extended a cassette", () => {
  const base = recoverCassette(readJournal(journal(head, { var: "a", value: 1 }, call("t1"), call("t2")))).text;
  const extended = { ...head, extends: "some/where/base.cassette.json" };

  test("is appended to it, and the states of what was there stay", () => {
    const edited = editText(base, [{ path: ["tracks", 0, "result", "value"], value: 4 }]);
    const reading = readJournal(journal(extended, call("t4"), { var: "b", value: 2 }));
    expect(reading.extended).toBe("some/where/base.cassette.json");
    const { text, missing, tracks } = recoverCassette(reading, edited);
    const cassette = parseCassette(text);
    expect(cassette.tracks.map(({ id }) => id)).toEqual(["t1", "t2", "t4"]);
    expect([...trackStates(cassette).values()]).toEqual(["edited", "recorded", "recorded"]);
    expect(cassette.vars).toEqual({ a: 1, b: 2 });
    expect(cassette).not.toHaveProperty("extends");
    expect(missing).toEqual(["t3"]);
    expect(tracks.map(({ id }) => id)).toEqual(["t4"]);
  });

  test("may wait for tracks of the cassette", () => {
    const { gates } = recoverCassette(readJournal(journal(extended, stream("t3", ["t1", "t7"]))), base);
    expect(gates).toEqual([{ track: "t3", named: ["t7"] }]);
  });

  test("a second recovery is refused", () => {
    const reading = readJournal(journal(extended, call("t3")));
    const once = recoverCassette(reading, base).text;
    expect(() => recoverCassette(reading, once)).toThrow(/has "t3" already/);
  });

  test("a base that is broken is refused with its faults", () => {
    expect(() => recoverCassette(readJournal(journal(extended, call("t3"))), "{")).toThrow(CassetteInvalid);
  });
});
