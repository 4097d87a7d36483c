import { describe, expect, test } from "vitest";
import { FakeCtx } from "../../src/doubles/fake-ctx.ts";
import { RecordingSpan } from "../../src/doubles/recording-span.ts";
import { RecordingTracer } from "../../src/doubles/recording-tracer.ts";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("RecordingTracer", () => {
  test("keeps every span with its name, kind, attributes and events; the exporter gets each when it closes", () => {
    const exported: string[] = [];
    const tracer = new RecordingTracer({ exporter: ({ name }) => exported.push(name) });
    {
      using outer = tracer.span("outer", "agent", { a: 1 });
      outer.set("b", 2);
      {
        using _inner = tracer.span("inner", "tool");
        tracer.addEventToCurrentSpan("called", { x: 1 });
        expect(tracer.currentSpanId()?.spanId).toBe(_inner.context?.spanId);
        expect(tracer.currentSpanId()?.traceId).toBe(outer.context?.traceId);
      }
      outer.addEvent("done");
    }
    expect(exported).toEqual(["inner", "outer"]);
    expect(tracer.spans.map(({ name, kind, attrs, events }) => [name, kind, attrs, events])).toEqual([
      ["outer", "agent", { a: 1, b: 2 }, [{ name: "done", fields: {} }]],
      ["inner", "tool", {}, [{ name: "called", fields: { x: 1 } }]],
    ]);
    expect(tracer.currentSpanId()).toBeUndefined();
    tracer.addEventToCurrentSpan("nowhere");
  });

  test("a body runs in its span, synchronous or not, failing or not", async () => {
    const tracer = new RecordingTracer();
    expect(tracer.span("sync", "k", {}, (span) => span.name)).toBe("sync");
    expect(await tracer.span("async", "k", {}, async () => later(1).then(() => 7))).toBe(7);
    expect(() => tracer.span("throws", "k", {}, () => JSON.parse("{"))).toThrow(SyntaxError);
    await expect(tracer.span("rejects", "k", {}, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(tracer.spans.every(({ ended }) => ended)).toBe(true);
    expect(tracer.currentSpanId()).toBeUndefined();
  });

  test("attributes may be left out before a body", async () => {
    const tracer = new RecordingTracer();
    expect(tracer.span("s", "k", (span) => span.set("a", 1))).toBe(undefined);
    expect(tracer.spans.map(({ attrs, ended }) => [attrs, ended])).toEqual([[{ a: 1 }, true]]);
  });

  test("the exporter gets a span as it is when it closes, a failing one as well", async () => {
    const exported: [string, unknown][] = [];
    const tracer = new RecordingTracer({ exporter: ({ name, attrs }) => exported.push([name, { ...attrs }]) });
    const failing = tracer.span("late", "k", { a: 1 }, async (span) => {
      await later(1);
      span.set("b", 2);
      throw new Error("no");
    });
    expect(exported).toEqual([]);
    await expect(failing).rejects.toThrow("no");
    expect(exported).toEqual([["late", { a: 1, b: 2 }]]);
  });

  test("what goes on after the span that it began in belongs to what is open then", async () => {
    const tracer = new RecordingTracer();
    let late!: Promise<string | undefined>;
    using outer = tracer.span("outer", "k");
    tracer.span("ended", "k", () => {
      late = later(1).then(() => tracer.currentSpanId()?.spanId);
    });
    expect(await late).toBe(outer.context?.spanId);
    outer.end();
    tracer.span("both", "k", () =>
      tracer.span("ended", "k", () => {
        late = later(1).then(() => tracer.currentSpanId()?.spanId);
      }),
    );
    expect(await late).toBeUndefined();
  });

  test("where the platform cannot follow a flow, nesting still works", async () => {
    const { process } = globalThis;
    Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true });
    const tracer = new RecordingTracer();
    Object.defineProperty(globalThis, "process", { value: process, configurable: true, writable: true });
    await tracer.span("outer", "k", async (outer) => {
      await later(1);
      tracer.span("inner", "k", (inner) => {
        expect(tracer.currentSpanId()).toEqual(inner.context);
        expect(inner.context?.traceId).toBe(outer.context?.traceId);
      });
      tracer.addEventToCurrentSpan("after");
    });
    expect(tracer.spans[0]?.events).toEqual([{ name: "after", fields: {} }]);
    expect(tracer.currentSpanId()).toBeUndefined();
  });

  test("spans that interleave have their own inner ones", async () => {
    const tracer = new RecordingTracer();
    const work = (name: string, ms: number) =>
      tracer.span(name, "k", {}, async () => {
        await later(ms);
        using inner = tracer.span(`${name}/inner`, "k");
        tracer.addEventToCurrentSpan(name);
        await later(ms);
        return inner.context?.traceId;
      });
    const [a, b] = await Promise.all([work("a", 2), work("b", 3)]);
    expect(a).not.toBe(b);
    const inner = (name: string) => tracer.spans.find((span) => span.name === `${name}/inner`);
    expect([inner("a")?.events[0]?.name, inner("b")?.events[0]?.name]).toEqual(["a", "b"]);
    expect(tracer.spans.find(({ name }) => name === "a")?.context?.traceId).toBe(a);
  });

  test("closing twice is closing once", () => {
    let closed = 0;
    const tracer = new RecordingTracer({ exporter: () => closed++ });
    const span = tracer.span("s", "k");
    span.end();
    span.end();
    expect(closed).toBe(1);
    const own = new RecordingSpan("own", "k", { a: 1 });
    own.set("a", 2);
    own.end();
    expect([own.attrs, own.ended]).toEqual([{ a: 2 }, true]);
  });
});

test("FakeCtx records spans and observations", () => {
  const ctx = new FakeCtx({ scope: { orgId: "o" } });
  ctx.trace.span("prompt", "llm", { version: 3 }, () => undefined);
  ctx.observer.emit({ type: "seen" });
  expect(ctx.spans).toEqual([["prompt", "llm", { version: 3 }]]);
  expect(ctx.trace.spans).toHaveLength(1);
  expect(ctx.observations).toEqual([{ type: "seen" }]);
  expect([ctx.scope, new FakeCtx().scope]).toEqual([{ orgId: "o" }, {}]);
  ctx.trace.spans[0]?.set("version", 4);
  expect(ctx.spans[0]).toEqual(["prompt", "llm", { version: 4 }]);
  expect(() => ctx.checkCancelled()).not.toThrow();
  expect(() => new FakeCtx({ scop: {} } as never)).toThrow(/did you mean "scope"/);
});
