import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer, text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CliRun, CliStderr, FakeClaudeCli, FakeCodexCli } from "wiretape/process";
import { ledger } from "../../../src/engine/ledger.ts";

type Payload = Parameters<typeof CliRun.of>[0] extends Iterable<infer P> ? P : never;

const utf8 = (value: Uint8Array): string => Buffer.from(value).toString();

/** Everything that a run says, in order, and how it ends. */
async function told(run: CliRun): Promise<unknown[]> {
  const child = new FakeCodexCli([run]).spawn("codex", []);
  const story: unknown[] = [];
  child.stdout.on("data", (data: Buffer) => story.push(["out", data.toString()]));
  child.stderr.on("data", (data: Buffer) => story.push(["err", data.toString()]));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return [...story, code ?? signal];
}

describe("a run", () => {
  test("says an object as one compact JSON line, a text or bytes verbatim", () => {
    const run = CliRun.of([
      { type: "a", list: [1, { b: null }] },
      "\n",
      "torn {",
      new Uint8Array([0xff, 0x0a]),
      { é: "ü" },
    ]);
    expect(Buffer.from(run.stdout)).toEqual(
      Buffer.concat([
        Buffer.from('{"type":"a","list":[1,{"b":null}]}\n\ntorn {'),
        Buffer.from([0xff, 0x0a]),
        Buffer.from('{"é":"ü"}\n'),
      ]),
    );
    expect([utf8(run.stderr), run.returncode, run.interleavedStderr]).toEqual(["", 0, []]);
  });

  test("is frozen, and hands out copies", async () => {
    const data = new TextEncoder().encode("line\n");
    const run = CliRun.of([data, new CliStderr("note")], { stderr: data });
    data.fill(0);
    for (const bytes of [run.stdout, run.stderr, (run.interleavedStderr[0] as [number, Uint8Array])[1]]) bytes.fill(1);
    expect(await told(run)).toEqual([["out", "line\n"], ["err", "note"], ["err", "line\n"], 0]);
    expect(() => Object.assign(run, { returncode: 1 })).toThrow(TypeError);
    const child = new FakeCodexCli([run]).spawn("codex");
    child.stdout.on("data", (chunk: Buffer) => chunk.fill(0));
    await once(child, "close");
    expect(utf8(run.stdout)).toBe("line\n");
  });

  test("places stderr between lines by position alone: chunks at one place keep their order", async () => {
    const run = CliRun.of(
      [new CliStderr("z"), new CliStderr("a"), "1\n", new CliStderr("m"), "2", new CliStderr("n"), "\n", "3"],
      {
        stderr: "last",
        returncode: 2,
      },
    );
    expect(run.interleavedStderr.map(([lines, data]) => [lines, utf8(data)])).toEqual([
      [0, "z"],
      [0, "a"],
      [1, "m"],
      [1, "n"],
    ]);
    expect(await told(run)).toEqual([
      ["err", "z"],
      ["err", "a"],
      ["out", "1\n"],
      ["err", "m"],
      ["err", "n"],
      ["out", "2\n"],
      ["out", "3"],
      ["err", "last"],
      2,
    ]);
    const beyond = new CliRun({
      stdout: "1\n",
      interleavedStderr: [
        [9, "b"],
        [1, "a"],
        [9, "c"],
      ],
    });
    expect(await told(beyond)).toEqual([["out", "1\n"], ["err", "a"], ["err", "b"], ["err", "c"], 0]);
  });

  test("ends by a code or by a signal, by its name or below zero", async () => {
    const ends = async (returncode: number | NodeJS.Signals): Promise<unknown> =>
      (await told(new CliRun({ returncode }))).at(-1);
    expect(await Promise.all([ends(0), ends(137), ends("SIGSEGV"), ends(-11), ends(-9)])).toEqual([
      ...[0, 137, "SIGSEGV", "SIGSEGV", "SIGKILL"],
    ]);
    expect(new CliRun({ returncode: "SIGKILL" }).returncode).toBe(-9);
  });

  test("gives back any bytes, each line a chunk", async () => {
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.string({ maxLength: 10 }),
      fc.constant("\n"),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.uint8Array({ maxLength: 5 }).map((data) => new CliStderr(data)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(payload as fc.Arbitrary<Payload>, { maxLength: 12 }), async (payloads) => {
        const run = CliRun.of(payloads);
        const child = new FakeClaudeCli([run]).spawn("claude", ["-p"]);
        const chunks: Buffer[] = [];
        child.stdout.on("data", (data: Buffer) => chunks.push(data));
        const stderr = await buffer(child.stderr);
        expect(Buffer.concat(chunks)).toEqual(Buffer.from(run.stdout));
        for (const chunk of chunks.slice(0, -1)) expect(chunk.indexOf(10)).toBe(chunk.length - 1);
        expect(stderr).toEqual(Buffer.concat(payloads.flatMap((one) => (one instanceof CliStderr ? [one.data] : []))));
      }),
      { numRuns: 60 },
    );
  });

  test("refuses what is none, and says where", () => {
    expect(() => CliRun.of("text" as never)).toThrow("list");
    expect(() => CliRun.of([{ a: 1 }, 7 as never])).toThrow("Payload 2 of a run is number");
    expect(() => CliRun.of([[] as never])).toThrow("a list");
    expect(() => CliRun.of([new Map() as never])).toThrow("a Map");
    expect(() => CliRun.of([], { exit: 1 } as never)).toThrow('"exit"');
    expect(() => new CliRun({ returncode: 1.5 })).toThrow("1.5");
    expect(() => new CliRun({ returncode: -999 })).toThrow("-999");
    expect(() => new CliRun({ returncode: "SIGNAL" as never })).toThrow("SIGNAL");
    expect(() => new CliRun({ interleavedStderr: [[-1, "x"]] })).toThrow("-1");
    expect(() => new CliStderr(7 as never)).toThrow("number");
    expect(() => new FakeCodexCli([{} as never])).toThrow("CliRun");
    expect(() => new FakeCodexCli([], { repeat: true } as never)).toThrow("repeatLast");
    expect(() => FakeCodexCli.script([], { code: 1 } as never)).toThrow("returncode");
  });
});

