import { describe, expect, test } from "vitest";
import { FakeClock } from "../../src/doubles/fake-clock.ts";
import { FakeLLM } from "../../src/doubles/fake-llm.ts";
import type { ChatRequest, Delta } from "../../src/doubles/ports.ts";
import { Turn } from "../../src/doubles/turn.ts";
import { OptionInvalid, ScriptExhausted } from "../../src/errors.ts";

const ask = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: "m",
  messages: [
    { role: "user", content: "earlier" },
    { role: "user", content },
  ],
  ...more,
});
async function read(deltas: AsyncIterable<Delta>): Promise<Delta[]> {
  const all: Delta[] = [];
  for await (const delta of deltas) all.push(delta);
  return all;
}
const calls = [{ id: "c1", name: "look", args: { at: 1 } }];

describe("a rule", () => {
  test("answers every time: nothing, a text, a dictionary by what the user says, a function of the request", async () => {
    expect((await new FakeLLM().chat(ask("hi"))).content).toBe("{}");
    const text = new FakeLLM("yes");
    for (let i = 0; i < 100; i++) expect((await text.chat(ask("hi"))).content).toBe("yes");
    const dictionary = new FakeLLM({ weather: "rain", train: "late", "": "else" });
    expect((await dictionary.chat(ask("the train or the weather?"))).content).toBe("rain");
    expect((await dictionary.chat(ask("hello"))).content).toBe("else");
    expect((await new FakeLLM({ earlier: "no" }).chat(ask("now"))).content).toBe("{}");
    const rule = new FakeLLM(async ({ messages, model }) => `${model} ${messages.length}`);
    expect((await rule.chat(ask("hi"))).content).toBe("m 2");
    expect(text.remaining).toBe(Number.POSITIVE_INFINITY);
    expect(text.violations).toEqual([]);
  });

  test("streams as it answers, and is told what the system and the user say", async () => {
    const llm = new FakeLLM(({ system, user }) => `${system}|${user}`);
    const messages = ["one", "two"].map((content) => ({ role: "system", content }));
    const answer = await llm.chat({ model: "m", messages: [...messages, ...ask("hi").messages] });
    expect(answer.content).toBe("one\n\ntwo|hi");
    expect((await read(new FakeLLM({ hi: "yes" }).stream(ask("hi")))).map(({ content }) => content)).toEqual([
      "yes",
      "",
    ]);
    expect((await read(new FakeLLM("").stream(ask("hi")))).map(({ finish }) => finish)).toEqual(["stop"]);
  });

  test("the first key wins: in a Map keys that are numbers stay where they are", async () => {
    const rules: [string, string][] = [
      ["error 404", "gone"],
      ["404", "number"],
    ];
    expect((await new FakeLLM(new Map(rules)).chat(ask("error 404"))).content).toBe("gone");
    expect((await new FakeLLM(Object.fromEntries(rules)).chat(ask("error 404"))).content).toBe("number");
  });

  test("a function that fails fails the call", async () => {
    const llm = new FakeLLM(() => {
      throw new RangeError("no");
    });
    await expect(llm.chat(ask("hi"))).rejects.toThrow(RangeError);
    expect(() => new Turn({ content: 5 as never })).toThrow(/content is a text; got number/);
    await expect(new FakeLLM((() => 5) as never).chat(ask("hi"))).rejects.toThrow(/A turn is a text, .* got 5/);
  });
});

