import { expect, test } from "vitest";
import { agentTransportSuite, type RequirementId, type SuiteContract } from "wiretape/conformance";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
import type { PaiThreadTransportEvent } from "../../src/agent/protocol.ts";
import type { AgentClientTransport } from "../../src/agent/transport.ts";
import { scriptOfMock } from "./mock-script.ts";

/** The suite must catch a transport that breaks a rule: each fault here breaks one, and is caught by a scenario that cites it. */

type Transport = AgentClientTransport<SuiteContract>;
type Loose = Record<string, unknown> & { type: string };
type WatchEvent = PaiThreadTransportEvent<SuiteContract>;
type Fault = (real: Transport) => Partial<Transport>;

const supports = { watch: true, heads: true, files: true, commands: true, regeneration: true };

/** Changes the events of every watch; `nth` is the how manieth watch it is. */
function events(change: (event: Loose, about: { nth: number; at: number }) => readonly unknown[]): Fault {
  return (real) => {
    let watches = 0;
    return {
      async *watchThread(threadId, options) {
        const nth = watches++;
        let at = 0;
        for await (const event of real.watchThread(threadId, options)) {
          yield* change(structuredClone(event) as unknown as Loose, { nth, at: at++ }) as readonly WatchEvent[];
        }
      },
    };
  };
}
// biome-ignore lint/suspicious/noExplicitAny: faults reach into states without regard for their types
function state(change: (state: any) => void): Fault {
  return (real) => ({
    async getThreadState(threadId) {
      const copy = structuredClone(await real.getThreadState(threadId));
      change(copy);
      return copy;
    },
  });
}
// biome-ignore lint/suspicious/noExplicitAny: as above
const each = (field: "messages" | "pending", change: (one: any) => void): Fault =>
  state((s) => {
    for (const one of s[field]) change(one);
  });
function heads(dropped: string): Fault {
  return (real) => ({
    async *watchThreadHeads(options) {
      for await (const event of real.watchThreadHeads(options))
        if ((event as { reason?: string }).reason !== dropped) yield event;
    },
  });
}
const of = (type: string, change: (event: Loose) => unknown): Fault =>
  events((event) => [event.type === type ? { ...event, ...(change(event) as object) } : event]);

