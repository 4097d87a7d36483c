import type { AgentContract, FileRecord } from "../../agent/protocol.ts";
import type { AgentClientTransport, TransportSupports } from "../../agent/transport.ts";
import type { Json } from "../../cassette/schema.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import type { Session } from "../../engine/session.ts";
import { agentTape, type TapedParts } from "./agent-tape.ts";
import type { PlayedWorld } from "./played-world.ts";
import { fileFrom, storedFile } from "./stored-file.ts";
import { storedUpload } from "./stored-input.ts";

const EVERYTHING: TransportSupports = { watch: true, heads: true, files: true, commands: true, regeneration: true };

/** A transport on tape: each operation is played where the recording answers it, else made for real and recorded. */
export function tapedTransport<T extends AgentContract>(
  session: Session,
  parts: TapedParts<T>,
): AgentClientTransport<T> {
  const { played } = parts;
  const world = played?.world;
  const { call, watch } = agentTape<T>(session, parts);
  let supports: TransportSupports | undefined;
  /** What of the world belongs to no thread. */
  const follow = (change: (at: PlayedWorld<T>) => unknown): Promise<void> | undefined =>
    played?.follow(undefined, () => change(played));

  return {
    get supports() {
      supports ??= supportsOf(session, parts.real);
      return supports;
    },
    send: (input) => call("send", { ...input }, (real) => real.send(input)),
    retry: (input) => call("retry", { ...input }, (real) => real.retry(input)),
    regenerate: (input) => call("regenerate", { ...input }, (real) => real.regenerate(input)),
    submitAction: (input) => call("submitAction", { ...input }, (real) => real.submitAction(input)),
    executeCommand: (input) => call("executeCommand", { ...input }, (real) => real.executeCommand(input)),
    writeToolData: (input) => call("writeToolData", { ...input }, (real) => real.writeToolData(input)),
    renameThread: (input) =>
      call("renameThread", { ...input }, (real) => real.renameThread(input), {
        onPlayed: async (head) => {
          const event = { type: "thread.head.changed", reason: "attributes", head } as const;
          await follow(({ world }) => world.publishHead(structuredClone(event)));
          await played?.publish(input.threadId, structuredClone(event));
        },
      }),
    deleteThread: (threadId) =>
      call("deleteThread", { threadId }, (real) => real.deleteThread(threadId), {
        argument: threadId,
        onPlayed: () => played?.follow(threadId, () => played.world.remove(threadId)),
      }),
    uploadFile: (input) =>
      call("uploadFile", { ...input }, (real) => real.uploadFile(input), {
        stored: () => storedUpload(input),
        onPlayed: (file) => follow(({ world }) => world.files.add(file, input.body)),
      }),
    getThreadState: (threadId) =>
      call("getThreadState", { threadId }, (real) => real.getThreadState(threadId), {
        argument: threadId,
        onPlayed: (state) => played?.publish(threadId, { type: "snapshot", state: structuredClone(state) }),
        fromWorld: () => world?.state(threadId),
      }),
    listThreads: () =>
      call("listThreads", {}, (real) => real.listThreads(), {
        argument: undefined,
        onPlayed: (heads) =>
          follow(({ world }) => world.publishHead({ type: "snapshot", heads: structuredClone(heads) })),
        fromWorld: () => world?.heads(),
      }),
    getManifest: () =>
      call("getManifest", {}, (real) => real.getManifest(), {
        argument: undefined,
        onPlayed: (manifest) => follow((at) => (at.manifest = structuredClone(manifest))),
        fromWorld: () => structuredClone(played?.manifest),
      }),
    readFile: (fileId) =>
      call("readFile", { fileId }, (real) => real.readFile(fileId), {
        argument: fileId,
        keep: async ({ file, body }) => ({ file: tagValue(file), body: await storedFile(body) }),
        restore: (stored) => {
          const { file, body } = stored as { readonly [key: string]: Json };
          return { file: untagValue(file as Json) as FileRecord, body: fileFrom(body) };
        },
        onPlayed: ({ file, body }) => follow(({ world }) => world.files.add(file, body)),
        fromWorld: () => world?.files.get(fileId),
      }),
    createFileUrl: (fileId) =>
      call("createFileUrl", { fileId }, (real) => real.createFileUrl(fileId), {
        argument: fileId,
        onPlayed: (url) => follow(({ urls }) => urls.set(fileId, url)),
        fromWorld: () => played?.urls.get(fileId) ?? null,
      }),
    watchThread: (threadId, { includeInitial = true, signal } = {}) =>
      watch("watchThread", { threadId, ...(includeInitial ? {} : { includeInitial }) }, signal, {
        open: (real, own) => real.watchThread(threadId, { includeInitial, signal: own }),
        onPlayed: (event) => played?.publish(threadId, event),
        fromWorld: () => world?.watch(threadId, { includeInitial, ...(signal === undefined ? {} : { signal }) }),
      }),
    watchThreadHeads: ({ signal } = {}) =>
      watch("watchThreadHeads", {}, signal, {
        open: (real, own) => real.watchThreadHeads({ signal: own }),
        onPlayed: (event) => follow(({ world }) => world.publishHead(event)),
        fromWorld: () => world?.watchHeads(signal === undefined ? {} : { signal }),
      }),
  };
}

/**
 * What the transport supports. It is a fact about the backend and no request, so it is kept as a variable of the
 * cassette; a cassette that does not say supports everything.
 */
function supportsOf(session: Session, real: (() => AgentClientTransport) | undefined): TransportSupports {
  const name = session.lane === undefined ? "agent.supports" : `agent.supports.${session.lane}`;
  const recorded = session.recordedFact(name);
  if (recorded !== undefined) return { ...EVERYTHING, ...(recorded as object) };
  if (real === undefined) return EVERYTHING;
  const supports = { ...real().supports };
  session.recordFact(name, supports as unknown as Json);
  return supports;
}
