/** `wiretape/doubles`: scripted doubles for the ports of an agent. */
export { CancellationToken } from "./doubles/cancellation-token.ts";
export type { Dictionary } from "./doubles/dictionary.ts";
export { FakeClock } from "./doubles/fake-clock.ts";
export { FakeCompactor } from "./doubles/fake-compactor.ts";
export { FakeCtx } from "./doubles/fake-ctx.ts";
export { FakeFetch } from "./doubles/fake-fetch.ts";
export { FakeGrounder } from "./doubles/fake-grounder.ts";
export { FakeLLM, type FakeLLMOptions, type LLMQuestion, type LLMRule } from "./doubles/fake-llm.ts";
export { FakeMemory, type FakeMemoryOptions } from "./doubles/fake-memory.ts";
export { FakeSearch } from "./doubles/fake-search.ts";
export { FakeTool, type FakeToolOptions } from "./doubles/fake-tool.ts";
export { type ChatMiddleware, Invoker, type Middleware } from "./doubles/invoker.ts";
export { makeTestCtx, type TestCtxOptions } from "./doubles/make-test-ctx.ts";
export type {
  Autonomy,
  ChatRequest,
  ChatResult,
  ClockPort,
  Ctx,
  Delta,
  FetchPort,
  FetchResponse,
  Finish,
  LLMPort,
  MemoryItem,
  MemorySource,
  Message,
  Observer,
  OpenSpan,
  Scope,
  SearchHit,
  SearchPort,
  SpanBody,
  SpanPort,
  Tool,
  ToolCall,
  ToolSchema,
  TraceContext,
  TracePort,
  Usage,
} from "./doubles/ports.ts";
export { RecordingSpan, type SpanEvent } from "./doubles/recording-span.ts";
export { RecordingTracer } from "./doubles/recording-tracer.ts";
export {
  type Asker,
  type Budget,
  type Checkpointer,
  type Meter,
  RunContext,
  type RunContextParts,
  type Services,
  ToolCallSuspended,
  type ToolInvocation,
  type ToolMiddleware,
} from "./doubles/run-context.ts";
export { ScriptedAdapter, ScriptedAdapterExhausted } from "./doubles/scripted-adapter.ts";
export {
  type CallRuntime,
  OPENAI_API,
  type Price,
  type PricedResult,
  type PriceTable,
  type RuntimeMode,
  type ScriptedRuntimeOptions,
  scriptedRuntime,
} from "./doubles/scripted-runtime.ts";
export { Turn, type TurnParts } from "./doubles/turn.ts";
export type { ScriptGate, TraceSource } from "./trace-gate.ts";
