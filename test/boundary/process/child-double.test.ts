import { ChildProcess, spawn as nodeSpawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { spawnFacts } from "../../../src/boundary/process/child-arguments.ts";
import { createChildDouble } from "../../../src/boundary/process/child-double.ts";
import type { ProcessScript, ProcessStep } from "../../../src/boundary/process/child-script.ts";

type Line = ["out" | "err", string] | ["wait", "stdin" | "end"] | ["exit", number];
type Spawn = (options?: SpawnOptions) => ChildProcess;

const bytes = (data: string): Uint8Array => new TextEncoder().encode(data);

/** The same program twice: run by a real Node, and played. */
function programs(lines: readonly Line[]): { real: Spawn; double: Spawn } {
  const source = `
    import { writeSync } from "node:fs";
    const input = process.stdin[Symbol.asyncIterator]();
    for (const [what, value] of ${JSON.stringify(lines)}) {
      if (what === "out") writeSync(1, value);
      if (what === "err") writeSync(2, value);
      if (what === "wait") { let next; do next = await input.next(); while (value === "end" && !next.done); }
      if (what === "exit") process.exit(value);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    setInterval(() => undefined, 1000);`;
  return {
    real: (options) => nodeSpawn(process.execPath, ["--input-type=module", "-e", source], options ?? {}),
    double: (options) => createChildDouble(play(lines), spawnFacts("program", ["an argument"], options)),
  };
}

function play(lines: readonly Line[]): ProcessScript & { heard: string[] } {
  const rest = [...lines];
  const heard: string[] = [];
  let arrived = (): void => undefined;
  let chunks = 0;
  let ended = false;
  const next = async (): Promise<ProcessStep | undefined> => {
    for (let line = rest.shift(); line !== undefined; line = rest.shift()) {
      if (line[0] === "out") return { from: "stdout", bytes: bytes(line[1]) };
      if (line[0] === "err") return { from: "stderr", bytes: bytes(line[1]) };
      if (line[0] === "exit") return { exit: { code: line[1], signal: null } };
      while (!ended && (line[1] === "end" || chunks === 0)) await new Promise<void>((done) => (arrived = done));
      chunks--;
    }
    return undefined;
  };
  return {
    heard,
    opened: async () => undefined,
    next: () => ({ promise: next(), cancel: () => heard.push("cancel") }),
    stdin(data) {
      heard.push(Buffer.from(data).toString());
      chunks++;
      arrived();
    },
    stdinEnded() {
      heard.push("end");
      ended = true;
      arrived();
    },
    killed(signal) {
      heard.push(signal);
      return false;
    },
  };
}

/** Everything that a child says, in order; the chunks of a stream joined. */
async function story(child: ChildProcess, act: (child: ChildProcess) => unknown = () => undefined): Promise<unknown[]> {
  const told: unknown[] = [child.exitCode, child.signalCode, child.killed, child.connected, typeof child.send];
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  for (const name of ["spawn", "exit", "close"]) child.on(name, (...values) => told.push([name, ...values]));
  child.on("error", (error: NodeJS.ErrnoException) => {
    const { name, message, code, errno, syscall, path, cause } = error;
    const { spawnargs } = error as { spawnargs?: unknown };
    told.push(["error", { name, message, code, errno, syscall, path, cause, spawnargs }]);
  });
  await act(child);
  if (child.exitCode === null && child.signalCode === null)
    await once(child, "close").catch(() => once(child, "close"));
  else await new Promise((done) => setTimeout(done, 20));
  const after = [child.kill(), child.kill(0), child.exitCode, child.signalCode, child.killed];
  return [...told, after, out, err, child.stdin?.destroyed, child.stdout?.destroyed, child.stdio.length];
}

const long: Line[] = [
  ["out", "one\n"],
  ["wait", "end"],
];

describe("a double tells the same story as a real child", () => {
  const cases: Record<string, [readonly Line[], SpawnOptions, ((child: ChildProcess) => unknown)?]> = {
    "that writes and exits": [
      [
        ["out", "one\n"],
        ["err", "two\n"],
        ["out", "three"],
        ["exit", 3],
      ],
      {},
    ],
    "that says nothing": [[["exit", 0]], {}],
    "that waits for its input": [
      [
        ["wait", "stdin"],
        ["out", "heard"],
        ["exit", 0],
      ],
      {},
      (child) => child.stdin?.write("hello"),
    ],
    "that waits for the end of its input": [[...long, ["exit", 0]], {}, (child) => child.stdin?.end("hello")],
    "whose input is torn down": [
      [...long, ["exit", 0]],
      {},
      (child) => once(child, "spawn").then(() => child.stdin?.destroy()),
    ],
    "without input": [[...long, ["exit", 4]], { stdio: ["ignore", "pipe", "pipe"] }],
    "without output": [
      [
        ["out", "one"],
        ["err", "two"],
        ["exit", 0],
      ],
      { stdio: ["pipe", "ignore", "pipe"] },
    ],
    "without any stream": [
      [
        ["out", "one"],
        ["exit", 1],
      ],
      { stdio: "ignore" },
    ],
    "with more pipes than three": [[["exit", 0]], { stdio: ["pipe", "pipe", "pipe", "pipe", null] }],
    "that is killed": [long, {}, (child) => once(child.stdout as never, "data").then(() => child.kill())],
    "that is killed twice": [
      long,
      {},
      (child) => once(child.stdout as never, "data").then(() => [child.kill("SIGKILL"), child.kill("SIGINT")]),
    ],
    "that is killed by number": [long, {}, (child) => once(child.stdout as never, "data").then(() => child.kill(9))],
    "that is killed at once": [long, {}, (child) => expect(child.kill("SIGKILL")).toBe(true)],
    "that is disposed": [long, {}, (child) => once(child.stdout as never, "data").then(() => child[Symbol.dispose]())],
    "that is asked whether it is there": [
      [
        ["wait", "end"],
        ["exit", 7],
      ],
      {},
      (child) => [expect(child.kill(0)).toBe(true), child.stdin?.end()],
    ],
    "that has a limit of time": [[["wait", "end"]], { timeout: 300, killSignal: "SIGQUIT" }],
    "whose signal had aborted": [long, { signal: AbortSignal.abort("enough"), killSignal: "SIGKILL" }],
  };

  test.each(Object.entries(cases))("%s", async (_name, [lines, options, act]) => {
    const { real, double } = programs(lines);
    expect(await story(double(options), act)).toEqual(await story(real(options), act));
  });

  test("whose signal aborts", async () => {
    const { real, double } = programs(long);
    const run = (spawn: Spawn): Promise<unknown[]> => {
      const abort = new AbortController();
      return story(spawn({ signal: abort.signal }), async (child) => {
        await once(child.stdout as never, "data");
        abort.abort(new Error("enough"));
      });
    };
    expect(await run(double)).toEqual(await run(real));
  });

  test("that is not there", async () => {
    const missing = async (): Promise<never> => {
      throw Object.assign(new Error("spawn /not/there ENOENT"), { code: "ENOENT" });
    };
    const double = createChildDouble({ ...play([]), opened: missing }, spawnFacts("/not/there", ["x"]));
    const told = (child: ChildProcess): Promise<unknown[]> =>
      story(child, () => new Promise((done) => child.once("close", done)));
    expect(await told(double)).toEqual(await told(nodeSpawn("/not/there", ["x"])));
    expect(double.pid).toBe(undefined);
  });

  test("on wrong arguments", () => {
    const { real, double } = programs([]);
    const code = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return [(error as NodeJS.ErrnoException).name, (error as NodeJS.ErrnoException).code];
      }
    };
    for (const options of [
      { stdio: "none" },
      { stdio: [{}] },
      { timeout: -1 },
      { signal: {} },
      { killSignal: "SIGNAL" },
    ]) {
      expect(
        code(() => double(options as never)),
        JSON.stringify(options),
      ).toEqual(code(() => real(options as never)));
    }
    for (const args of [[""], [7], ["a\0b"], ["a", 7], ["a", [], 7]] as [string][]) {
      expect(
        code(() => spawnFacts(...args)),
        JSON.stringify(args),
      ).toEqual(code(() => nodeSpawn(...args)));
    }
    const child = double();
    expect(code(() => child.kill("SIGNAL" as never))).toEqual(["TypeError", "ERR_UNKNOWN_SIGNAL"]);
    child.kill("SIGKILL");
  });
});