describe.each([FakeClaudeCli, FakeCodexCli])("%o", (Fake) => {
  test("plays one run a spawn, and refuses the next one where it is asked, on the ledger too", async () => {
    const fake = new Fake([CliRun.of([{ n: 1 }]), CliRun.of([{ n: 2 }], { returncode: 3 })]);
    expect([fake.remaining, fake.spawns]).toEqual([2, 0]);
    const first = fake.spawn("cli", ["a"]);
    expect([fake.remaining, fake.spawns]).toEqual([1, 1]);
    expect(await text(first.stdout)).toBe('{"n":1}\n');
    const second = fake.spawn("cli", ["b"]);
    expect(await once(second, "exit")).toEqual([3, null]);
    const before = ledger().entries.length;
    for (const asked of [3, 4]) {
      let swallowed: unknown;
      try {
        fake.spawn("/bin/cli", ["--api-key", "sk-secret-secret"]);
      } catch (error) {
        swallowed = error;
      }
      expect(swallowed).toMatchObject({
        name: "ScriptExhausted",
        code: "script-exhausted",
        details: { recorded: 2, asked },
      });
      expect(String(swallowed)).toContain(`${Fake.name} has 2 runs and was asked for run ${asked}`);
      expect(JSON.stringify(swallowed) + String(swallowed)).not.toContain("sk-secret");
      expect(String(swallowed)).toContain("repeatLast: true");
    }
    expect([fake.remaining, fake.spawns, fake.invocations.length]).toEqual([0, 4, 2]);
    expect(fake.violations.length).toBeGreaterThan(0);
    const entries = ledger().entries.slice(before);
    expect(entries.map((entry) => [entry.owner, entry.acknowledged])).toEqual(entries.map(() => [fake, false]));
    fake.expectViolation("script-exhausted");
    expect(entries.every((entry) => entry.acknowledged)).toBe(true);
  });

  test("without a run is exhausted at once, whatever it may repeat", () => {
    for (const fake of [new Fake(), new Fake([], { repeatLast: true })]) {
      fake.expectViolation("script-exhausted");
      expect(() => fake.spawn("cli")).toThrow("has no run");
    }
  });

  test("repeats the last run for ever where it may, byte for byte", async () => {
    const fake = Fake.script([{ a: 1 }, "x"], { repeatLast: true, returncode: 7 });
    const outcomes = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = fake.spawn("cli");
        const closed = once(child, "close");
        return [await text(child.stdout), await closed];
      }),
    );
    expect(outcomes).toEqual(Array(3).fill(['{"a":1}\nx', [7, null]]));
    expect([fake.spawns, fake.remaining, fake.violations]).toEqual([3, 0, []]);
  });

  test("reads its files when it is made", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wiretape-"));
    const paths = ["one.jsonl", "two.jsonl"].map((name) => join(folder, name));
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0a, 0xff, 0x0d, 0x0a, 0x61]);
    for (const path of paths) await writeFile(path, bytes);
    const fake = Fake.replay(paths);
    await rm(folder, { recursive: true });
    expect(fake.remaining).toBe(2);
    for (const _ of paths) expect(await buffer(fake.spawn("cli", ["-p"]).stdout)).toEqual(bytes);
    expect(() => Fake.replay(paths[0] as string)).toThrow("ENOENT");
    expect(() => Fake.replay(7 as never)).toThrow("a path");
  });

  test("notes what a spawn was asked and what became of it", async () => {
    const fake = new Fake([CliRun.of(["1\n"], { returncode: 4 }), CliRun.of(["1\n"]), CliRun.of(["1\n"])]);
    const child = fake.spawn("cli", ["-x", "y"], { cwd: "/tmp", env: { A: "1", B: undefined }, detached: true });
    child.stdin.write("hello ");
    child.stdin.end(Buffer.from([0xff]));
    const invocation = fake.invocations[0] as (typeof fake.invocations)[0];
    expect([invocation.returncode, invocation.linesRead]).toEqual([null, 0]);
    child.stdout.on("data", () => undefined);
    await once(child, "close");
    expect(invocation).toMatchObject({
      ...{ argv: ["cli", "-x", "y"], cwd: "/tmp", env: { A: "1" }, startNewSession: true },
      ...{ linesRead: 1, terminated: false, killed: false, returncode: 4 },
    });
    expect(Buffer.from(invocation.stdin)).toEqual(Buffer.from([...Buffer.from("hello "), 0xff]));
    const silent = fake.spawn("cli", { stdio: "ignore", cwd: new URL("file:///tmp/x") });
    await once(silent, "close");
    expect(fake.invocations[1]).toMatchObject({
      cwd: "/tmp/x",
      env: {},
      startNewSession: false,
      linesRead: 0,
      returncode: 0,
    });
    expect(fake.invocations[1]?.stdin).toEqual(new Uint8Array());
  });

  test("a signal ends a run that goes on, and never one that has ended", async () => {
    const fake = new Fake([CliRun.of(["1\n"]), CliRun.of(["1\n"]), CliRun.of(["1\n"], { returncode: 5 })]);
    const ended = async (act: "SIGTERM" | "SIGKILL"): Promise<unknown> => {
      const child = fake.spawn("cli", []);
      child.kill(act);
      return once(child, "exit");
    };
    expect(await ended("SIGTERM")).toEqual([null, "SIGTERM"]);
    expect(await ended("SIGKILL")).toEqual([null, "SIGKILL"]);
    const child = fake.spawn("cli", []);
    await once(child, "exit");
    expect([child.kill("SIGKILL"), child.exitCode, child.signalCode]).toEqual([false, 5, null]);
    expect(fake.invocations.map(({ terminated, killed, returncode }) => [terminated, killed, returncode])).toEqual([
      [true, false, -15],
      [false, true, -9],
      [false, false, 5],
    ]);
  });

  test("lines are read one at a time: a reader that stops has read no more", async () => {
    const fake = Fake.script(["a\n", "b\n", "c\n", "rest"]);
    const child = fake.spawn("cli");
    const counts: (number | undefined)[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      counts.push(fake.invocations[0]?.linesRead);
      if (line === "b") break;
    }
    expect(counts).toEqual([1, 2]);
    const whole = Fake.script(["a\n", "b\n", "rest"]);
    const unread = whole.spawn("cli");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(whole.invocations[0]?.linesRead).toBe(0);
    expect([unread.exitCode, unread.stdout.readableEnded]).toEqual([0, true]);
    const other = Fake.script(["a\n", "b\n", "rest"]);
    const late = other.spawn("cli");
    const read = new Promise((resolve) => late.once("exit", () => resolve(text(late.stdout.setEncoding("utf8")))));
    expect([await read, other.invocations[0]?.linesRead]).toEqual(["a\nb\nrest", 3]);
  });

  test("an abort comes between two lines", async () => {
    const fake = Fake.script(["a\n", "b\n", "c\n"]);
    const abort = new AbortController();
    const child = fake.spawn("cli", [], { signal: abort.signal });
    const seen: string[] = [];
    child.stdout.on("data", (data: Buffer) => {
      seen.push(data.toString());
      if (seen.length === 2) abort.abort();
    });
    const [error] = (await once(child, "error")) as [Error];
    expect([error.name, await once(child, "exit"), seen]).toEqual(["AbortError", [null, "SIGTERM"], ["a\n", "b\n"]]);
  });
});
