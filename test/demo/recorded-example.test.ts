import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { lintCassette, openDeck, parseCassette, tapeFetch } from "wiretape";
import { DEMO_TITLE } from "../../src/demo/demo-place.ts";
import { runStagingSession } from "../../src/demo/session.ts";

const example = resolve(import.meta.dirname, "../../cassettes/night-train.cassette.json");

test("the recorded example is as the demo recorded it, and plays", async () => {
  const text = await readFile(example, "utf8");
  expect(lintCassette(text)).toEqual([]);
  expect(parseCassette(text).recorded?.name).toBe(DEMO_TITLE);
  const deck = await openDeck(example, { mode: "replay", integrity: "sealed" });
  const [origin = ""] = deck.cassette?.recorded?.origins ?? [];
  const { requests } = await runStagingSession(tapeFetch(deck), origin);
  expect(requests.map(({ status }) => status)).toEqual([200, 201, 200, 202, 200, 200, 200, 200, 200, 500, 200, 204]);
  expect((await deck.finish()).played).toBe(12);
});
