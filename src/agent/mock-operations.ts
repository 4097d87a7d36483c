import { admission, later } from "./mock-admission.ts";
import { newTurn, rewritten, submitted, turnOf, withToolData } from "./mock-history.ts";
import { refusal } from "./mock-refusal.ts";
import type { MockRun } from "./mock-run.ts";
import type {
  AgentContract,
  MessageId,
  PaiMessageMetadata,
  PaiUIMessageChunk,
  PaiWireUIMessage,
  RunId,
  RunOperation,
  RunStateDTO,
  ThreadId,
} from "./protocol.ts";
import { toolDataChunk } from "./stream-tool.ts";
import type {
  AcceptedRun,
  AgentClientTransport,
  RegenerateInput,
  RetryInput,
  SendInput,
  SubmitActionInput,
  ToolDataInput,
} from "./transport.ts";
import type { CommitPoint, World } from "./world.ts";
import { currentMessages } from "./world-thread.ts";

/** What the operations stand on. */
export interface OperationContext<T extends AgentContract> {
  readonly world: World<T>;
  readonly initialMetadata: T["metadata"];
  fileUrl(fileId: string): string;
  /** A run was admitted: it takes a response, or waits for one. */
  begin(threadId: ThreadId, runId: RunId): void;
  runOf(threadId: ThreadId, runId: RunId): MockRun | undefined;
}

type Generating<T extends AgentContract> = Pick<
  AgentClientTransport<T>,
  "send" | "retry" | "regenerate" | "submitAction" | "writeToolData"
>;

