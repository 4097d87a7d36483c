import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeFetch } from "../../src/doubles/fake-fetch.ts";
import { FakeLLM } from "../../src/doubles/fake-llm.ts";
import { ScriptedAdapter } from "../../src/doubles/scripted-adapter.ts";
import { ledger } from "../../src/engine/ledger.ts";
import { wiretapeMatchers } from "../../src/runner/matchers.ts";
import { type Run, type VitestProject, vitestProject } from "../runner/vitest-project.ts";

expect.extend(wiretapeMatchers);

const ask = { model: "m", messages: [{ role: "user", content: "hi" }] };
const program = fileURLToPath(new URL("../fixtures/swallows.ts", import.meta.url));
const run = (double: string): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, ["--import", "tsx", program, double], (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

describe("a process", () => {
  test.each([
    ["FakeLLM", "FakeLLM has no turn and was asked for turn 1."],
    ["streamed", "FakeLLM has 1 turn and was asked for turn 2."],
    ["FakeFetch", "FakeFetch has no answer for https://nowhere.test/"],
    ["ScriptedAdapter", "ScriptedAdapterExhausted: ScriptedAdapter has no turn"],
    ["scriptedRuntime", "ScriptedAdapter has no turn"],
  ])("fails with what %s was asked too much, though an empty catch swallowed it", async (double, text) => {
    const { status, stdout, stderr } = await run(double);
    expect([status, stdout]).toEqual([1, "went well\n"]);
    expect(stderr).toContain(text);
  });

  test.each(["repeated", "announced"])("in which nothing was asked too much (%s) ends well", async (what) => {
    expect(await run(what)).toEqual({ status: 0, stdout: "went well\n", stderr: "" });
  });
});

describe("a run of vitest", () => {
  let project: VitestProject;
  let result: Run;
  beforeAll(async () => {
    project = vitestProject();
    result = await project.run(["doubles"]);
  }, 60_000);
  afterAll(() => project.remove());

  test("fails each test that swallowed an exhaustion, and no other", () => {
    expect(result.code).toBe(1);
    const failed = [...result.tests].filter(([, { status }]) => status !== "passed");
    expect(failed.map(([name, { errors }]) => [name, errors.length, errors[0]?.split(":")[0]])).toEqual([
      ["FakeLLM swallowed", 1, "ScriptExhausted"],
      ["FakeLLM streamed and swallowed", 1, "ScriptExhausted"],
      ["FakeFetch swallowed", 1, "UnrecordedRequest"],
      ["ScriptedAdapter swallowed", 1, "ScriptedAdapterExhausted"],
      ["scriptedRuntime swallowed", 1, "ScriptedAdapterExhausted"],
    ]);
    expect(result.tests.size).toBe(7);
  });
});

describe("in this process", () => {
  test("an entry has the double as its owner, until a test acknowledges it", async () => {
    const adapter = new ScriptedAdapter([]);
    const error = await adapter.send().catch((thrown: unknown) => thrown);
    const [entry] = ledger().entries.filter(({ owner }) => owner === adapter);
    expect([entry?.error, entry?.acknowledged]).toEqual([error, false]);
    adapter.expectViolation("script-exhausted");
    expect(entry?.acknowledged).toBe(true);
  });

  test("toHaveExhausted acknowledges that of a double", async () => {
    const llm = FakeLLM.script([]);
    expect(llm).not.toHaveExhausted();
    await llm.chat(ask).catch(() => undefined);
    expect(llm).toHaveExhausted();
    expect(ledger().entries.find(({ owner }) => owner === llm)?.acknowledged).toBe(true);
    expect(() => expect(FakeLLM.script([])).toHaveExhausted()).toThrow(/expected the double to be exhausted/);
  });

  test("what is no exhaustion is told as what it is, and not acknowledged by that", async () => {
    const web = new FakeFetch({});
    await web.fetch("https://a.test/").catch(() => undefined);
    expect(() => expect(web).toHaveExhausted()).toThrow(/instead {3}UnrecordedRequest: FakeFetch has no answer/);
    expect(ledger().entries.find(({ owner }) => owner === web)?.acknowledged).toBe(false);
    web.expectViolation("unrecorded-request");
  });

  test("one is acknowledged with its repetitions, another kind is not", async () => {
    const web = new FakeFetch({});
    web.expectViolation("unrecorded-request");
    for (const url of ["https://a.test/", "https://a.test/", "https://b.test/"])
      await web.fetch(url).catch(() => undefined);
    const open = ledger().entries.filter(({ owner, acknowledged }) => owner === web && !acknowledged);
    expect(open.map(({ error }) => error.details["url"])).toEqual(["https://b.test/"]);
    web.expectViolation("unrecorded-request");
  });
});
