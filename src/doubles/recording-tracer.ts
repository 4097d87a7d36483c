import { checkKeys } from "./check-keys.ts";
import type { OpenSpan, SpanBody, TraceContext, TracePort } from "./ports.ts";
import { RecordingSpan } from "./recording-span.ts";

type Attributes = Readonly<Record<string, unknown>>;
type Body = SpanBody<RecordingSpan, unknown>;

/** The spans of one flow of the program, innermost last. */
interface Flow {
  readonly spans: RecordingSpan[];
}

interface FlowStorage {
  getStore(): Flow | undefined;
  run<R>(flow: Flow, body: () => R): R;
}

/**
 * A tracer that keeps every span, in the order in which they were opened. `exporter` is given each when it closes.
 *
 * `span(name, kind, attrs?, body)` runs the body in a span, which is the current one for everything that the body starts,
 * however that interleaves with others, and closes when the body is done, its promise included. Where the platform
 * cannot follow that (it needs Node's async_hooks), the current span is the one that was opened last.
 * `using span = tracer.span(name, kind)` is for what does not interleave: it is the current span of all that goes on in
 * the same flow until it is disposed of.
 */
export class RecordingTracer implements TracePort {
  readonly spans: RecordingSpan[] = [];
  readonly span: OpenSpan<RecordingSpan> = ((
    name: string,
    kind: string,
    attrs: Attributes | Body = {},
    body?: Body,
  ): unknown =>
    typeof attrs === "function" ? this.#open(name, kind, {}, attrs) : this.#open(name, kind, attrs, body)) as never;
  readonly #exporter: ((span: RecordingSpan) => void) | undefined;
  readonly #root: Flow = { spans: [] };
  readonly #flows: FlowStorage | undefined = flowStorage();
  #ids = 0;

  constructor(options: { readonly exporter?: (span: RecordingSpan) => void } = {}) {
    checkKeys("RecordingTracer", options, ["exporter"]);
    this.#exporter = options.exporter;
  }

  /** The innermost open span, by ids that count up, or `undefined`. */
  currentSpanId(): TraceContext | undefined {
    return this.#current?.context;
  }

  /** Something that happened; nothing where no span is open. */
  addEventToCurrentSpan(name: string, fields: Attributes = {}): void {
    this.#current?.addEvent(name, fields);
  }

  #open(name: string, kind: string, attrs: Attributes, body: Body | undefined): unknown {
    const outer = this.#flow;
    const flow: Flow = body === undefined || this.#flows === undefined ? outer : { spans: [...outer.spans] };
    const id = String(++this.#ids).padStart(16, "0");
    const traceId = this.#current?.context?.traceId ?? id.padStart(32, "0");
    const span = new RecordingSpan(name, kind, attrs, { traceId, spanId: id }, () => {
      flow.spans.splice(flow.spans.indexOf(span), 1);
      this.#exporter?.(span);
    });
    this.spans.push(span);
    flow.spans.push(span);
    if (body === undefined) return span;
    return this.#flows === undefined ? runIn(span, body) : this.#flows.run(flow, () => runIn(span, body));
  }

  get #flow(): Flow {
    return this.#flows?.getStore() ?? this.#root;
  }

  // What goes on after the span that it was started in belongs to the next one that is still open.
  get #current(): RecordingSpan | undefined {
    return this.#flow.spans.findLast(({ ended }) => !ended);
  }
}

function runIn(span: RecordingSpan, body: Body): unknown {
  let result: unknown;
  try {
    result = body(span);
  } catch (error) {
    span.end();
    throw error;
  }
  if (typeof (result as PromiseLike<unknown> | undefined)?.then !== "function") {
    span.end();
    return result;
  }
  return Promise.resolve(result).finally(() => span.end());
}

// Asked for by name, so that this file runs where there is none.
function flowStorage(): FlowStorage | undefined {
  const builtin = (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule?.("node:async_hooks");
  return builtin === undefined ? undefined : new builtin.AsyncLocalStorage<Flow>();
}
