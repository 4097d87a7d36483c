import OpenAI from "openai";
import { expect, test } from "vitest";
import { chunksOf, postJson, textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging();
const client = (options: object = {}): OpenAI =>
  new OpenAI({ apiKey: "sk-staging", baseURL: `${staging.server.url}/openai/v1`, ...options });

const model = "staging-large";
const parameters = { type: "object", properties: { location: { type: "string" } } };
const chatTools = [{ type: "function" as const, function: { name: "get_weather", parameters } }];
const tools = [{ type: "function" as const, name: "get_weather", parameters, strict: false }];
const ask = (content: string): { role: "user"; content: string }[] => [{ role: "user", content }];
const question = "What is the weather in New York?";

test("chat: the same answer whole and streamed, another for another prompt", async () => {
  const messages = ask("When does the night train to Prague leave?");
  const whole = await client().chat.completions.create({ model, messages });
  const { message, finish_reason } = whole.choices[0]!;
  expect([finish_reason, message.content]).toEqual(["stop", expect.stringContaining("to Prague")]);
  expect(whole.usage!.total_tokens).toBe(whole.usage!.prompt_tokens + whole.usage!.completion_tokens);

  const deltas: string[] = [];
  const options = { include_usage: true };
  let usage: unknown;
  for await (const chunk of await client().chat.completions.create({
    model,
    messages,
    stream: true,
    stream_options: options,
  })) {
    deltas.push(chunk.choices[0]?.delta.content ?? "");
    usage = chunk.usage ?? usage;
  }
  expect(deltas.join("")).toBe(message.content);
  expect(deltas.filter((delta) => delta !== "").length).toBeGreaterThan(4);
  expect(usage).toEqual(whole.usage);
  const other = await client().chat.completions.create({ model, messages: ask("Where is order 77?") });
  expect(other.choices[0]!.message.content).toContain("Order 77");
});

test("chat: events on the wire", async () => {
  const response = await staging.fetch(
    "/openai/v1/chat/completions",
    postJson({ model, messages: ask("hi"), stream: true }, { authorization: "Bearer k" }),
  );
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const { chunks } = await chunksOf(response);
  const text = textOf(Buffer.concat(chunks));
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(text).not.toContain('"usage"');
  expect(chunks.length).toBeGreaterThan(3);
});

test("chat: a tool is called, whole and streamed, and its result is used", async () => {
  const messages = ask(question);
  const whole = await client().chat.completions.create({ model, messages, tools: chatTools });
  const { message, finish_reason } = whole.choices[0]!;
  const call = message.tool_calls![0]!;
  expect([finish_reason, message.content]).toEqual(["tool_calls", null]);
  expect(call).toMatchObject({ function: { name: "get_weather", arguments: '{"location":"New York"}' } });

  const stream = client().chat.completions.stream({ model, messages, tools: chatTools });
  const final = (await stream.finalChatCompletion()).choices[0]!;
  expect([final.finish_reason, final.message.content]).toEqual(["tool_calls", null]);
  expect(final.message.tool_calls![0]!.function).toMatchObject({
    name: "get_weather",
    arguments: '{"location":"New York"}',
  });

  const result = { role: "tool" as const, tool_call_id: call.id, content: "12 °C, rain" };
  const answer = await client().chat.completions.create({
    model,
    messages: [...messages, message, result],
    tools: chatTools,
  });
  expect(answer.choices[0]!.message.content).toBe("The tool says: 12 °C, rain");
  const without = await client().chat.completions.create({ model, messages });
  expect(without.choices[0]!.message.content).toMatch(/^It is \d+ °C in New York/);
});

test("chat: content in parts", async () => {
  const content = [{ type: "text" as const, text: "Where is order 5?" }];
  const answer = await client().chat.completions.create({ model, messages: [{ role: "user", content }] });
  expect(answer.choices[0]!.message.content).toContain("Order 5");
});

test("responses: the same answer whole and streamed", async () => {
  const whole = await client().responses.create({ model, input: "Where is order 1042?" });
  expect(whole.output_text).toContain("Order 1042");
  expect(whole.status).toBe("completed");

  const stream = client().responses.stream({ model, input: [{ role: "user", content: "Where is order 1042?" }] });
  const types: string[] = [];
  const sequence: number[] = [];
  let text = "";
  for await (const event of stream) {
    types.push(event.type);
    sequence.push(event.sequence_number);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  expect(text).toBe(whole.output_text);
  expect(sequence).toEqual(sequence.map((_, i) => i));
  expect([...new Set(types)]).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const final = await stream.finalResponse();
  expect(final.output_text).toBe(text);
  expect(final.usage).toEqual(whole.usage);
});

test("responses: a function is called, and its output is used", async () => {
  const whole = await client().responses.create({ model, input: question, tools });
  expect(whole.output[0]).toMatchObject({
    type: "function_call",
    name: "get_weather",
    arguments: '{"location":"New York"}',
  });
  const final = await client().responses.stream({ model, input: question, tools }).finalResponse();
  expect(final.output[0]).toMatchObject({ type: "function_call", arguments: '{"location":"New York"}' });
  const call = final.output[0] as OpenAI.Responses.ResponseFunctionToolCall;
  const answer = await client().responses.create({
    model,
    tools,
    input: [
      { role: "user", content: question },
      call,
      { type: "function_call_output", call_id: call.call_id, output: "sunny" },
    ],
  });
  expect(answer.output_text).toBe("The tool says: sunny");
});

test("a rate limit once, which the SDK waits out", async () => {
  const messages = ask("Tell me about your rate limit.");
  const strict = client({ maxRetries: 0 });
  await expect(strict.chat.completions.create({ model, messages })).rejects.toMatchObject({
    name: expect.any(String),
    status: 429,
    code: "rate_limit_exceeded",
  });
  expect((await strict.chat.completions.create({ model, messages })).choices.length).toBe(1);
  const before = staging.server.requests.length;
  expect((await client().responses.create({ model, input: "Another rate limit question" })).status).toBe("completed");
  expect(staging.server.requests.length - before).toBe(2);
});

test("models are listed", async () => {
  const names: string[] = [];
  for await (const { id } of client().models.list()) names.push(id);
  expect(names).toEqual(["staging-large", "staging-small"]);
});

test("errors have OpenAI's shape", async () => {
  for (const path of ["chat/completions", "responses"]) {
    const response = await staging.fetch(`/openai/v1/${path}`, postJson({ model }));
    expect(response.status).toBe(401);
    expect((await response.json()).error).toMatchObject({ type: "invalid_request_error", param: null, code: null });
  }
  expect((await staging.fetch("/openai/v1/models")).status).toBe(401);
  await expect(client().chat.completions.create({ model } as never)).rejects.toThrow(
    "400 Missing required parameter: 'messages'.",
  );
  await expect(client().responses.create({ input: "x" } as never)).rejects.toThrow("'model'");
});

test("a stream that the SDK breaks off leaves the server in order", async () => {
  const stream = await client().chat.completions.create({ model, messages: ask("hello"), stream: true });
  for await (const _ of stream) break;
  expect((await client().models.list()).data.length).toBe(2);
});
