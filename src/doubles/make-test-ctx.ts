import { OptionInvalid } from "../errors.ts";
import { checkKeys } from "./check-keys.ts";
import type { LLMPort, Observer, Scope, SpanBody, SpanPort, TracePort } from "./ports.ts";
import {
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
  type ToolMiddleware,
} from "./run-context.ts";

/** The knobs of a test's context. What is left out has its default. */
export interface TestCtxOptions {
  /** A model; it is wrapped with an `Invoker` and `chatMiddleware`. */
  readonly llm?: LLMPort | undefined;
  /** An invoker that is complete, in place of `llm`. */
  readonly invoker?: Services["invoker"] | undefined;
  /** Default: the zero tenant. */
  readonly scope?: Scope | undefined;
  readonly budget?: Budget | undefined;
  readonly store?: unknown;
  readonly vector?: unknown;
  readonly checkpointer?: Checkpointer | undefined;
  /** With one, a gated call of a tool is parked until it is answered; without, it is suspended. */
  readonly asker?: Asker | undefined;
  readonly observer?: Observer | undefined;
  readonly trace?: TracePort | undefined;
  readonly cancel?: CancellationToken | undefined;
  readonly chatMiddleware?: readonly ChatMiddleware[] | undefined;
  readonly toolMiddleware?: readonly ToolMiddleware[] | undefined;
  readonly meters?: readonly Meter[] | undefined;
  /** Default `test-run`. */
  readonly correlationId?: string | undefined;
  /** Default `auto`. */
  readonly autonomy?: Autonomy | undefined;
}

const KEYS = [
  "llm",
  "invoker",
  "scope",
  "budget",
  "store",
  "vector",
  "checkpointer",
  "asker",
  "observer",
  "trace",
  "cancel",
  "chatMiddleware",
  "toolMiddleware",
  "meters",
  "correlationId",
  "autonomy",
];

/**
 * A real `RunContext` for a test, with defaults that do nothing for everything that it does not care about. Without `llm`
 * and `invoker`, `services.invoker` is `null`. `OptionInvalid` where both are given, or an option is none.
 */
export function makeTestCtx(options: TestCtxOptions = {}): RunContext {
  checkKeys("makeTestCtx", options, KEYS);
  const { llm, invoker, chatMiddleware = [] } = options;
  if (llm !== undefined && invoker !== undefined) {
    throw new OptionInvalid("makeTestCtx takes llm or invoker, and got both: an invoker has its model already.");
  }
  if (invoker !== undefined && chatMiddleware.length > 0) {
    throw new OptionInvalid("makeTestCtx puts chatMiddleware around llm; an invoker brings its own.");
  }
  return new RunContext({
    services: {
      invoker: invoker ?? (llm === undefined ? null : new Invoker({ llm, chatMiddleware })),
      store: options.store,
      vector: options.vector,
      checkpointer: options.checkpointer,
      asker: options.asker,
      observer: options.observer ?? noopObserver,
      trace: options.trace ?? noopTrace,
      meters: options.meters ?? [],
    },
    scope: options.scope ?? {},
    budget: options.budget ?? {},
    cancel: options.cancel ?? new CancellationToken(),
    toolMiddleware: options.toolMiddleware ?? [],
    correlationId: options.correlationId ?? "test-run",
    autonomy: options.autonomy ?? "auto",
  });
}

const noopObserver: Observer = { emit: () => undefined };

const noopSpan: SpanPort & Disposable = {
  set: () => undefined,
  addEvent: () => undefined,
  [Symbol.dispose]: () => undefined,
};

const noopTrace: TracePort = {
  span: ((_name: string, _kind: string, _attrs: object, body?: SpanBody<SpanPort, unknown>) =>
    body === undefined ? noopSpan : body(noopSpan)) as TracePort["span"],
  currentSpanId: () => undefined,
  addEventToCurrentSpan: () => undefined,
};
