import type { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createDeck, memoryStore, parseCassette } from "wiretape";
import { tapeSpawn } from "wiretape/process";
import "../support/settled.ts";

const counts =
  'let all = ""; process.stdin.on("data", (part) => (all += part)).on("end", () => console.log(all.length))';

async function talk(run: typeof spawn, lines: readonly string[]): Promise<unknown[]> {
  const child = run(process.execPath, ["-e", counts]);
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  child.stdin.on("error", () => undefined); // Node fails the writes that are still under way
  for (const line of lines) child.stdin.write(line);
  child.stdin.destroy();
  return [...(await once(child, "close")), said];
}

/** A pipe is there from the first moment: a double's input may not lose what comes before its program is. */
test.each([[[]], [["a\n"]], [["a\n", "b\n", "c\n"]]])(
  "input %j that is torn down in the turn of its spawn",
  async (lines) => {
    const store = memoryStore();
    const deck = await createDeck({ mode: "record", store, name: "tape.cassette.json" });
    const real = await talk(tapeSpawn(deck), lines);
    await deck.finish();
    const text = new TextDecoder().decode(await store.read("tape.cassette.json"));
    const replayed = await createDeck({ mode: "replay", cassette: parseCassette(text), stallAfterMs: 300 });
    expect(await talk(tapeSpawn(replayed), lines)).toEqual(real);
    await replayed.finish();
  },
);
