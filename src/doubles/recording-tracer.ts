import { checkKeys } from "./check-keys.ts";
import type { SpanBody, TraceContext, TracePort } from "./ports.ts";
import { RecordingSpan } from "./recording-span.ts";

type Attributes = Readonly<Record<string, unknown>>;

/** The open spans of one flow of the program, innermost last. */
interface Flow {
  readonly open: RecordingSpan[];
}

interface FlowStorage {
  getStore(): Flow | undefined;
  run<R>(flow: Flow, body: () => R): R;
}

/**
 * A tracer that keeps every span, in the order in which they were opened. `exporter` is given each when it closes.
 *
 * `span(name, kind, attrs, body)` runs the body in a span, which is the current one for everything that the body starts,
 * however it interleaves with others (where the platform can tell: Node). `using span = tracer.span(name, kind)` nests as
 * the block does.
 */
export class RecordingTracer implements TracePort {
  readonly spans: RecordingSpan[] = [];
  readonly #exporter: ((span: RecordingSpan) => void) | undefined;
  readonly #root: Flow = { open: [] };
  readonly #flows: FlowStorage | undefined = flowStorage();
  #ids = 0;

  constructor(options: { readonly exporter?: (span: RecordingSpan) => void } = {}) {
    checkKeys("RecordingTracer", options, ["exporter"]);
    this.#exporter = options.exporter;
  }

  span<R>(name: string, kind: string, attrs: Attributes, body: SpanBody<RecordingSpan, R>): R;
  span(name: string, kind: string, attrs?: Attributes): RecordingSpan;
  span<R>(name: string, kind: string, attrs: Attributes = {}, body?: SpanBody<RecordingSpan, R>): R | RecordingSpan {
    const outer = this.#flow;
    const flow: Flow = body === undefined || this.#flows === undefined ? outer : { open: [...outer.open] };
    const parent = outer.open.at(-1)?.context;
    const id = String(++this.#ids).padStart(16, "0");
    const context: TraceContext = { traceId: parent?.traceId ?? id.padStart(32, "0"), spanId: id };
    const span = new RecordingSpan(name, kind, attrs, context, () => {
      const place = flow.open.indexOf(span);
      if (place >= 0) flow.open.splice(place, 1);
      this.#exporter?.(span);
    });
    this.spans.push(span);
    flow.open.push(span);
    if (body === undefined) return span;
    return this.#flows === undefined ? runIn(span, body) : this.#flows.run(flow, () => runIn(span, body));
  }

  /** The innermost open span, or `undefined`. */
  currentSpanId(): TraceContext | undefined {
    return this.#flow.open.at(-1)?.context;
  }

  /** Something that happened; nothing where no span is open. */
  addEventToCurrentSpan(name: string, fields: Attributes = {}): void {
    this.#flow.open.at(-1)?.addEvent(name, fields);
  }

  get #flow(): Flow {
    return this.#flows?.getStore() ?? this.#root;
  }
}

function runIn<R>(span: RecordingSpan, body: SpanBody<RecordingSpan, R>): R {
  let result: R;
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
  return Promise.resolve(result).finally(() => span.end()) as R;
}

// Asked for by name, so that this file runs where there is none.
function flowStorage(): FlowStorage | undefined {
  const builtin = (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule?.("node:async_hooks");
  return builtin === undefined ? undefined : new builtin.AsyncLocalStorage<Flow>();
}
