import type { UIMessage, UIMessageChunk } from "ai";
import { createMessageSession, type MessageSession } from "./message-session.ts";
import type {
  MessageId,
  PaiMessageFacts,
  PaiThreadGenerationEvent,
  PaiThreadMessageChunkEvent,
  PaiWireUIMessage,
  RunId,
} from "./protocol.ts";
import { sameJson } from "./reduce-same.ts";

type Started = Extract<PaiThreadGenerationEvent, { type: "generation.started" }>;
type Ended = Extract<PaiThreadGenerationEvent, { type: "generation.error" | "generation.aborted" }>;

/** What became of a retained frame. `shell`: a message that the thread did not have before. */
export type FrameOutcome = "taken" | "duplicate" | { readonly shell: PaiWireUIMessage } | { readonly fault: string };

/** One generation while its replay is read: the authority for every message that the model writes in its run. */
export interface GenerationReplay {
  readonly runId: RunId;
  /** Of the last frame that was taken. */
  readonly seq: number;
  /** Whether this is the same announcement once more. */
  isSame(started: Started): boolean;
  /** A chunk with a sequence of 1 or more. `find` looks a message of the thread up. */
  chunk(event: PaiThreadMessageChunkEvent, find: (id: MessageId) => PaiWireUIMessage | undefined): FrameOutcome;
  /** The end of the reduction stream; the generation stays open until it is closed. */
  end(event: Ended): FrameOutcome;
  /** Messages of the base as they were announced, later ones of the run emptied, those that are missing added. */
  restore(messages: readonly PaiWireUIMessage[]): readonly PaiWireUIMessage[];
  /** The messages as they were last settled, by id. */
  readonly settled: ReadonlyMap<MessageId, PaiWireUIMessage>;
  /** The messages with every chunk that was taken before this call. Rejects with a `ReductionFault`. */
  settle(): Promise<ReadonlyMap<MessageId, PaiWireUIMessage>>;
  close(): void;
}

/** Opens the replay that a `generation.started` announces. */
export function openGeneration(started: Started): GenerationReplay {
  const { runId } = started;
  const base = new Map(started.baseMessages.map((message) => [message.id, message as PaiWireUIMessage]));
  const frames: (PaiThreadMessageChunkEvent | Ended)[] = [];
  const sessions = new Map<MessageId, MessageSession>();
  const shells = new Map<MessageId, PaiWireUIMessage>();
  let ended = false;

  const settledMessages = (): ReadonlyMap<MessageId, PaiWireUIMessage> =>
    new Map([...sessions].map(([id, session]) => [id, session.settled as PaiWireUIMessage]));

  /** Whether the frame is the next one; if not, what became of it. */
  function inOrder(event: PaiThreadMessageChunkEvent | Ended): FrameOutcome | undefined {
    const known = frames[event.seq - 1];
    if (known !== undefined) {
      return sameFrame(known, event)
        ? "duplicate"
        : { fault: `sequence ${event.seq} of run ${runId} came again with another content` };
    }
    if (event.seq !== frames.length + 1) {
      return { fault: `a gap in run ${runId}: sequence ${event.seq} came after ${frames.length}` };
    }
    return ended ? { fault: `run ${runId} went on after its reduction had ended` } : undefined;
  }

  return {
    runId,
    get seq() {
      return frames.length;
    },
    isSame: (other) => other.runId === runId && sameJson(other.baseMessages, started.baseMessages),
    chunk(event, find) {
      const done = inOrder(event);
      if (done !== undefined) return done;
      const { messageId, chunk } = event;
      let session = sessions.get(messageId);
      const message = session === undefined || chunk.type === "start" ? find(messageId) : undefined;
      const fault =
        chunk.type === "start"
          ? untrustedStart(event, message)
          : session === undefined && untrustedOwner(runId, messageId, message);
      if (fault) return { fault };
      const shell = message ?? shellOf(event);
      if (session === undefined) {
        session = createMessageSession(shell as UIMessage);
        sessions.set(messageId, session);
        if (message === undefined) shells.set(messageId, shell);
      }
      frames.push(event);
      session.push(chunk as UIMessageChunk);
      return message === undefined && chunk.type === "start" ? { shell } : "taken";
    },
    end(event) {
      const done = inOrder(event);
      if (done !== undefined) return done;
      frames.push(event);
      ended = true;
      return "taken";
    },
    restore(messages) {
      const restored = messages.map((message) => {
        const before = base.get(message.id);
        if (before !== undefined) return before;
        return isModelMessageOf(message, runId) ? { ...message, parts: [] } : message;
      });
      const present = new Set(restored.map(({ id }) => id));
      const missing = [...base.values(), ...shells.values()].filter(({ id }) => !present.has(id));
      return missing.length === 0 ? restored : [...restored, ...missing];
    },
    get settled() {
      return settledMessages();
    },
    async settle() {
      const now = [...sessions].map(
        async ([id, session]) => [id, (await session.settle()) as PaiWireUIMessage] as const,
      );
      return new Map(await Promise.all(now));
    },
    close() {
      for (const session of sessions.values()) session.close();
    },
  };
}

/** The facts that the backend states about a message. */
export function factsOf(message: { readonly metadata?: unknown }): PaiMessageFacts | undefined {
  return (message.metadata as { pai?: PaiMessageFacts } | undefined)?.pai;
}

/** A message that a run's generation may write. */
export function isModelMessageOf(message: PaiWireUIMessage, runId: RunId): boolean {
  const facts = factsOf(message);
  return message.role === "assistant" && facts?.producer === "model" && facts.runId === runId;
}

function sameFrame(left: PaiThreadMessageChunkEvent | Ended, right: PaiThreadMessageChunkEvent | Ended): boolean {
  if (left === right) return true;
  // The same frame may be replayed with the version of the moment.
  const { version: _, ...one } = left;
  const { version: __, ...other } = right;
  return sameJson(one, other);
}

function shellOf({ messageId, chunk }: PaiThreadMessageChunkEvent): PaiWireUIMessage {
  const metadata = chunk.type === "start" ? chunk.messageMetadata : undefined;
  return { id: messageId, role: "assistant", metadata, parts: [] } as unknown as PaiWireUIMessage;
}

function untrustedStart(
  { runId, messageId, chunk }: PaiThreadMessageChunkEvent,
  message: PaiWireUIMessage | undefined,
): string | undefined {
  if (chunk.type !== "start") return undefined;
  const facts = factsOf({ metadata: chunk.messageMetadata });
  const stated = `the start of message ${messageId} in run ${runId}`;
  if (chunk.messageId !== messageId) return `${stated} names message ${String(chunk.messageId)}`;
  if (facts?.runId !== runId) return `${stated} names run ${String(facts?.runId)}`;
  if (typeof facts.createdAt !== "string") return `${stated} does not say when the message was created`;
  if (message === undefined) return undefined;
  const known = factsOf(message);
  if (known?.createdAt !== facts.createdAt)
    return `${stated} says it was created ${facts.createdAt}, known is ${String(known?.createdAt)}`;
  return untrustedOwner(runId, messageId, message);
}

function untrustedOwner(runId: RunId, messageId: MessageId, message: PaiWireUIMessage | undefined): string | undefined {
  if (message === undefined) return `a chunk of run ${runId} for message ${messageId}, which nothing has started`;
  if (isModelMessageOf(message, runId)) return undefined;
  return `a chunk of run ${runId} for message ${messageId}, which is not the model's in this run`;
}
