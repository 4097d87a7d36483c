import type { CliPayload, CliRun } from "./cli-run.ts";
import { FakeCli, type FakeCliOptions, type FakeCliScriptOptions, readRuns, scriptRun } from "./fake-cli.ts";
import { createClaudeDialogue } from "./fake-cli-claude-dialogue.ts";
import { playRun } from "./fake-cli-play.ts";

const NAME = "FakeClaudeCli";

/**
 * A `claude` command line that is not there. A run is a spawn: one answer of `claude -p`, or a whole session whose turns
 * come from one standard output. See `FakeCli` for what a spawn does and when it refuses.
 *
 * It keeps up its side of stream-json: control requests are answered, by the run where it has an answer (whose id becomes
 * the live one) and else with success; what follows a control request of the CLI's own (`can_use_tool`, `hook_callback`,
 * `mcp_message`) waits for the program's answer; a turn waits for its user message. A user message beyond the last turn is
 * `ScriptExhausted`. Lines that are no stream-json, and lines given as text or bytes, are never changed.
 */
export class FakeClaudeCli extends FakeCli {
  constructor(runs: Iterable<CliRun> = [], options: FakeCliOptions = {}) {
    super(
      {
        double: NAME,
        play: (run, invocation, ledger) =>
          playRun(run, invocation, createClaudeDialogue(run, invocation.argv, NAME, ledger)),
      },
      runs,
      options,
    );
  }

  /** Replays recorded stream-json output, one spawn a file. The files are read now. */
  static replay(paths: string | readonly string[], options: FakeCliOptions = {}): FakeClaudeCli {
    return new FakeClaudeCli(readRuns(NAME, paths), options);
  }

  /** One run, put together from what it says: the case that nobody recorded. */
  static script(payloads: Iterable<CliPayload>, options: FakeCliScriptOptions = {}): FakeClaudeCli {
    const one = scriptRun(NAME, payloads, options);
    return new FakeClaudeCli([one.run], one.options);
  }
}
