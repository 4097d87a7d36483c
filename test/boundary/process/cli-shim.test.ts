import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openDeck } from "wiretape";
import {
  CliRun,
  type CliShim,
  CliStderr,
  FakeClaudeCli,
  FakeCodexCli,
  tapeSpawn,
  writeCliShim,
} from "wiretape/process";
import { filesBelow, useScratch } from "../../support/scratch.ts";

const scratch = useScratch();
const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/process/${name}`, import.meta.url));

interface Ended {
  readonly out: Buffer;
  readonly err: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function ended(child: ChildProcess): Promise<Ended> {
  const closed = once(child, "close");
  const [out, err] = await Promise.all([buffer(child.stdout as never), text(child.stderr as never)]);
  const [code, signal] = (await closed) as [number | null, NodeJS.Signals | null];
  return { out, err, code, signal };
}

const start = (shim: CliShim, argv: string[] = [], input = ""): Promise<Ended> => {
  const child = spawn(shim.path, argv);
  child.stdin.end(input);
  return ended(child);
};

/** A cassette of a program that answers line by line, started with each of these arguments. */
async function recorded(...runs: { argv: string[]; lines: string[] }[]): Promise<string> {
  const path = scratch.cassette();
  const deck = await openDeck(path, { mode: "record" });
  const taped = tapeSpawn(deck);
  for (const { argv, lines } of runs) {
    const child = taped(process.execPath, [fixture("tape-echo.mjs"), ...argv]);
    child.stderr.resume();
    const closed = once(child, "close");
    await once(child.stdout, "data");
    for (const line of lines) {
      child.stdin.write(`${line}\n`);
      await once(child.stdout, "data");
    }
    child.stdin.end();
    await closed;
  }
  await deck.finish();
  return path;
}

test("an executable anywhere: bytes, both streams, exit code and signal; what it was asked", async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  const runs = [
    CliRun.of([bytes, new CliStderr("one "), "\n", { two: 2 }], { stderr: "two", returncode: 9 }),
    CliRun.of(["x"], { returncode: "SIGTERM" }),
  ];
  await using shim = await writeCliShim(new FakeCodexCli(runs), { path: join(scratch.folder, "bin", "codex") });
  expect([(await stat(shim.path)).mode & 0o777, shim.remaining, shim.spawns]).toEqual([0o755, 2, 0]);
  const first = await start(shim, ["exec", "-"], "a\nb");
  expect(first).toEqual({
    out: Buffer.concat([bytes, Buffer.from('\n{"two":2}\n')]),
    err: "one two",
    code: 9,
    signal: null,
  });
  // As a program of another language finds it: by its name.
  const PATH = `${dirname(shim.path)}${delimiter}${process.env.PATH}`;
  expect(await ended(spawn("sh", ["-c", "exec codex --version"], { env: { PATH }, cwd: "/" }))).toMatchObject({
    signal: "SIGTERM",
  });
  expect(shim.invocations).toMatchObject([
    { argv: [shim.path, "exec", "-"], cwd: process.cwd(), linesRead: 3, returncode: 9 },
    { argv: [shim.path, "--version"], cwd: "/", linesRead: 1, returncode: -15, terminated: false },
  ]);
  expect(shim.invocations.map(({ stdin }) => Buffer.from(stdin).toString())).toEqual(["a\nb", ""]);
  expect([shim.remaining, shim.spawns, shim.violations]).toEqual([0, 2, []]);
});

test("one start too many: exit code 70, ScriptExhausted on standard error, a violation here", async () => {
  await using shim = await writeCliShim(FakeCodexCli.answering("only"));
  expect((await start(shim)).code).toBe(0);
  for (const asked of [2, 3]) {
    const { out, err, code } = await start(shim, ["exec", "--api-key", "sk-proj-0123456789abcdefghij"]);
    expect([out.length, code]).toEqual([0, 70]);
    expect(err).toMatch(new RegExp(`^ScriptExhausted: FakeCodexCli has 1 run and was asked for run ${asked}\\.\n`));
    expect(err).not.toContain("sk-proj");
  }
  expect(shim.violations).toMatchObject([{ code: "script-exhausted" }, { code: "script-exhausted" }]);
  expect(shim.violations).toHaveLength(2);
  shim.expectViolation("script-exhausted");
  shim.expectViolation("script-exhausted");
  const everything = [...(await filesBelow(dirname(shim.path))).values()].join("\n");
  expect(everything).toContain("--api-key");
  expect(everything).not.toContain("sk-proj");
});

test("starts at the same time get runs of their own", async () => {
  const count = 6;
  const runs = Array.from({ length: count }, (_, n) => CliRun.of([{ n }]));
  await using shim = await writeCliShim(new FakeCodexCli(runs));
  const all = await Promise.all(runs.map(() => start(shim)));
  expect(all.map(({ out }) => out.toString()).toSorted()).toEqual(runs.map((_, n) => `{"n":${n}}\n`));
  expect(shim.violations).toEqual([]);
}, 60_000);

test("processes that claim at the same moment never get the same number", async () => {
  const folder = join(scratch.folder, "claims");
  await mkdir(folder);
  const until = String(Date.now() + 3000);
  const claims = ["1", "2", "3"].map(() =>
    promisify(execFile)(process.execPath, ["--import", "tsx", fixture("claims-shim.ts"), folder, until]),
  );
  const numbers = (await Promise.all(claims)).flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
});

test("a signal reaches the program; one that no program hears is seen all the same", async () => {
  const never: Record<string, unknown>[] = [
    { type: "control_request", request_id: "1", request: { subtype: "can_use_tool" } },
    {},
  ];
  await using shim = await writeCliShim(FakeClaudeCli.script(never, { repeatLast: true }));
  for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
    const child = spawn(shim.path);
    await once(child.stdout, "data");
    expect(shim.invocations.at(-1)?.returncode).toBe(null);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([null, signal]);
  }
  expect(shim.invocations.map(({ returncode, terminated, killed }) => [returncode, terminated, killed])).toEqual([
    [-15, true, false],
    [-2, false, false],
    [-9, false, true],
  ]);
  expect([shim.remaining, shim.spawns]).toEqual([Number.POSITIVE_INFINITY, 3]);
});

test("of a cassette: tracks by their arguments, input waited for, the last start beyond it refused", async () => {
  const path = await recorded(
    { argv: ["a"], lines: ["one", "two"] },
    { argv: ["b"], lines: ["three"] },
    { argv: ["a"], lines: ["four"] },
  );
  await using shim = await writeCliShim(path);
  expect(shim.remaining).toBe(3);
  const script = fixture("tape-echo.mjs");
  expect((await start(shim, [script, "b"], "three\n")).out.toString()).toBe("ready\nTHREE\n");
  const child = spawn(shim.path, [script, "a"], { stdio: ["pipe", "pipe", "inherit"] });
  const said: string[] = [];
  child.stdout.on("data", (data: Buffer) => said.push(data.toString()));
  await once(child.stdout, "data");
  expect(said).toEqual(["ready\n"]);
  for (const line of ["one", "two"]) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = said.length;
    child.stdin.write(`${line}\n`);
    await once(child.stdout, "data");
    expect(said.slice(before).join("")).toBe(`${line.toUpperCase()}\n`);
  }
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  const other = await start(shim, [script, "a"], "five\n");
  expect([other.code, other.err]).toEqual([70, expect.stringMatching(/^FrameMismatch: /)]);
  expect((await start(shim, [script, "c"])).err).toMatch(/^(UnrecordedRequest|ScriptExhausted): /);
  const beyond = await start(shim, [script, "a"]);
  expect([beyond.code, beyond.err]).toEqual([70, expect.stringContaining("ScriptExhausted: ")]);
  expect(shim.violations.map(({ code }) => code)).toEqual(["frame-mismatch", expect.any(String), "script-exhausted"]);
  for (const { code } of shim.violations) shim.expectViolation(code);
}, 60_000);

test("of a cassette in order: whatever the arguments and the folder", async () => {
  const path = await recorded({ argv: ["a"], lines: ["one"] }, { argv: ["b"], lines: ["two"] });
  await using shim = await writeCliShim(path, { match: "order" });
  const other = spawn(shim.path, ["x"], { cwd: scratch.folder });
  other.stdin.end("one\n");
  expect((await ended(other)).out.toString()).toBe("ready\nONE\n");
  expect((await start(shim, [], "two\n")).out.toString()).toBe("ready\nTWO\n");
  expect(await start(shim, ["y"])).toMatchObject({ code: 70, err: expect.stringContaining("ScriptExhausted") });
  shim.expectViolation("script-exhausted");
}, 60_000);

test("a shim in a place of its own starts anew when it is written again, and leaves nothing behind", async () => {
  const path = join(scratch.folder, "again", "claude");
  await writeCliShim(FakeClaudeCli.script(["first"]), { path });
  const shim = await writeCliShim(FakeClaudeCli.script(["second"]), { path });
  expect((await start(shim)).out.toString()).toBe("second");
  await shim[Symbol.asyncDispose]();
  await shim[Symbol.asyncDispose]();
  expect([existsSync(path), existsSync(`${path}.shim`), await filesBelow(dirname(path))]).toEqual([
    false,
    false,
    new Map(),
  ]);
  expect([shim.spawns, shim.invocations.length, shim.remaining]).toEqual([1, 1, 0]);
});

test("a violation that nobody looked at makes the process that wrote the shim fail", async () => {
  const path = join(scratch.folder, "left", "codex");
  const run = promisify(execFile)(process.execPath, ["--import", "tsx", fixture("leaves-violation.ts"), path]);
  const { code, stdout, stderr } = (await run.catch((error) => error)) as {
    code: number;
    stdout: string;
    stderr: string;
  };
  expect([code, stdout, stderr]).toEqual([
    1,
    "swallowed\n",
    expect.stringContaining("ScriptExhausted: FakeCodexCli has no run"),
  ]);
});

test("refuses what it cannot be, and a file that is not its own", async () => {
  const path = join(scratch.folder, "mine", "codex");
  await mkdir(dirname(path));
  await writeFile(path, "#!/bin/sh\n");
  const fake = new FakeCodexCli();
  const other = await recorded({ argv: [], lines: [] });
  await expect(writeCliShim(fake, { path })).rejects.toThrow("is no shim");
  expect(await readFile(path, "utf8")).toBe("#!/bin/sh\n");
  await expect(writeCliShim(fake, { pth: path } as never)).rejects.toThrow('"pth"');
  await expect(writeCliShim(fake, { match: "order" })).rejects.toThrow("about a cassette");
  await expect(writeCliShim(other, { match: "any" as never })).rejects.toThrow('"any"');
  await expect(writeCliShim(other, { command: "codex" })).rejects.toThrow('command is "codex"');
  await expect(writeCliShim(join(scratch.folder, "no.cassette.json"))).rejects.toMatchObject({
    code: "cassette-missing",
  });
  await writeFile(join(scratch.folder, "torn.cassette.json"), "{");
  await expect(writeCliShim(join(scratch.folder, "torn.cassette.json"))).rejects.toMatchObject({
    code: "cassette-invalid",
  });
  await writeFile(join(scratch.folder, "none.cassette.json"), '{"wiretape":1,"tracks":[]}');
  await expect(writeCliShim(join(scratch.folder, "none.cassette.json"))).rejects.toThrow("has no process");
});
