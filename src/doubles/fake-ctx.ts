import { checkKeys } from "./check-keys.ts";
import type { Autonomy, Ctx, Observer, Scope } from "./ports.ts";
import { RecordingTracer } from "./recording-tracer.ts";

/** The least that a context has to have, and everything that was observed in it. It is never cancelled. */
export class FakeCtx implements Ctx {
  readonly correlationId: string = "fake-run";
  readonly autonomy: Autonomy = "manual";
  readonly scope: Scope;
  readonly trace: RecordingTracer = new RecordingTracer();
  /** What was emitted, in order. */
  readonly observations: unknown[] = [];
  readonly observer: Observer = { emit: (event) => void this.observations.push(event) };

  constructor(options: { readonly scope?: Scope | undefined } = {}) {
    checkKeys("FakeCtx", options, ["scope"]);
    this.scope = options.scope ?? {};
  }

  /** The tracer's spans as tuples, in the order in which they were opened. */
  get spans(): [name: string, kind: string, attrs: Record<string, unknown>][] {
    return this.trace.spans.map(({ name, kind, attrs }) => [name, kind, attrs]);
  }

  checkCancelled(): void {
    // never cancelled: there is nothing to throw
  }
}
