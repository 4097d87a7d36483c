import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { columns, shorten } from "../../src/cli/columns.ts";
import { printable, printableJson } from "../../src/cli/printable.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";

// A cassette is untrusted input. What it holds must not reach a terminal as anything but plain characters.
const evil = "\u001b[2J\u001b]0;owned\u0007\u009b31m\r\b\u202egnp.exe\u2066\u2028\u0000\ufeff\nt9 recorded";
const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

const scratch = useScratch();
const note = evil;
const at = 1;
const cassette = {
  wiretape: 1,
  recorded: { at: evil, with: evil, name: evil, origins: [evil], note },
  note,
  match: { ignore: [`/${evil}`] },
  vars: { v: evil, w: { [evil]: evil } },
  tracks: [
    {
      id: "h",
      kind: "http",
      note,
      request: { method: evil, url: evil, headers: [["\u001b[2J", "\u009b31m\u0007"]], body: { text: evil } },
      response: {
        status: 200,
        reason: "\u001b[2J\u009b",
        headers: [["\u0007", "\r\n"]],
        trailers: [["\u001b", "\u001b"]],
        body: [
          { text: evil, note, after: { method: evil } },
          { json: { [evil]: evil } },
          { line: evil },
          { sse: { event: "\u001b\u009b", data: evil, comment: "\u0007" } },
        ],
        end: { at, error: { name: evil, message: evil, code: evil, cause: { name: evil, message: evil } } },
      },
    },
    { id: "f", kind: "http", request: { method: "GET", url: evil }, fault: { name: evil, message: evil, code: evil } },
    {
      id: "w",
      kind: "websocket",
      open: { url: evil, headers: [["\u001b", "\u001b"]] },
      frames: [{ from: "client", at, text: evil }],
      close: { code: 1000, reason: evil },
    },
    { id: "p", kind: "process", open: { command: evil, argv: [evil] }, frames: [], close: { signal: evil } },
    { id: "c", kind: "function", call: { name: evil, thread: evil, input: evil }, result: { value: { [evil]: evil } } },
  ],
};
const broken = {
  wiretape: 1,
  [evil]: evil,
  tracks: [
    { id: evil, kind: evil },
    { id: "a", kind: "http", request: { method: 1, url: evil, [evil]: 1 }, fault: { [evil]: 1 } },
  ],
};

beforeAll(async () => {
  await writeFile(join(scratch.folder, "evil.cassette.json"), JSON.stringify(cassette));
  await writeFile(join(scratch.folder, "broken.cassette.json"), JSON.stringify(broken));
  await writeFile(join(scratch.folder, "\u001b[2J.cassette.json"), JSON.stringify(cassette));
  const lines = [{ wiretape: 1 }, { id: "t1", ...cassette.tracks[1], [evil]: 1 }, { ...cassette.tracks[1], id: "t2" }];
  await writeFile(
    join(scratch.folder, "evil.recording.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
});

const commands: string[][] = [
  ["ls"],
  ["show", "evil.cassette.json"],
  ["show", "broken.cassette.json"],
  ["show", "\u001b[2J.cassette.json"],
  ["show", "\u001b[2J"],
  ["show", "evil.cassette.json", "--track", "\u001b[2J"],
  ...["h", "f", "w", "p", "c"].map((id) => ["show", "evil.cassette.json", "--track", id]),
  ["lint", "evil.cassette.json", "broken.cassette.json", "\u001b[2J.cassette.json"],
  ["seal", "broken.cassette.json", "\u001b[2J.cassette.json"],
  ["recover", "evil.recording.jsonl"],
  ["recover", "evil.recording.jsonl", "--partial"],
];

describe("no command prints what a terminal would act on", () => {
  test.each(commands)("%j %j %j %j", async (...args) => {
    const parts = args.filter((part) => part !== undefined);
    for (const json of [[], ["--json"]]) {
      const { status, stdout, stderr } = await wiretape([...parts, ...json], { cwd: scratch.folder });
      expect(status).toBeLessThanOrEqual(2);
      expect(stdout + stderr).not.toMatch(raw);
      expect(stdout + stderr).not.toMatch(/^t9 recorded/m); // a line of its own would look like a line of ours
      expect(stderr).not.toContain("fault of wiretape");
      if (json.length > 0) JSON.parse(stdout);
    }
  });
});

test("the hostile file is a valid one", async () => {
  const { status } = await wiretape(["lint", "evil.cassette.json"], { cwd: scratch.folder });
  expect(status).toBe(0);
});

test("JSON output says what the file says, escaped", async () => {
  const { stdout } = await wiretape(["show", "evil.cassette.json", "--json"], { cwd: scratch.folder });
  expect(JSON.parse(stdout).note).toBe(evil);
});

describe("printable", () => {
  test("escapes what is no plain character, and keeps what is", () => {
    expect(printable("a\tb\r\n\u001b[0m\u009b\u202e\ud800x😀é")).toBe("a\\tb\\r\\n\\u001b[0m\\u009b\\u202e\\ud800x😀é");
    expect(printable("Grüße 你好 👩🏽‍🚀")).toBe("Grüße 你好 👩🏽‍🚀");
  });

  test("keeps JSON the same value", () => {
    const value = { a: "\u009b\u2028\ufeff😀", b: "\n" };
    const text = printableJson(JSON.stringify(value, null, 2));
    expect(text).not.toMatch(raw);
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe("columns", () => {
  test("wide characters take two, combining ones none", () => {
    expect(["abc", "é", "e\u0301", "你好", "😀", "ｱ"].map(columns)).toEqual([3, 1, 1, 4, 2, 1]);
  });

  test("a text is cut so that it fits", () => {
    expect(shorten("abcdef", 6)).toBe("abcdef");
    expect(shorten("abcdef", 4)).toBe("abc…");
    expect(shorten("你好吗", 4)).toBe("你…");
    expect(shorten("abc", 0)).toBe("");
  });
});
