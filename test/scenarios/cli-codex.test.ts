import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Codex, type ThreadEvent } from "@openai/codex-sdk";
import { describe, expect, test } from "vitest";
import { CliRun, CliStderr, codexTurn, FakeCodexCli, writeCliShim } from "wiretape/process";

// The real Codex SDK starts what it takes for `codex`: it has no seam but the path of the program.

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/process/${name}.jsonl`, import.meta.url));
// A folder of recordings of other projects, by kind.
const corpus = process.env.WIRETAPE_CORPUS ?? "";
const corpusName = existsSync(corpus) ? "" : " (skipped: WIRETAPE_CORPUS names no folder of recordings)";

/** Runs a turn to its end: what was said, and what was thrown. */
async function turn(
  thread: ReturnType<Codex["startThread"]>,
  prompt: string,
  signal?: AbortSignal,
  see: (event: ThreadEvent) => void = () => undefined,
): Promise<{ events: ThreadEvent[]; error?: Error }> {
  const events: ThreadEvent[] = [];
  try {
    const { events: stream } = await thread.runStreamed(prompt, signal === undefined ? {} : { signal });
    for await (const event of stream) {
      events.push(event);
      see(event);
    }
    return { events };
  } catch (error) {
    return { events, error: error as Error };
  }
}

test("a thread of two recorded turns, each a process of its own; the third is ScriptExhausted", async () => {
  const paths = ["codex-turn-1", "codex-turn-2"].map(fixture);
  await using shim = await writeCliShim(FakeCodexCli.replay(paths), { env: ["CODEX_INTERNAL_ORIGINATOR_OVERRIDE"] });
  const thread = new Codex({
    codexPathOverride: shim.path,
    env: {},
    apiKey: "sk-proj-0123456789abcdefghij",
  }).startThread();
  expect((await thread.run("which files?")).finalResponse).toBe("One file: README.md ü.");
  expect((await thread.run("is that all?")).items).toEqual([
    { id: "item_0", type: "agent_message", text: "Yes, that is all." },
  ]);
  await expect(thread.run("go on")).rejects.toThrow(
    /code 70: ScriptExhausted: FakeCodexCli has 2 runs and was asked for run 3/,
  );
  const id = "0199a213-0000-7000-8000-00000000000a";
  expect(thread.id).toBe(id);
  expect(shim.invocations.map(({ argv }) => argv.slice(1))).toEqual([
    ["exec", "--experimental-json"],
    ["exec", "--experimental-json", "resume", id],
    ["exec", "--experimental-json", "resume", id],
  ]);
  expect(
    shim.invocations.map(({ stdin, linesRead, returncode }) => [Buffer.from(stdin).toString(), linesRead, returncode]),
  ).toEqual([
    ["which files?", 6, 0],
    ["is that all?", 4, 0],
    ["", 0, 70],
  ]);
  expect(shim.invocations[0]?.env).toEqual({ CODEX_INTERNAL_ORIGINATOR_OVERRIDE: "codex_sdk_ts" });
  expect([shim.spawns, shim.remaining]).toEqual([3, 0]);
  shim.expectViolation("script-exhausted");
  expect(shim.violations).toMatchObject([{ name: "ScriptExhausted", details: { recorded: 2, asked: 3 } }]);
});

describe("what a turn can be", () => {
  const cases: Record<string, [CliRun, string[], RegExp | undefined]> = {
    "tools, reasoning and text": [
      CliRun.of(
        codexTurn({
          text: "done",
          reasoning: "hm",
          items: [{ type: "command_execution", command: "ls", exit_code: 0 }],
        }),
      ),
      ["thread.started", "turn.started", "item.completed", "item.completed", "item.completed", "turn.completed"],
      undefined,
    ],
    "a turn that fails": [
      CliRun.of(codexTurn({ failed: "no tokens left", error: "stream broke" })),
      ["thread.started", "turn.started", "error", "turn.failed"],
      undefined,
    ],
    "a line that is no JSON": [
      CliRun.of([{ type: "turn.started" }, "warning: old config\n"]),
      ["turn.started"],
      /Failed to parse item: warning: old config/,
    ],
    "a line that breaks off": [
      CliRun.of([{ type: "turn.started" }, '{"type":"turn.compl']),
      ["turn.started"],
      /parse item: \{"type":"turn.compl/,
    ],
    "bytes that are no UTF-8": [CliRun.of([new Uint8Array([0xc3, 0x28, 0x0a])]), [], /parse item: \ufffd\(/],
    "a crash by a signal": [
      CliRun.of([{ type: "turn.started" }, new CliStderr("thread 'main' panicked\n")], { returncode: "SIGABRT" }),
      ["turn.started"],
      /signal SIGABRT: thread 'main' panicked/,
    ],
    "an end by SIGKILL": [
      CliRun.of([{ type: "turn.started" }], { returncode: -9 }),
      ["turn.started"],
      /signal SIGKILL/,
    ],
    "an exit code, and why on standard error": [
      CliRun.of([new CliStderr("not "), { type: "turn.started" }, new CliStderr("logged ")], {
        stderr: "in\n",
        returncode: 3,
      }),
      ["turn.started"],
      /code 3: not logged in\n/,
    ],
    "a program that says nothing": [new CliRun(), [], undefined],
  };

  test.each(Object.entries(cases))("%s", async (_name, [run, types, thrown]) => {
    await using shim = await writeCliShim(new FakeCodexCli([run]));
    const { events, error } = await turn(new Codex({ codexPathOverride: shim.path }).startThread(), "go");
    expect(events.map(({ type }) => type)).toEqual(types);
    if (thrown === undefined) expect(error).toBe(undefined);
    else expect(error?.message).toMatch(thrown);
    const { returncode, killed, terminated } = shim.invocations[0] as (typeof shim.invocations)[0];
    // The SDK stops a program whose output it cannot read.
    if (!/parse/.test(String(thrown))) expect([returncode, killed, terminated]).toEqual([run.returncode, false, false]);
  });

  test("a line of a megabyte", async () => {
    const text = "ü→🙂".repeat(100_000);
    await using shim = await writeCliShim(FakeCodexCli.answering(text));
    const { finalResponse } = await new Codex({ codexPathOverride: shim.path }).startThread().run("go");
    expect(finalResponse).toBe(text);
  });

  test("an abort in the middle of a turn reaches the program", async () => {
    const many = Array.from({ length: 200_000 }, (_, n) => ({ type: "item.updated", item: { id: `item_${n}` } }));
    await using shim = await writeCliShim(FakeCodexCli.script(many));
    const abort = new AbortController();
    const thread = new Codex({ codexPathOverride: shim.path }).startThread();
    const { events, error } = await turn(thread, "go", abort.signal, () => abort.abort());
    expect([error?.name, events.length < many.length]).toEqual(["AbortError", true]);
    await expect.poll(() => shim.invocations[0]?.returncode, { timeout: 5000 }).toBe(-15);
    expect(shim.invocations[0]).toMatchObject({ terminated: true, killed: false });
    expect(shim.invocations[0]?.linesRead).toBeLessThan(many.length);
  });
});

test.skipIf(corpusName !== "")(
  `recorded turns of other projects, one thread for each${corpusName}`,
  async () => {
    const folder = join(corpus, "codex-cli");
    const paths = readdirSync(folder).map((name) => join(folder, name));
    await using shim = await writeCliShim(FakeCodexCli.replay(paths));
    let whole = 0;
    for (const path of paths) {
      const lines = readFileSync(path, "utf8").trim().split("\n");
      // The SDK reads no further than a line that is no JSON.
      const good = lines.findIndex((line) => !line.startsWith("{"));
      const recorded = lines.slice(0, good < 0 ? undefined : good).map((line) => JSON.parse(line) as ThreadEvent);
      const { events, error } = await turn(new Codex({ codexPathOverride: shim.path }).startThread(), "go");
      // The SDK adds what older recordings do not have, and breaks where they have no usage at all.
      const comparable = (all: readonly ThreadEvent[]): unknown[] =>
        all.map((event) =>
          "usage" in event && event.usage
            ? { ...event, usage: { ...event.usage, cache_write_input_tokens: 0 } }
            : event,
        );
      expect(comparable(recorded).slice(0, events.length), path).toEqual(comparable(events));
      if (error === undefined) whole++;
      else if (good < 0) expect(recorded[events.length], path).not.toHaveProperty("usage");
    }
    expect(shim.remaining).toBe(0);
    expect(whole).toBeGreaterThan(10);
  },
  180_000,
);
