import { expect, it } from "vitest";
import type { HttpDraft } from "../../src/cassette/draft.ts";
import { createRedactor, type Redactor } from "../../src/cassette/redact/redactor.ts";
import type { Journal } from "../../src/cassette/store.ts";
import { Recorder } from "../../src/engine/recorder.ts";
import { Trace } from "../../src/engine/trace.ts";
import { encodeUtf8 } from "../../src/wire/bytes.ts";

const secret = "tok-987654321";

function setUp(redactor: Redactor = createRedactor()) {
  let lines: string[] = [];
  let rewrites = 0;
  const journal: Journal = {
    name: "x.recording.jsonl",
    append: (line) => void lines.push(line),
    rewrite: (all) => {
      rewrites++;
      lines = [...all];
    },
    remove: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const recorder = new Recorder({
    clock: { now: () => 0 } as never,
    redactor,
    trace: new Trace(),
    journal,
    header: () => ({ wiretape: 1 }),
    firstNumber: 1,
    gates: "causal",
    sidecarFolder: "x.files",
    clean: () => true,
  });
  const settle = (body: string): void => {
    const recording = recorder.begin(undefined);
    const draft: HttpDraft = {
      id: recording.id,
      kind: "http",
      at: 0,
      request: { method: "GET", url: "https://a.example/", headers: [] },
      response: { at: 1, status: 200, headers: [], body: { chunks: [{ at: 1, bytes: encodeUtf8(body) }] } },
    };
    recording.settle(draft);
  };
  return { recorder, settle, lines: () => lines, rewrites: () => rewrites };
}

it("takes a secret that is learned late out of tracks and variables, in hand and in the journal, at once", () => {
  const { recorder, settle, lines, rewrites } = setUp();
  settle(`the id is ${secret}`);
  recorder.setVar("id", secret);
  settle("nothing of the kind");
  expect(lines().filter((line) => line.includes(secret))).toHaveLength(2);
  settle(JSON.stringify({ session_token: secret }));
  expect(lines()).toHaveLength(5);
  expect(lines().join("\n")).not.toContain(secret);
  expect(rewrites()).toBe(1);
  expect(JSON.stringify(recorder.settled.map(({ track }) => track))).not.toContain(secret);
  expect(recorder.vars).toEqual({ id: "REDACTED-session-token-1" });
});

it("takes out what a variable teaches, and at the end what an error message taught", () => {
  const redactor = createRedactor();
  const { recorder, settle, lines, rewrites } = setUp(redactor);
  settle(`the id is ${secret}, the other val-123456789`);
  recorder.setVar("login", { password: secret });
  expect(lines().join("\n")).not.toContain(secret);
  expect(lines()).toHaveLength(3);
  redactor.text("api_key=val-123456789 was refused");
  recorder.settleOpen();
  expect(lines().join("\n")).not.toContain("val-123456789");
  expect(rewrites()).toBe(2);
});

it("looks again at no earlier track for a secret that stands in none of them", () => {
  const inner = createRedactor();
  let looks = 0;
  const counting: Redactor = {
    ...inner,
    track: (draft, key) => {
      looks++;
      return inner.track(draft, key);
    },
  };
  const { settle, lines, rewrites } = setUp(counting);
  for (let i = 0; i < 500; i++) {
    const token = Math.imul(i + 1, 0x9e3779b1)
      .toString(36)
      .repeat(3);
    settle(JSON.stringify({ page: i, text: "the same words in each of them", session_token: token }));
  }
  expect(looks).toBe(500);
  expect(rewrites()).toBe(0);
  expect(lines()).toHaveLength(501);
});
