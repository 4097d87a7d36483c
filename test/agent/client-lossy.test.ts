import fc from "fast-check";
import { expect, test } from "vitest";
import { createAgentClient } from "../../src/agent/client.ts";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
import { projectState, type ThreadState } from "../../src/agent/project.ts";
import type { PaiThreadTransportEvent } from "../../src/agent/protocol.ts";

type Mock = ReturnType<typeof createMockAgentTransport>;
const THREAD = "thread-1";

const steps: Record<string, (mock: Mock) => Promise<unknown> | unknown> = {
  send: (mock) => mock.send({ threadId: THREAD, text: "Say." }),
  answer: (mock) =>
    mock.responses.queue((r) =>
      r.assistant([r.text("Yes, it is."), r.tool("look").result({ input: { a: 1 }, output: [1] })]),
    ),
  wait: (mock) =>
    mock.responses.queue((r) => r.assistant([r.tool("ask").waiting({ input: 1, action: { name: "ok", input: 2 } })])),
  fail: (mock) => mock.responses.queue((r) => r.error(new Error("No."))),
  stream: async (mock) => {
    if (mock.inspect.thread(THREAD)?.activeRunId == null || mock.responses.size() > 0) return;
    const response = mock.responses.stream();
    const text = response.text();
    for (const word of ["One ", "two ", "three ", "four."]) await text.delta(word);
    await text.end();
    await response.complete();
  },
  submit: (mock) => {
    const [action] = mock.inspect.thread(THREAD)?.pending ?? [];
    return mock.submitAction({ threadId: THREAD, actionId: action?.actionId ?? "none", output: { ok: true } });
  },
  retry: (mock) => mock.retry({ threadId: THREAD }),
  rename: (mock) => mock.renameThread({ threadId: THREAD, title: "Named" }),
  delete: (mock) => mock.deleteThread(THREAD),
};

type Fate = "pass" | "drop" | "twice" | "late" | "close" | "garble";

/** The events of a watch with what a bad network does to them. */
async function* lossy(
  events: AsyncIterable<PaiThreadTransportEvent>,
  fate: () => Fate,
  held: PaiThreadTransportEvent[],
  older: () => PaiThreadTransportEvent | undefined,
): AsyncGenerator<PaiThreadTransportEvent> {
  let first = true;
  for await (const event of events) {
    const what = fate();
    if (first) {
      first = false;
      // A backend that reads from a replica: its snapshot may lag behind what it has accepted.
      yield (what === "pass" ? undefined : older()) ?? structuredClone(event);
      continue;
    }
    if (what === "close") return;
    if (what === "garble") yield { type: event.type, version: null } as never;
    if (what === "late") held.push(structuredClone(event));
    if (what === "pass" || what === "twice") yield structuredClone(event);
    if (what === "twice") yield structuredClone(event);
    if (held.length > 2) yield held.shift() as PaiThreadTransportEvent;
  }
}

function statusOf(mock: Mock, runId: string): string {
  return mock.inspect.thread(THREAD)?.runs.find((run) => run.runId === runId)?.status ?? "gone";
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
};

/** What no state may show, whatever was lost on the way to it. */
function checkState(state: ThreadState, before: ThreadState | undefined): void {
  const ids = state.messages.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { role, parts } of state.messages) {
    if (role !== "assistant") continue;
    const texts = parts.filter((part) => part.type === "text").map(({ text }) => text);
    for (const text of texts)
      expect("Yes, it is.".startsWith(text) || "One two three four.".startsWith(text)).toBe(true);
  }
  const now = state.thread.version;
  const then = before?.thread.version;
  if (then !== undefined && then.threadInstanceId === now.threadInstanceId)
    expect(now.revision).toBeGreaterThanOrEqual(then.revision);
}