/** The operations of a transport that generate, or write to what was generated. */
export function createOperations<T extends AgentContract>(context: OperationContext<T>): Generating<T> {
  const { world, begin } = context;

  function newRun(threadId: ThreadId, runId: RunId, operation: RunOperation, messageId: MessageId): RunStateDTO<T> {
    return {
      runId,
      threadId,
      status: "running",
      operation,
      initiator: "send",
      metadata: structuredClone(context.initialMetadata),
      messageId,
      createdAt: world.now(),
    };
  }

  async function send(input: SendInput<T>): Promise<AcceptedRun> {
    const { threadId } = input;
    const message = userMessage(context, input);
    const runId = message.metadata?.pai.runId as RunId;
    const messageId = message.id;
    let accepted: AcceptedRun | undefined;
    await world.commit(threadId, (point) => {
      const { version } = point;
      const run = newRun(threadId, runId, "send", messageId);
      if (point.record.activeRunId === null) {
        accepted = { threadId, runId, messageId, status: "running", version: later(version, 1) };
        return admission(world, point, { run, message });
      }
      const queueItemId = world.ids.next("queue");
      accepted = { threadId, runId, messageId, status: "queued", queueItemId, version };
      return [
        { type: "queue-item-added", version, item: { queueItemId, runId, message, createdAt: run.createdAt } },
        { type: "run.updated", version, run: { ...run, status: "queued" } },
      ];
    });
    if (accepted === undefined)
      throw refusal(`The backend was reset while it accepted a message of thread "${threadId}".`);
    if (accepted.status === "running") begin(threadId, runId);
    return accepted;
  }

  /** Writes a turn anew, after its messages were taken out of the history. */
  async function again(
    threadId: ThreadId,
    operation: "retry" | "regenerate",
    find: (point: CommitPoint<T>) => { messageId: MessageId; kept: readonly PaiWireUIMessage<T>[] },
  ): Promise<AcceptedRun> {
    if (!world.has(threadId)) throw refusal(`There is no thread "${threadId}" in which to ${operation} anything.`);
    let accepted: AcceptedRun | undefined;
    await world.commit(threadId, (point) => {
      refuseActive(point, threadId, operation);
      const { messageId, kept } = find(point);
      const runId = world.ids.next("run");
      const run = newRun(threadId, runId, operation, messageId);
      accepted = { threadId, runId, messageId, status: "running", version: later(point.version, 1) };
      return [rewritten(point, kept), ...admission(world, point, { run, after: 1 })];
    });
    if (accepted === undefined) throw refusal(`The backend was reset during a ${operation} of thread "${threadId}".`);
    begin(threadId, accepted.runId);
    return accepted;
  }

  return {
    send,
    retry: ({ threadId, runId }: RetryInput) =>
      again(threadId, "retry", ({ record }) => {
        const failedId = runId ?? record.error?.runId;
        const failed = record.runs.find((run) => run.runId === failedId);
        if (failed === undefined || failed.status !== "failed") {
          throw refusal(
            runId === undefined
              ? `Thread "${threadId}" has no failed turn to retry.`
              : `Thread "${threadId}" has no failed run "${runId}" to retry.`,
          );
        }
        const kept = record.messages.filter(
          ({ role, metadata }) => role !== "assistant" || metadata?.pai.runId !== failed.runId,
        );
        return { messageId: failed.messageId, kept };
      }),
    regenerate: ({ threadId, messageId }: RegenerateInput) =>
      again(threadId, "regenerate", ({ record }) => {
        const turn = turnOf(record, messageId);
        if (turn !== undefined) return turn;
        throw refusal(
          messageId === undefined
            ? `Thread "${threadId}" has no model message to regenerate.`
            : `Thread "${threadId}" has no model message "${messageId}" to regenerate.`,
        );
      }),
    async submitAction({ threadId, actionId, output }: SubmitActionInput) {
      let accepted: AcceptedRun | undefined;
      if (!world.has(threadId)) throw refusal(`There is no thread "${threadId}" with an action "${actionId}".`);
      await world.commit(threadId, (point) => {
        const { record, version } = point;
        const action = record.pending.find((each) => each.actionId === actionId);
        if (action === undefined) throw refusal(`Thread "${threadId}" has no pending action "${actionId}".`);
        refuseActive(point, threadId, "submit an action");
        const message = currentMessages(record).find(({ id }) => id === action.messageId);
        if (message === undefined) throw refusal(`The message of action "${actionId}" is not in thread "${threadId}".`);
        const replaced = submitted(message, actionId, output);
        const answered = { type: "message.appended", version, message: replaced } as const;
        const run = record.runs.find((each) => each.runId === action.runId);
        const waits = record.pending.some((each) => each.runId === action.runId && each.actionId !== actionId);
        // No event says that an action is not pending any more: the state does.
        if (run === undefined || waits) return [answered, { type: "state.changed" }];
        const { runId, messageId } = run;
        accepted = { threadId, runId, messageId, status: "running", version: later(version, 1) };
        const resumed = newTurn(run);
        return [answered, ...admission(world, point, { run: resumed, replaced, after: 1 }), { type: "state.changed" }];
      });
      if (accepted === undefined) return {};
      begin(threadId, accepted.runId);
      return { run: accepted };
    },
    async writeToolData(input: ToolDataInput) {
      const { threadId, runId, messageId, toolCallId, name } = input;
      const record = world.peek(threadId);
      const message = record?.messages.find(({ id }) => id === messageId);
      if (record === undefined || message === undefined) {
        throw refusal(`Thread "${threadId}" has no message "${messageId}" to which tool data could be written.`);
      }
      const chunk = toolDataChunk(toolCallId, name, structuredClone(input.data), input);
      const live = input.transient === true;
      const run = record.generation?.sessions.has(messageId) ? context.runOf(threadId, runId) : undefined;
      if (run !== undefined) {
        await (live ? run.show(chunk) : run.write(chunk));
        return;
      }
      await world.commit(threadId, (point) => {
        const { head, version } = point;
        if (live) {
          const shown = chunk as PaiUIMessageChunk<T>;
          return [{ type: "generation.message.chunk", version: head.version, runId, seq: 0, messageId, chunk: shown }];
        }
        const current = point.record.messages.find(({ id }) => id === messageId) ?? message;
        return [{ type: "message.appended", version, message: withToolData(current, chunk) }];
      });
    },
  };
}

function refuseActive<T extends AgentContract>({ record }: CommitPoint<T>, threadId: ThreadId, what: string): void {
  if (record.activeRunId === null) return;
  throw refusal(
    `Thread "${threadId}" cannot ${what} while run "${record.activeRunId}" is running: wait until it is idle.`,
  );
}

function userMessage<T extends AgentContract>(
  { world, fileUrl }: OperationContext<T>,
  { threadId, text, id, fileIds = [], metadata }: SendInput<T>,
): PaiWireUIMessage<T> {
  if (typeof text !== "string") throw refusal(`A message of thread "${threadId}" needs a text.`);
  const files = fileIds.map((fileId) => {
    const found = world.files.get(fileId);
    if (found === undefined) throw refusal(`There is no file "${fileId}" to send with a message.`);
    const { mediaType, filename } = found.file;
    return { type: "file", mediaType, filename, url: fileUrl(fileId) } as const;
  });
  const messageId = id ?? world.ids.next("msg");
  if (id !== undefined) {
    if (world.peek(threadId)?.messages.some((message) => message.id === id)) {
      throw refusal(`Thread "${threadId}" has a message "${id}" already.`);
    }
    world.ids.claim(id);
  }
  const pai = { runId: world.ids.next("run"), producer: "user", createdAt: world.now() } as const;
  return {
    id: messageId,
    role: "user",
    metadata: { ...structuredClone(metadata), pai } as PaiMessageMetadata<T>,
    parts: [{ type: "text", text }, ...files],
  };
}
