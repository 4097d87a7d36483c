import type { PaiThreadTransportEvent, PaiThreadTransportState, ThreadVersion } from "../agent/protocol.ts";
import type { AcceptedRun, AgentClientTransport } from "../agent/transport.ts";

type Event = PaiThreadTransportEvent;

const NOON = "2026-01-01T12:00:00.000Z";
const ANSWERS = [
  ["At 21:05, ", "from platform 4. ", "Two couchettes are left."],
  undefined,
  ["Couchette 12, ", "lower berth."],
];

/**
 * The agent at the night-train desk, as a backend that needs no model: the first question is answered, the second
 * fails, and its retry is answered. It does what the demo asks for and refuses the rest.
 */
export function createDeskAgent(): AgentClientTransport {
  const watchers = new Set<(event: Event) => void>();
  const snapshot = emptyThread("desk");
  let revision = 0;
  let runs = 0;
  let messageId = "";

  const version = (): ThreadVersion => ({ threadInstanceId: "desk_1", revision: ++revision });
  const tell = async (event: Event): Promise<void> => {
    for (const watcher of watchers) watcher(event);
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const say = (text: string): Promise<void> => {
    messageId = `msg_${runs + 1}`;
    const pai = { producer: "user", createdAt: NOON } as const;
    const message = { id: messageId, role: "user", metadata: { pai }, parts: [{ type: "text", text }] } as const;
    return tell({ type: "message.appended", version: version(), message: message as never });
  };

  function accept(operation: "send" | "retry"): AcceptedRun {
    const answer = ANSWERS[runs++];
    const run = { runId: `run_${runs}`, threadId: "desk", operation, messageId, createdAt: NOON } as const;
    const admitted = version();
    void generate(answer, { ...run, status: "running", initiator: "send", metadata: {} }, admitted);
    return { threadId: "desk", runId: run.runId, messageId, status: "running", version: admitted };
  }
  type Run = Extract<Event, { type: "run.admitted" }>["run"];

  async function generate(answer: readonly string[] | undefined, run: Run, admitted: ThreadVersion): Promise<void> {
    const { runId } = run;
    await tell({ type: "run.admitted", version: admitted, run });
    await tell({ type: "generation.started", version: admitted, runId, seq: 0, baseMessages: [] });
    if (answer === undefined) {
      const error = { message: "The booking system is asleep", runId, operation: run.operation, messageId };
      return tell({ type: "generation.failed", version: version(), runId, error });
    }
    const written = `answer_${runId}`;
    const pai = { runId, producer: "model", createdAt: NOON } as const;
    const chunks = [
      { type: "start", messageId: written, messageMetadata: { pai } },
      { type: "text-start", id: "text" },
      ...answer.map((delta) => ({ type: "text-delta", id: "text", delta })),
      { type: "text-end", id: "text" },
      { type: "finish" },
    ];
    for (const [i, chunk] of chunks.entries())
      await tell({
        type: "generation.message.chunk",
        version: admitted,
        runId,
        seq: i + 1,
        messageId: written,
        chunk: chunk as never,
      });
    await tell({ type: "generation.completed", version: version(), runId });
  }

  const served: Partial<AgentClientTransport> = {
    supports: { watch: true, heads: false, files: false, commands: false, regeneration: false },
    async send({ text }) {
      await say(text);
      return accept("send");
    },
    retry: async () => accept("retry"),
    async *watchThread(_, { signal } = {}) {
      const events: Event[] = [{ type: "snapshot", state: snapshot }];
      let wake = (): void => undefined;
      const watcher = (event: Event): void => {
        events.push(event);
        wake();
      };
      const leave = (): void => wake();
      watchers.add(watcher);
      signal?.addEventListener("abort", leave);
      try {
        while (signal?.aborted !== true) {
          const event = events.shift();
          if (event !== undefined) yield event;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        watchers.delete(watcher);
      }
    },
  };
  return new Proxy(served as AgentClientTransport, {
    get: (target, name) => Reflect.get(target, name) ?? (() => Promise.reject(new Error("The desk does not do that."))),
  });
}

function emptyThread(id: string): PaiThreadTransportState {
  const version = { threadInstanceId: "desk_1", revision: 0 };
  return {
    thread: { id, title: "Night train", status: "idle", metadata: {}, version, createdAt: NOON, updatedAt: NOON },
    messages: [],
    runs: [],
    pending: [],
    activeRunId: null,
    queue: { items: [] },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    capabilities: { send: true, retry: true, regenerate: false, rename: false, delete: false },
    error: null,
  };
}
