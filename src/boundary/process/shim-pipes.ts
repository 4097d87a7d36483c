import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const;

/** What is told of a child that lives behind this process's own streams. */
export interface PipeObserver {
  stdin(bytes: Uint8Array): void;
  stdinEnded(): void;
  /** After each chunk that was written to standard output. */
  wrote(): void;
  signal(signal: NodeJS.Signals): void;
  failed(error: Error): void;
}

/**
 * Lets this process be a child: its standard streams are the child's, each chunk of the child's is one write, and the
 * signals that reach it are sent on. Resolves with how the child ended, when everything it said was written.
 */
export async function pipeChild(
  child: ChildProcess,
  observer: PipeObserver,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const written: Promise<void>[] = [];
  const forward = (from: Readable | null, to: Writable, wrote: () => void): void => {
    from?.on("data", (chunk: Buffer) => {
      from.pause();
      written.push(
        new Promise((resolve) => {
          to.write(chunk, () => {
            wrote();
            resolve();
            from.resume();
          });
        }),
      );
    });
  };
  // Whoever read us has gone: a program dies of that, and so does this one.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => child.kill("SIGPIPE"));
  forward(child.stdout, process.stdout, () => observer.wrote());
  forward(child.stderr, process.stderr, () => undefined);
  process.stdin.on("data", (chunk: Buffer) => {
    observer.stdin(chunk);
    if (child.stdin?.writable !== true || child.stdin.write(chunk)) return;
    process.stdin.pause();
    child.stdin.once("drain", () => process.stdin.resume());
  });
  const inputOver = (): void => {
    observer.stdinEnded();
    child.stdin?.end();
  };
  process.stdin.on("end", inputOver);
  process.stdin.on("error", inputOver);
  child.stdin?.on("error", (error) => observer.failed(error));
  child.on("error", (error) => observer.failed(error));
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      observer.signal(signal);
      child.kill(signal);
    });
  }
  const ended = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  await Promise.all(written);
  return ended;
}

/** Ends this process: with a code, or as a signal ends a process. Does not return. */
export async function endAs(code: number | null, signal: NodeJS.Signals | null): Promise<never> {
  if (signal === null) process.exit(code ?? 0);
  process.removeAllListeners(signal);
  process.stdin.pause();
  const number = constants.signals[signal];
  try {
    process.kill(process.pid, signal);
  } catch {
    // The platform has no such signal: its number is told as a shell would.
    process.exit(128 + number);
  }
  // A signal that does not end a Node process (SIGUSR1) is told in the same way.
  return new Promise<never>(() => setTimeout(() => process.exit(128 + number), 500));
}
