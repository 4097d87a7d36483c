import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";

/** A folder for the tests of one file, gone when they are over. */
export function useScratch(): {
  readonly folder: string;
  /** The path of a cassette that nobody uses yet. */
  cassette(): string;
  /** Everything below the folder, as one text a file. */
  everything(): Promise<Map<string, string>>;
} {
  let folder = "";
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wiretape-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    get folder() {
      return folder;
    },
    cassette: () => join(folder, `c${++count}`, "tape.cassette.json"),
    everything: () => filesBelow(folder),
  };
}

/** The files below a folder by path relative to it, as Latin-1 texts, so that any bytes can be searched. */
export async function filesBelow(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), (await readFile(path)).toString("latin1"));
  }
  return files;
}

/** A program of test/fixtures/processes as a real process. */
export interface Running {
  readonly pid: number;
  /** Resolves when the program has printed this. */
  printed(text: string): Promise<void>;
  /** Types a line into the program. */
  type(line: string): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** Starts a program with arguments; the environment is ours without what would change the mode. */
export function start(program: string, args: readonly string[], env: Record<string, string> = {}): Running {
  const { CI: _, WIRETAPE_MODE: __, ...inherited } = process.env;
  const script = fileURLToPath(new URL(`../fixtures/processes/${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], { env: { ...inherited, ...env } });
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, stdout, stderr }));
  return {
    pid: child.pid as number,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!stdout.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        void ended.then(() => reject(new Error(`${program} ended before it printed ${text}: ${stdout}${stderr}`)));
        look();
      }),
    type: (line) => child.stdin.write(`${line}\n`),
    kill: (signal) => child.kill(signal),
    ended,
  };
}
