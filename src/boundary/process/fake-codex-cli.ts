import { OptionInvalid } from "../../errors.ts";
import { type CliPayload, CliRun } from "./cli-run.ts";
import { codexTurn, DEFAULT_THREAD_ID } from "./codex-turn.ts";
import { FakeCli, type FakeCliOptions, type FakeCliScriptOptions, readRuns, scriptRun } from "./fake-cli.ts";
import { checkKeys } from "./fake-cli-options.ts";
import { playRun } from "./fake-cli-play.ts";

const NAME = "FakeCodexCli";

/** How the turns of `answering` are told. */
export interface AnsweringOptions {
  /** The thread that every turn announces, as a resumed run does. */
  threadId?: string;
}

/**
 * A `codex` command line that is not there. `codex exec` answers once and ends, so a run is a turn: a session of three turns
 * takes three. See `FakeCli` for what a spawn does and when it refuses.
 */
export class FakeCodexCli extends FakeCli {
  constructor(runs: Iterable<CliRun> = [], options: FakeCliOptions = {}) {
    super({ double: NAME, play: (run, invocation) => playRun(run, invocation) }, runs, options);
  }

  /** Replays recorded `codex exec --json` output, one spawn a file. The files are read now. */
  static replay(paths: string | readonly string[], options: FakeCliOptions = {}): FakeCodexCli {
    return new FakeCodexCli(readRuns(NAME, paths), options);
  }

  /** One run, put together from what it says: the case that nobody recorded. */
  static script(payloads: Iterable<CliPayload>, options: FakeCliScriptOptions = {}): FakeCodexCli {
    const one = scriptRun(NAME, payloads, options);
    return new FakeCodexCli([one.run], one.options);
  }

  /** One spawn for each text, each a whole, well-formed turn that says it. A last argument may hold options. */
  static answering(...texts: string[] | [...texts: string[], options: AnsweringOptions]): FakeCodexCli {
    const last = texts.at(-1);
    const options = typeof last === "object" ? last : {};
    checkKeys(`${NAME}.answering`, options, ["threadId"]);
    const answers = typeof last === "object" ? texts.slice(0, -1) : texts;
    const { threadId = DEFAULT_THREAD_ID } = options;
    return new FakeCodexCli(
      answers.map((text) => {
        if (typeof text !== "string") throw new OptionInvalid(`${NAME}.answering takes texts; got ${typeof text}.`);
        return CliRun.of(codexTurn({ text, threadId }));
      }),
    );
  }

  /** The program and arguments of one spawn, of the latest one by default. Throws where there was none. */
  argv(index = -1): readonly string[] {
    const invocation = this.invocations.at(index);
    if (invocation !== undefined) return invocation.argv;
    const count = this.invocations.length;
    throw new OptionInvalid(
      `${NAME} has no spawn ${index}: there ${count === 1 ? "was 1 spawn" : `were ${count} spawns`}.`,
    );
  }
}
