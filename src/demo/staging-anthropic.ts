import { deltasOf, textHash } from "./staging-answers.ts";
import {
  type Exchange,
  flushApart,
  openStream,
  readJson,
  type StagingContext,
  type StagingRoute,
  sendJson,
} from "./staging-exchange.ts";
import {
  argumentDeltas,
  contentText,
  createRateLimit,
  fieldsOf,
  lastUserText,
  listOf,
  type ModelPrompt,
  type ModelReply,
  rateLimitHeaders,
  replyTo,
} from "./staging-models.ts";

type Body = Readonly<Record<string, unknown>>;

function readPrompt(body: Body): ModelPrompt {
  const messages = listOf(body.messages);
  const results = listOf(fieldsOf(messages.at(-1)).content).filter((part) => fieldsOf(part).type === "tool_result");
  const tools = listOf(body.tools).flatMap((tool) => {
    const { name, input_schema: schema } = fieldsOf(tool);
    return typeof name === "string" ? [{ name, schema }] : [];
  });
  const toolResult = results.length === 0 ? undefined : contentText(results);
  return { model: String(body.model), text: lastUserText(messages), toolResult, tools };
}

function usage(reply: ModelReply, outputTokens: number): object {
  const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return { input_tokens: reply.inputTokens, ...cache, output_tokens: outputTokens, service_tier: "standard" };
}

interface Reply {
  readonly id: string;
  readonly model: string;
  readonly callId: string;
  readonly reply: ModelReply;
}

function messageObject({ id, model }: Reply, content: object[], stopReason: string | null, used: object): object {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: used,
  };
}

const preamble = "I will look that up.";

function stopReason(reply: ModelReply): string {
  return reply.call === undefined ? "end_turn" : "tool_use";
}

function completeMessage(message: Reply): object {
  const { reply, callId } = message;
  const content: object[] = [{ type: "text", text: reply.call === undefined ? reply.text : preamble }];
  if (reply.call !== undefined) {
    content.push({ type: "tool_use", id: callId, name: reply.call.name, input: JSON.parse(reply.call.arguments) });
  }
  return messageObject(message, content, stopReason(reply), usage(reply, reply.outputTokens));
}

/** An event as Anthropic sends it: named twice, and padded with spaces before its last bracket. */
function event(data: { readonly type: string } & Body): string {
  const json = JSON.stringify(data);
  const pad = " ".repeat(textHash(json) % 14);
  return `event: ${data.type}\ndata: ${json.slice(0, -1)}${pad}}\n\n`;
}

function* messageEvents(message: Reply): Iterable<string> {
  const { reply, callId } = message;
  yield event({ type: "message_start", message: messageObject(message, [], null, usage(reply, 1)) });
  yield event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  yield 'event: ping\ndata: {"type": "ping"}\n\n';
  for (const text of deltasOf(reply.call === undefined ? reply.text : preamble)) {
    yield event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  }
  yield event({ type: "content_block_stop", index: 0 });
  if (reply.call !== undefined) {
    const block = { type: "tool_use", id: callId, name: reply.call.name, input: {} };
    yield event({ type: "content_block_start", index: 1, content_block: block });
    for (const piece of ["", ...argumentDeltas(reply.call.arguments)]) {
      yield event({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: piece } });
    }
    yield event({ type: "content_block_stop", index: 1 });
  }
  const end = { stop_reason: stopReason(reply), stop_sequence: null };
  yield event({ type: "message_delta", delta: end, usage: { output_tokens: reply.outputTokens } });
  yield event({ type: "message_stop" });
}

/** The routes that imitate Anthropic's API. */
export function anthropicRoutes(context: StagingContext): StagingRoute[] {
  const isLimited = createRateLimit();

  async function messages(exchange: Exchange): Promise<void> {
    const requestId = context.nextId("req");
    exchange.response.setHeader("request-id", requestId);
    const fail = (status: number, type: string, message: string): void => {
      const body = { type: "error", error: { type, message }, request_id: requestId };
      sendJson(exchange, status, body, status === 429 ? rateLimitHeaders : {});
    };
    const { headers } = exchange.request;
    if (!headers["x-api-key"] && !/^Bearer \S/i.test(headers.authorization ?? "")) {
      return fail(401, "authentication_error", "x-api-key header is required");
    }
    const body = readJson(exchange);
    for (const name of ["model", "max_tokens", "messages"]) {
      if (body[name] === undefined) return fail(400, "invalid_request_error", `${name}: Field required`);
    }
    const prompt = readPrompt(body);
    if (isLimited(prompt.text)) {
      return fail(429, "rate_limit_error", "This request would exceed your rate limit. Try again in 20 ms.");
    }
    const reply = replyTo(prompt);
    const callId = reply.call === undefined ? "" : context.nextId("toolu");
    const message: Reply = { id: context.nextId("msg"), model: prompt.model, callId, reply };
    if (body.stream !== true) return sendJson(exchange, 200, completeMessage(message));
    openStream(exchange, "text/event-stream; charset=utf-8");
    if (await flushApart(exchange, messageEvents(message))) exchange.response.end();
  }

  return [{ methods: ["POST"], path: "/anthropic/v1/messages", handle: messages }];
}
