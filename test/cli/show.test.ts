import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { editText } from "../../src/cassette/edit.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sampleText } from "./sample-cassette.ts";

const scratch = useScratch();
const cassettes = resolve(import.meta.dirname, "../../cassettes");

beforeAll(async () => {
  await writeFile(join(scratch.folder, "sample.cassette.json"), sampleText);
  const edited = editText(sampleText, [
    { path: ["tracks", 0, "response", "body", "json", "items"], value: [] },
    { path: ["tracks", 2, "repeat"], value: "forever" },
    { path: ["tracks", 1, "id"], value: "mine" },
    { path: ["note"], value: "by hand" },
  ]);
  await writeFile(join(scratch.folder, "edited.cassette.json"), edited);
});

const show = (...args: string[]) => wiretape(["show", ...args], { cwd: scratch.folder });

test("the head, and a table of the tracks", async () => {
  const { status, stdout, stderr } = await show("sample.cassette.json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "sample.cassette.json
      name      checkout > pays by card
      recorded  2026-03-02T09:00:00.000Z with wiretape/0.1.0
      origins   https://staging.example.com
      size      3 tracks, 2.0 KiB
      state     recorded

    id  kind  lane      at  what                  status                  frames   size  gates  state
    t1  http          0 ms  GET /v1/items?page=1  200                          1   19 B         recorded
    t2  http  watch  10 ms  GET /v1/watch         200, broke: UND_ERR_S…       3  111 B  t3     recorded
    t3  http         30 ms  POST /v1/send         202                          1   17 B         recorded
    "
  `);
});

test("edited and authored tracks are marked", async () => {
  const { stdout } = await show("edited.cassette.json");
  expect(stdout).toMatchInlineSnapshot(`
    "edited.cassette.json
      name      checkout > pays by card
      recorded  2026-03-02T09:00:00.000Z with wiretape/0.1.0
      origins   https://staging.example.com
      note      by hand
      size      3 tracks, 2.1 KiB
      state     2 edited, 1 authored, and match, vars or the list of tracks was edited

    id    kind  lane      at  what             status           frames   size  gates  plays     state
    t1    http          0 ms  GET /v1/items?…  200                   1   12 B                   edited
    mine  http  watch  10 ms  GET /v1/watch    200, broke: UN…       3  111 B  t3               authored
    t3    http         30 ms  POST /v1/send    202                   1   17 B         ×forever  edited
    "
  `);
});

test("--track: the frames with times, gates, joints and cuts, and the end", async () => {
  const { stdout } = await show("sample.cassette.json", "--track", "t2");
  expect(stdout).toMatchInlineSnapshot(`
    "t2  GET https://staging.example.com/v1/watch
      recorded, http, lane watch, 10 ms after the recording began, sample.cassette.json:20

    response headers
      content-type  text/event-stream

      time  what   form  content                            size  after  chunks
     +3 ms  head         200
     +3 ms  frame  sse   {"type":"snapshot"}                27 B
    +41 ms  frame  sse   event: run  {"type":"run.admitte…  42 B  t3
            frame  sse   {"type":"chunk","delta":"Grüße"}   42 B         joined, cut at byte 17 (+46 ms)
    +60 ms  end          TypeError: terminated ← SocketEr…
    "
  `);
});

test("lines are as long as the terminal is wide", async () => {
  for (const width of [60, 90, 150]) {
    const { stdout } = await wiretape(["show", "sample.cassette.json", "--track", "t2"], {
      cwd: scratch.folder,
      env: { COLUMNS: String(width) },
    });
    const table = stdout.split("\n").filter((line) => line.includes(" frame "));
    expect(table).toHaveLength(3);
    for (const line of table) expect(line.length).toBeLessThanOrEqual(Math.max(width, 72));
  }
});

test("--json: the same as data", async () => {
  const { stdout } = await show("sample.cassette.json", "--json");
  const { tracks, ...head } = JSON.parse(stdout);
  expect(head).toEqual({
    path: "sample.cassette.json",
    format: 1,
    size: 2075,
    state: "recorded",
    headEdited: false,
    recorded: {
      at: "2026-03-02T09:00:00.000Z",
      with: "wiretape/0.1.0",
      name: "checkout > pays by card",
      origins: ["https://staging.example.com"],
    },
  });
  expect(tracks).toHaveLength(3);
  expect(tracks[1]).toEqual({
    id: "t2",
    kind: "http",
    lane: "watch",
    at: 10,
    what: "GET https://staging.example.com/v1/watch",
    status: "200, broke: UND_ERR_SOCKET",
    frames: 3,
    bytes: 111,
    gates: ["t3"],
    state: "recorded",
    line: 20,
  });
});

test("--track --json: the timeline, nothing shortened", async () => {
  const { stdout } = await show("sample.cassette.json", "--track", "t2", "--json");
  const { path, track } = JSON.parse(stdout);
  expect(path).toBe("sample.cassette.json");
  expect(track).toMatchObject({ id: "t2", state: "recorded", line: 20 });
  expect(track.timeline).toEqual([
    { what: "head", at: 3, content: "200" },
    { what: "frame", at: 3, form: "sse", content: '{"type":"snapshot"}', bytes: 27 },
    { what: "frame", at: 41, form: "sse", content: 'event: run  {"type":"run.admitted"}', bytes: 42, after: "t3" },
    {
      what: "frame",
      form: "sse",
      content: '{"type":"chunk","delta":"Grüße"}',
      bytes: 42,
      joined: true,
      cuts: [{ offset: 17, at: 46 }],
    },
    { what: "end", at: 60, content: "TypeError: terminated ← SocketError: other side closed (UND_ERR_SOCKET)" },
  ]);
});

test("a track that is not there: the nearest is named", async () => {
  const { status, stderr } = await show("sample.cassette.json", "--track", "t22");
  expect(status).toBe(2);
  expect(stderr).toBe('error: sample.cassette.json has no track "t22"; did you mean "t2"?\n');
});

test("a file that is no cassette: its faults, and 1", async () => {
  await writeFile(join(scratch.folder, "bad.cassette.json"), '{\n  "wiretape": 1,\n  "traks": []\n}\n');
  const { status, stdout, stderr } = await show("bad.cassette.json");
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("bad.cassette.json:3:3  traks: ");
});

describe("every kind of track can be shown", () => {
  test.each(["agent", "function", "http", "mcp", "model", "process", "websocket"])("%s", async (kind) => {
    const file = join(cassettes, `${kind}.cassette.json`);
    const { stdout } = await show(file, "--json");
    const { tracks } = JSON.parse(stdout) as { tracks: { id: string; kind: string; what: string; status: string }[] };
    expect(tracks.length).toBeGreaterThan(0);
    for (const { id, kind: own, status, what } of tracks) {
      expect(own).toBe(kind);
      expect(status).not.toBe("open");
      expect(what).not.toBe("");
      const track = await show(file, "--track", id);
      expect(track.status).toBe(0);
      expect(track.stdout).toContain("unsealed");
    }
  });
});

test("a file the size of a real recording is shown without delay, and its reader may stop early", async () => {
  await mkdir(join(scratch.folder, "large"));
  const [track] = JSON.parse(sampleText).tracks;
  const tracks = Array.from({ length: 5000 }, (_, i) => ({ ...track, id: `t${i + 1}` }));
  await writeFile(join(scratch.folder, "large/x.cassette.json"), JSON.stringify({ wiretape: 1, tracks }));
  const { stdout } = await show("large/x.cassette.json");
  expect(stdout.split("\n").length).toBeGreaterThan(5000);
});
