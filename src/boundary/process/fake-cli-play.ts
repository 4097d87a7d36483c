import { createLineCutter } from "../../engine/duplex-lines.ts";
import type { PendingStep, ProcessScript, ProcessStep } from "./child-script.ts";
import type { CliInvocation } from "./cli-invocation.ts";
import { type CliRun, playOf, returncodeOfSignal } from "./cli-run.ts";

/** What of a run waits for what the program says, where a CLI is one to talk with. */
export interface CliDialogue {
  /** A line that the program wrote to standard input. Throws where the script allows no more. */
  heard(line: Uint8Array, over: boolean): void;
  inputEnded(): void;
  /** What is said out of turn, before anything else. */
  aside(): Uint8Array | undefined;
  /** A line of the run, as it may be said now; `held`: not yet; `over`: it never will be. */
  line(index: number): Uint8Array | "held" | "over";
  /** Whether the end may come now, when all was said. */
  mayEnd(): boolean;
}

const freely = (run: CliRun): CliDialogue => ({
  heard: () => undefined,
  inputEnded: () => undefined,
  aside: () => undefined,
  line: (index) => (playOf(run).lines[index] as { bytes: Uint8Array }).bytes,
  mayEnd: () => true,
});

/** Plays one run: a line a step, each chunk on standard error where it stands, and the exit. Tells the invocation. */
export function playRun(run: CliRun, invocation: CliInvocation, dialogue: CliDialogue = freely(run)): ProcessScript {
  const { steps } = playOf(run);
  const input = createLineCutter();
  /** Of each line that was said and not read: whether it is one of the run. */
  const unread: boolean[] = [];
  let position = 0;
  let waiting: ((step: ProcessStep | undefined) => void) | undefined;

  function say(bytes: Uint8Array, scripted: boolean): ProcessStep {
    unread.push(scripted);
    return { from: "stdout", bytes };
  }

  function take(): ProcessStep | "held" | undefined {
    const aside = dialogue.aside();
    if (aside !== undefined) return say(aside, false);
    for (let step = steps[position]; step !== undefined; step = steps[position]) {
      if ("exit" in step) {
        if (!dialogue.mayEnd()) return "held";
        invocation.returncode = run.returncode;
      } else if ("line" in step) {
        const said = dialogue.line(step.line);
        if (said === "held") return "held";
        position++;
        if (said === "over") continue;
        return say(said, true);
      }
      position++;
      return step;
    }
    return undefined;
  }

  function poke(): void {
    if (waiting === undefined) return;
    const step = take();
    if (step === "held") return;
    const resolve = waiting;
    waiting = undefined;
    resolve(step);
  }

  function hear(lines: readonly Uint8Array[]): void {
    const over = (): boolean => steps[position] === undefined || "exit" in (steps[position] as object);
    for (const line of lines) {
      dialogue.heard(line, over());
      poke();
    }
  }

  return {
    opened: async () => undefined,
    next(): PendingStep {
      const step = take();
      const promise =
        step === "held"
          ? new Promise<ProcessStep | undefined>((resolve) => (waiting = resolve))
          : Promise.resolve(step);
      return {
        promise,
        cancel: () => {
          waiting = undefined;
        },
      };
    },
    stdin(bytes) {
      invocation.wrote(bytes);
      hear(input.push(bytes));
    },
    stdinEnded() {
      const rest = input.take();
      if (rest !== undefined) hear([rest]);
      dialogue.inputEnded();
      poke();
    },
    killed(signal) {
      if (signal === "SIGTERM") invocation.terminated = true;
      if (signal === "SIGKILL") invocation.killed = true;
      invocation.returncode = returncodeOfSignal(signal);
      return false;
    },
    consumed(from, data) {
      if (from !== "stdout") return;
      const read = (): void => {
        if (unread.shift() === true) invocation.linesRead++;
      };
      if (data === undefined) while (unread.length > 0) read();
      else if (typeof data === "string") {
        for (let at = data.indexOf("\n"); at >= 0; at = data.indexOf("\n", at + 1)) read();
      } else for (let at = data.indexOf(0x0a); at >= 0; at = data.indexOf(0x0a, at + 1)) read();
    },
  };
}
