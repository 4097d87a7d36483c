import { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { constants } from "node:os";
import { type Duplex, Readable, Writable } from "node:stream";
import { platform } from "../../engine/platform.ts";
import type { SpawnFacts } from "./child-arguments.ts";
import type { PendingStep, ProcessScript, ProcessStep } from "./child-script.ts";
import { endsProgram, signalOf } from "./child-signals.ts";
import { type ChildOutput, openOutput, type StdioPlan, silentPipe, stdioPlans } from "./child-stdio.ts";

const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;

// No system gives these out, so whoever signals a process by the number of a double meets nobody.
let pids = 2_000_000_001;

/**
 * A child process that a script plays: to the program it is what `child_process.spawn` returns, an instance of Node's own
 * class, without a process behind it.
 *
 * It has the streams that `stdio` asks for, `spawn` before anything else, `exit` at the end of the program and `close` when
 * its streams have ended too; `kill`, `signal`, `timeout` and `killSignal` do what Node does, and a signal never overwrites
 * how a program ended. Each step comes in a turn of the event loop of its own, and none while a pipe is full. It keeps the
 * event loop alive until it ends, unless `unref` was called. It has no IPC channel. Its `pid` is a number that no system
 * gives out: a signal sent by number reaches nothing, this double included.
 */
export function createChildDouble(script: ProcessScript, facts: SpawnFacts): ChildProcess {
  return new ChildDouble(script, facts) as unknown as ChildProcess;
}

class ChildDouble extends EventEmitter {
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly stdio: (Readable | Writable | null)[];
  readonly spawnfile: string;
  readonly spawnargs: string[];
  pid: number | undefined = undefined;
  connected = false;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  killed = false;

  readonly #script: ProcessScript;
  readonly #outputs: { readonly stdout: ChildOutput; readonly stderr: ChildOutput };
  readonly #cleanups: (() => void)[] = [];
  #opening: (() => void)[] | undefined = [];
  #asked: PendingStep | undefined;
  #full = false;
  /** The script has no more steps. */
  #silent = false;
  #stdinOver = false;
  /** Decided, though `exit` may come in a later turn: nothing changes it. */
  #dying = false;
  #gone = false;
  #streamsOpen = 0;
  #alive: ReturnType<typeof setInterval> | undefined;

  constructor(script: ProcessScript, facts: SpawnFacts) {
    super();
    const { command, argv, spawnOptions } = facts;
    const plans = stdioPlans(spawnOptions.stdio);
    const killSignal = spawnOptions.killSignal === undefined ? undefined : signalOf(spawnOptions.killSignal);
    this.#script = script;
    this.spawnfile = command;
    this.spawnargs = [spawnOptions.argv0 ?? command, ...argv];
    const [input, output, error, ...more] = plans as [StdioPlan, StdioPlan, StdioPlan, ...StdioPlan[]];
    const open = (name: "stdout" | "stderr", plan: StdioPlan): ChildOutput =>
      openOutput(plan, () => this.#drained(), script.consumed && ((data) => script.consumed?.(name, data)));
    this.#outputs = { stdout: open("stdout", output), stderr: open("stderr", error) };
    this.stdin = input.to === "pipe" ? this.#openInput() : null;
    this.stdout = this.#outputs.stdout.stream;
    this.stderr = this.#outputs.stderr.stream;
    const pipes = more.map((plan): Duplex | null => (plan.to === "pipe" ? silentPipe() : null));
    this.stdio = [this.stdin, this.stdout, this.stderr, ...pipes];
    for (const stream of this.stdio.slice(1)) {
      if (stream === null) continue;
      this.#streamsOpen++;
      stream.once("close", () => {
        this.#streamsOpen--;
        this.#closeWhenOver();
      });
    }
    const opened = script.opened();
    this.pid = pids;
    pids += 2;
    this.#alive = setInterval(() => undefined, 1 << 30);
    opened.then(
      () => this.#opened(input.to === "ignore"),
      (reason: unknown) => this.#failed(reason),
    );
    this.#watchLimits(spawnOptions.timeout, spawnOptions.signal, killSignal);
  }

  kill(value?: NodeJS.Signals | number): boolean {
    const signal = signalOf(value);
    if (this.#gone || this.pid === undefined) return false;
    this.killed = true;
    if (signal === 0 || !endsProgram(signal) || this.#dying) return true;
    this.#whenOpen(() => {
      if (!this.#dying && !this.#script.killed(signal)) this.#die(null, signal);
    });
    return true;
  }

  ref(): void {
    this.#alive?.ref();
  }

  unref(): void {
    this.#alive?.unref();
  }

  [Symbol.dispose](): void {
    if (!this.killed) this.kill();
  }

  #whenOpen(run: () => void): void {
    if (this.#opening === undefined) run();
    else this.#opening.push(run);
  }

  #opened(withoutInput: boolean): void {
    process.nextTick(() => {
      const waiting = this.#opening ?? [];
      this.#opening = undefined;
      this.emit("spawn");
      for (const run of waiting) run();
      if (withoutInput) this.#endInput((error) => error && this.emit("error", error));
      this.#ask();
    });
  }

  #failed(reason: unknown): void {
    const error = (reason instanceof Error ? reason : new Error(String(reason))) as NodeJS.ErrnoException;
    const known = (constants.errno as Readonly<Record<string, number | undefined>>)[error.code ?? ""];
    if (known !== undefined) {
      const filled = { errno: -known, syscall: `spawn ${this.spawnfile}`, path: this.spawnfile };
      const given = error as unknown as Record<string, unknown>;
      for (const [key, value] of Object.entries({ ...filled, spawnargs: this.spawnargs.slice(1) }))
        given[key] ??= value;
    }
    this.pid = undefined;
    this.#dying = true;
    process.nextTick(() => this.#leave(error.errno ?? -1, null, error));
  }

  #openInput(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => this.#whenOpen(() => this.#feed(chunk, done)),
      final: (done) => this.#whenOpen(() => this.#endInput(done)),
      // A pipe that is torn down is closed for the program at its other end.
      destroy: (error, done) => {
        // It is there before its program is: what was written before that is in it.
        if (this.#opening !== undefined)
          for (const chunk of unwritten(this.stdin)) this.#whenOpen(() => this.#feed(chunk, ignored));
        this.#whenOpen(() => this.#endInput((failure) => failure && this.emit("error", failure)));
        done(error);
      },
    });
  }

  #feed(chunk: Buffer, done: (error?: Error | null) => void): void {
    done(this.#dying ? null : this.#tell(() => this.#script.stdin(new Uint8Array(chunk))));
  }

  #endInput(done: (error?: Error | null) => void): void {
    const known = this.#stdinOver || this.#dying;
    this.#stdinOver = true;
    done(known ? null : this.#tell(() => this.#script.stdinEnded()));
  }

  /** What the script says against it, where it does: then the child ends. */
  #tell(what: () => void): Error | null {
    try {
      what();
      return null;
    } catch (error) {
      this.#stdinOver = true;
      this.#end(error as Error);
      return error as Error;
    }
  }

  #ask(): void {
    if (this.#dying || this.#silent || this.#full || this.#asked !== undefined) return;
    let asked: PendingStep;
    try {
      asked = this.#script.next();
    } catch (error) {
      platform.turn(() => this.#break(error as Error));
      return;
    }
    this.#asked = asked;
    asked.promise.then(
      (step) => platform.turn(() => this.#hand(step)),
      (error: unknown) => platform.turn(() => this.#break(error as Error)),
    );
  }

  #hand(step: ProcessStep | undefined): void {
    if (this.#dying) return;
    this.#asked = undefined;
    if (step === undefined) {
      this.#silent = true;
    } else if ("exit" in step) {
      const { code, signal } = step.exit;
      this.#dying = true;
      this.#leave(signal === null ? code : null, signal as NodeJS.Signals | null);
    } else {
      this.#full = !this.#outputs[step.from].write(step.bytes);
      this.#ask();
    }
  }

  #drained(): void {
    this.#full = false;
    this.#ask();
  }

  /** The script cannot go on: whoever listens to the child is told, and it ends. */
  #break(error: Error): void {
    if (this.#dying) return;
    this.#end(error);
    this.emit("error", error);
  }

  #end(error: Error): void {
    // Many programs show what a child that crashed wrote there, and nothing else.
    this.#outputs.stderr.write(Buffer.from(`${error.name}: ${error.message}\n`));
    this.#die(null, "SIGABRT");
  }

  #die(code: number | null, signal: NodeJS.Signals | null): void {
    this.#dying = true;
    this.#asked?.cancel();
    platform.turn(() => this.#leave(code, signal));
  }

  #leave(code: number | null, signal: NodeJS.Signals | null, failure?: Error): void {
    this.#gone = true;
    this.exitCode = code;
    this.signalCode = signal;
    clearInterval(this.#alive);
    this.#alive = undefined;
    for (const clean of this.#cleanups) clean();
    this.stdin?.destroy();
    this.#outputs.stdout.end();
    this.#outputs.stderr.end();
    for (const pipe of this.stdio.slice(3)) (pipe as Duplex | null)?.push(null);
    try {
      if (failure === undefined) this.emit("exit", code, signal);
      else this.emit("error", failure);
    } finally {
      process.nextTick(() => {
        // As Node does: what nobody reads is read away, so that `close` comes.
        for (const stream of this.stdio.slice(1)) if (stream instanceof Readable && stream.readable) stream.resume();
        for (const pipe of this.stdio.slice(3)) (pipe as Duplex | null)?.end();
        this.#closeWhenOver();
      });
    }
  }

  #closeWhenOver(): void {
    if (!this.#gone || this.#streamsOpen > 0) return;
    this.#streamsOpen = Number.NaN;
    this.emit("close", this.exitCode, this.signalCode);
  }

  #watchLimits(
    timeout: number | undefined,
    signal: AbortSignal | undefined,
    killSignal: NodeJS.Signals | 0 | undefined,
  ) {
    const kill = (): boolean => {
      try {
        return this.kill(killSignal);
      } catch (error) {
        this.emit("error", error);
        return false;
      }
    };
    if (timeout !== undefined && timeout > 0) {
      const timer = setTimeout(kill, timeout);
      this.#cleanups.push(() => clearTimeout(timer));
    }
    if (signal === undefined) return;
    const abort = (): void => {
      if (!kill()) return;
      const error = new Error("The operation was aborted", { cause: signal.reason });
      this.emit("error", Object.assign(error, { name: "AbortError", code: "ABORT_ERR" }));
    };
    if (signal.aborted) {
      process.nextTick(() => this.#whenOpen(abort));
    } else {
      signal.addEventListener("abort", abort, { once: true });
      this.#cleanups.push(() => signal.removeEventListener("abort", abort));
    }
  }
}

function ignored(): void {
  // The violation ends the child, and is on the deck.
}

function unwritten(stream: Writable | null): readonly Buffer[] {
  const held = (stream as { writableBuffer?: readonly { readonly chunk: Buffer }[] } | null)?.writableBuffer ?? [];
  return held.map(({ chunk }) => chunk);
}

// What checks for Node's class finds it, without the native handle that its constructor would open.
Object.setPrototypeOf(ChildDouble.prototype, ChildProcess.prototype);
