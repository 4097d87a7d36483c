import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { FakeLLM } from "../../src/doubles/fake-llm.ts";
import { wiretapeMatchers } from "../../src/runner/matchers.ts";

expect.extend(wiretapeMatchers);

const program = fileURLToPath(new URL("../fixtures/swallows.ts", import.meta.url));
const run = (double: string): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, ["--import", "tsx", program, double], (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

test.each([
  ["FakeLLM", "FakeLLM has no turn and was asked for turn 1."],
  ["FakeFetch", "FakeFetch has no answer for https://nowhere.test/"],
  ["ScriptedAdapter", "ScriptedAdapter has no turn"],
])("what %s was asked too much fails the process, though an empty catch swallowed it", async (double, text) => {
  const { status, stdout, stderr } = await run(double);
  expect([status, stdout]).toEqual([1, "went well\n"]);
  expect(stderr).toContain(text);
});

test("a process in which nothing was asked too much ends well", async () => {
  expect((await run("nothing")).status).toBe(0);
});

test("toHaveExhausted acknowledges that of a double", async () => {
  const llm = FakeLLM.script([]);
  expect(llm).not.toHaveExhausted();
  await llm.chat({ model: "m", messages: [] }).catch(() => undefined);
  expect(llm).toHaveExhausted();
  expect(() => expect(FakeLLM.script([])).toHaveExhausted()).toThrow(/expected the double to be exhausted/);
});