describe("a script", () => {
  test("gives its turns in order, whether they are streamed or not", async () => {
    const llm = FakeLLM.script([new Turn({ content: "one", toolCalls: calls }), { content: "two" }]);
    expect(await llm.chat(ask("a"))).toEqual({
      content: "one",
      toolCalls: calls,
      usage: { inputTokens: 0, outputTokens: 0 },
      finish: "tool_calls",
    });
    expect((await read(llm.stream(ask("b")))).at(-1)).toMatchObject({ content: "", finish: "stop" });
    expect(llm.remaining).toBe(0);
    expect(llm.calls.map(({ messages }) => messages[1]?.content)).toEqual(["a", "b"]);
  });

  test("runs out loudly: thrown, on the ledger, and told how to mend", async () => {
    const llm = FakeLLM.script([{ content: "one" }]);
    await llm.chat(ask("a"));
    await expect(llm.chat(ask("again"))).rejects.toThrow(ScriptExhausted);
    await read(llm.stream(ask("and again"))).catch(() => undefined); // swallowed, and still known
    expect(llm.violations.map(({ message }) => message.split("\n")[0])).toEqual([
      "FakeLLM has 1 turn and was asked for turn 2.",
      "FakeLLM has 1 turn and was asked for turn 3.",
    ]);
    expect(llm.violations[0]?.message).toMatch(/"again"[\s\S]*add a turn[\s\S]*repeatLast: true/);
    llm.expectViolation("script-exhausted");
  });

  test("is asked in order by calls that overlap, and keeps what it was made of", async () => {
    const turns = [{ content: "one", toolCalls: structuredClone(calls) }, { content: "two" }];
    const llm = FakeLLM.script(turns, { delay: 1, clock: new FakeClock() });
    turns[0]!.content = "changed";
    turns[0]!.toolCalls![0]!.args.at = 9;
    const answers = await Promise.all([llm.chat(ask("a")), llm.chat(ask("b"))]);
    expect(answers.map(({ content }) => content)).toEqual(["one", "two"]);
    (answers[0]?.toolCalls[0]?.args as { at: number }).at = 10;
    expect(answers[0]?.toolCalls).not.toEqual(calls);
    const again = FakeLLM.script([new Turn({ toolCalls: calls, usage: { inputTokens: 1, outputTokens: 1 } })], {
      repeatLast: true,
    });
    for (let i = 0; i < 2; i++) {
      const { toolCalls, usage } = await again.chat(ask("a"));
      expect([toolCalls, usage.inputTokens]).toEqual([calls, 1]);
      Object.assign(toolCalls[0]?.args as object, { at: 10 });
      Object.assign(usage, { inputTokens: 7 });
    }
  });

  test("what runs out says what was asked without its secrets, and not the whole of it", async () => {
    const llm = FakeLLM.script([]);
    llm.expectViolation("script-exhausted");
    const secret = `sk-ant-api03-${"Ab3".repeat(31)}AA`;
    const error = await llm.chat(ask(`use ${secret} for ${"x".repeat(500)}`)).catch((thrown: Error) => thrown);
    expect(String(error)).not.toContain(secret.slice(0, 30));
    expect(JSON.stringify((error as ScriptExhausted).details)).not.toContain(secret.slice(0, 30));
    expect((error as ScriptExhausted).message.length).toBeLessThan(400);
  });

  test("a stream that nobody reads asks for nothing", async () => {
    const llm = FakeLLM.script(["one"]);
    llm.stream(ask("a"));
    expect([llm.remaining, llm.calls]).toEqual([1, []]);
  });

  test("of no turns runs out at once; repeatLast gives the last for ever", async () => {
    const none = FakeLLM.script([], { repeatLast: true });
    none.expectViolation("script-exhausted");
    await expect(none.chat(ask("a"))).rejects.toThrow(/has no turn/);
    const llm = FakeLLM.script([{ content: "one" }, { content: "last" }], { repeatLast: true });
    const said: string[] = [];
    for (let i = 0; i < 4; i++) said.push((await llm.chat(ask("a"))).content);
    expect(said).toEqual(["one", "last", "last", "last"]);
  });
});

test("streams in small pieces, then what it cost and why it ended", async () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const deltas = await read(new FakeLLM("A night train – 🚂🚂🚂 to Vienna", { usage }).stream(ask("a")));
  expect(
    deltas
      .slice(0, -1)
      .map(({ content }) => content)
      .join(""),
  ).toBe("A night train – 🚂🚂🚂 to Vienna");
  expect(deltas.length).toBeGreaterThan(3);
  expect(deltas.slice(0, -1).every((delta) => Object.keys(delta).length === 1)).toBe(true);
  expect(deltas.at(-1)).toEqual({ content: "", toolCalls: [], usage, finish: "stop" });
});

test("fails so often first, before the first piece, and consumes no turn for it", async () => {
  const llm = FakeLLM.script([{ content: "one", usage: { inputTokens: 1, outputTokens: 1 } }], {
    failTimes: 2,
    failExc: new RangeError("busy"),
  });
  await expect(llm.chat(ask("a"))).rejects.toThrow(new RangeError("busy"));
  const stream = llm.stream(ask("a"));
  await expect(stream.next()).rejects.toThrow("busy");
  expect(await llm.chat(ask("a"))).toMatchObject({ content: "one", usage: { inputTokens: 1 } });
  await expect(new FakeLLM("x", { failTimes: 1 }).chat(ask("a"))).rejects.toThrow(/as failTimes says/);
});

test("delays each answer by seconds of a clock", async () => {
  const clock = new FakeClock();
  await new FakeLLM("x", { delay: 2.5, clock }).chat(ask("a"));
  expect(clock.sleeps).toEqual([2.5]);
});

