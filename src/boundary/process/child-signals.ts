import { constants } from "node:os";

/** The number of a signal by its name, as this platform numbers it. */
const NUMBERS: Readonly<Record<string, number>> = constants.signals;

/** What does not end a program that has no handler for it. */
const HARMLESS = new Set(["SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"]);

/** The signal that `kill(value)` means; 0 asks whether there is a process. Throws as Node does on what is no signal. */
export function signalOf(value: NodeJS.Signals | number | undefined): NodeJS.Signals | 0 {
  if (value === 0) return 0;
  if (value === undefined) return "SIGTERM";
  const name =
    typeof value === "number"
      ? Object.keys(NUMBERS).find((one) => NUMBERS[one] === value)
      : Object.hasOwn(NUMBERS, String(value).toUpperCase())
        ? String(value).toUpperCase()
        : undefined;
  if (name !== undefined) return name as NodeJS.Signals;
  throw Object.assign(new TypeError(`Unknown signal: ${String(value)}`), { code: "ERR_UNKNOWN_SIGNAL" });
}

/** Whether a program that has no handler for a signal is ended by it. */
export function endsProgram(signal: NodeJS.Signals): boolean {
  return !HARMLESS.has(signal);
}
