import { expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import {
  delta,
  type Event,
  frames,
  modelMessage,
  runOf,
  type Step,
  scriptedTransport,
  start,
  started,
  stateOf,
  textPart,
  user,
  version,
} from "./scripted-transport.ts";

const COUNTS = [1_000, 10_000, 100_000];

/** How the deltas of a message lie: one text; two at once, with a tool's input between them. */
const SHAPES: Record<string, (index: number) => object> = {
  "one text": () => delta("word "),
  "three parts at once": (index) =>
    [
      delta("a "),
      { type: "reasoning-delta", id: "r1", delta: "b " },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "1" },
    ][index % 3] as object,
};

function script(count: number, shape: (index: number) => object): Step[] {
  const running = stateOf(2, { messages: [user("Hi")], runs: [runOf("running")], activeRunId: "run_1" });
  const opening = [
    start(),
    { type: "text-start", id: "t1" },
    { type: "reasoning-start", id: "r1" },
    { type: "tool-input-start", toolCallId: "c1", toolName: "count" },
  ];
  const chunks = [...opening, ...Array.from({ length: count }, (_, index) => shape(index))];
  const completed: Event = { type: "generation.completed", version: version(3), runId: "run_1" };
  return [{ type: "snapshot", state: running }, started(), ...frames(chunks), completed];
}

/** Milliseconds an event, at best of three, without anybody who reads a state before the end. */
async function cost(count: number, shape: (index: number) => object): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const steps = script(count, shape);
    const transport = scriptedTransport(stateOf(2), []);
    const events = steps[Symbol.iterator]();
    transport.watchThread = () => ({
      [Symbol.asyncIterator]: () => ({
        async next() {
          const next = events.next();
          return next.done ? new Promise<never>(() => undefined) : { done: false, value: next.value as Event };
        },
      }),
    });
    const thread = createAgentClient(transport).thread("thread-1");
    const run = await thread.send("Hi");
    transport.truth = stateOf(3, {
      messages: [user("Hi"), modelMessage([textPart("")])],
      runs: [runOf("completed")],
    });
    const begun = performance.now();
    await run.waitUntilIdle();
    best = Math.min(best, performance.now() - begun);
  }
  return best / count;
}

test.each(Object.entries(SHAPES))(
  "a hundred times the deltas cost about a hundred times as much: %s",
  async (_, shape) => {
    const costs: number[] = [];
    for (const count of COUNTS) costs.push(await cost(count, shape));
    if (process.env["WIRETAPE_BENCH"]) {
      console.log(COUNTS.map((count, index) => `${count}: ${Math.round(1000 / (costs[index] as number))} events/s`));
    }
    // Quadratic growth would be a factor of ten from each to the next.
    expect(costs[2]).toBeLessThan((costs[1] as number) * 4);
    expect(costs[2]).toBeLessThan((costs[0] as number) * 4);
  },
  60_000,
);
