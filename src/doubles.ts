/** `wiretape/doubles`: scripted doubles for the ports of an agent. */
export { FakeClock } from "./doubles/fake-clock.ts";
export { FakeCompactor } from "./doubles/fake-compactor.ts";
export { FakeCtx } from "./doubles/fake-ctx.ts";
export { FakeFetch } from "./doubles/fake-fetch.ts";
export { FakeGrounder } from "./doubles/fake-grounder.ts";
export { FakeLLM, type FakeLLMOptions, type LLMRule } from "./doubles/fake-llm.ts";
export { FakeMemory, type FakeMemoryOptions } from "./doubles/fake-memory.ts";
export { FakeSearch } from "./doubles/fake-search.ts";
export { FakeTool, type FakeToolOptions } from "./doubles/fake-tool.ts";
export { makeTestCtx, type TestCtxOptions } from "./doubles/make-test-ctx.ts";
export type {
  ChatRequest,
  ChatResult,
  ClockPort,
  Delta,
  FetchPort,
  FetchResponse,
  Finish,
  LLMPort,
  MemoryItem,
  MemorySource,
  Message,
  Observer,
  Scope,
  SearchHit,
  SearchPort,
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
  type Autonomy,
  type Budget,
  CancellationToken,
  type ChatMiddleware,
  type Checkpointer,
  Invoker,
  type Meter,
  RunContext,
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
