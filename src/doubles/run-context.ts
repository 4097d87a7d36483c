import { OptionInvalid } from "../errors.ts";
import type { ChatRequest, ChatResult, Delta, LLMPort, Observer, Scope, Tool, TracePort } from "./ports.ts";

/** Around each call of a model, or of a tool: calls `next`, or answers itself. The first is the outermost. */
export type Middleware<I, O> = (input: I, next: (input: I) => Promise<O>) => Promise<O>;
export type ChatMiddleware = Middleware<ChatRequest, ChatResult>;
/** A call of a tool on its way. */
export interface ToolInvocation {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
}
export type ToolMiddleware = Middleware<ToolInvocation, unknown>;

/** Told what each call of a model cost. */
export interface Meter {
  record(call: { readonly model: string; readonly result: ChatResult }): void;
}

/** A limit, and what was spent. */
export interface Budget {
  readonly maxCalls?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Whom a gated call of a tool is put to. */
export interface Asker {
  ask(question: {
    readonly tool: string;
    readonly args: Readonly<Record<string, unknown>>;
  }): Promise<boolean | { readonly approved: boolean }>;
}

export interface Checkpointer {
  save(checkpoint: unknown): void | Promise<void>;
}

/** A run that is asked to stop. */
export class CancellationToken {
  readonly #controller = new AbortController();
  get cancelled(): boolean {
    return this.#controller.signal.aborted;
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  cancel(reason: unknown = new Error("the run was cancelled")): void {
    this.#controller.abort(reason);
  }
  throwIfCancelled(): void {
    this.#controller.signal.throwIfAborted();
  }
}

/** What a gated call throws where nobody can be asked: the run is to be gone on with later. */
export class ToolCallSuspended extends Error {
  override readonly name = "ToolCallSuspended";
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  constructor(tool: string, args: Readonly<Record<string, unknown>>) {
    super(`The tool ${tool} requires approval, and nobody can be asked: the run waits for it.`);
    this.tool = tool;
    this.args = args;
  }
}

/** What a call of a model goes through: cancellation, budget, middleware, meters. */
export class Invoker {
  readonly #llm: LLMPort;
  readonly #middleware: readonly ChatMiddleware[];

  constructor(options: { readonly llm: LLMPort; readonly chatMiddleware?: readonly ChatMiddleware[] }) {
    if (typeof options?.llm?.chat !== "function")
      throw new OptionInvalid("Invoker needs an llm with chat() and stream().");
    this.#llm = options.llm;
    this.#middleware = options.chatMiddleware ?? [];
  }

  chat(request: ChatRequest): Promise<ChatResult> {
    return chained(this.#middleware, (asked: ChatRequest) => this.#llm.chat(asked))(request);
  }

  stream(request: ChatRequest): AsyncIterable<Delta> {
    return this.#llm.stream(request);
  }
}

/** What a run has at hand. What is `undefined` is not there. */
export interface Services {
  readonly invoker: Pick<Invoker, "chat" | "stream"> | null;
  readonly store: unknown;
  readonly vector: unknown;
  readonly checkpointer: Checkpointer | undefined;
  readonly asker: Asker | undefined;
  readonly observer: Observer;
  readonly trace: TracePort;
  readonly meters: readonly Meter[];
}

export type Autonomy = "auto" | "ask" | "manual" | (string & {});

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
export class RunContext {
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

  /** Asks the model. Throws where the run was cancelled, there is no invoker, or the budget is spent. */
  async chat(request: ChatRequest): Promise<ChatResult> {
    this.cancel.throwIfCancelled();
    const { invoker, meters } = this.services;
    if (invoker === null)
      throw new OptionInvalid("This context has no model: makeTestCtx({ llm }) or makeTestCtx({ invoker }).");
    const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = this.budget;
    if (this.#calls >= maxCalls || this.#tokens >= maxTokens) {
      throw Object.assign(new Error(`The budget is spent: ${this.#calls} calls, ${this.#tokens} tokens.`), {
        name: "BudgetExceeded",
      });
    }
    this.#calls++;
    const result = await invoker.chat(request);
    this.#tokens += result.usage.inputTokens + result.usage.outputTokens;
    for (const meter of meters) meter.record({ model: request.model, result });
    return result;
  }

  /**
   * Runs a tool. One that requires approval is parked until the asker has answered; where there is no asker, what is
   * to be done is checkpointed and `ToolCallSuspended` thrown. A refusal throws as well.
   */
  async invokeTool(tool: Tool, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.cancel.throwIfCancelled();
    if (tool.requiresApproval) await this.#approve(tool, args);
    return chained(this.#toolMiddleware, ({ tool: called, args: given }: ToolInvocation) => called.run(given, this))({
      tool,
      args,
    });
  }

  async #approve(tool: Tool, args: Readonly<Record<string, unknown>>): Promise<void> {
    const { asker, checkpointer } = this.services;
    if (asker === undefined) {
      await checkpointer?.save({ correlationId: this.correlationId, tool: tool.name, args });
      throw new ToolCallSuspended(tool.name, args);
    }
    const answer = await asker.ask({ tool: tool.name, args });
    if (typeof answer === "boolean" ? answer : answer.approved) return;
    throw Object.assign(new Error(`The call of ${tool.name} was refused.`), { name: "ToolCallRefused" });
  }
}

function chained<I, O>(
  middleware: readonly Middleware<I, O>[],
  last: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  return middleware.reduceRight<(input: I) => Promise<O>>((next, around) => (input) => around(input, next), last);
}