const FAULTS: readonly [RequirementId, string, Fault][] = [
  [
    "core.empty-thread",
    "a new thread is running",
    state((s) => void (s.runs.length === 0 && (s.thread.status = "running"))),
  ],
  ["core.state-whole", "an empty queue is left out", state((s) => void (s.queue.items.length === 0 && delete s.queue))],
  ["core.safe-fields", "a storage field crosses", each("messages", (m) => void (m.visibility = "all"))],
  ["core.send-owns-input", "the input stands twice", state((s) => void s.messages.unshift(...s.messages.slice(0, 1)))],
  [
    "core.message-facts",
    "messages say nothing of their run",
    each("messages", (m) => void delete m.metadata.pai.runId),
  ],
  ["core.error-context", "the error forgets its operation", state((s) => void (s.error && delete s.error.operation))],
  ["core.run-error", "a failed run stays active", state((s) => void (s.error && (s.activeRunId = s.error.runId)))],
  ["core.implicit-output", "an implicit action has a suspend", each("pending", (p) => void (p.suspendName = "output"))],
  ["core.declared-output", "a declared suspend loses its name", each("pending", (p) => void delete p.suspendName)],
  [
    "core.incarnation",
    "a new life has the old incarnation",
    state((s) => void (s.thread.version.threadInstanceId = "same")),
  ],
  ["core.submit-unknown", "any action can be submitted", () => ({ submitAction: async () => ({}) })],
  [
    "core.rename",
    "a rename is not kept",
    (real) => ({
      renameThread: async ({ threadId, title }) => ({ ...(await real.getThreadState(threadId)).thread, title }),
    }),
  ],
  ["core.delete", "nothing is deleted", () => ({ deleteThread: async () => undefined })],
  [
    "core.queue",
    "a queued run is told as running",
    (real) => ({ send: async (input) => ({ ...(await real.send(input)), status: "running" }) }),
  ],
  [
    "watch.snapshot-first",
    "an event comes before the snapshot",
    events((event, { at }) => (at === 0 ? [{ type: "state.changed" }, event] : [event])),
  ],
  [
    "watch.raw-snapshot",
    "the snapshot is projected",
    of("snapshot", (event) => ({ state: { ...(event.state as object), pending: [] } })),
  ],
  [
    "watch.include-initial",
    "includeInitial is not looked at",
    (real) => ({ watchThread: (threadId, { signal } = {}) => real.watchThread(threadId, signal ? { signal } : {}) }),
  ],
  [
    "watch.started",
    "a generation starts with what is not the model's",
    of("generation.started", () => ({ baseMessages: [{ id: "msg_1", role: "user", parts: [] }] })),
  ],
  [
    "watch.sequence",
    "a number is left out",
    of("generation.message.chunk", (event) => ({
      seq: (event.seq as number) > 2 ? (event.seq as number) + 1 : event.seq,
    })),
  ],
  [
    "watch.sequence",
    "frames are numbered from 0",
    of("generation.message.chunk", (event) => ({ seq: (event.seq as number) - 1 })),
  ],
  [
    "watch.start-chunk",
    "the start has no facts",
    of("generation.message.chunk", (event) => ({ chunk: { ...(event.chunk as object), messageMetadata: {} } })),
  ],
  [
    "watch.base-messages",
    "a resumed generation starts from nothing",
    of("generation.started", () => ({ baseMessages: [] })),
  ],
  ["watch.admitted-first", "nothing is admitted", events((event) => (event.type === "run.admitted" ? [] : [event]))],
  [
    "watch.completed",
    "completion is told twice over",
    events((event) =>
      event.type === "generation.started" ? [event, { ...event, type: "generation.completed" }] : [event],
    ),
  ],
  [
    "watch.failed",
    "the failure has another error",
    of("generation.failed", () => ({ error: { message: "Something went wrong" } })),
  ],
  ["watch.aborted", "an abort has no reason", of("generation.aborted", () => ({ reason: undefined }))],
  [
    "watch.native-chunks",
    "deltas are empty",
    of("generation.message.chunk", (event) => ({ chunk: { ...(event.chunk as object), delta: "" } })),
  ],
  [
    "watch.no-checkpoints",
    "a checkpoint is appended",
    events((event) =>
      event.type === "generation.completed"
        ? [
            {
              type: "message.appended",
              version: event.version,
              message: { id: "msg_2", role: "assistant", parts: [] },
            },
            event,
          ]
        : [event],
    ),
  ],
  [
    "watch.late-replay",
    "a late watcher misses the first frames",
    events((event, { nth }) => (nth > 0 && event.seq === 1 ? [] : [event])),
  ],
  ["watch.versions", "an event has no version", of("run.updated", () => ({ version: undefined }))],
  [
    "watch.revision",
    "a revision goes back",
    of("run.updated", (event) => ({ version: { ...(event.version as object), revision: 0 } })),
  ],
  [
    "watch.live-only",
    "live data is numbered",
    of("generation.message.chunk", (event) => ({ seq: event.seq === 0 ? 9 : event.seq })),
  ],
  [
    "watch.appended",
    "the input comes twice",
    events((event) => (event.type === "message.appended" ? [event, event] : [event])),
  ],
  [
    "watch.head-changed",
    "a rename is told as something else",
    of("thread.head.changed", () => ({ reason: "activity" })),
  ],
  ["watch.queue-removed", "an admitted item was recalled", of("queue-item-removed", () => ({ reason: "recalled" }))],
  [
    "watch.queue-added",
    "a queued item has no run",
    of("queue-item-added", () => ({ item: { message: { parts: [] } } })),
  ],
  [
    "watch.two-watchers",
    "the second watcher sees more",
    events((event, { nth }) => (nth === 1 ? [event, { type: "state.changed" }] : [event])),
  ],
  [
    "watch.values",
    "unknown fields are dropped",
    of("thread.head.changed", (event) => ({
      later: undefined,
      head: { ...(event.head as object), future: undefined },
    })),
  ],
  [
    "watch.abort",
    "an abort is an error",
    (real) => ({
      async *watchThread(threadId, options) {
        yield* real.watchThread(threadId, options);
        options?.signal?.throwIfAborted();
      },
    }),
  ],
  [
    "heads.abort",
    "an abort is an error",
    (real) => ({
      async *watchThreadHeads(options) {
        yield* real.watchThreadHeads(options);
        options?.signal?.throwIfAborted();
      },
    }),
  ],
  ["heads.created", "a new thread is not told", heads("created")],
  ["heads.deleted", "a deleted thread is not told", heads("deleted")],
  [
    "files.bytes",
    "files are read as text",
    (real) => ({
      async readFile(fileId) {
        const { file, body } = await real.readFile(fileId);
        return { file, body: new Blob([await body.text()]) };
      },
    }),
  ],
  [
    "files.unknown",
    "an unknown file is an empty one",
    () => ({
      readFile: async (fileId) => ({ file: { fileId, filename: "", mediaType: "", size: 0 }, body: new Blob() }),
    }),
  ],
  [
    "files.upload",
    "metadata is lost",
    (real) => ({ uploadFile: ({ metadata: _, ...input }) => real.uploadFile(input) }),
  ],
  [
    "commands.input",
    "inputs are texts",
    (real) => ({ executeCommand: (call) => real.executeCommand({ ...call, input: JSON.stringify(call.input) }) }),
  ],
  [
    "commands.error",
    "the message is lost",
    (real) => ({
      executeCommand: (call) =>
        real.executeCommand(call).catch(() => {
          throw new Error("Internal error");
        }),
    }),
  ],
  [
    "commands.unknown",
    "an unknown command answers nothing",
    (real) => ({
      executeCommand: (call) => (call.name === "unheard" ? Promise.resolve(undefined) : real.executeCommand(call)),
    }),
  ],
  [
    "regeneration.retry",
    "a retry is a send",
    (real) => ({ retry: ({ threadId }) => real.send({ threadId, text: "Draft the memo." }) }),
  ],
  [
    "regeneration.retry-nothing",
    "a retry of nothing sends",
    (real) => ({ retry: (input) => real.retry(input).catch(() => real.send({ ...input, text: "" })) }),
  ],
  ["regeneration.regenerate", "the old answer stays", state((s) => void s.messages.push(...s.messages.slice(-1)))],
];

/** Runs the scenarios that cite a requirement, or all of them, over a mock with a fault; gives what failed. */
async function failures(fault: Fault, id?: RequirementId): Promise<string[]> {
  const registered: [name: string, run: () => Promise<void>][] = [];
  agentTransportSuite({
    test: (name, run) => registered.push([name, run]),
    expect,
    supports,
    create() {
      const mock = createMockAgentTransport<SuiteContract>({});
      const transport: Transport = { ...mock, ...fault(mock) };
      return { transport, script: scriptOfMock(mock), dispose: () => mock.reset() };
    },
  });
  const chosen = registered.filter(([name]) => id === undefined || name.split(/[ (),]+/).includes(id));
  const outcomes = await Promise.allSettled(chosen.map(([, run]) => run()));
  return outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
}

test("without a fault nothing fails", async () => {
  expect(await failures(() => ({}))).toEqual([]);
  expect(await failures(events((event) => [event]))).toEqual([]);
});

test.concurrent.each(FAULTS)("%s: %s", async (id, _fault, fault) => {
  expect(await failures(fault, id)).not.toEqual([]);
});
