import type { AgentContract, FileRecord, PaiThreadTransportState, ThreadId } from "./protocol.ts";
import type { AgentClientTransport } from "./transport.ts";
import type { World } from "./world.ts";
import type { OperationName } from "./world-requests.ts";

/** What was asked, each operation on its own; the first argument of each call, as it was when it came. */
export type RequestInspection<T extends AgentContract = AgentContract> = {
  readonly [K in OperationName]: () => readonly Parameters<AgentClientTransport<T>[K]>[0][];
};

/** What the backend holds, to be read. Everything is a copy: nothing that is done to it changes the backend. */
export interface MockInspectionController<T extends AgentContract = AgentContract> {
  readonly requests: RequestInspection<T>;
  /** The raw snapshot, reserved parts included; `undefined`: nobody wrote to such a thread. */
  thread(threadId: ThreadId): PaiThreadTransportState<T> | undefined;
  files(): readonly FileRecord[];
}

const OPERATIONS: readonly OperationName[] = [
  "send",
  "retry",
  "regenerate",
  "submitAction",
  "watchThread",
  "watchThreadHeads",
  "getThreadState",
  "listThreads",
  "getManifest",
  "renameThread",
  "deleteThread",
  "uploadFile",
  "readFile",
  "createFileUrl",
  "executeCommand",
  "writeToolData",
];

/** The inspection of a world. */
export function inspectWorld<T extends AgentContract>(world: World<T>): MockInspectionController<T> {
  const requests = Object.fromEntries(OPERATIONS.map((operation) => [operation, () => world.requests.of(operation)]));
  return {
    requests: requests as unknown as RequestInspection<T>,
    thread: (threadId) => (world.has(threadId) ? world.state(threadId) : undefined),
    files: () => world.files.list(),
  };
}
