import type { ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, linkSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WiretapeErrorCode } from "../../errors.ts";
import type { PackedRun } from "./cli-run.ts";

/** What a shim plays: the runs of a fake CLI, or the tracks of a cassette. */
export type ShimScript = {
  /** The program's name, as it is told to whoever plays it. */
  readonly command: string;
  /** The variables whose values are noted. */
  readonly env: readonly string[];
} & (
  | { readonly plays: "claude" | "codex"; readonly runs: readonly PackedRun[]; readonly repeatLast: boolean }
  | {
      readonly plays: "cassette";
      readonly cassette: string;
      readonly match: "recorded" | "order";
      /** The working directory of whoever wrote the shim. */
      readonly cwd: string;
    }
);

/** A double that is started, and how many lines of it were written. */
export interface StartedShim {
  readonly child: ChildProcess;
  lines(): number;
}

/** What one process of a shim was started with. */
export interface ShimClaim {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
}

/** A violation as it crosses from one process to another. */
export interface SentViolation {
  readonly code: WiretapeErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What happened to one process of a shim: of `lines` and `exit` the last one counts. */
export type ShimEvent =
  | { readonly stdin: string }
  | { readonly lines: number }
  | { readonly signal: string }
  | { readonly exit: number }
  | { readonly violation: SentViolation };

const SCRIPT = "script.json";
const place = (folder: string, number: number): string => join(folder, String(number).padStart(6, "0"));

export function writeScript(folder: string, script: ShimScript): void {
  writeFileSync(join(folder, SCRIPT), JSON.stringify(script), { mode: 0o600 });
}

export function readScript(folder: string): ShimScript {
  return JSON.parse(readFileSync(join(folder, SCRIPT), "utf8")) as ShimScript;
}

/**
 * Takes the next number, from 1, for a process: of those that ask at once no two get the same. The claim is whole as soon as
 * it can be seen, so a process that dies in between holds nobody up, and there is no lock to be left behind.
 */
export function claimSpawn(folder: string, claim: ShimClaim): number {
  const draft = join(folder, `claim-${process.pid}`);
  writeFileSync(draft, JSON.stringify(claim), { mode: 0o600 });
  try {
    for (let number = countSpawns(folder) + 1; ; number++) {
      try {
        linkSync(draft, `${place(folder, number)}.json`);
        return number;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  } finally {
    unlinkSync(draft);
  }
}

/** How many processes were started. */
export function countSpawns(folder: string): number {
  return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name)).length;
}

export function readClaim(folder: string, number: number): ShimClaim {
  return JSON.parse(readFileSync(`${place(folder, number)}.json`, "utf8")) as ShimClaim;
}

/** Notes what happens to a process: at once, so that a kill loses nothing. */
export function openLog(folder: string, number: number): (event: ShimEvent) => void {
  const file = `${place(folder, number)}.log`;
  return (event) => appendFileSync(file, `${JSON.stringify(event)}\n`, { mode: 0o600 });
}

export function readLog(folder: string, number: number): ShimEvent[] {
  const file = `${place(folder, number)}.log`;
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  // A line that is being written has no newline yet.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as ShimEvent);
}
