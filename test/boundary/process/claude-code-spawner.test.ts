import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { CliRun, CliStderr, claudeCodeSpawner, FakeClaudeCli, FakeCodexCli } from "wiretape/process";

const asked = {
  command: "claude",
  args: ["-p", "hi"],
  env: { A: "1", B: undefined },
  signal: new AbortController().signal,
};

test("starts what the SDK asks for, and hands standard error on", async () => {
  const fake = FakeClaudeCli.script(["out", new CliStderr("wa")], { stderr: "rning" });
  const told: string[] = [];
  const child = claudeCodeSpawner(fake, { stderr: (data) => told.push(data) })({ ...asked, cwd: "/tmp" });
  const closed = once(child, "close");
  expect(await text(child.stdout)).toBe("out");
  expect([await closed, told]).toEqual([
    [0, null],
    ["wa", "rning"],
  ]);
  expect(fake.invocations[0]).toMatchObject({ argv: ["claude", "-p", "hi"], cwd: "/tmp", env: { A: "1" } });
});

test("a standard error that nobody wants holds nothing up", async () => {
  const noise = new CliStderr("x".repeat(100_000));
  const child = claudeCodeSpawner(new FakeClaudeCli([CliRun.of([noise, noise, "out"])]))(asked);
  expect(await text(child.stdout)).toBe("out");
});

test("its signal ends the program, and running out is thrown where it is asked", async () => {
  const fake = new FakeCodexCli([CliRun.of(Array(1000).fill("line\n"))]);
  const spawn = claudeCodeSpawner(fake);
  const abort = new AbortController();
  const child = spawn({ ...asked, signal: abort.signal });
  const failed = once(child, "error");
  child.stdout.once("data", () => abort.abort());
  expect((await failed)[0]).toMatchObject({ name: "AbortError" });
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  expect(() => spawn(asked)).toThrow("was asked for run 2");
  fake.expectViolation("script-exhausted");
  expect(() => claudeCodeSpawner(fake, { err: 1 } as never)).toThrow('"err"');
});
