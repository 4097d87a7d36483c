import { expect, test } from "vitest";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette, Frame, Json } from "../../src/cassette/schema.ts";

// Every kind of track, as it has to stand on the disk. A change here is a change of every cassette there is.
const pinned = String.raw`{
  "$schema": "./cassette.schema.json",
  "wiretape": 1,
  "recorded": { "at": "2026-12-24T18:00:00.000Z", "with": "wiretape/0.1.0", "origins": ["https://a.example"] },
  "note": "all seven kinds",
  "match": {
    "order": "strict",
    "ignore": ["/body/requestId", "/headers/x-trace", "/query/nonce", "/body/messages/*/id", "/body/clientTime"]
  },
  "vars": { "now": 1700000000, "ratio": { "$number": "1.50" } },
  "tracks": [
    {
      "id": "t1", "kind": "http", "at": 0, "lane": "side",
      "after": ["t2", "t3"],
      "repeat": 2,
      "optional": true,
      "note": "looks twice",
      "request": {
        "method": "POST", "url": "https://a.example/v1/send?q=%20",
        "headers": [["content-type", "application/json"]],
        "style": { "json": { "colon": ": " } },
        "body": { "json": { "zeta": 1, "alpha": [true, null, "tab\t"] }, "pad": 2 }
      },
      "response": {
        "at": 9, "status": 200, "reason": "OK", "seen": "decoded",
        "informational": [{ "at": 4, "status": 103, "headers": [["link", "</a.css>"]] }],
        "headers": [["content-type", "text/event-stream"]],
        "body": [
          { "at": 9, "sse": { "id": "7", "event": "delta", "json": { "text": "…" } } },
          { "joined": true, "sse": { "comment": "ping" } },
          { "at": 12, "after": { "kind": "request", "url": "*/send" }, "text": "😀", "cuts": [[1, 13], [2, 14, "t2"]] }
        ],
        "trailers": [["x-sum", "1"]],
        "end": { "at": 20, "error": { "name": "TypeError", "message": "terminated" } }
      }
    },
    {
      "id": "t2", "kind": "http",
      "request": {
        "method": "GET", "url": "https://a.example/"
      },
      "fault": {
        "at": 3, "name": "TypeError", "message": "fetch failed",
        "cause": { "name": "E", "message": "refused" }
      }
    },
    {
      "id": "t3", "kind": "websocket", "at": 1,
      "open": {
        "url": "wss://a.example/socket",
        "protocols": ["v1"]
      },
      "frames": [
        { "from": "client", "json": { "op": "hello" } },
        { "at": 2, "from": "server", "binary": true, "base64": "AAE=" }
      ],
      "close": { "at": 5, "code": 1000, "reason": "bye" }
    },
    {
      "id": "t4", "kind": "process", "at": 2,
      "open": {
        "command": "claude",
        "argv": ["-p", "hello"],
        "env": { "TERM": "dumb" }
      },
      "frames": [
        { "from": "stdin", "text": "hello\n" },
        { "at": 4, "from": "stdout", "line": { "type": "result" } },
        { "at": 4, "from": "stderr", "text": "done" }
      ],
      "close": { "at": 6, "code": 0, "signal": null }
    },
    {
      "id": "t5", "kind": "mcp", "at": 3,
      "open": {},
      "frames": [],
      "close": { "at": 1 }
    },
    {
      "id": "t6", "kind": "agent", "at": 4,
      "call": { "name": "send", "thread": "thread-1", "input": { "text": "Hi" } },
      "result": { "at": 2, "value": { "$undefined": true } },
      "events": [
        { "at": 3, "value": { "$date": "2026-01-01T00:00:00.000Z" } }
      ]
    },
    {
      "id": "t7", "kind": "model", "at": 5,
      "call": {
        "name": "doGenerate",
        "input": {
          "prompt": "A prompt that is long enough for the call not to fit on a line of one hundred and twenty columns", "n": 1,
          "options": { "temperature": { "$number": "1.0" } },
          "seed": 4
        }
      },
      "error": { "name": "APICallError", "message": "overloaded", "code": 529 }
    },
    {
      "id": "t8", "kind": "function", "at": 6,
      "call": { "name": "clock" },
      "result": { "value": 1 }
    }
  ],
  "seal": { "algorithm": "sha256", "head": "aGVhZA", "tracks": { "t1": "b25l" } }
}
`;

