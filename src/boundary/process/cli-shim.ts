import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openDoubleLedger } from "../../engine/double.ts";
import { platform } from "../../engine/platform.ts";
import {
  FrameMismatch,
  OptionInvalid,
  OutOfOrder,
  ReplayStalled,
  ScriptExhausted,
  UnrecordedRequest,
  WiretapeError,
  type WiretapeErrorCode,
} from "../../errors.ts";
import { CliInvocation } from "./cli-invocation.ts";
import { packRun } from "./cli-run.ts";
import { type FakeCli, insideOf } from "./fake-cli.ts";
import { checkKeys } from "./fake-cli-options.ts";
import { cassetteProgram } from "./shim-cassette.ts";
import { countSpawns, readClaim, readLog, type SentViolation, type ShimScript, writeScript } from "./shim-state.ts";

/** How a shim is written. */
export interface CliShimOptions {
  /** Where the executable stands; a shim that stands there already starts anew. Default: a temporary folder of its own. */
  path?: string;
  /** Of a cassette: the program that the shim stands for, as it was recorded, or its last part. Default: the only one. */
  command?: string;
  /**
   * Of a cassette: `recorded` (default): a start plays the next track that was started alike, as `tapeSpawn` compares. `order`:
   * the next track, whatever the arguments. The runs of a fake CLI are always in order.
   */
  match?: "recorded" | "order";
  /** The variables whose values its invocations tell. Default: none, since an environment holds secrets. */
  env?: readonly string[];
}

/** An executable that plays recorded runs, one a process, and what its processes were asked so far. */
export interface CliShim extends AsyncDisposable {
  /** The absolute path of the executable; on Windows, of a `.cmd`. */
  readonly path: string;
  /** How many of its runs were not played. Never below zero; infinite where one may be repeated for ever. */
  readonly remaining: number;
  /** How many processes were started, those that were refused a run included. */
  readonly spawns: number;
  /** Each process that was started, in order. What they were written and asked is noted without the secrets in it. */
  readonly invocations: readonly CliInvocation[];
  /** What was asked beyond the recording, by any process so far. Looking notes it in this process as well. */
  readonly violations: readonly WiretapeError[];
  /** Acknowledges one violation of this code that the test is about; it may come later. Nothing else does. */
  expectViolation(code: WiretapeErrorCode): void;
  /** Takes note of the violations, and removes what was written. Processes that run are left to end. */
  [Symbol.asyncDispose](): Promise<void>;
}

const MARK = "Written by wiretape";

/**
 * Writes an executable that stands for a CLI where a program takes a path (`codexPathOverride`,
 * `pathToClaudeCodeExecutable`, the `PATH`) or is written in another language: of a cassette with recorded processes, or of
 * a fake CLI (played from its first run, whatever the fake itself has played). Each start plays the next run, in a process of its
 * own: standard input is read and waited for, each chunk is one write, and the process ends by the recorded exit code or
 * signal. One start too many ends at once with exit code 70 and the `ScriptExhausted` on standard error; it is a violation
 * here as soon as the shim is looked at or disposed of, and when this process ends. Nothing is asked of a network.
 *
 * It runs on the Node that wrote it, with this package where it is now: a shim is not for keeping.
 */
export async function writeCliShim(source: string | FakeCli, options: CliShimOptions = {}): Promise<CliShim> {
  checkKeys("writeCliShim", options, ["path", "command", "match", "env"]);
  const { script, count } = scriptOf(source, options);
  const own = options.path === undefined ? await mkdtemp(join(tmpdir(), "wiretape-shim-")) : undefined;
  const path = resolve(options.path ?? join(own as string, basename(script.command).replace(/\W/g, "") || "cli"));
  const folder = `${path}.shim`;
  await refuseOther(path);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  writeScript(folder, script);
  await writeWhole(path, programText(folder));
  const windows = process.platform === "win32";
  if (windows) await writeWhole(`${path}.cmd`, `@"${process.execPath}" "%~dp0${basename(path)}" %*\r\n`);
  return watchShim(windows ? `${path}.cmd` : path, folder, count, async () => {
    // A program that is being stopped may still write down how it ended.
    const gone = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };
    if (own !== undefined) return rm(own, gone);
    for (const written of [path, `${path}.cmd`, folder]) await rm(written, gone);
  });
}

function scriptOf(source: string | FakeCli, options: CliShimOptions): { script: ShimScript; count: number } {
  const { env = [], command: wanted, match = "recorded" } = options;
  if (typeof source === "string") {
    if (match !== "recorded" && match !== "order") {
      throw new OptionInvalid(`match is "recorded" or "order"; got ${JSON.stringify(match)}.`);
    }
    const cassette = resolve(source);
    const { command, count } = cassetteProgram(cassette, wanted);
    return { script: { command, env, plays: "cassette", cassette, match, cwd: process.cwd() }, count };
  }
  if (wanted !== undefined || options.match !== undefined) {
    throw new OptionInvalid("command and match are about a cassette; a fake CLI has its runs in order.");
  }
  const inside = insideOf(source) as ReturnType<typeof insideOf> | undefined;
  if (inside === undefined) throw new OptionInvalid("A shim is written of the path of a cassette, or of a fake CLI.");
  const { double, runs, repeatLast } = inside;
  const plays = double === "FakeClaudeCli" ? "claude" : "codex";
  const count = repeatLast && runs.length > 0 ? Number.POSITIVE_INFINITY : runs.length;
  return { script: { command: plays, env, plays, runs: runs.map(packRun), repeatLast }, count };
}

