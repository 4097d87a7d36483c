import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { chunksOf, postJson, textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging();
const client = (options: object = {}): Anthropic =>
  new Anthropic({ apiKey: "sk-ant-staging", baseURL: `${staging.server.url}/anthropic`, ...options });

const base = { model: "staging-large", max_tokens: 200 };
const ask = (content: string): { role: "user"; content: string }[] => [{ role: "user", content }];
const input_schema = { type: "object" as const, properties: { location: { type: "string" } } };
const tools = [{ name: "get_weather", input_schema }];
const question = ask("What is the weather in San Francisco?");

test("the same answer whole and streamed, another for another prompt", async () => {
  const messages = ask("When does the night train to Prague leave?");
  const whole = await client().messages.create({ ...base, messages });
  expect(whole).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn" });
  const text = (whole.content[0] as Anthropic.TextBlock).text;
  expect(text).toContain("to Prague");

  const stream = client().messages.stream({ ...base, messages });
  const deltas: string[] = [];
  stream.on("text", (delta) => deltas.push(delta));
  const final = await stream.finalMessage();
  expect(deltas.join("")).toBe(text);
  expect(final.content).toMatchObject([{ type: "text", text }]);
  expect([final.stop_reason, final.usage.output_tokens]).toEqual(["end_turn", whole.usage.output_tokens]);

  const events: string[] = [];
  for await (const event of await client().messages.create({ ...base, messages, stream: true })) {
    events.push(event.type);
  }
  expect([...new Set(events)]).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("events on the wire: named twice, a spaced ping, padded objects", async () => {
  const response = await staging.fetch(
    "/anthropic/v1/messages",
    postJson({ ...base, messages: ask("hello"), stream: true }, { "x-api-key": "k" }),
  );
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("request-id")).toMatch(/^req_/);
  const { chunks } = await chunksOf(response);
  const text = textOf(Buffer.concat(chunks));
  expect(text).toContain('event: ping\ndata: {"type": "ping"}\n\n');
  const events = text.split("\n\n").filter((event) => event !== "");
  for (const event of events) {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event)!;
    expect(JSON.parse(data!).type).toBe(name);
  }
  expect(events.filter((event) => / +\}$/.test(event)).length).toBeGreaterThan(events.length / 2);
  expect(chunks.length).toBeGreaterThan(events.length / 2);
});

test("a tool is used, whole and streamed, and its result is taken up", async () => {
  const whole = await client().messages.create({ ...base, messages: question, tools });
  const used = { type: "tool_use", name: "get_weather", input: { location: "San Francisco" } };
  expect(whole.stop_reason).toBe("tool_use");
  expect(whole.content).toMatchObject([{ type: "text" }, used]);
  const final = await client()
    .messages.stream({ ...base, messages: question, tools })
    .finalMessage();
  expect(final.stop_reason).toBe("tool_use");
  expect(final.content).toMatchObject([{ type: "text" }, used]);

  const call = final.content[1] as Anthropic.ToolUseBlock;
  const result = { type: "tool_result" as const, tool_use_id: call.id, content: "fog, 14 °C" };
  const answer = await client().messages.create({
    ...base,
    tools,
    messages: [...question, { role: "assistant", content: final.content }, { role: "user", content: [result] }],
  });
  expect(answer.stop_reason).toBe("end_turn");
  expect(answer.content).toMatchObject([{ type: "text", text: "The tool says: fog, 14 °C" }]);
  const without = await client().messages.create({ ...base, messages: question });
  expect(without.content).toMatchObject([{ text: expect.stringMatching(/^It is \d+ °C in San Francisco/) }]);
});

test("a rate limit once, which the SDK waits out", async () => {
  const messages = ask("What is your rate limit?");
  await expect(client({ maxRetries: 0 }).messages.create({ ...base, messages })).rejects.toThrow(
    Anthropic.RateLimitError,
  );
  expect((await client({ maxRetries: 0 }).messages.create({ ...base, messages })).type).toBe("message");
  const before = staging.server.requests.length;
  await client().messages.create({ ...base, messages: ask("One more rate limit") });
  expect(staging.server.requests.length - before).toBe(2);
});

test("errors have Anthropic's shape", async () => {
  const response = await staging.fetch("/anthropic/v1/messages", postJson({ ...base, messages: question }));
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({
    type: "error",
    error: { type: "authentication_error", message: "x-api-key header is required" },
    request_id: response.headers.get("request-id"),
  });
  const bearer = client({ apiKey: null, authToken: "token" });
  expect((await bearer.messages.create({ ...base, messages: ask("hi") })).type).toBe("message");
  await expect(client().messages.create({ model: "m", messages: question } as never)).rejects.toThrow(
    "max_tokens: Field required",
  );
});
