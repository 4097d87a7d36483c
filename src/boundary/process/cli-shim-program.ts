/** The program behind a shim: a process of its own, started by whoever takes it for the real CLI. */
import { constants } from "node:os";
import { createRedactor } from "../../cassette/redact/redactor.ts";
import { createLineCutter } from "../../engine/duplex-lines.ts";
import { ledger } from "../../engine/ledger.ts";
import { isWiretapeError } from "../../errors.ts";
import { decodeUtf8, encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { unpackRun } from "./cli-run.ts";
import { FakeClaudeCli } from "./fake-claude-cli.ts";
import { insideOf } from "./fake-cli.ts";
import { FakeCodexCli } from "./fake-codex-cli.ts";
import { startTrack } from "./shim-cassette.ts";
import { endAs, pipeChild } from "./shim-pipes.ts";
import { claimSpawn, openLog, readScript, type ShimScript, type StartedShim } from "./shim-state.ts";

/** The exit code of a shim that was asked for more than it has, or for something else. */
const VIOLATED = 70;

/** Plays the next run of the shim that keeps its state in this folder, and ends this process as the run ends. */
export async function runCliShim(folder: string): Promise<void> {
  const script = readScript(folder);
  const redactor = createRedactor({}, process.env);
  const argv = process.argv.slice(2);
  const noted = script.env.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, redactor.text(value)] as const];
  });
  const number = claimSpawn(folder, {
    argv: argv.map((word) => redactor.text(word)),
    cwd: process.cwd(),
    env: Object.fromEntries(noted),
    pid: process.pid,
  });
  const log = openLog(folder, number);
  const violations = (): void => {
    for (const entry of ledger().entries) {
      if (entry.acknowledged) continue;
      // Told to whoever made the shim, and by the exit code: not once more when this process ends.
      entry.acknowledged = true;
      const { code, message, details } = entry.error;
      log({ violation: { code, message, details } });
    }
  };
  const violated = async (error: Error, told: boolean): Promise<never> => {
    violations();
    if (!told) await new Promise((done) => process.stderr.write(`${error.name}: ${error.message}\n`, done));
    log({ exit: VIOLATED });
    return endAs(VIOLATED, null);
  };

  let started: StartedShim;
  try {
    started = await start(script, folder, number, argv);
  } catch (error) {
    if (isWiretapeError(error)) return violated(error, false);
    throw error;
  }
  const input = createLineCutter();
  const heard = (line: Uint8Array): void => {
    const text = decodeUtf8(line);
    log({ stdin: encodeBase64(text === undefined ? line : encodeUtf8(redactor.text(text))) });
  };
  let failure: Error | undefined;
  const { code, signal } = await pipeChild(started.child, {
    stdin: (bytes) => input.push(bytes).forEach(heard),
    stdinEnded: () => {
      const rest = input.take();
      if (rest !== undefined) heard(rest);
    },
    wrote: () => log({ lines: started.lines() }),
    signal: (sent) => log({ signal: sent }),
    failed: (error) => {
      failure = error;
    },
  });
  // A last line without a newline is known as one now.
  log({ lines: started.lines() });
  // What breaks a double has been written to its standard error by the double.
  if (isWiretapeError(failure)) return violated(failure, true);
  violations();
  if (failure !== undefined && code !== null && code < 0) {
    await new Promise((done) => process.stderr.write(`${(failure as Error).message}\n`, done));
    log({ exit: 127 });
    return endAs(127, null);
  }
  log({ exit: signal === null ? (code ?? 0) : -numberOf(signal) });
  return endAs(code, signal);
}

async function start(
  script: ShimScript,
  folder: string,
  number: number,
  argv: readonly string[],
): Promise<StartedShim> {
  if (script.plays === "cassette") return startTrack(script, folder, number, argv);
  const runs = script.runs.map(unpackRun);
  const options = { repeatLast: script.repeatLast };
  const fake = script.plays === "claude" ? new FakeClaudeCli(runs, options) : new FakeCodexCli(runs, options);
  insideOf(fake).skip(number - 1);
  const child = fake.spawn(script.command, argv, { cwd: process.cwd() });
  return { child, lines: () => fake.invocations.at(-1)?.linesRead ?? 0 };
}

function numberOf(signal: NodeJS.Signals): number {
  return constants.signals[signal];
}