describe("beyond what a real child shows", () => {
  test("it is one of Node's, with a number that signals nobody", async () => {
    const child = programs([["exit", 0]]).double();
    expect(child).toBeInstanceOf(ChildProcess);
    expect([child.spawnfile, child.spawnargs]).toEqual(["program", ["program", "an argument"]]);
    const pid = child.pid as number;
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(programs([["exit", 0]]).double().pid).not.toBe(pid);
    await once(child, "close");
  });

  test("chunks are as the script has them, one a turn, whatever bytes", async () => {
    const chunk = fc.tuple(
      fc.constantFrom("stdout" as const, "stderr" as const),
      fc.uint8Array({ minLength: 1, maxLength: 70_000 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
        const rest: ProcessStep[] = chunks.map(([from, data]) => ({ from, bytes: data }));
        const steps = [...rest, { exit: { code: 0, signal: null } }];
        const script = {
          ...play([]),
          next: () => ({ promise: Promise.resolve(steps.shift()), cancel: () => undefined }),
        };
        const child = createChildDouble(script, spawnFacts("program"));
        const got: [string, Uint8Array, number][] = [];
        let turn = 0;
        let counting = setImmediate(function count() {
          turn++;
          counting = setImmediate(count);
        });
        for (const from of ["stdout", "stderr"] as const) {
          child[from]?.on("data", (data: Buffer) => {
            got.push([from, new Uint8Array(data), turn]);
            data.fill(0);
          });
        }
        await once(child, "close");
        clearImmediate(counting);
        expect(got.map(([from, data]) => [from, data])).toEqual(chunks);
        expect(new Set(got.map(([, , at]) => at)).size).toBe(chunks.length);
      }),
      { numRuns: 30 },
    );
  });

  test("a pipe that nobody reads fills up, and no step is asked for until there is room", async () => {
    let asked = 0;
    const script: ProcessScript = {
      ...play([]),
      next: () => {
        asked++;
        const step: ProcessStep =
          asked > 20
            ? { exit: { code: 0, signal: null } }
            : { from: "stdout", bytes: new Uint8Array(16_384).fill(asked) };
        return { promise: Promise.resolve(step), cancel: () => undefined };
      },
    };
    const child = createChildDouble(script, spawnFacts("program"));
    await new Promise((done) => setTimeout(done, 50));
    expect(asked).toBe(4);
    const whole: Buffer[] = [];
    for await (const data of child.stdout as AsyncIterable<Buffer>) {
      whole.push(data);
      await new Promise((done) => setImmediate(done));
      expect(asked).toBeLessThanOrEqual(whole.reduce((sum, one) => sum + one.length, 0) / 16_384 + 5);
    }
    expect(Buffer.concat(whole).length).toBe(20 * 16_384);
  });

  test("a script that says what follows a signal is played on", async () => {
    const steps: ProcessStep[] = [{ from: "stdout", bytes: bytes("cleaning up") }, { exit: { code: 5, signal: null } }];
    let told = (_step: ProcessStep | undefined): void => undefined;
    const first = new Promise<ProcessStep | undefined>((resolve) => (told = resolve));
    let asked = 0;
    const script: ProcessScript = {
      ...play([]),
      next: () => ({ promise: asked++ === 0 ? first : Promise.resolve(steps.shift()), cancel: () => undefined }),
      killed() {
        told(steps.shift());
        return true;
      },
    };
    const child = createChildDouble(script, spawnFacts("program"));
    await once(child, "spawn");
    expect(child.kill("SIGTERM")).toBe(true);
    const [said, ended] = await Promise.all([text(child.stdout as never), once(child, "exit")]);
    expect([said, ended, child.killed]).toEqual(["cleaning up", [5, null], true]);
  });

  test("a killed child's step is cancelled, and what comes late is dropped", async () => {
    let late = (_step: ProcessStep): void => undefined;
    const script = play([]);
    let cancelled = 0;
    script.next = () => ({ promise: new Promise((resolve) => (late = resolve)), cancel: () => cancelled++ });
    const child = createChildDouble(script, spawnFacts("program"));
    await once(child, "spawn");
    child.kill();
    late({ from: "stdout", bytes: bytes("too late") });
    expect(await text(child.stdout as never)).toBe("");
    expect([cancelled, script.heard, child.signalCode]).toEqual([1, ["SIGTERM"], "SIGTERM"]);
  });

  test("input that the script refuses fails the write and ends the child, which says why", async () => {
    const refuse = (): never => {
      throw new Error("not what was recorded");
    };
    const child = createChildDouble({ ...play([["wait", "end"]]), stdin: refuse }, spawnFacts("program"));
    const failed = once(child.stdin as never, "error");
    const said = text(child.stderr as never);
    const written = new Promise((done) => child.stdin?.write("other", done));
    expect(((await failed)[0] as Error).message).toBe("not what was recorded");
    expect(((await written) as Error).message).toBe("not what was recorded");
    expect(await once(child, "close")).toEqual([null, "SIGABRT"]);
    expect(await said).toBe("Error: not what was recorded\n");
  });

  test("a script that breaks is the child's error", async () => {
    const script = play([]);
    script.next = () => ({ promise: Promise.reject(new Error("stalled")), cancel: () => undefined });
    const child = createChildDouble(script, spawnFacts("program"));
    const closed = new Promise((done) => child.once("close", (...values) => done(values)));
    expect(
      ((await once(child, "spawn").then(() => once(child, "error").catch((error) => [error]))) as [Error])[0].message,
    ).toBe("stalled");
    expect(await closed).toEqual([null, "SIGABRT"]);
  });

  test("what is read is told as it is read, by whatever way", async () => {
    const run = async (read: (child: ChildProcess) => Promise<unknown>): Promise<unknown[]> => {
      const read_: unknown[] = [];
      const script: ProcessScript = {
        ...play([
          ["out", "a"],
          ["out", "b"],
          ["wait", "end"],
          ["exit", 0],
        ]),
        consumed: (from, data) => read_.push([from, data === undefined ? undefined : String(data)]),
      };
      const child = createChildDouble(script, spawnFacts("program"));
      await new Promise((done) => setTimeout(done, 20));
      expect(read_).toEqual([]);
      child.stdin?.end();
      await read(child);
      return read_;
    };
    const both = [
      ["stdout", "ab"],
      ["stdout", undefined],
    ];
    const apart = [
      ["stdout", "a"],
      ["stdout", "b"],
      ["stdout", undefined],
    ];
    const noStderr = (told: unknown[]): unknown[] => told.filter((one) => (one as string[])[0] === "stdout");
    expect(noStderr(await run((child) => text(child.stdout as never)))).toEqual(both);
    const flow = (child: ChildProcess): Promise<unknown> =>
      once(child.stdout?.on("data", () => undefined) as never, "end");
    expect(noStderr(await run((child) => once(child.stdout?.resume() as never, "end")))).toEqual([]);
    expect(noStderr(await run(flow))).toEqual(apart);
    expect(noStderr(await run(async (child) => [child.stdout?.read(), await once(child, "close")]))).toEqual(both);
    expect(
      noStderr(
        await run(async (child) => [
          child.stdout?.setEncoding("utf8").on("data", () => undefined),
          await once(child, "close"),
        ]),
      ),
    ).toEqual(both);
  });

  test("it keeps a process alive until it ends, unless it is let go", async () => {
    const file = new URL("../../fixtures/process/waits-for-double.ts", import.meta.url).pathname;
    const run = async (mode: string): Promise<string> => {
      const child = nodeSpawn(process.execPath, ["--import", "tsx", file, mode], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      return text(child.stdout);
    };
    expect(await Promise.all([run("ref"), run("unref")])).toEqual(["exit 1000 ms later\n", ""]);
  });
});
