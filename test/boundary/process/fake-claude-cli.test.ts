import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { CliRun, FakeClaudeCli } from "wiretape/process";

type Line = Readonly<Record<string, unknown>>;

const TALK = ["--output-format", "stream-json", "--input-format", "stream-json"];
const request = (id: string, subtype: string): Line => ({
  type: "control_request",
  request_id: id,
  request: { subtype },
});
const response = (id: string, value: unknown = {}): Line => ({
  type: "control_response",
  response: { subtype: "success", request_id: id, response: value },
});
const prompt: Line = { type: "user", message: { role: "user", content: "go" } };
const init: Line = { type: "system", subtype: "init" };
const said: Line = { type: "assistant", message: {} };
const result: Line = { type: "result", subtype: "success" };

/** A program that talks with a fake by hand. */
function talk(fake: FakeClaudeCli, argv: readonly string[] = TALK) {
  const child = fake.spawn("claude", argv);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    child,
    /** Writes, and gives every line that came since. */
    async write(...messages: (Line | "end")[]): Promise<unknown[]> {
      for (const message of messages) {
        if (message === "end") child.stdin.end();
        else child.stdin.write(`${JSON.stringify(message)}\n`);
      }
      await settle();
      return lines.splice(0).map((line) => {
        try {
          return JSON.parse(line);
        } catch {
          return line;
        }
      });
    },
  };
}

describe("the program's control requests", () => {
  test("are answered by the run, with the live id in the place of the recorded one and nothing else changed", async () => {
    const recorded = `{ "type": "control_response",  "response": {"request_id" : "old\\u0031", "subtype":"success", "response":{"request_id":"x","n":1.0}}}\r\n`;
    const run = new CliRun({ stdout: recorded });
    const child = new FakeClaudeCli([run]).spawn("claude", TALK);
    child.stdin.write(`${JSON.stringify(request('live"1', "initialize"))}\n`);
    expect(await text(child.stdout)).toBe(recorded.replace('"old\\u0031"', '"live\\"1"'));
  });

  test("get their answers first come, first served, each not before its request", async () => {
    const { write } = talk(FakeClaudeCli.script([response("r1", { a: 1 }), response("r2", { b: 2 }), init]));
    expect(await write()).toEqual([]);
    expect(await write(request("x", "initialize"))).toEqual([response("x", { a: 1 })]);
    expect(await write(request("y", "set_model"))).toEqual([response("y", { b: 2 }), init]);
  });

  test("may be answered by name, or by the very id", async () => {
    const fake = FakeClaudeCli.script([response("set_model", { m: 1 }), response("own", { o: 1 })]);
    const { write } = talk(fake);
    expect(await write(request("x", "initialize"))).toEqual([]);
    expect(await write(request("y", "set_model"))).toEqual([response("y", { m: 1 }), response("x", { o: 1 })]);
    const exact = talk(FakeClaudeCli.script([response("b", 1), response("a", 2)]));
    expect(await exact.write(request("a", "set_model"), request("b", "interrupt"))).toEqual([
      response("b", 1),
      response("a", 2),
    ]);
  });

  test("are answered with success where the run has no answer, at once, and are no line of the run", async () => {
    const fake = FakeClaudeCli.script([init, said, result]);
    const { write } = talk(fake);
    const [first, ...rest] = await write(request("x", "initialize"));
    expect([first, rest]).toMatchObject([response("x", { commands: [], models: [] }), [init]]);
    expect(await write(request("y", "interrupt"))).toEqual([response("y")]);
    expect(fake.invocations[0]?.linesRead).toBe(1);
    expect(await write(prompt, "end")).toEqual([said, result]);
    expect(fake.invocations[0]).toMatchObject({ linesRead: 3, returncode: 0 });
  });

  test("an answer that was given as a text stays as it is, and counts as the answer", async () => {
    const raw = `${JSON.stringify(response("stale"))}\n`;
    const { write } = talk(FakeClaudeCli.script([raw, init]));
    expect(await write(request("x", "initialize"))).toEqual([response("stale"), init]);
  });

  test("an answer to a request that never came is left out when the input is over", async () => {
    const { write } = talk(FakeClaudeCli.script([response("r1"), said, result]));
    expect(await write(prompt)).toEqual([]);
    expect(await write("end")).toEqual([said, result]);
  });
});

