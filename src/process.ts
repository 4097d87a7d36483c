export {
  type ClaudeCodeSpawn,
  type ClaudeCodeSpawnerOptions,
  claudeCodeSpawner,
} from "./boundary/process/claude-code-spawner.ts";
export { CliInvocation } from "./boundary/process/cli-invocation.ts";
export { type CliEnding, type CliPayload, CliRun, type CliRunParts, CliStderr } from "./boundary/process/cli-run.ts";
export { type CliShim, type CliShimOptions, writeCliShim } from "./boundary/process/cli-shim.ts";
export { type CodexTurn, codexTurn } from "./boundary/process/codex-turn.ts";
export { FakeClaudeCli } from "./boundary/process/fake-claude-cli.ts";
export type { FakeCliOptions, FakeCliScriptOptions } from "./boundary/process/fake-cli.ts";
export { type AnsweringOptions, FakeCodexCli } from "./boundary/process/fake-codex-cli.ts";
export { tapeSpawn } from "./boundary/process/tape-spawn.ts";
export { processTarget } from "./boundary/process/target.ts";
