import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { lintCassette, openDeck, parseCassette, tapeFetch } from "wiretape";
import { createReplayAgentTransport } from "../../src/boundary/agent/replay.ts";
import { runAgentSession } from "../../src/demo/agent-session.ts";
import { AGENT_TITLE, DEMO_TITLE } from "../../src/demo/demo-place.ts";
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

test("the recorded example of an agent is as the demo recorded it, and plays, once", async () => {
  const path = resolve(import.meta.dirname, "../../cassettes/night-train-agent.cassette.json");
  const text = await readFile(path, "utf8");
  expect(lintCassette(text)).toEqual([]);
  expect(parseCassette(text).recorded?.name).toBe(AGENT_TITLE);
  const deck = await openDeck(path, { mode: "replay", integrity: "sealed" });
  const transport = createReplayAgentTransport(deck);
  const { events, results } = await runAgentSession(transport);
  expect(events).toHaveLength(25);
  expect(results).toMatchObject([{ runId: "run_1" }, { runId: "run_2" }, { runId: "run_3" }]);
  expect(transport.inspect.thread("desk")).toMatchObject({
    error: null,
    runs: [{ status: "completed" }, { status: "failed" }, { status: "completed" }],
  });
  await expect(transport.retry({ threadId: "desk" })).rejects.toThrow(/^retry to thread desk was recorded once/);
  deck.expectViolation("script-exhausted");
  expect((await deck.finish()).played).toBe(4);
});