/** A file that is no shim is somebody's. */
async function refuseOther(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if ((await readFile(path, "utf8")).includes(MARK)) return;
  throw new OptionInvalid(`${path} is there and is no shim of wiretape's. Choose another path, or remove it.`);
}

/** A file that may be executed at any moment is never half there. */
async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, text, { mode: 0o755 });
  await rename(draft, path);
}

function programText(folder: string): string {
  const here = fileURLToPath(import.meta.url);
  const extension = extname(here);
  const program = new URL(`./cli-shim-program${extension}`, import.meta.url).href;
  // From the sources, during development, the process needs what turns TypeScript into JavaScript.
  const loader = extension === ".ts" ? [pathToFileURL(createRequire(here).resolve("tsx")).href] : [];
  // A program may start us without a PATH, so that `env` finds nothing; a system allows only so much in this line.
  const plain = /^\S{1,100}$/.test(process.execPath);
  return `#!${plain ? process.execPath : "/usr/bin/env node"}
// ${MARK}: plays recorded runs of a command line, one each time it is started. Its state is beside it.
(async () => {
${loader.map((url) => `  await import(${JSON.stringify(url)});\n`).join("")}  const { runCliShim } = await import(${JSON.stringify(program)});
  await runCliShim(${JSON.stringify(folder)});
})().catch((error) => {
  process.stderr.write(\`\${error && error.stack ? error.stack : error}\\n\`, () => process.exit(70));
});
`;
}

const KINDS = [ScriptExhausted, UnrecordedRequest, OutOfOrder, FrameMismatch, ReplayStalled];

function receive({ code, message, details }: SentViolation): WiretapeError {
  const named = KINDS.map((Kind) => new Kind(message, details)).find((error) => error.code === code);
  return named ?? new WiretapeError(code, message, details);
}

/** How the shims of this process are looked at once more when it ends. */
const endings: (() => readonly WiretapeError[])[] = [];

function atExit(collect: () => readonly WiretapeError[], there: () => boolean): void {
  if (endings.length === 0) {
    platform.onExit((fail) => {
      const news = endings.flatMap((look) => look());
      if (news.length > 0) fail(news.map((error) => `${error.name}: ${error.message}`).join("\n\n"));
    });
  }
  endings.push(() => (there() ? collect() : []));
}

function watchShim(path: string, folder: string, count: number, remove: () => Promise<void>): CliShim {
  const taken: number[] = [];
  let over: { spawns: number; invocations: readonly CliInvocation[] } | undefined;
  /** Enters what the processes met since it was last looked at. */
  const collect = (): readonly WiretapeError[] => {
    const spawns = over === undefined ? countSpawns(folder) : 0;
    const news: WiretapeError[] = [];
    for (let number = 1; number <= spawns; number++) {
      const sent = readLog(folder, number).flatMap((event) => ("violation" in event ? [event.violation] : []));
      for (const violation of sent.slice(taken[number] ?? 0)) news.push(book.fail(receive(violation), `${number}`));
      taken[number] = sent.length;
    }
    return news;
  };
  const shim: CliShim = {
    path,
    get remaining() {
      return Math.max(0, count - shim.spawns);
    },
    get spawns() {
      return over?.spawns ?? countSpawns(folder);
    },
    get invocations() {
      if (over !== undefined) return over.invocations;
      collect();
      return Array.from({ length: countSpawns(folder) }, (_, index) => invocationOf(path, folder, index + 1));
    },
    get violations() {
      collect();
      return book.violations;
    },
    expectViolation: (code) => book.expectViolation(code),
    async [Symbol.asyncDispose]() {
      if (over !== undefined) return;
      const { invocations, spawns } = shim;
      over = { invocations, spawns };
      await remove();
    },
  };
  const book = openDoubleLedger(shim);
  atExit(collect, () => over === undefined && existsSync(folder));
  return shim;
}

function invocationOf(path: string, folder: string, number: number): CliInvocation {
  const { argv, cwd, env, pid } = readClaim(folder, number);
  const events = readLog(folder, number);
  const all = <K extends string, V>(key: K): V[] =>
    events.flatMap((event) => (key in event ? [(event as unknown as Record<K, V>)[key]] : []));
  const exit = all<"exit", number>("exit").at(-1) ?? null;
  // A process that is gone and has not said how was ended by what no process hears.
  const killed = exit === null && !isThere(pid);
  return new CliInvocation({
    argv: [path, ...argv],
    cwd,
    env,
    stdin: Buffer.concat(all<"stdin", string>("stdin").map((text) => Buffer.from(text, "base64"))),
    linesRead: all<"lines", number>("lines").at(-1) ?? 0,
    terminated: all<"signal", string>("signal").includes("SIGTERM"),
    killed,
    returncode: killed ? -9 : exit,
  });
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
