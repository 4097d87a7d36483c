import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Options, query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { CliRun, CliStderr, claudeCodeSpawner, FakeClaudeCli, writeCliShim } from "wiretape/process";

// The real Claude Agent SDK on doubles: once in this process, once through an executable that it starts itself.

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/process/${name}.jsonl`, import.meta.url));
const lines = (name: string): Record<string, unknown>[] =>
  readFileSync(fixture(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
// A folder of recordings of other projects, by kind.
const corpus = process.env.WIRETAPE_CORPUS ?? "";
const corpusName = existsSync(corpus) ? "" : " (skipped: WIRETAPE_CORPUS names no folder of recordings)";

interface Place {
  readonly options: Options;
  stdin(spawn: number): string;
  argv(spawn: number): readonly string[];
  expectExhausted(count: number): void;
  readonly stderr: string[];
}

type Body = (place: Place) => Promise<void>;

const inProcess = async (fake: FakeClaudeCli, body: Body): Promise<void> => {
  const stderr: string[] = [];
  await body({
    options: {
      pathToClaudeCodeExecutable: "claude",
      spawnClaudeCodeProcess: claudeCodeSpawner(fake, { stderr: (text) => stderr.push(text) }),
    },
    stdin: (spawn) => Buffer.from(fake.invocations[spawn]?.stdin ?? []).toString(),
    argv: (spawn) => fake.invocations[spawn]?.argv ?? [],
    expectExhausted(count) {
      for (let left = count; left > 0; left--) fake.expectViolation("script-exhausted");
      expect(fake.violations.map(({ code }) => code)).toEqual(Array(count).fill("script-exhausted"));
    },
    stderr,
  });
};

const throughShim = async (fake: FakeClaudeCli, body: Body): Promise<void> => {
  await using shim = await writeCliShim(fake);
  const stderr: string[] = [];
  await body({
    options: { pathToClaudeCodeExecutable: shim.path, stderr: (text) => stderr.push(text) },
    stdin: (spawn) => Buffer.from(shim.invocations[spawn]?.stdin ?? []).toString(),
    argv: (spawn) => shim.invocations[spawn]?.argv ?? [],
    expectExhausted(count) {
      for (let left = count; left > 0; left--) shim.expectViolation("script-exhausted");
      expect(shim.violations.map(({ code }) => code)).toEqual(Array(count).fill("script-exhausted"));
      expect(shim.invocations.at(-1)?.returncode).toBe(70);
    },
    stderr,
  });
};

/** Runs a query to its end: what it said, and what it threw. */
async function ask(
  prompt: Parameters<typeof query>[0]["prompt"],
  options: Options,
  see: (message: SDKMessage) => void = () => undefined,
): Promise<{ messages: SDKMessage[]; error?: Error }> {
  const messages: SDKMessage[] = [];
  try {
    for await (const message of query({ prompt, options })) {
      messages.push(message);
      see(message);
    }
    return { messages };
  } catch (error) {
    return { messages, error: error as Error };
  }
}

/** Prompts that come one by one, each when the turn before it is over. */
function session(prompts: readonly string[]) {
  let next = (): void => undefined;
  async function* stream(): AsyncGenerator<SDKUserMessage> {
    for (const [index, content] of prompts.entries()) {
      const over = new Promise<void>((resolve) => (next = resolve));
      yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
      if (index < prompts.length) await over;
    }
  }
  return { prompt: stream(), see: (message: SDKMessage) => message.type === "result" && next() };
}

const types = (messages: readonly SDKMessage[]): string[] => messages.map(({ type }) => type);

describe.each([
  ["in this process", inProcess],
  ["through an executable", throughShim],
] as const)("%s", (_name, run) => {
  test("a session of two turns in one process; the recorded id becomes the live one; a third turn is too many", async () => {
    await run(FakeClaudeCli.replay(fixture("claude-session")), async ({ options, stdin, argv, expectExhausted }) => {
      const { prompt, see } = session(["hello", "which files?", "and now?"]);
      const { messages, error } = await ask(prompt, options, see);
      expect(messages).toEqual(lines("claude-session").slice(1));
      expect(error).toBeInstanceOf(Error);
      expect(argv(0)).toContain("stream-json");
      const sent = stdin(0)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(sent.map(({ type }) => type)).toEqual(["control_request", "user", "user", "user"]);
      expect(sent[0].request_id).not.toBe("k3x9recorded");
      expectExhausted(1);
    });
  });

  test("two runs are two queries; a third is too many, and told where it is asked", async () => {
    const [, ...said] = lines("claude-session").slice(0, 4);
    const fake = new FakeClaudeCli([CliRun.of(said), CliRun.of(said)]);
    await run(fake, async ({ options, expectExhausted }) => {
      for (const prompt of ["one", "two"]) expect((await ask(prompt, options)).messages).toEqual(said);
      const { messages, error } = await ask("three", options);
      expect([messages, String(error)]).toEqual([
        [],
        expect.stringContaining("FakeClaudeCli has 2 runs and was asked for run 3"),
      ]);
      expectExhausted(1);
    });
  });

  test("a tool waits for the program's leave", async () => {
    await run(FakeClaudeCli.replay(fixture("claude-permission")), async ({ options, stdin }) => {
      const asked: unknown[] = [];
      let seen = 0;
      let before = 0;
      const canUseTool: NonNullable<Options["canUseTool"]> = async (name, input) => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        before = seen;
        asked.push(name, input);
        return { behavior: "allow", updatedInput: { command: "rm -r build --dry-run" } };
      };
      const { messages } = await ask("clean up", { ...options, canUseTool }, () => seen++);
      expect(asked).toEqual(["Bash", { command: "rm -r build" }]);
      expect([before, types(messages)]).toEqual([2, ["system", "assistant", "user", "assistant", "result"]]);
      const answer = stdin(0)
        .split("\n")
        .find((line) => line.includes("control_response")) as string;
      expect(JSON.parse(answer)).toMatchObject({ response: { request_id: "perm-1", response: { behavior: "allow" } } });
    });
  });

  test("a hook is called, and what follows waits for it", async () => {
    await run(FakeClaudeCli.replay(fixture("claude-hook")), async ({ options }) => {
      let seen = 0;
      let before = 0;
      const hook = async (): Promise<Record<string, never>> => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        before = seen;
        return {};
      };
      const hooks: Options["hooks"] = { PreToolUse: [{ hooks: [hook] }] };
      const { messages } = await ask("list", { ...options, hooks }, () => seen++);
      expect([before, types(messages)]).toEqual([2, ["system", "assistant", "user", "assistant", "result"]]);
    });
  });

  const [, init, said, result] = lines("claude-session") as [unknown, ...Record<string, unknown>[]] as Record<
    string,
    unknown
  >[];
  const faulty: Record<string, [CliRun, string[], RegExp | undefined]> = {
    "a line that is no JSON, blank lines and bytes that are no UTF-8 are passed over": [
      CliRun.of([
        "\n",
        "warning: old config\n",
        init as never,
        new Uint8Array([0xff, 0xfe, 0x0a]),
        said as never,
        result as never,
      ]),
      ["system", "assistant", "result"],
      undefined,
    ],
    "a line that breaks off, and an exit code": [
      CliRun.of([init as never, '{"type":"assistant","mess'], { returncode: 1 }),
      ["system"],
      /code 1/,
    ],
    "a crash by a signal": [
      CliRun.of([init as never, said as never], { returncode: "SIGSEGV" }),
      ["system", "assistant"],
      /signal SIGSEGV/,
    ],
    "an exit code, and why on standard error": [
      CliRun.of([new CliStderr("Invalid "), init as never], { stderr: "API key\n", returncode: 2 }),
      ["system"],
      /code 2/,
    ],
    "an end without a result": [CliRun.of([init as never, said as never]), ["system", "assistant"], undefined],
  };

  test.each(Object.entries(faulty))("%s", async (_fault, [cli, expected, thrown]) => {
    await run(new FakeClaudeCli([cli]), async ({ options, stderr }) => {
      const { messages, error } = await ask("go", options);
      expect(types(messages)).toEqual(expected);
      if (thrown === undefined) expect(error).toBe(undefined);
      else expect(String(error)).toMatch(thrown);
      expect(stderr.join("")).toBe(
        Buffer.concat([...cli.interleavedStderr.map(([, data]) => data), cli.stderr]).toString(),
      );
    });
  });

  test("lines of 64 KiB and more, in other scripts, come whole", async () => {
    const long = "ü→🙂".repeat(20_000);
    const big = {
      ...(said as object),
      message: { ...(said as { message: object }).message, content: [{ type: "text", text: long }] },
    };
    await run(FakeClaudeCli.script([init as never, big, big, result as never]), async ({ options }) => {
      const { messages } = await ask("go", options);
      expect(messages).toEqual([init, big, big, result]);
    });
  });

  test.skipIf(corpusName !== "")(`recorded sessions of other projects${corpusName}`, async () => {
    const names = [
      "banteg__takopi__claude_stream_json_session.jsonl",
      "charlieyou__claude-agent-sdk-gleam__basic_query.ndjson",
    ];
    const paths = names.map((name) => join(corpus, "claude-cli", name));
    await run(FakeClaudeCli.replay(paths), async ({ options, expectExhausted }) => {
      for (const path of paths) {
        const recorded = readFileSync(path, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
        const { messages } = await ask("go", options);
        expect(messages).toEqual(recorded);
      }
      expect((await ask("go on", options)).error).toBeInstanceOf(Error);
      expectExhausted(1);
    });
  });
});
