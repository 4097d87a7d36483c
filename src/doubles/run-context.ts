import { OptionInvalid } from "../errors.ts";
import type { CancellationToken } from "./cancellation-token.ts";
import { chained, collected, type Middleware } from "./invoker.ts";
import type {
  Autonomy,
  ChatRequest,
  ChatResult,
  Ctx,
  Delta,
  LLMPort,
  Observer,
  Scope,
  Tool,
  TracePort,
} from "./ports.ts";

type Args = Readonly<Record<string, unknown>>;

/** A call of a tool on its way. */
export interface ToolInvocation {
  readonly tool: Tool;
  readonly args: Args;
}
export type ToolMiddleware = Middleware<ToolInvocation, unknown>;

/** Told what each call of a model cost, once it is done. */
export interface Meter {
  record(call: { readonly model: string; readonly result: ChatResult }): void;
}

/** What a run may spend. A call is refused once as much was spent. */
export interface Budget {
  readonly maxCalls?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Whom a gated call of a tool is put to. */
export interface Asker {
  ask(question: { readonly tool: string; readonly args: Args }): Promise<boolean | { readonly approved: boolean }>;
}

export interface Checkpointer {
  save(checkpoint: unknown): void | Promise<void>;
}

/** What a gated call throws where nobody can be asked: the run is to be gone on with later. */
export class ToolCallSuspended extends Error {
  override readonly name = "ToolCallSuspended";
  readonly tool: string;
  readonly args: Args;
  constructor(tool: string, args: Args) {
    super(`The tool ${tool} requires approval, and nobody can be asked: the run waits for it.`);
    this.tool = tool;
    this.args = args;
  }
}

/** What a run has at hand. What is `undefined` is not there. */
export interface Services {
  readonly invoker: LLMPort | null;
  readonly store: unknown;
  readonly vector: unknown;
  readonly checkpointer: Checkpointer | undefined;
  readonly asker: Asker | undefined;
  readonly observer: Observer;
  readonly trace: TracePort;
  readonly meters: readonly Meter[];
}

export interface RunContextParts {
  readonly services: Services;
  readonly scope: Scope;
  readonly budget: Budget;
  readonly cancel: CancellationToken;
  readonly toolMiddleware: readonly ToolMiddleware[];
  readonly correlationId: string;
  readonly autonomy: Autonomy;
}

/** The context of one run: its services, whom it belongs to, and what it may spend. */
export class RunContext implements Ctx {
  readonly services: Services;
  readonly scope: Scope;
  readonly budget: Budget;
  readonly cancel: CancellationToken;
  readonly correlationId: string;
  readonly autonomy: Autonomy;
  readonly #toolMiddleware: readonly ToolMiddleware[];
  #calls = 0;
  #tokens = 0;

  constructor(parts: RunContextParts) {
    this.services = parts.services;
    this.scope = parts.scope;
    this.budget = parts.budget;
    this.cancel = parts.cancel;
    this.correlationId = parts.correlationId;
    this.autonomy = parts.autonomy;
    this.#toolMiddleware = parts.toolMiddleware;
  }

  get trace(): TracePort {
    return this.services.trace;
  }
  get observer(): Observer {
    return this.services.observer;
  }
  /** What was spent of the budget. */
  get spent(): { readonly calls: number; readonly tokens: number } {
    return { calls: this.#calls, tokens: this.#tokens };
  }

  checkCancelled(): void {
    this.cancel.throwIfCancelled();
  }

  /** Asks the model. Throws where the run was cancelled, there is no invoker, or the budget is spent. */
  async chat(request: ChatRequest): Promise<ChatResult> {
    const result = await this.#invoker().chat(this.#cancellable(request));
    this.#spend(request.model, result);
    return result;
  }

  /** As `chat`, in pieces. What it cost is told when it has ended. */
  async *stream(request: ChatRequest): AsyncGenerator<Delta, void> {
    const whole: Delta[] = [];
    for await (const delta of this.#invoker().stream(this.#cancellable(request))) {
      whole.push(delta);
      if (delta.finish !== undefined) this.#spend(request.model, await collected(whole));
      yield delta;
    }
  }

  /**
   * Runs a tool. One that requires approval (with autonomy `manual`: any) is parked until the asker has answered; where
   * there is no asker, what is to be done is checkpointed and `ToolCallSuspended` thrown. A refusal throws as well.
   */
  async invokeTool(tool: Tool, args: Args): Promise<unknown> {
    this.checkCancelled();
    if (tool.requiresApproval || this.autonomy === "manual") await this.#approve(tool, args);
    const run = ({ tool: called, args: given }: ToolInvocation): Promise<unknown> => called.run(given, this);
    return chained(this.#toolMiddleware, run)({ tool, args });
  }

  #invoker(): LLMPort {
    this.checkCancelled();
    const { invoker } = this.services;
    if (invoker === null)
      throw new OptionInvalid("This context has no model: makeTestCtx({ llm }) or makeTestCtx({ invoker }).");
    const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = this.budget;
    if (this.#calls >= maxCalls || this.#tokens >= maxTokens) {
      throw named("BudgetExceeded", `The budget is spent: ${this.#calls} calls, ${this.#tokens} tokens.`);
    }
    this.#calls++;
    return invoker;
  }

  #cancellable(request: ChatRequest): ChatRequest {
    const { signal } = this.cancel;
    return { ...request, signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]) };
  }

  #spend(model: string, result: ChatResult): void {
    this.#tokens += result.usage.inputTokens + result.usage.outputTokens;
    for (const meter of this.services.meters) meter.record({ model, result });
  }

  async #approve(tool: Tool, args: Args): Promise<void> {
    const { asker, checkpointer } = this.services;
    if (asker === undefined) {
      await checkpointer?.save({ correlationId: this.correlationId, tool: tool.name, args });
      throw new ToolCallSuspended(tool.name, args);
    }
    const answer = await this.#untilCancelled(asker.ask({ tool: tool.name, args }));
    this.checkCancelled();
    if (typeof answer === "boolean" ? answer : answer.approved) return;
    throw named("ToolCallRefused", `The call of ${tool.name} was refused.`);
  }

  /** A run that is cancelled waits for nobody. */
  async #untilCancelled<T>(waiting: Promise<T>): Promise<T> {
    const { signal } = this.cancel;
    let leave!: () => void;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave);
    });
    try {
      return await Promise.race([waiting, left]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
