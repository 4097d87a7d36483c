import { expect, test } from "vitest";
import { tapeFetch, withDeck } from "wiretape";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

const scratch = useScratch();
const url = "https://api.example.com/";
const answering = async (): Promise<Response> => new Response("ok");

test("a value that was named, in a place that redaction does not reach, is refused by its rule and leaves nothing on the disk", async () => {
  const value = "tenant-0451";
  for (const [redact, rule, lane, variable] of [
    [{ values: [value] }, "value", value, "id"],
    [{ add: [{ name: "tenant", value }] }, "tenant", value, "id"],
    [{ values: [value] }, "value", "main", value],
  ] as const) {
    const path = scratch.cassette();
    const recording = withDeck(path, { mode: "record", redact }, async (deck) => {
      await tapeFetch(deck.lane(lane), answering)(url);
      await deck.var(variable, () => "x");
      // Before it ends: a process that is killed now leaves this.
      expect([...(await scratch.everything()).values()].join("\n")).not.toContain(value);
    });
    const error: unknown = await recording.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "secret-found", details: { findings: [{ rule }] } });
    expect(String(error)).not.toContain(value);
    expect([...(await scratch.everything()).values()].join("\n")).not.toContain(value);
  }
});

test("a named value whose rule is waived may stay", async () => {
  const value = "tenant-0451";
  const path = scratch.cassette();
  await withDeck(path, { mode: "record", redact: { values: [value], waive: ["value"] } }, (deck) =>
    tapeFetch(deck.lane(value), answering)(url),
  );
  expect([...(await scratch.everything()).values()].join("\n")).toContain(value);
});