test("a turn waits for an event: of its own calls, or of another trace", async () => {
  const trace: object[] = [];
  const gate = { kind: "call", op: "^approve$" };
  const llm = FakeLLM.script(
    [
      { content: "one", after: gate },
      { content: "two", after: { kind: "call", op: "chat" } },
    ],
    { trace: trace as never },
  );
  let said = "";
  const asked = llm.chat(ask("a")).then(({ content }) => (said = content));
  await new Promise((resolve) => setTimeout(resolve, 15));
  expect(said).toBe("");
  trace.push({ kind: "call", op: "approve" });
  expect(await asked).toBe("one");
  expect((await llm.chat(ask("b"))).content).toBe("two");
  expect(llm.trace).toEqual([
    { kind: "call", op: "chat", model: "m" },
    { kind: "call", op: "chat", model: "m" },
  ]);
  await read(llm.stream(ask("c"))).catch(() => llm.expectViolation("script-exhausted"));
  expect(llm.trace.at(-1)).toEqual({ kind: "call", op: "stream", model: "m" });
  expect(() => new Turn({ after: { op: "(" } })).toThrow(/no regular expression/);
});

test("keeps what it was asked, and is not changed by what becomes of that", async () => {
  const request = ask("a", { tools: [{ type: "object" }] }) as unknown as { messages: { content: string }[] };
  const llm = new FakeLLM("x");
  await llm.chat(request as never);
  request.messages[1]!.content = "changed";
  expect(llm.calls[0]?.messages[1]?.content).toBe("a");
});

test("takes requests that hold more than data", async () => {
  const request = ask("a", { tools: [{ name: "t", run: () => 1 }], signal: new AbortController().signal });
  const llm = new FakeLLM("x");
  expect((await llm.chat(request)).content).toBe("x");
  expect(llm.calls[0]).toEqual({ model: "m", messages: request.messages, tools: request.tools });
});

describe("an aborted signal", () => {
  const gone = new Error("gone");

  test("ends a call before it begins: no turn is consumed", async () => {
    const llm = FakeLLM.script(["one"]);
    await expect(llm.chat(ask("a", { signal: AbortSignal.abort(gone) }))).rejects.toBe(gone);
    expect([llm.remaining, llm.calls.length]).toEqual([1, 1]);
  });

  test("ends a delay, and a stream between two pieces", async () => {
    const stop = new AbortController();
    const slow = new FakeLLM("x", { delay: 60 }).chat(ask("a", { signal: stop.signal }));
    setTimeout(() => stop.abort(gone), 5);
    await expect(slow).rejects.toBe(gone);
    const other = new AbortController();
    const got: string[] = [];
    const reading = (async () => {
      for await (const { content } of new FakeLLM("x".repeat(800)).stream(ask("a", { signal: other.signal }))) {
        got.push(content);
        if (got.length === 1) setImmediate(() => other.abort(gone));
      }
    })();
    await expect(reading).rejects.toBe(gone);
    expect(got.length).toBeLessThan(5);
  });
});

test("a stream that is aborted after its last piece does not end well", async () => {
  const stop = new AbortController();
  const stream = new FakeLLM("x").stream(ask("a", { signal: stop.signal }));
  expect((await stream.next()).value).toEqual({ content: "x" });
  setImmediate(() => stop.abort(new Error("gone")));
  await expect(stream.next()).rejects.toThrow("gone");
});

test("a delay without a clock is real seconds", async () => {
  const began = performance.now();
  await new FakeLLM("x", { delay: 0.05 }).chat(ask("a"));
  expect(performance.now() - began).toBeGreaterThan(45);
});

test.each([
  [{ failTimes: -1 }, "failTimes is a whole number from 0; got -1"],
  [{ failTimes: 0.5 }, "failTimes is a whole number from 0; got 0.5"],
  [{ delay: Number.NaN }, "delay is a number of seconds from 0; got NaN"],
  [{ turns: [] }, "by a rule or from turns, and got both"],
])("%j is refused", (options, message) => {
  expect(() => new FakeLLM("x", options)).toThrow(message);
});

test("wrong options are told with the nearest", () => {
  expect(() => new FakeLLM({ turns: [] } as never)).toThrow(/the answer to "turns" is no text/);
  expect(() => FakeLLM.script("one" as never)).toThrow(/takes a list of turns/);
  expect(() => FakeLLM.script([{ contnet: "x" } as never])).toThrow(/did you mean "content"/);
  expect(() => new Turn({ toolCalls: {} as never })).toThrow(/toolCalls is a list/);
  expect(() => new FakeLLM("x", { failTime: 1 } as never)).toThrow(/failTime; did you mean "failTimes"/);
  expect(() => new FakeLLM([{ content: "x" }] as never)).toThrow(OptionInvalid);
  expect(() => new Turn({ text: "x" } as never)).toThrow(/no option text/);
});
