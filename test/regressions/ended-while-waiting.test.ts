import { expect, test } from "vitest";
import { start } from "../support/scratch.ts";

/** A replay waited for a timeout of the program, kept nothing alive, and the process was over in the middle. */
test("a program that gives up by AbortSignal.timeout does so in a replay, and ends when it is done", async () => {
  const { code, stdout, stderr } = await start("give-up", []).ended;
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual([
    "gave up: TimeoutError",
    "gave up: TimeoutError",
    "gave up: TimeoutError",
    "ScriptExhausted",
    "finished",
  ]);
  expect(code).toBe(0);
});
