import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDeck, parseCassette, tapeFetch, trackStates } from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { readJournal } from "../../src/engine/recover.ts";
import { filesBelow, start, useScratch } from "../support/scratch.ts";

const scratch = useScratch();
let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer();
});
afterAll(() => staging.close());

test("two processes record the same file: one wins, the other is refused, and the file is whole", async () => {
  const path = scratch.cassette();
  const both = [start("record", [path, staging.url, "one"]), start("record", [path, staging.url, "two"])];
  await Promise.all(both.map((process) => process.printed("ready")));
  for (const process of both) process.type("go");
  // One streams while it holds the file; the other one ends at once, because of that.
  await Promise.any(both.map((process) => process.printed("streaming")));
  await Promise.race(both.map(({ ended }) => ended));
  for (const process of both) process.type("go on");
  const outputs = (await Promise.all(both.map(({ ended }) => ended))).map(({ stdout }) => stdout);
  expect(outputs.filter((text) => text.includes("written"))).toHaveLength(1);
  expect(outputs.filter((text) => /refused cassette-(busy|exists)/.test(text))).toHaveLength(1);

  const winner = outputs.findIndex((text) => text.includes("written"));
  const cassette = parseCassette(await readFile(path, "utf8"));
  expect(cassette).toMatchObject({ note: ["one", "two"][winner], vars: { mark: ["one", "two"][winner] } });
  expect([...trackStates(cassette).values()]).toEqual(["recorded", "recorded", "recorded"]);
  // Nothing is left beside it: no lock, no journal, no half file.
  expect([...(await filesBelow(dirname(path))).keys()]).toEqual([basename(path)]);

  // One that comes later is told that the file exists.
  const late = start("record", [path, staging.url, "late"]);
  late.type("go");
  expect((await late.ended).stdout).toContain("refused cassette-exists");
});

test("SIGKILL in the middle of a recording loses only the open track; the journal holds no secret; the next one records", async () => {
  const path = scratch.cassette();
  const killed = start("record", [path, staging.url, "killed"]);
  killed.type("go");
  await killed.printed("streaming");
  killed.kill("SIGKILL");
  const { signal, stdout } = await killed.ended;
  expect(signal).toBe("SIGKILL");
  const token = /streaming (\S+)/.exec(stdout)?.[1] as string;
  expect(token.length).toBeGreaterThan(20);

  const files = await filesBelow(dirname(path));
  const journal = [...files].find(([name]) => name.endsWith(".recording.jsonl")) as [string, string];
  const reading = readJournal(Buffer.from(journal[1], "latin1"));
  expect(reading.faults).toEqual([]);
  expect(reading.torn).toBeUndefined();
  expect(reading.tracks.map(({ id }) => id)).toEqual(["t1", "t2"]);
  expect(reading.vars).toEqual({ mark: "killed" });
  expect(files.has(basename(path))).toBe(false);
  for (const text of files.values()) {
    expect(text).not.toContain(token);
    expect(text).not.toContain("correct horse");
  }

  // The lock of a dead process holds nobody, and its journal stays for recovery.
  const deck = await openDeck(path, { mode: "record" });
  await (await tapeFetch(deck)(`${staging.url}/v1/items`)).text();
  await deck.finish();
  const names = [...(await filesBelow(dirname(path))).keys()].sort();
  expect(names).toEqual(["tape.cassette.json", "tape.recording-1.jsonl"]);
});
