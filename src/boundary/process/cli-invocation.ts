import { concatBytes } from "../../wire/bytes.ts";

/** What a spawn is known by. */
export interface CliInvocationParts {
  argv: readonly string[];
  cwd?: string | null;
  env?: Readonly<Record<string, string | undefined>>;
  stdin?: Uint8Array;
  startNewSession?: boolean;
  linesRead?: number;
  terminated?: boolean;
  killed?: boolean;
  returncode?: number | null;
}

/** What one spawn of a fake CLI was asked to do, and what happened to it so far. The double writes it; tests read it. */
export class CliInvocation {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The working directory that was asked for; null: the spawning program's own. */
  readonly cwd: string | null;
  /** The environment that was asked for; empty: the spawning program's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it was to be the leader of a session of its own: spawn's `detached`. */
  readonly startNewSession: boolean;
  /** How many lines of the run the program has read: what waits in a buffer is not read. A last one without newline counts. */
  linesRead: number;
  /** It was sent SIGTERM before its end. */
  terminated: boolean;
  /** It was sent SIGKILL before its end. */
  killed: boolean;
  /** Its exit code; below zero, the number of the signal that ended it; null while it runs. */
  returncode: number | null;
  #stdin: Uint8Array[];

  constructor(parts: CliInvocationParts) {
    this.argv = Object.freeze([...parts.argv]);
    this.cwd = parts.cwd ?? null;
    const env = Object.entries(parts.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.env = Object.freeze(Object.fromEntries(env));
    this.startNewSession = parts.startNewSession ?? false;
    this.linesRead = parts.linesRead ?? 0;
    this.terminated = parts.terminated ?? false;
    this.killed = parts.killed ?? false;
    this.returncode = parts.returncode ?? null;
    this.#stdin = [new Uint8Array(parts.stdin ?? [])];
  }

  /** Everything that was written to its standard input so far: a copy. Empty where it had none. */
  get stdin(): Uint8Array {
    const whole = concatBytes(this.#stdin);
    this.#stdin = [whole];
    return whole.slice();
  }

  /** Notes what was written to its standard input. */
  wrote(bytes: Uint8Array): void {
    this.#stdin.push(bytes);
  }
}
