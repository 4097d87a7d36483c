import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Options, query, type SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { Codex } from "@openai/codex-sdk";
import { build } from "tsup";
import { expect, test } from "vitest";
import { openDeck } from "wiretape";
import * as sources from "wiretape/process";
import { claudeCodeSpawner, FakeClaudeCli, FakeCodexCli, tapeSpawn, writeCliShim } from "wiretape/process";
import { useScratch } from "../support/scratch.ts";

// Sessions of the real SDKs with real processes go on tape, and play back without them.

const scratch = useScratch();
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/process/${name}.jsonl`, import.meta.url));

async function ask(prompt: string, options: Options): Promise<{ messages: SDKMessage[]; error?: unknown }> {
  const messages: SDKMessage[] = [];
  try {
    for await (const message of query({ prompt, options })) messages.push(message);
    return { messages };
  } catch (error) {
    return { messages, error };
  }
}

const allow: NonNullable<Options["canUseTool"]> = async (_name, input) => ({ behavior: "allow", updatedInput: input });

/** Records the Claude SDK with a real executable: a session in which a tool waits for leave. */
async function recordedClaude(): Promise<{ path: string; answers: SDKMessage[][] }> {
  const path = scratch.cassette();
  await using cli = await writeCliShim(FakeClaudeCli.replay(fixture("claude-permission")));
  const deck = await openDeck(path, { mode: "record" });
  const options = {
    pathToClaudeCodeExecutable: cli.path,
    spawnClaudeCodeProcess: claudeCodeSpawner(deck),
    canUseTool: allow,
  };
  const answers = [(await ask("clean up", options)).messages];
  expect(answers[0]).toHaveLength(5);
  await deck.finish();
  return { path, answers };
}

test("the Claude SDK: recorded with a process, replayed on a deck, and by an executable", async () => {
  const { path, answers } = await recordedClaude();
  const deck = await openDeck(path, { mode: "replay" });
  const asked: string[] = [];
  const options: Options = {
    pathToClaudeCodeExecutable: resolve(scratch.folder, "..", "wiretape-other", "claude"),
    spawnClaudeCodeProcess: claudeCodeSpawner(deck),
    canUseTool: async (name, input) => {
      asked.push(name);
      return { behavior: "allow", updatedInput: input };
    },
  };
  expect((await ask("clean up", options)).messages).toEqual(answers[0]);
  expect(asked).toEqual(["Bash"]);
  const { messages, error } = await ask("clean up", options);
  expect([messages, error]).toMatchObject([[], { code: "script-exhausted" }]);
  deck.expectViolation("script-exhausted");
  await deck.finish();

  await using shim = await writeCliShim(path);
  const real = { pathToClaudeCodeExecutable: shim.path, canUseTool: allow };
  expect((await ask("clean up", real)).messages).toEqual(answers[0]);
  const beyond = await ask("clean up", real);
  expect(String(beyond.error)).toContain("code 70");
  expect(String(beyond.error)).toContain("ScriptExhausted");
  shim.expectViolation("script-exhausted");
  expect(shim.violations).toHaveLength(1);
}, 60_000);

test("the Claude SDK asks something else than was recorded: FrameMismatch, as exit code 70 and on standard error", async () => {
  const { path } = await recordedClaude();
  await using shim = await writeCliShim(path);
  const { error } = await ask("something else", { pathToClaudeCodeExecutable: shim.path, canUseTool: allow });
  expect(String(error)).toContain("code 70");
  expect(String(error)).toContain("FrameMismatch");
  shim.expectViolation("frame-mismatch");
  expect(shim.violations).toMatchObject([{ code: "frame-mismatch" }]);
}, 60_000);

test("the Codex SDK plays a cassette by an executable, turn by turn, and meets its end", async () => {
  const path = scratch.cassette();
  await using cli = await writeCliShim(FakeCodexCli.replay([fixture("codex-turn-1"), fixture("codex-turn-2")]));
  const deck = await openDeck(path, { mode: "record" });
  for (const [prompt, more] of [
    ["which files?", []],
    ["is that all?", ["resume", "0199a213-0000-7000-8000-00000000000a"]],
  ] as const) {
    const child = tapeSpawn(deck)(cli.path, ["exec", "--experimental-json", ...more]);
    child.stdin.end(prompt);
    await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  }
  await deck.finish();

  await using shim = await writeCliShim(path);
  const thread = new Codex({ codexPathOverride: shim.path }).startThread();
  expect((await thread.run("which files?")).finalResponse).toBe("One file: README.md ü.");
  expect((await thread.run("is that all?")).finalResponse).toBe("Yes, that is all.");
  await expect(thread.run("go on")).rejects.toThrow(/code 70: ScriptExhausted/);
  shim.expectViolation("script-exhausted");
  expect(shim.invocations.map(({ returncode }) => returncode)).toEqual([0, 0, 70]);
}, 60_000);

test("the built package writes shims that need nothing but Node", async () => {
  // Below the package, where its dependencies are found.
  const root = resolve(import.meta.dirname, "../..");
  const outDir = await mkdtemp(join(root, "node_modules", ".wiretape-shim-"));
  try {
    const entry = {
      process: join(root, "src/process.ts"),
      "cli-shim-program": join(root, "src/boundary/process/cli-shim-program.ts"),
    };
    const shape = { format: "esm", target: "node20", platform: "neutral", splitting: true } as const;
    await build({
      config: false,
      entry,
      outDir,
      ...shape,
      external: [/^node:/],
      tsconfig: join(root, "tsconfig.json"),
      silent: true,
    });
    const built = (await import(pathToFileURL(join(outDir, "process.js")).href)) as typeof sources;
    await using shim = await built.writeCliShim(built.FakeCodexCli.answering("built"));
    const began = performance.now();
    const child = spawn(shim.path, ["exec"], { env: {}, stdio: ["ignore", "pipe", "inherit"] });
    expect(await text(child.stdout)).toContain('"text":"built"');
    expect(performance.now() - began).toBeLessThan(5000);
    expect(Object.keys(built).toSorted()).toEqual(Object.keys(sources).toSorted());
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}, 60_000);
