import { OptionInvalid } from "../errors.ts";
import { CancellationToken } from "./cancellation-token.ts";
import { checkKeys } from "./check-keys.ts";
import { type ChatMiddleware, Invoker } from "./invoker.ts";
import type { Autonomy, LLMPort, Observer, OpenSpan, Scope, SpanPort, TracePort } from "./ports.ts";
import {
  type Asker,
  type Budget,
  type Checkpointer,
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
  if (llm === undefined && chatMiddleware.length > 0) {
    throw new OptionInvalid(
      `makeTestCtx puts chatMiddleware around llm; ${invoker === undefined ? "and there is none" : "an invoker brings its own"}.`,
    );
  }
  checkKeys("makeTestCtx's budget", options.budget ?? {}, ["maxCalls", "maxTokens"]);
  if (!["auto", "gated", "manual"].includes(options.autonomy ?? "auto")) {
    throw new OptionInvalid(`autonomy is ${JSON.stringify(options.autonomy)}; it is one of auto, gated, manual.`);
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
  span: ((...parts: unknown[]) => {
    const body = parts.find((part) => typeof part === "function");
    return body === undefined ? noopSpan : body(noopSpan);
  }) as OpenSpan<SpanPort>,
  currentSpanId: () => undefined,
  addEventToCurrentSpan: () => undefined,
};