test("the layout of all seven kinds of track", () => {
  expect(formatCassette(parseCassette(pinned))).toBe(pinned);
});

test("our keys are put in the order of the schema, payload keys and server-sent fields are left in theirs", () => {
  const shuffled = (value: unknown, payload = false): unknown => {
    if (Array.isArray(value)) return value.map((item) => shuffled(item, payload));
    if (typeof value !== "object" || value === null) return value;
    const own = new Set(["sse", "json", "line", "value", "input", "vars", "after", "env"]);
    const entries = Object.entries(value).map(([key, item]) => [key, shuffled(item, payload || own.has(key))] as const);
    return Object.fromEntries(payload ? entries : entries.reverse());
  };
  expect(formatCassette(shuffled(parseCassette(pinned)) as Cassette)).toBe(pinned);
});

const withFrame = (frame: Frame): Cassette => ({
  wiretape: 1,
  tracks: [
    { id: "t1", kind: "http", request: { method: "GET", url: "/", body: [frame, { text: "" }] }, end: { at: 1 } },
  ],
});
const withVar = (value: Json): Cassette => ({ wiretape: 1, vars: { a: value }, tracks: [] });
const lineWith = (cassette: Cassette, part: string): string =>
  formatCassette(cassette)
    .split("\n")
    .find((line) => line.includes(part)) ?? "";

test("a frame stands on one line of 400 columns, comma included, and a column is a code point", () => {
  const around = (filler: string): number =>
    [...lineWith(withFrame({ text: filler.repeat(100) }), filler)].length - 100;
  for (const filler of ["x", "é", "😀"]) {
    const room = 400 - around(filler);
    const fits = lineWith(withFrame({ text: filler.repeat(room) }), filler);
    expect([...fits]).toHaveLength(400);
    expect(fits).toMatch(/^ {10}\{ "text": .* \},$/u);
    const opened = lineWith(withFrame({ text: filler.repeat(room + 1) }), filler);
    expect(opened).toMatch(/^ {12}"text": "[^"]*"$/u);
  }
});

test("any other value stands on one line of 120 columns, comma included", () => {
  const line = (filler: string, n: number): string => lineWith(withVar([filler.repeat(n)]), filler);
  for (const filler of ["x", "😀"]) {
    const around = [...line(filler, 50)].length - 50;
    expect([...line(filler, 120 - around)]).toHaveLength(120);
    expect(line(filler, 120 - around)).toMatch(/^ {2}"vars": \{ "a": \[".*"\] \},$/u);
    expect(line(filler, 121 - around)).toMatch(/^ {4}"a": \[".*"\]$/u);
  }
});

test("what JavaScript would change in silence is written down, or refused", () => {
  expect(lineWith(withVar(-0), '"a"')).toBe('  "vars": { "a": { "$number": "-0" } },');
  expect(lineWith(withVar([Number.NaN]), '"a"')).toContain('{ "$number": "NaN" }');
  expect(() => formatCassette({ wiretape: 1, tracks: [], note: (() => "") as never })).toThrow(TypeError);
});

test("undefined is not printed, a key that the schema does not know is not lost", () => {
  const cassette = { stranger: 1, wiretape: 1, note: undefined, tracks: [] } as unknown as Cassette;
  expect(formatCassette(cassette)).toBe('{\n  "wiretape": 1,\n  "tracks": [],\n  "stranger": 1\n}\n');
});
