import { deltasOf } from "./staging-answers.ts";
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
import { responseObject, responseOutput, responsesEvents } from "./staging-openai-responses.ts";

type Body = Readonly<Record<string, unknown>>;
type Answer = (exchange: Exchange, body: Body, prompt: ModelPrompt) => Promise<void>;

function fail(exchange: Exchange, status: number, type: string, message: string, code: string | null): void {
  const headers = status === 429 ? rateLimitHeaders : {};
  sendJson(exchange, status, { error: { message, type, param: null, code } }, headers);
}

/** Chat Completions nests a function's name and parameters, the Responses API does not. */
function offeredTools(body: Body): ModelPrompt["tools"] {
  return listOf(body.tools).flatMap((tool) => {
    const { name, parameters } = fieldsOf(fieldsOf(tool).function ?? tool);
    return typeof name === "string" ? [{ name, schema: parameters }] : [];
  });
}

function chatPrompt(body: Body): ModelPrompt {
  const messages = listOf(body.messages);
  const last = fieldsOf(messages.at(-1));
  const toolResult = last.role === "tool" ? contentText(last.content) : undefined;
  return { model: String(body.model), text: lastUserText(messages), toolResult, tools: offeredTools(body) };
}

function responsesPrompt(body: Body): ModelPrompt {
  const { input } = body;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
  const last = fieldsOf(items.at(-1));
  const toolResult = last.type === "function_call_output" ? contentText(last.output) : undefined;
  return { model: String(body.model), text: lastUserText(items), toolResult, tools: offeredTools(body) };
}

interface Completion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly callId: string;
  readonly reply: ModelReply;
}

function chatUsage({ inputTokens, outputTokens }: ModelReply): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function toolCall({ callId, reply }: Completion, argumentsText: string): object {
  return { id: callId, type: "function", function: { name: reply.call?.name, arguments: argumentsText } };
}

function chatObject(completion: Completion): object {
  const { id, created, model, reply } = completion;
  const base = { role: "assistant", content: reply.call === undefined ? reply.text : null, refusal: null };
  const message =
    reply.call === undefined ? base : { ...base, tool_calls: [toolCall(completion, reply.call.arguments)] };
  const finish = reply.call === undefined ? "stop" : "tool_calls";
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { id, object: "chat.completion", created, model, choices, usage: chatUsage(reply) };
}

function* chatEvents(completion: Completion, includeUsage: boolean): Iterable<string> {
  const { id, created, model, reply } = completion;
  const head = { id, object: "chat.completion.chunk", created, model };
  const print = (choices: object[], usage: object | null): string =>
    `data: ${JSON.stringify({ ...head, choices, ...(includeUsage ? { usage } : {}) })}\n\n`;
  const chunk = (delta: object, finish: string | null = null): string =>
    print([{ index: 0, delta, logprobs: null, finish_reason: finish }], null);
  if (reply.call === undefined) {
    yield chunk({ role: "assistant", content: "", refusal: null });
    for (const content of deltasOf(reply.text)) yield chunk({ content });
  } else {
    yield chunk({ role: "assistant", content: null, tool_calls: [{ index: 0, ...toolCall(completion, "") }] });
    for (const piece of argumentDeltas(reply.call.arguments)) {
      yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, reply.call === undefined ? "stop" : "tool_calls");
  if (includeUsage) yield print([], chatUsage(reply));
  yield "data: [DONE]\n\n";
}

function authorized(handle: StagingRoute["handle"]): StagingRoute["handle"] {
  return (exchange) => {
    if (/^Bearer \S/i.test(exchange.request.headers.authorization ?? "")) return handle(exchange);
    const message = "You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`.";
    return fail(exchange, 401, "invalid_request_error", message, null);
  };
}

/** The routes that imitate OpenAI's API. */
export function openaiRoutes(context: StagingContext): StagingRoute[] {
  const isLimited = createRateLimit();
  const seconds = (): number => Math.floor(context.now().getTime() / 1000);

  /** Runs `answer` for a request that OpenAI would accept; the others get an error of OpenAI's shape. */
  function checked(field: string, read: (body: Body) => ModelPrompt, answer: Answer): StagingRoute["handle"] {
    return authorized((exchange) => {
      const body = readJson(exchange);
      for (const name of ["model", field]) {
        if (body[name] === undefined) {
          const message = `Missing required parameter: '${name}'.`;
          return fail(exchange, 400, "invalid_request_error", message, "missing_required_parameter");
        }
      }
      const prompt = read(body);
      if (isLimited(prompt.text)) {
        const message = `Rate limit reached for ${prompt.model}. Please try again in 20ms.`;
        return fail(exchange, 429, "requests", message, "rate_limit_exceeded");
      }
      return answer(exchange, body, prompt);
    });
  }

  async function chat(exchange: Exchange, body: Body, prompt: ModelPrompt): Promise<void> {
    const reply = replyTo(prompt);
    const callId = reply.call === undefined ? "" : context.nextId("call");
    const completion = { id: context.nextId("chatcmpl"), created: seconds(), model: prompt.model, callId, reply };
    if (body.stream !== true) return sendJson(exchange, 200, chatObject(completion));
    openStream(exchange, "text/event-stream; charset=utf-8");
    const events = chatEvents(completion, fieldsOf(body.stream_options).include_usage === true);
    if (await flushApart(exchange, events)) exchange.response.end();
  }

  async function responses(exchange: Exchange, body: Body, prompt: ModelPrompt): Promise<void> {
    const reply = replyTo(prompt);
    const output = responseOutput(reply, context);
    const response = responseObject(context.nextId("resp"), seconds(), prompt.model, body);
    if (body.stream !== true) return sendJson(exchange, 200, response.completed(reply, [output]));
    openStream(exchange, "text/event-stream; charset=utf-8");
    if (await flushApart(exchange, responsesEvents(response, output, reply))) exchange.response.end();
  }

  function models(exchange: Exchange): void {
    const names = ["staging-large", "staging-small"];
    const data = names.map((id) => ({ id, object: "model", created: 1767225600, owned_by: "staging" }));
    sendJson(exchange, 200, { object: "list", data });
  }

  return [
    { methods: ["GET"], path: "/openai/v1/models", handle: authorized(models) },
    { methods: ["POST"], path: "/openai/v1/chat/completions", handle: checked("messages", chatPrompt, chat) },
    { methods: ["POST"], path: "/openai/v1/responses", handle: checked("input", responsesPrompt, responses) },
  ];
}