test("whatever is dropped, doubled, delayed, garbled or cut, the client ends in the backend's state", async () => {
  let faults = 0;
  let lagged = 0;
  let waits = 0;
  const fates = fc.infiniteStream(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant<Fate>("pass") },
      { weight: 4, arbitrary: fc.constantFrom<Fate>("drop", "twice", "late", "close", "garble") },
    ),
  );
  const program = fc.array(fc.constantFrom(...Object.keys(steps), "ask", "ask", "answer", "stream"), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(program, fates, async (names, fatesOf) => {
      const mock = createMockAgentTransport();
      const held: PaiThreadTransportEvent[] = [];
      let bad = true;
      const fate = (): Fate => {
        const { value } = bad ? fatesOf.next() : { value: "pass" as const };
        if (value !== "pass") faults++;
        return value;
      };
      let before: PaiThreadTransportEvent | undefined;
      let laggedBehind = false;
      const older = (): PaiThreadTransportEvent | undefined => {
        laggedBehind ||= before !== undefined;
        lagged += before === undefined ? 0 : 1;
        return before;
      };
      const transport = {
        ...mock,
        watchThread: (...[id, options]: Parameters<Mock["watchThread"]>) =>
          lossy(mock.watchThread(id, options), fate, held, older),
      };
      const client = createAgentClient(transport, { clock: { now: () => 0, sleep: () => settled() } });
      const thread = client.thread(THREAD);
      const stop = new AbortController();
      let last: ThreadState | undefined;
      const watched = (async () => {
        // The backend may end an idle watch, and patience may end: an application watches again.
        while (!stop.signal.aborted) {
          try {
            for await (const state of thread.watch({ signal: stop.signal })) {
              checkState(state, laggedBehind ? undefined : last);
              last = state;
            }
          } catch (error) {
            if ((error as Error).name !== "AgentWatchFailed") throw error;
          }
          await settled();
        }
      })();
      watched.catch(() => undefined);
      await settled();
      const runs: { readonly runId: string; ended: boolean }[] = [];
      /** A run's wait ends only when the run has, in the backend. */
      const ask = async (): Promise<void> => {
        const { runId, waitUntilIdle } = await thread.send("Say.");
        const run = { runId, ended: false };
        runs.push(run);
        waiting.push(
          waitUntilIdle().then(
            () => {
              run.ended = true;
              waits++;
              expect(statusOf(mock, runId)).toMatch(/^(completed|failed|aborted|gone)$/);
            },
            (error: Error) => {
              run.ended = true; // patience may end
              expect(error.name).toBe("AgentWatchFailed");
            },
          ),
        );
      };
      const waiting: Promise<void>[] = [];
      for (const name of names) {
        before = { type: "snapshot", state: await mock.getThreadState(THREAD) };
        if (name === "ask") {
          await ask();
          await settled();
          continue;
        }
        await (async () => await steps[name]?.(mock))().catch((error: Error) => expect(error.message).not.toBe(""));
        await settled();
      }
      bad = false;
      before = undefined; // a good network hands out no stale snapshot: nothing would follow that puts it right
      await settled();
      mock.events.pushThread(THREAD, { type: "state.changed" });
      await settled();
      // What was held back all the time comes when everything is over.
      for (const event of held.splice(0)) mock.events.pushThread(THREAD, event);
      await settled();
      await settled();
      const truth = projectState(await mock.getThreadState(THREAD));
      expect(thread.getState()).toEqual(truth);
      expect(last).toEqual(truth);
      for (const { runId, ended } of runs)
        expect(ended).toBe(/^(completed|failed|aborted|gone)$/.test(statusOf(mock, runId)));
      stop.abort();
      await watched;
      // What still waits waits for nothing: the thread goes.
      await mock.deleteThread(THREAD).catch(() => undefined); // it may be deleted already
      await Promise.all(waiting);
    }),
    { numRuns: 50 },
  );
  expect(faults).toBeGreaterThan(100);
  expect(lagged).toBeGreaterThan(5);
  expect(waits).toBeGreaterThan(10);
}, 60_000);
