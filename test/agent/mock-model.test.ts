import fc from "fast-check";
import { beforeAll, expect, test, vi } from "vitest";
import { createAgentClient, createMockAgentTransport, type PaiThreadTransportEvent } from "wiretape/agent";
import { loadReducer } from "../../src/agent/message-session.ts";
import { projectState } from "../../src/agent/project.ts";

type Mock = ReturnType<typeof createMockAgentTransport>;
type Event = PaiThreadTransportEvent;

const THREAD = "thread-1";

/** A program's step. A backend may refuse it; it may not break. */
const steps: Record<string, (mock: Mock) => Promise<unknown> | unknown> = {
  send: (mock) => mock.send({ threadId: THREAD, text: "Say." }),
  answer: (mock) => mock.responses.queue((r) => r.assistant([r.text("Yes, "), r.text("it is.")])),
  tool: (mock) => mock.responses.queue((r) => r.assistant([r.tool("look").result({ input: { a: 1 }, output: [1] })])),
  wait: (mock) =>
    mock.responses.queue((r) => r.assistant([r.tool("ask").waiting({ input: 1, action: { name: "ok", input: 2 } })])),
  twice: (mock) =>
    mock.responses.queue((r) =>
      r.assistant([
        r.tool("ask").waiting({ input: 1, action: { name: "ok", input: 2 } }),
        r.tool("pick").waiting({ input: 1, action: { name: "output", input: 1 } }),
      ]),
    ),
  fail: (mock) => mock.responses.queue((r) => r.error(new Error("No."))),
  stream: async (mock) => {
    const response = mock.responses.stream();
    if (mock.inspect.thread(THREAD)?.activeRunId == null || mock.responses.size() > 0) return;
    const text = response.text();
    await text.delta("Half ");
    await text.delta("a ");
    if (mock.inspect.requests.send().length % 2 === 0) return response.fail(new Error("Cut."));
    await text.end();
    await response.complete();
  },
  abort: async (mock) => {
    const response = mock.responses.stream();
    if (mock.inspect.thread(THREAD)?.activeRunId == null || mock.responses.size() > 0) return;
    await response.text("Until");
    await response.abort("enough");
  },
  submit: (mock) => {
    const [action] = mock.inspect.thread(THREAD)?.pending ?? [];
    return mock.submitAction({ threadId: THREAD, actionId: action?.actionId ?? "none", output: { ok: true } });
  },
  retry: (mock) => mock.retry({ threadId: THREAD }),
  regenerate: (mock) => mock.regenerate({ threadId: THREAD }),
  complete: (mock) => mock.events.completeRun(THREAD),
  failRun: (mock) => mock.events.failRun(THREAD, new Error("Pushed.")),
  rename: (mock) => mock.renameThread({ threadId: THREAD, title: "Named" }),
  delete: (mock) => mock.deleteThread(THREAD),
};

/**
 * Until the backend has nothing more to do by itself. All its work is in this process, so that turns of the event loop
 * are what it takes, however slow the machine.
 */
async function quiet(mock: Mock): Promise<void> {
  let before = "";
  for (let calm = 0; calm < 6; calm++) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = JSON.stringify(mock.inspect.thread(THREAD));
    if (now !== before) calm = 0;
    before = now;
  }
}

function watching(mock: Mock, signal: AbortSignal): Event[] {
  const events: Event[] = [];
  void (async () => {
    for await (const event of mock.watchThread(THREAD, { signal })) events.push(structuredClone(event));
  })();
  return events;
}

async function run(mock: Mock, program: readonly string[]): Promise<void> {
  for (const name of program) {
    // What a step refuses is the program's matter; that it is refused cleanly is this test's.
    await (async () => await steps[name]?.(mock))().catch((error: Error) => expect(error.message).not.toBe(""));
    await quiet(mock);
  }
}

/** Rules that hold of every stream of events. */
function checkStream(events: readonly Event[]): void {
  let instance = "";
  let revision = 0;
  let seq: number | undefined;
  for (const event of events) {
    const version =
      event.type === "snapshot"
        ? event.state.thread.version
        : event.type === "thread.head.changed"
          ? event.head.version
          : "version" in event
            ? event.version
            : undefined;
    // "Generation event revisions may trail a newer snapshot revision"
    if (version !== undefined && !event.type.startsWith("generation.")) {
      if (version.threadInstanceId === instance) expect(version.revision).toBeGreaterThanOrEqual(revision);
      instance = version.threadInstanceId;
      revision = version.revision;
    }
    if (event.type === "generation.started") seq = 0;
    if ("seq" in event && event.seq > 0) {
      expect(seq).toBe(event.seq - 1);
      seq = event.seq;
    }
    if (event.type === "generation.completed" || event.type === "generation.failed") seq = undefined;
  }
}

// What is loaded on first use comes from outside of this process, and would take its time in the middle of a program.
beforeAll(async () => void (await loadReducer()));

const programs = fc.array(fc.constantFrom(...Object.keys(steps), "send", "answer"), { maxLength: 14 });

test("random programs keep the protocol's rules, and every watcher ends in the backend's state", async () => {
  await fc.assert(
    fc.asyncProperty(programs, programs, async (before, after) => {
      const mock = createMockAgentTransport();
      const stop = new AbortController();
      const client = createAgentClient(mock);
      const early = watching(mock, stop.signal);
      const earlyThread = client.thread(THREAD);
      const seen: { early?: unknown; late?: unknown } = {};
      const follow = async (which: "early" | "late", thread: typeof earlyThread): Promise<void> => {
        for await (const state of thread.watch({ signal: stop.signal })) seen[which] = state;
      };
      void follow("early", earlyThread);

      await run(mock, before);
      const late = watching(mock, stop.signal);
      const lateThread = createAgentClient(mock).thread(THREAD);
      void follow("late", lateThread);
      await run(mock, after);
      await quiet(mock);

      checkStream(early);
      checkStream(late);
      await vi.waitFor(async () => {
        const raw = mock.inspect.thread(THREAD);
        const truth = projectState(await mock.getThreadState(THREAD));
        if (raw !== undefined) expect(projectState(raw)).toEqual(truth);
        expect(seen.early).toEqual(truth);
        expect(seen.late).toEqual(truth);
        expect(earlyThread.getState()).toEqual(truth);
        expect(lateThread.getState()).toEqual(truth);
      }, 20_000);
      stop.abort();
    }),
    { numRuns: 40 },
  );
}, 120_000);

test("the same program gives the same events, names and times", async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      const once = async (): Promise<[Event[], unknown]> => {
        const mock = createMockAgentTransport();
        const stop = new AbortController();
        const events = watching(mock, stop.signal);
        await run(mock, program);
        stop.abort();
        return [events, mock.inspect.thread(THREAD)];
      };
      expect(await once()).toEqual(await once());
    }),
    { numRuns: 30 },
  );
}, 60_000);