describe("the CLI's control requests", () => {
  const ask = request("p1", "can_use_tool");

  test("hold everything until the program's answer, however it is torn", async () => {
    const { write, child } = talk(FakeClaudeCli.script([ask, said, result]));
    expect(await write(prompt)).toEqual([ask]);
    expect(await write(response("other"), request("x", "interrupt"), prompt)).toEqual([response("x")]);
    const answer = `${JSON.stringify(response("p1"))}\n`;
    child.stdin.write(answer.slice(0, 20));
    expect(await write()).toEqual([]);
    child.stdin.write(answer.slice(20));
    expect(await write()).toEqual([said, result]);
  });

  test("may be taken back, and let answers pass", async () => {
    const back: Line = { type: "control_cancel_request", request_id: "p1" };
    const { write } = talk(FakeClaudeCli.script([ask, response("interrupt"), back, said]));
    expect(await write(prompt)).toEqual([ask]);
    expect(await write(request("x", "interrupt"))).toEqual([response("x"), back, said]);
  });

  test("that cannot be answered any more end what is said, not the process's own end", async () => {
    const fake = FakeClaudeCli.script([ask, said, result], { stderr: "gone", returncode: 3 });
    const { write, child } = talk(fake);
    const stderr = text(child.stderr);
    expect(await write(prompt, "end")).toEqual([ask]);
    expect([await stderr, child.exitCode]).toEqual(["gone", 3]);
  });
});

describe("turns", () => {
  test("each waits for its user message, where the program talks stream-json", async () => {
    const fake = FakeClaudeCli.script([init, said, result, { type: "system", subtype: "status" }, init, said, result]);
    const { write, child } = talk(fake);
    expect(await write()).toEqual([init]);
    expect(await write(prompt)).toEqual([said, result, { type: "system", subtype: "status" }]);
    expect(await write(prompt)).toEqual([init, said, result]);
    expect(child.exitCode).toBe(null);
    expect(await write("end")).toEqual([]);
    expect([child.exitCode, fake.violations]).toEqual([0, []]);
  });

  test("beyond the last are ScriptExhausted: the write fails, the process ends, the ledger knows", async () => {
    const fake = FakeClaudeCli.script([said, result]);
    fake.expectViolation("script-exhausted");
    const { write, child } = talk(fake);
    const failed = once(child.stdin, "error");
    const stderr = text(child.stderr);
    expect(await write(prompt)).toEqual([said, result]);
    await write(prompt);
    expect((await failed)[0]).toMatchObject({
      code: "script-exhausted",
      details: { unit: "turn", recorded: 1, asked: 2 },
    });
    expect([child.signalCode, await stderr]).toEqual([
      "SIGABRT",
      expect.stringMatching(/^ScriptExhausted: FakeClaudeCli has 1 turn/),
    ]);
    expect(fake.violations).toHaveLength(1);
  });

  test("a message that comes while a turn is being said is none too many", async () => {
    const fake = FakeClaudeCli.script([request("p", "can_use_tool"), said, result]);
    const { write } = talk(fake);
    expect(await write(prompt, prompt, response("p"))).toEqual([request("p", "can_use_tool"), said, result]);
    expect(fake.violations).toEqual([]);
  });

  test("wait for nothing where the program does not talk, and end at once", async () => {
    for (const argv of [
      ["-p", "hello"],
      ["--output-format", "stream-json"],
    ]) {
      const fake = FakeClaudeCli.script([init, said, result, said, result]);
      const { write, child } = talk(fake, argv);
      expect(await write()).toEqual([init, said, result, said, result]);
      expect(child.exitCode).toBe(0);
    }
  });

  test("a run that breaks off in a turn, or with an error, ends at once", async () => {
    const torn = talk(FakeClaudeCli.script([said, '{"type":"result",'], { returncode: "SIGSEGV" }));
    expect(await torn.write(prompt)).toEqual([said, '{"type":"result",']);
    expect(torn.child.signalCode).toBe("SIGSEGV");
    const failed = talk(FakeClaudeCli.script([said, result], { returncode: 1 }));
    expect(await failed.write(prompt)).toEqual([said, result]);
    expect(failed.child.exitCode).toBe(1);
    const silent = talk(FakeClaudeCli.script([said]));
    await silent.write(prompt);
    expect(silent.child.exitCode).toBe(0);
  });
});
