import { OptionInvalid } from "../errors.ts";
import type { ChatRequest, ChatResult, Delta, LLMPort } from "./ports.ts";

/** Around each call: calls `next`, as often as it likes, or answers itself. The first of a list is the outermost. */
export type Middleware<I, O> = (input: I, next: (input: I) => Promise<O>) => Promise<O>;
export type ChatMiddleware = Middleware<ChatRequest, ChatResult>;

/** A call with its middleware around it. */
export function chained<I, O>(
  middleware: readonly Middleware<I, O>[],
  last: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  return middleware.reduceRight<(input: I) => Promise<O>>((next, around) => (input) => around(input, next), last);
}

/** What calls of a model go through: the middleware of chats, streamed ones included. */
export class Invoker {
  readonly #llm: LLMPort;
  readonly #middleware: readonly ChatMiddleware[];

  constructor(options: { readonly llm: LLMPort; readonly chatMiddleware?: readonly ChatMiddleware[] }) {
    const { llm, chatMiddleware = [] } = options ?? {};
    if (typeof llm?.chat !== "function" || typeof llm.stream !== "function")
      throw new OptionInvalid("Invoker needs an llm with chat() and stream().");
    this.#llm = llm;
    this.#middleware = chatMiddleware;
  }

  chat(request: ChatRequest): Promise<ChatResult> {
    return chained(this.#middleware, (asked: ChatRequest) => this.#llm.chat(asked))(request);
  }

  /**
   * The middleware is given the whole answer once it has streamed, so that it can ask again for what failed before its
   * first piece; what came is not taken back, and asking again after that fails. An answer of its own comes in one piece.
   */
  async *stream(request: ChatRequest): AsyncGenerator<Delta, void> {
    // One piece is read ahead, and no more.
    const { readable, writable } = new TransformStream<Delta, Delta>(undefined, undefined, { highWaterMark: 0 });
    const writer = writable.getWriter();
    let begun = false;
    const whole = async (asked: ChatRequest): Promise<ChatResult> => {
      if (begun) throw new Error("A stream that has begun cannot be asked for again.");
      return collected(this.#llm.stream(asked), (delta) => {
        begun = true;
        return writer.write(delta);
      });
    };
    void chained(
      this.#middleware,
      whole,
    )(request)
      .then(async ({ content, ...end }) => {
        if (!begun && content !== "") await writer.write({ content });
        await writer.write({ content: "", ...end });
        await writer.close();
      })
      .catch((error: unknown) => writer.abort(error));
    const reader = readable.getReader();
    try {
      for (let one = await reader.read(); !one.done; one = await reader.read()) yield one.value;
    } finally {
      // A reader who leaves ends what is asked. One who was told of a failure is not told again.
      await reader.cancel().catch(() => undefined);
    }
  }
}

/** The whole of a streamed answer; every piece of content is told as it comes. */
export async function collected(
  deltas: AsyncIterable<Delta> | Iterable<Delta>,
  tell: (delta: Delta) => unknown = () => undefined,
): Promise<ChatResult> {
  let content = "";
  let end: Delta | undefined;
  for await (const delta of deltas) {
    content += delta.content;
    if (delta.finish !== undefined) end = delta;
    if (delta.content !== "") await tell({ content: delta.content });
  }
  return {
    content,
    toolCalls: end?.toolCalls ?? [],
    usage: end?.usage ?? { inputTokens: 0, outputTokens: 0 },
    finish: end?.finish ?? "stop",
  };
}
