import { describe, expect, test } from "vitest";
import { OptionInvalid } from "wiretape";
import { createMockAgentClient, createMockAgentTransport } from "wiretape/agent";

/** What the author of a test in JavaScript, or with a cast, gets wrong. Each was a TypeError, or a run that failed. */
// biome-ignore lint/suspicious/noExplicitAny: mistakes are what types would forbid
type Loose = any;

const mock = (): Loose => createMockAgentTransport();
const queued = (build: (r: Loose) => unknown) => () => mock().responses.queue(build);
const seeded = (build: (s: Loose) => unknown) => () => mock().seed(build);
const thread = (message: (s: Loose) => unknown) =>
  seeded((s) => ({ threads: [s.thread("t", { messages: [message(s)] })] }));
const made = (options: object) => () => createMockAgentTransport(options as Loose);

const TEXT = "takes a text, not";
test.each<[string, () => unknown, string]>([
  ["a text for parts", queued((r) => r.assistant("Done.")), "r.assistant([…]) takes a list of parts, not string"],
  ["no parts", queued((r) => r.assistant()), "takes a list of parts, not undefined"],
  ["a text that is no part", queued((r) => r.assistant([r.text("a"), "b"])), "Part 2 of r.assistant([…]) is no part"],
  ["a hole", queued((r) => r.assistant([undefined])), 'is no part, but undefined: write r.text("…")'],
  ["a native part", queued((r) => r.assistant([{ type: "text", text: "x" }])), "Part 1 of r.assistant([…]) is no part"],
  [
    "a tool without an outcome",
    queued((r) => r.assistant([r.tool("x")])),
    "is a tool without an outcome: call .result",
  ],
  ["a tool without a name", queued((r) => r.assistant([r.tool().result({})])), TEXT],
  ["a result of nothing", queued((r) => r.tool("x").result()), 'tool("x").result() takes an object, not undefined'],
  ["a result without input", queued((r) => r.tool("x").result({ output: 1 })), 'tool("x").result() needs "input"'],
  ["a wait without action", queued((r) => r.tool("x").waiting({ input: 1 })), 'tool("x").waiting() needs "action"'],
  ["an action without a name", queued((r) => r.tool("x").waiting({ input: 1, action: { input: 1 } })), 'needs "name"'],
  [
    "a misspelt action",
    queued((r) => r.tool("x").waiting({ input: 1, action: { name: "a", input: 1, ID: 1 } })),
    '"ID"',
  ],
  ["a tool error of a text", queued((r) => r.tool("x").error("boom")), 'tool("x").error() takes an Error, not string'],
  ["a text of a number", queued((r) => r.text(7)), "r.text() takes a text, not number"],
  [
    "a function in an output",
    queued((r) => r.assistant([r.tool("x").result({ input: 1, output: () => 1 })])),
    "no data",
  ],
  ["an error of a text", queued((r) => r.error("boom")), "r.error() takes an Error, not string"],
  ["a seed that returns nothing", seeded(() => undefined), "takes an object, not undefined"],
  ["a seed that is a promise", seeded(async () => ({})), "takes an object, not a promise"],
  ["a misspelt seed", seeded(() => ({ thread: [] })), 'no option "thread"; it has threads, files'],
  ["threads that are no list", seeded(() => ({ threads: {} })), '"threads" of a seed is a list'],
  ["a thread that is none", seeded(() => ({ threads: [{}] })), "is a whole state, as s.thread(id"],
  ["a thread without an id", seeded((s) => s.thread()), "s.thread(id) takes a text"],
  ["a misspelt thread", seeded((s) => s.thread("t", { titel: "x" })), 'no option "titel"'],
  ["a run without messages", seeded((s) => s.run({ threadId: "t" })), 's.run() needs "messages"'],
  ["a misspelt run", seeded((s) => s.run({ threadId: "t", message: [] })), 'no option "message"'],
  [
    "a status that is none",
    seeded((s) => s.run({ threadId: "t", status: "done", messages: [s.input("x")] })),
    '"done"',
  ],
  [
    "a run of another thread",
    seeded((s) => s.thread("t", { runs: [s.run({ threadId: "u", messages: [s.input("x")] }).run] })),
    's.thread("t") has run "run_1", which s.run() made for thread "u"',
  ],
  ["an input of nothing", thread((s) => s.input()), "s.input() takes a text, not undefined"],
  ["a context of nothing", thread((s) => s.context()), "s.context() takes a text, not undefined"],
  ["an output of a text", thread((s) => s.output("x")), "s.output([…]) takes a list of parts, not string"],
  [
    "an output of texts",
    thread((s) => s.output(["x"])),
    'Part 1 of s.output([…]) is no part, but string: write s.text("…")',
  ],
  ["a seeded tool without an outcome", thread((s) => s.assistant([s.tool("x")])), "s.assistant([…]) is a tool without"],
  [
    "a file of a text",
    () => mock().files.add({ fileId: "f", filename: "a", mediaType: "b", body: "x" }),
    "takes a Blob",
  ],
  ["a file without an id", () => mock().files.add({ filename: "a", mediaType: "b", body: new Blob() }), '"fileId"'],
  ["a file of nothing", () => mock().files.add(), "files.add() takes an object, not undefined"],
  ["a command that is no function", () => mock().commands.set("a"), 'commands.set("a", handler) takes a function'],
  ["metadata of tools that is no map", made({ registeredToolMetadata: { a: { executor: "client" } } }), "is a Map"],
  ["a manifest without tools", made({ manifest: { name: "x" } }), 'manifest needs "tools"'],
  ["a head that is none", () => mock().events.pushThreadHead({ type: "thread.head.changed" }), "and its whole head"],
])("%s is told where it is written", (_, mistake, message) => {
  expect(mistake).toThrow(OptionInvalid);
  expect(mistake).toThrow(message);
});

