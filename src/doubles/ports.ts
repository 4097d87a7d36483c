/**
 * The ports that the doubles stand in for, as they are seen from the program: structural, so that a program's own types
 * fit. Times are seconds.
 */

/** One message of a conversation with a model. */
export interface Message {
  readonly role: string;
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly toolCallId?: string | undefined;
}

/** A tool as a model is told of it: a JSON Schema of its arguments, or a program's own description. */
export type ToolSchema = object;

/** A call of a tool that a model asks for. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a call of a model cost, in tokens. `inputTokens` includes the cached ones. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
}

/** What a model is asked. */
export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly model: string;
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly responseFormat?: Readonly<Record<string, unknown>> | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly cacheHint?: unknown;
  /** Ends the call where it is. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a model stopped. */
export type Finish = "stop" | "tool_calls";

/** What a model answers. */
export interface ChatResult {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage;
  readonly finish: Finish;
}

/** A piece of a streamed answer. Only the last has `finish`, `usage` and the tool calls. */
export interface Delta {
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Usage;
  readonly finish?: Finish;
}

/** A model. */
export interface LLMPort {
  chat(request: ChatRequest): Promise<ChatResult>;
  stream(request: ChatRequest): AsyncIterable<Delta>;
}

export interface ClockPort {
  /** Seconds since the epoch. */
  now(): number;
  /** Waits so many seconds. An aborted signal ends the wait with its reason. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
}

export interface FetchResponse {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FetchPort<R = FetchResponse> {
  fetch(url: string, options?: unknown): Promise<R>;
}

export interface SearchHit {
  readonly title?: string;
  readonly url?: string;
  readonly snippet?: string;
  readonly score?: number;
  readonly metadata?: object;
}

export interface SearchPort {
  search(query: string, k?: number): Promise<readonly SearchHit[]>;
}

export interface MemoryItem {
  readonly content: string;
  readonly source?: string;
  readonly score?: number;
  readonly metadata?: object;
}

export interface MemorySource {
  readonly name: string;
  query(query: string, k?: number, where?: unknown): Promise<readonly MemoryItem[]>;
  write(items: readonly MemoryItem[]): Promise<void>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly outputSchema: ToolSchema | undefined;
  readonly sideEffecting: boolean;
  readonly requiresApproval: boolean;
  run(args: Readonly<Record<string, unknown>>, ctx?: unknown): Promise<unknown>;
}

/** Where something belongs. The zero tenant has neither. */
export interface Scope {
  readonly orgId?: string | undefined;
  readonly domainId?: string | undefined;
}

/** A span that is open. */
export interface SpanPort {
  set(key: string, value: unknown): void;
  addEvent(name: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Which span something belongs to. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

export type SpanBody<S, R> = (span: S) => R;

/** Opens spans: around a body, which is run at once and closes its span when it is done, or to be disposed of. */
export interface OpenSpan<S extends SpanPort> {
  <R>(name: string, kind: string, body: SpanBody<S, R>): R;
  <R>(name: string, kind: string, attrs: Readonly<Record<string, unknown>>, body: SpanBody<S, R>): R;
  (name: string, kind: string, attrs?: Readonly<Record<string, unknown>>): S & Disposable;
}

export interface TracePort {
  span: OpenSpan<SpanPort>;
  currentSpanId(): TraceContext | undefined;
  addEventToCurrentSpan(name: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Observer {
  emit(event: unknown): void;
}

/** Which calls of tools are put to a person: those that require it (`auto`), key steps as well (`gated`), or all. */
export type Autonomy = "auto" | "gated" | "manual";

/** The least that a run's context has. */
export interface Ctx {
  readonly correlationId: string;
  readonly scope: Scope;
  readonly autonomy: Autonomy;
  readonly trace: TracePort;
  readonly observer: Observer;
  /** Throws the reason where the run is to stop. */
  checkCancelled(): void;
}
