import type { SpanPort, TraceContext } from "./ports.ts";

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A span that records its name, kind, attributes and events. Dispose of it (`using`) or call `end()` to close it. */
export class RecordingSpan implements SpanPort, Disposable {
  readonly name: string;
  readonly kind: string;
  /** Those it was opened with, and what `set` changed. */
  readonly attrs: Record<string, unknown>;
  readonly events: SpanEvent[] = [];
  /** Made up by the tracer; absent for a span of one's own. */
  readonly context: TraceContext | undefined;
  ended = false;
  readonly #onEnd: ((span: RecordingSpan) => void) | undefined;

  constructor(
    name: string,
    kind: string,
    attrs: Readonly<Record<string, unknown>> = {},
    context?: TraceContext,
    onEnd?: (span: RecordingSpan) => void,
  ) {
    this.name = name;
    this.kind = kind;
    this.attrs = { ...attrs };
    this.context = context;
    this.#onEnd = onEnd;
  }

  set(key: string, value: unknown): void {
    this.attrs[key] = value;
  }

  addEvent(name: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.events.push({ name, fields: { ...fields } });
  }

  /** Closes the span; again is nothing. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#onEnd?.(this);
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