describe("and in a streamed response, which goes on", () => {
  test.each<[string, (response: Loose) => unknown, string]>([
    ["a text of a number", (response) => response.text(7), "response.text() takes a text, not number"],
    ["a delta of nothing", (response) => response.text((text: Loose) => text.delta()), "text.delta() takes a text"],
    ["a tool without a name", (response) => response.tool(undefined, {}), "response.tool(name) takes a text"],
    [
      "an input of nothing",
      (response) => response.tool("x", (t: Loose) => t.input.stream()),
      "takes what JSON can say",
    ],
    [
      "a raw input of a number",
      (response) => response.tool("x", (t: Loose) => t.input.delta(7)),
      "input.delta() of tool",
    ],
    ["an input that is no data", (response) => response.tool("x", (t: Loose) => t.input.available(() => 1)), "no data"],
    ["a wait for nothing", (response) => response.tool("x", { input: 1, waiting: {} }), 'needs "action"'],
    ["an output that is no data", (response) => response.tool("x", { input: 1, output: () => 1 }), "no data"],
    [
      "a tool error of a text",
      (response) => response.tool("x", (t: Loose) => t.error("no")),
      "takes an Error, not string",
    ],
    ["a failure of a text", (response) => response.fail("no"), "response.fail() takes an Error, not string"],
  ])("%s", async (_, mistake, message) => {
    const { client, responses } = createMockAgentClient();
    const response = responses.stream();
    const run = await client.thread("t").send("Hello");
    await expect((async () => mistake(response))()).rejects.toThrow(message);
    await response.text("Well.");
    await response.complete();
    const { messages, error } = await run.waitUntilIdle();
    expect(error).toBeNull();
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: "Well." });
  });
});

test("what a test does to its values afterwards is not part of what it streamed", async () => {
  const { client, responses, inspect } = createMockAgentClient();
  const response = responses.stream();
  await client.thread("t").send("Hello");
  const output = { found: ["a"] };
  await response.tool("lookup", { input: {}, output });
  output.found.push("b");
  expect(inspect.thread("t")?.messages.at(-1)?.parts.at(-1)).toMatchObject({ output: { found: ["a"] } });
});
