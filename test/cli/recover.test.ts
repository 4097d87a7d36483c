import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeck, parseCassette, tapeFetch, trackStates } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { start, useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sample, sampleText } from "./sample-cassette.ts";

const scratch = useScratch();
let folder = "";
let made = 0;

const head = { wiretape: 1, recorded: { with: "wiretape/0.1.0" } };
const [first, , third] = sample.tracks;
const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const recover = (...args: string[]) => wiretape(["recover", ...args], { cwd: folder });

/** A folder with these files. */
async function put(files: Record<string, string>): Promise<void> {
  folder = join(scratch.folder, `r${++made}`);
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

const read = (name: string) => readFile(join(folder, name), "utf8");

test("writes the cassette beside the journal, says what is in it, and keeps the journal", async () => {
  await put({ "a.recording.jsonl": lines(head, third, first, { var: "port", value: 1 }) });
  const { status, stdout, stderr } = await recover("a.recording.jsonl");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(
    [
      "recovered 2 tracks and 1 variable from a.recording.jsonl",
      "  t1  GET https://staging.example.com/v1/items?page=1",
      "  t3  POST https://staging.example.com/v1/send",
      "lost",
      "  t2: not in the journal; still open when the recording ended, or never sent",
      "written to a.cassette.json",
      "the journal is kept; delete it when you are done with it (--remove does)",
      "",
    ].join("\n"),
  );
  expect(parseCassette(await read("a.cassette.json")).tracks.map(({ id }) => id)).toEqual(["t1", "t3"]);
  expect((await readdir(folder)).sort()).toEqual(["a.cassette.json", "a.recording.jsonl"]);
});

test("--json, --remove and -o", async () => {
  await put({ "a.recording.jsonl": `${lines(head, first)}{"id":"t2","ki` });
  const { stdout } = await recover("a.recording.jsonl", "--json", "--remove", "-o", "other.cassette.json");
  expect(JSON.parse(stdout)).toEqual({
    journal: "a.recording.jsonl",
    output: "other.cassette.json",
    recovered: [{ id: "t1", kind: "http", what: "GET https://staging.example.com/v1/items?page=1" }],
    vars: [],
    extended: null,
    missing: [],
    torn: { line: 3, bytes: 14 },
    faults: [],
    gates: [],
    removed: true,
  });
  expect(await readdir(folder)).toEqual(["other.cassette.json"]);
});

describe("corrupt lines", () => {
  const text = `${lines(head, first)}not json\n${lines(third)}`;

  test("are told with their numbers, and nothing is written", async () => {
    await put({ "a.recording.jsonl": text });
    const { status, stdout, stderr } = await recover("a.recording.jsonl");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toBe(
      "error: a.recording.jsonl has 1 line that cannot be used; nothing was written:\n" +
        "  a.recording.jsonl:3  is not a line of JSON\n" +
        "  next      mend the journal, or recover the 2 tracks of the other lines with --partial\n",
    );
    expect(await readdir(folder)).toEqual(["a.recording.jsonl"]);
  });

  test("are left out with --partial, and told", async () => {
    await put({ "a.recording.jsonl": text });
    const { status, stdout } = await recover("a.recording.jsonl", "--partial");
    expect(status).toBe(0);
    expect(stdout).toContain(
      "lost\n  t2: not in the journal; still open when the recording ended, or never sent\n  line 3: is not a line of JSON\n",
    );
    expect(parseCassette(await read("a.cassette.json")).tracks).toHaveLength(2);
  });
});

test("a journal without a complete track makes no cassette", async () => {
  await put({ "a.recording.jsonl": lines(head), "b.recording.jsonl": "" });
  for (const name of ["a", "b"]) {
    const { status, stderr } = await recover(`${name}.recording.jsonl`);
    expect(status).toBe(1);
    expect(stderr).toContain("nothing to recover");
  }
  expect(await readdir(folder)).toHaveLength(2);
});

describe("a cassette that is there is never written over", () => {
  test("the recovered one goes beside it, once", async () => {
    await put({ "a.recording-1.jsonl": lines(head, first), "a.cassette.json": "precious" });
    const once = await recover("a.recording-1.jsonl");
    expect(once.status).toBe(0);
    expect(once.stdout).toContain("written to a.recovered.cassette.json");
    const again = await recover("a.recording-1.jsonl");
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("a.recovered.cassette.json exists already, and nothing is written over it.");
    expect(await read("a.cassette.json")).toBe("precious");
  });

  test("nor one that -o names", async () => {
    await put({ "a.recording.jsonl": lines(head, first), "b.cassette.json": "precious" });
    const { status, stderr } = await recover("a.recording.jsonl", "-o", "b.cassette.json");
    expect(status).toBe(1);
    expect(stderr).toContain("b.cassette.json exists already");
    expect(await read("b.cassette.json")).toBe("precious");
  });
});

describe("a recording that extended a cassette", () => {
  const extended = { ...head, extends: "where/it/was/a.cassette.json" };
  const fourth = { ...first, id: "t4" };

  test("is added to what was there", async () => {
    await put({ "a.recording.jsonl": lines(extended, fourth), "a.cassette.json": sampleText });
    const { status, stdout } = await recover("a.recording.jsonl");
    expect(status).toBe(0);
    expect(stdout).toContain("added to what was there, written to a.recovered.cassette.json");
    const cassette = parseCassette(await read("a.recovered.cassette.json"));
    expect(cassette.tracks.map(({ id }) => id)).toEqual(["t1", "t2", "t3", "t4"]);
    expect(new Set(trackStates(cassette).values())).toEqual(new Set(["recorded"]));
    expect(await read("a.cassette.json")).toBe(sampleText);
  });

  test("needs it", async () => {
    await put({ "a.recording.jsonl": lines(extended, fourth) });
    const { status, stderr } = await recover("a.recording.jsonl");
    expect(status).toBe(2);
    expect(stderr).toContain("extended where/it/was/a.cassette.json, and a.cassette.json is not there");
  });
});

test("a journal of another name needs -o", async () => {
  await put({ "journal.txt": lines(head, first) });
  const { status, stderr } = await recover("journal.txt");
  expect(status).toBe(2);
  expect(stderr).toContain("-o name.cassette.json");
  expect((await recover("journal.txt", "-o", "a.cassette.json")).status).toBe(0);
});

describe("a process that was killed while it recorded", () => {
  let staging: StagingServer;
  beforeAll(async () => {
    staging = await startStagingServer();
  });
  afterAll(() => staging.close());

  test("while it runs, its journal is not touched; after a SIGKILL everything that was complete can be replayed", async () => {
    const path = scratch.cassette();
    folder = dirname(path);
    const journal = basename(path).replace(".cassette.json", ".recording.jsonl");
    const recording = start("record", [path, staging.url, "killed"]);
    recording.type("go");
    await recording.printed("streaming");

    const early = await recover(journal);
    expect(early.status).toBe(1);
    expect(early.stderr).toContain(`is being recorded by process ${recording.pid}`);

    recording.kill("SIGKILL");
    await recording.ended;
    await appendFile(join(folder, journal), '{"id":"t3","kind":"http","at":12,"request":{"meth'); // killed within a write
    const { status, stdout } = await recover(journal);
    expect(status).toBe(0);
    expect(stdout).toContain("recovered 2 tracks and 1 variable");
    expect(stdout).toContain("line 5: cut off after 49 B, within what was being written");
    expect((await readdir(folder)).sort()).toEqual([basename(path), journal]);

    // Nothing is asked of the server from here on.
    const { url } = staging;
    await staging.close();
    const deck = await openDeck(path, { mode: "replay", integrity: "sealed" });
    const fetch = tapeFetch(deck);
    const login = await fetch(`${url}/v1/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: "ada", password: "another password" }),
    });
    expect(await login.json()).toMatchObject({ access_token: "REDACTED-access-token-1", token_type: "Bearer" });
    const thread = await fetch(`${url}/v1/threads`, { method: "POST", headers: { authorization: "Bearer x" } });
    expect(thread.status).toBe(201);
    expect(await thread.json()).toMatchObject({ status: "idle" });
    expect(await deck.var("mark", () => "made up")).toBe("killed");
    await expect(fetch(`${url}/v1/drip?chunks=10000&everyMs=5`)).rejects.toMatchObject({ code: "script-exhausted" });
    deck.expectViolation("script-exhausted");
    await deck.finish();
  });
});
