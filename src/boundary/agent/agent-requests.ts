import type { CallTrack, Json } from "../../cassette/schema.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import type { TraceEvent } from "../../engine/trace.ts";

/** What crosses an agent boundary: the methods of a transport. */
export type AgentOperation = keyof typeof CHANGES;

/** Whether an operation may change what others see: an action. The others are reads and watches. */
const CHANGES = {
  send: true,
  retry: true,
  regenerate: true,
  submitAction: true,
  renameThread: true,
  deleteThread: true,
  uploadFile: true,
  executeCommand: true,
  writeToolData: true,
  watchThread: false,
  watchThreadHeads: false,
  getThreadState: false,
  listThreads: false,
  getManifest: false,
  readFile: false,
  createFileUrl: false,
} as const;

/** A request to an agent's backend. */
export interface AgentRequest {
  readonly name: AgentOperation;
  /** The thread that it is about, where it is about one. */
  readonly thread: string | undefined;
  /** What it is asked with beside the thread, tagged; files as `storedFile` keeps them. */
  readonly input: Json | undefined;
}

/** Whether a request may change what others see. */
export function isAction(name: string): boolean {
  return Object.hasOwn(CHANGES, name) && CHANGES[name as AgentOperation];
}

/** The requests of the agent boundary. Where a client made up the id of a message, it does not count. */
export const agentRequests: RequestKind<AgentRequest> = {
  kind: "agent",
  boundary: "agent",
  redact: (redactor, { name, thread, input }) => ({
    name,
    thread: thread === undefined ? undefined : redactor.text(thread),
    input: input === undefined ? undefined : redactor.json(input),
  }),
  facets: ({ name, thread, input }) => ({
    method: name,
    ...(thread === undefined ? {} : { thread }),
    input: name === "send" ? withoutId(input) : (input ?? {}),
  }),
  recorded: (track) => {
    const { name, thread, input } = (track as CallTrack).call;
    return { name: name as AgentOperation, thread, input };
  },
  parts: ({ name }) => ({ name }),
  bucket: ({ name = "" }) => name,
  alike: () => false,
  describe: ({ name, thread, input }) => {
    const where = thread === undefined ? "" : ` ${isAction(name) ? "to" : "of"} thread ${thread}`;
    return `${name}${where}${brief(input)}`;
  },
  event: ({ name, thread }) => agentEvent("call", name, thread),
  scope: ({ name, thread }) => {
    if (thread === undefined) return undefined;
    // The script of a thread is what was done to it: what is left to read does not make one action more a known one.
    const acts = isAction(name);
    const has = (other: AgentRequest): boolean => other.thread === thread && (!acts || isAction(other.name));
    return { name: `thread ${thread}`, unit: acts ? "action" : "track", has };
  },
};

/** An event of the trace; a fresh object. `type`: that of a watch's event. */
export function agentEvent(
  kind: TraceEvent["kind"],
  op: AgentOperation,
  thread: string | undefined,
  type?: string,
): TraceEvent {
  return {
    kind,
    boundary: "agent",
    op,
    ...(thread === undefined ? {} : { thread }),
    ...(type === undefined ? {} : { type }),
  };
}

// The id of a message is the client's, and another in every run.
function withoutId(input: Json | undefined): Json {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, "id")) return input ?? {};
  const { id: _, ...rest } = input as { readonly [key: string]: Json };
  return rest;
}

function brief(input: Json | undefined): string {
  if (input === undefined) return "";
  const text = JSON.stringify(input);
  if (text === "{}") return "";
  return ` with ${text.length <= 100 ? text : `${text.slice(0, 80)}…`}`;
}
