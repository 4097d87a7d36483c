import { dirname } from "node:path";
import { expect, test } from "vitest";
import { type DeckOptions, tapeFetch } from "wiretape";
import { openTitledDeck } from "../../src/engine/open-deck.ts";
import { readJournal } from "../../src/engine/recover.ts";
import { filesBelow, useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** The first line of a journal was written before any secret was learned, never again, and was not scanned. */
const scratch = useScratch();
const answering = async (): Promise<Response> => new Response("ok");
const secret = "tenant-of-mine-0451";

/** What a process that is killed now leaves, and what it is read as. */
async function left(path: string): Promise<{ text: string; head: unknown; tracks: number; faults: number }> {
  const text = (await filesBelow(dirname(path))).get("tape.recording.jsonl") ?? "";
  const { head, tracks, faults } = readJournal(new TextEncoder().encode(text));
  return { text, head, tracks: tracks.length, faults: faults.length };
}

async function recording(
  options: DeckOptions,
): Promise<{ path: string; deck: Awaited<ReturnType<typeof openTitledDeck>> }> {
  const path = scratch.cassette();
  return { path, deck: await openTitledDeck(path, { mode: "record", ...options }, `pays as ${secret}`) };
}

test("a secret that is learned later is taken out of the title and the note in the journal, which can be recovered", async () => {
  const { path, deck } = await recording({ note: `as ${secret}` });
  expect((await left(path)).text).toContain(secret); // nobody knows yet
  const fetch = tapeFetch(deck, answering);
  await (await fetch("http://localhost/", { headers: { authorization: `Bearer ${secret}` } })).text();
  const { text, ...read } = await left(path);
  expect(text).not.toContain(secret);
  expect(read).toMatchObject({
    head: { recorded: { name: "pays as REDACTED-authorization-1" }, note: "as REDACTED-authorization-1" },
    tracks: 1,
    faults: 0,
  });
  await deck.finish();
});

test("a value that was named, in a place of the head that redaction does not reach, never gets into the journal", async () => {
  const { path, deck } = await recording({ redact: { values: [secret] }, match: { ignore: [`/query/${secret}`] } });
  const fetch = tapeFetch(deck, answering);
  await (await fetch("http://localhost/")).text();
  const { text, ...read } = await left(path);
  expect(text).not.toContain(secret);
  expect(read).toEqual({ head: { wiretape: 1 }, tracks: 1, faults: 0 });
  await expect(deck.finish()).rejects.toMatchObject({
    code: "secret-found",
    details: { findings: [{ rule: "value" }] },
  });
  expect([...(await filesBelow(dirname(path))).values()].join("\n")).not.toContain(secret);
});
