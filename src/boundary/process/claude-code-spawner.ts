import type { ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Lane } from "../../engine/session.ts";
import { FakeCli } from "./fake-cli.ts";
import { checkKeys } from "./fake-cli-options.ts";
import { tapeSpawn } from "./tape-spawn.ts";

/** What the Claude Agent SDK asks its `spawnClaudeCodeProcess` for. */
export interface ClaudeCodeSpawn {
  command: string;
  args: string[];
  cwd?: string | undefined;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
}

export interface ClaudeCodeSpawnerOptions {
  /** Is given what the CLI writes to standard error: the SDK does not read it from a process that it did not spawn. */
  stderr?: (text: string) => void;
}

/**
 * The Claude Agent SDK's `spawnClaudeCodeProcess` option, for a deck or a fake CLI. `pathToClaudeCodeExecutable` has to be set as well,
 * to any text: without it the SDK looks for its program before it spawns.
 */
export function claudeCodeSpawner(
  target: Lane | FakeCli,
  options: ClaudeCodeSpawnerOptions = {},
): (spawning: ClaudeCodeSpawn) => ChildProcessWithoutNullStreams {
  checkKeys("claudeCodeSpawner", options, ["stderr"]);
  const start: typeof spawn = target instanceof FakeCli ? target.spawn : tapeSpawn(target);
  return ({ command, args, cwd, env, signal }) => {
    const child = start(command, args, { ...(cwd !== undefined && { cwd }), env, signal, stdio: "pipe" });
    // A pipe that nobody empties would stop the CLI.
    child.stderr?.setEncoding("utf8").on("data", (text: string) => options.stderr?.(text));
    return child as ChildProcessWithoutNullStreams;
  };
}
