import type { ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type DoubleLedger, openDoubleLedger, scriptExhausted } from "../../engine/double.ts";
import { OptionInvalid, type WiretapeError, type WiretapeErrorCode } from "../../errors.ts";
import { type SpawnFacts, spawnFacts } from "./child-arguments.ts";
import { createChildDouble } from "./child-double.ts";
import type { ProcessScript } from "./child-script.ts";
import { CliInvocation } from "./cli-invocation.ts";
import { type CliEnding, type CliPayload, CliRun, playOf } from "./cli-run.ts";
import { checkKeys } from "./fake-cli-options.ts";

/** How a fake CLI goes on when its runs are over. */
export interface FakeCliOptions {
  /** Plays the last run for ever, for a test that means to spawn without bound. Default: one spawn more is a fault. */
  repeatLast?: boolean;
}

/** How one scripted run ends, and what follows it. */
export type FakeCliScriptOptions = CliEnding & FakeCliOptions;

/** How a CLI of one kind is played. */
export interface CliKind {
  /** The double's name, for people. */
  readonly double: string;
  play(run: CliRun, invocation: CliInvocation, ledger: DoubleLedger): ProcessScript;
}

/** What a shim, which is another process, has to know of a fake to play it there. */
interface Inside {
  readonly double: string;
  readonly runs: readonly CliRun[];
  readonly repeatLast: boolean;
  /** So many spawns were served by others. */
  skip(spawns: number): void;
}

const insides = new WeakMap<FakeCli, Inside>();

/** The inside of a fake CLI. */
export function insideOf(fake: FakeCli): Inside {
  return insides.get(fake) as Inside;
}

/**
 * A CLI that is not there: `spawn` gives children that play recorded or scripted runs, one run a spawn, in order. It is
 * ordinal: what the program asks for is kept in `invocations`, and compared with nothing.
 */
export class FakeCli {
  readonly #runs: readonly CliRun[];
  readonly #repeatLast: boolean;
  readonly #kind: CliKind;
  readonly #ledger: DoubleLedger = openDoubleLedger(this);
  readonly #invocations: CliInvocation[] = [];
  #spawns = 0;

  /**
   * Takes the place of `child_process.spawn`. Throws `ScriptExhausted`, at once, when there is no run left: an `error`
   * event would be taken for a missing program. The violation is kept as well, so that catching it hides nothing.
   */
  readonly spawn: typeof spawn = ((command: unknown, args?: unknown, options?: unknown): ChildProcess =>
    this.#spawn(spawnFacts(command, args, options))) as typeof spawn;

  protected constructor(kind: CliKind, runs: Iterable<CliRun>, options: FakeCliOptions) {
    checkKeys(kind.double, options, ["repeatLast"]);
    if (typeof runs?.[Symbol.iterator] !== "function") {
      throw new OptionInvalid(`The runs of a ${kind.double} are a list, as [CliRun.of([…])].`);
    }
    this.#kind = kind;
    this.#runs = [...runs];
    for (const run of this.#runs) playOf(run);
    this.#repeatLast = options.repeatLast ?? false;
    const skip = (spawns: number): void => {
      this.#spawns += spawns;
    };
    insides.set(this, { double: kind.double, runs: this.#runs, repeatLast: this.#repeatLast, skip });
  }

  /** Runs that were not spawned yet. Never below zero; zero when all were. Left over runs are no fault. */
  get remaining(): number {
    return Math.max(0, this.#runs.length - this.#spawns);
  }

  /** How often it was asked to spawn, repetitions of the last run and refused spawns included. */
  get spawns(): number {
    return this.#spawns;
  }

  /** What each spawn was asked to do and what became of it, in order. Refused spawns are not among them. */
  get invocations(): readonly CliInvocation[] {
    return [...this.#invocations];
  }

  /** What was asked beyond the script, acknowledged or not. */
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }

  /** Acknowledges one violation of this code that the test is about; it may come later. Nothing else does. */
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  #spawn(facts: SpawnFacts): ChildProcess {
    const { command, argv, spawnOptions } = facts;
    this.#spawns++;
    const run = this.#runs[this.#spawns - 1] ?? (this.#repeatLast ? this.#runs.at(-1) : undefined);
    if (run === undefined) {
      throw this.#ledger.fail(
        scriptExhausted({
          double: this.#kind.double,
          unit: "run",
          have: this.#runs.length,
          asked: this.#spawns,
          // Arguments may hold keys: how many there are tells one spawn from another well enough.
          request: `spawn ${basename(command)} with ${argv.length} ${argv.length === 1 ? "argument" : "arguments"}`,
          repeat: "pass { repeatLast: true }",
        }),
      );
    }
    const { cwd, env, detached } = spawnOptions;
    const invocation = new CliInvocation({
      argv: [command, ...argv],
      cwd: cwd === undefined ? null : typeof cwd === "string" ? cwd : fileURLToPath(cwd),
      env: env ?? {},
      startNewSession: detached ?? false,
    });
    const child = createChildDouble(this.#kind.play(run, invocation, this.#ledger), facts);
    this.#invocations.push(invocation);
    return child;
  }
}

/** Reads recordings of standard output, one run a file, now: a file that vanishes later changes nothing. */
export function readRuns(double: string, paths: string | readonly string[]): CliRun[] {
  const list: readonly unknown[] = typeof paths === "string" ? [paths] : paths;
  if (!Array.isArray(list) || list.some((path) => typeof path !== "string")) {
    throw new OptionInvalid(`${double}.replay takes a path or a list of paths.`);
  }
  return list.map((path) => new CliRun({ stdout: readFileSync(path as string) }));
}

/** The one run of a script, and the options of the double that plays it. */
export function scriptRun(
  double: string,
  payloads: Iterable<CliPayload>,
  options: FakeCliScriptOptions,
): { run: CliRun; options: FakeCliOptions } {
  checkKeys(`${double}.script`, options, ["stderr", "returncode", "repeatLast"]);
  const { repeatLast, ...ending } = options;
  return { run: CliRun.of(payloads, ending), options: repeatLast === undefined ? {} : { repeatLast } };
}
