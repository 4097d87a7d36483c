import { deltasOf } from "./staging-answers.ts";
import type { StagingContext } from "./staging-exchange.ts";
import { argumentDeltas, type ModelReply } from "./staging-models.ts";

/** The objects and the streaming events of OpenAI's Responses API, as far as a text or a function call needs them. */

/** An item of a response's output: as it is announced, and as it is when complete. */
export interface ResponseItem {
  readonly id: string;
  readonly started: object;
  readonly completed: object;
}

/** A response's object at the two ends of its life. */
export interface ResponseLife {
  readonly started: object;
  completed(reply: ModelReply, output: readonly ResponseItem[]): object;
}

function textPart(text: string): object {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

/** The one item of output that a reply makes: a message or a function call. */
export function responseOutput(reply: ModelReply, context: StagingContext): ResponseItem {
  if (reply.call !== undefined) {
    const id = context.nextId("fc");
    const item = { id, type: "function_call", call_id: context.nextId("call"), name: reply.call.name };
    return {
      id,
      started: { ...item, status: "in_progress", arguments: "" },
      completed: { ...item, status: "completed", arguments: reply.call.arguments },
    };
  }
  const id = context.nextId("msg");
  const item = { id, type: "message", role: "assistant" };
  return {
    id,
    started: { ...item, status: "in_progress", content: [] },
    completed: { ...item, status: "completed", content: [textPart(reply.text)] },
  };
}

/** The response's object; what the request set is repeated in it. */
export function responseObject(
  id: string,
  createdAt: number,
  model: string,
  request: Readonly<Record<string, unknown>>,
): ResponseLife {
  const object = (status: string, output: readonly object[], usage: object | null): object => ({
    id,
    object: "response",
    created_at: createdAt,
    status,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    metadata: request.metadata ?? {},
    model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    temperature: request.temperature ?? 1,
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    usage,
  });
  return {
    started: object("in_progress", [], null),
    completed: (reply, output) =>
      object(
        "completed",
        output.map((item) => item.completed),
        {
          input_tokens: reply.inputTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: reply.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: reply.inputTokens + reply.outputTokens,
        },
      ),
  };
}

/** The events of one response, each with its sequence number. */
export function* responsesEvents(response: ResponseLife, item: ResponseItem, reply: ModelReply): Iterable<string> {
  let sequence = 0;
  const event = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const place = { item_id: item.id, output_index: 0 };

  yield event("response.created", { response: response.started });
  yield event("response.in_progress", { response: response.started });
  yield event("response.output_item.added", { output_index: 0, item: item.started });
  if (reply.call === undefined) {
    const part = { ...place, content_index: 0 };
    yield event("response.content_part.added", { ...part, part: textPart("") });
    for (const delta of deltasOf(reply.text)) {
      yield event("response.output_text.delta", { ...part, delta, logprobs: [] });
    }
    yield event("response.output_text.done", { ...part, text: reply.text, logprobs: [] });
    yield event("response.content_part.done", { ...part, part: textPart(reply.text) });
  } else {
    for (const delta of argumentDeltas(reply.call.arguments)) {
      yield event("response.function_call_arguments.delta", { ...place, delta });
    }
    const done = { ...place, name: reply.call.name, arguments: reply.call.arguments };
    yield event("response.function_call_arguments.done", done);
  }
  yield event("response.output_item.done", { output_index: 0, item: item.completed });
  yield event("response.completed", { response: response.completed(reply, [item]) });
}
