import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { editText } from "../../src/cassette/edit.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import { formatSealed } from "../../src/cassette/seal.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sample, sampleText } from "./sample-cassette.ts";

const scratch = useScratch();

beforeAll(async () => {
  const files = {
    "api/recorded.cassette.json": sampleText,
    "api/edited.cassette.json": editText(sampleText, [{ path: ["tracks", 0, "response", "status"], value: 500 }]),
    "authored.cassette.json": editText(sampleText, [{ path: ["tracks", 1, "id"], value: "mine" }]),
    "vars.cassette.json": editText(sampleText, [{ path: ["vars"], value: { port: 1 } }]),
    "mixed.cassette.json": formatSealed({
      ...sample,
      recorded: { at: "not a time" },
      tracks: [sample.tracks[2]!, { id: "f1", kind: "function", call: { name: "add" }, result: { value: 3 } }],
    }),
    "unsealed.cassette.json": formatCassette(sample),
    "broken.cassette.json": '{ "wiretape": 1, "traks": [] }',
    "node_modules/x/hidden.cassette.json": sampleText,
    "other.json": "{}",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(scratch.folder, "tapes", path, ".."), { recursive: true });
    await writeFile(join(scratch.folder, "tapes", path), text);
  }
});

test("lists what is below a folder: tracks by kind, size, state, when, name", async () => {
  const { status, stdout, stderr } = await wiretape(["ls", "tapes"], { cwd: scratch.folder, env: { COLUMNS: "140" } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "cassette                          tracks                 size  state               recorded (UTC)    name
    tapes/api/edited.cassette.json    3 http              2.0 KiB  1 edited            2026-03-02 09:00  checkout > pays by card
    tapes/api/recorded.cassette.json  3 http              2.0 KiB  recorded            2026-03-02 09:00  checkout > pays by card
    tapes/authored.cassette.json      3 http              2.0 KiB  1 authored          2026-03-02 09:00  checkout > pays by card
    tapes/broken.cassette.json                               30 B  invalid (2 faults)
    tapes/mixed.cassette.json         1 http, 1 function    758 B  recorded            not a time
    tapes/unsealed.cassette.json      3 http              1.7 KiB  unsealed            2026-03-02 09:00  checkout > pays by card
    tapes/vars.cassette.json          3 http              2.1 KiB  head edited         2026-03-02 09:00  checkout > pays by card

    7 cassettes, 10.6 KiB; 1 invalid: "wiretape lint" says why
    "
  `);
});

test("--json", async () => {
  const { stdout } = await wiretape(["ls", "tapes/api", "--json"], { cwd: scratch.folder });
  const common = {
    tracks: 3,
    kinds: { http: 3 },
    recordedAt: "2026-03-02T09:00:00.000Z",
    name: "checkout > pays by card",
  };
  expect(JSON.parse(stdout)).toEqual({
    folder: "tapes/api",
    cassettes: [
      {
        path: "tapes/api/edited.cassette.json",
        size: 2075,
        state: "1 edited",
        edited: ["t1"],
        authored: [],
        ...common,
      },
      { path: "tapes/api/recorded.cassette.json", size: 2075, state: "recorded", edited: [], authored: [], ...common },
    ],
  });
});

test("the folder is where one is, unless it is named", async () => {
  const { stdout } = await wiretape(["ls"], { cwd: join(scratch.folder, "tapes/api") });
  expect(stdout).toContain("recorded.cassette.json");
  expect(stdout).toContain("2 cassettes, ");
});

test("an empty folder is no failure, and is told", async () => {
  await mkdir(join(scratch.folder, "empty"), { recursive: true });
  const { status, stdout } = await wiretape(["ls", "empty"], { cwd: scratch.folder });
  expect(status).toBe(0);
  expect(stdout).toBe('There is no cassette below empty. A recording makes one: "wiretape demo" shows how.\n');
});
