import pc from "picocolors";
import { printableJson, printableLines } from "./printable.ts";

/** Where a command prints, and how. Texts from files go through `printable` before they get here. */
export interface Terminal {
  /** Plain functions off a terminal, and where NO_COLOR is set. */
  readonly color: ReturnType<typeof pc.createColors>;
  /** Columns of a line. */
  readonly width: number;
  /** A person watches: progress may be shown. */
  readonly live: boolean;
  /** One line on standard output. */
  line(text?: string): void;
  /** One JSON document on standard output: all that a command prints with `--json`. */
  json(value: unknown): void;
  /** An error on standard error. */
  complain(message: string): void;
}

/** What of a process a terminal is made from. */
export interface TerminalStreams {
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The terminal of a process. */
export function openTerminal({ stdout, stderr, env }: TerminalStreams): Terminal {
  const live = stdout.isTTY === true;
  const plain = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  const errors = pc.createColors(stderr.isTTY === true && !plain);
  const stated = Number(env["COLUMNS"]);
  const fallback = Number.isSafeInteger(stated) && stated > 0 ? stated : 120;
  return {
    color: pc.createColors(live && !plain),
    width: Math.max(40, live ? (stdout.columns ?? fallback) : fallback),
    live,
    line: (text = "") => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`),
    complain: (message) => void stderr.write(`${errors.red("error:")} ${printableLines(message)}\n`),
  };
}
