/** The agent boundary: the client, the transports, and the mock. Needs the AI SDK (`ai`). */
export { type AgentClient, type AgentClientOptions, createAgentClient } from "./agent/client.ts";
export type { FilesClient } from "./agent/files-client.ts";
export { createHttpAgentTransport, type HttpAgentTransport, type HttpAgentTransportOptions } from "./agent/http.ts";
export {
  createMockAgentClient,
  createMockAgentTransport,
  type MockAgentArguments,
  type MockAgentClient,
  type MockAgentControls,
  type MockAgentOptions,
  type MockAgentTransport,
  type MockCommandController,
  type MockCommandHandler,
  type MockFileController,
} from "./agent/mock.ts";
export type { MockEventController } from "./agent/mock-events.ts";
export type { MockInspectionController, RequestInspection } from "./agent/mock-inspect.ts";
export type { MockResponse, MockResponseController, ResponseBuilder } from "./agent/mock-responses.ts";
export type { PendingAction, SubmittedRun } from "./agent/pending-action.ts";
export type { PaiMessage, PaiMessagePart, PendingActionView, QueuedItem, ThreadState } from "./agent/project.ts";
export type {
  ActionId,
  AdmittedRunState,
  AgentContract,
  AgentManifest,
  AnyContract,
  FileId,
  FileRecord,
  MessageId,
  PaiMessageFacts,
  PaiMessageMetadata,
  PaiModelWireMessage,
  PaiQueuedItemTransport,
  PaiThreadGenerationControlEvent,
  PaiThreadGenerationEvent,
  PaiThreadHead,
  PaiThreadHeadEvent,
  PaiThreadMessageChunkEvent,
  PaiThreadQueueTransport,
  PaiThreadTransportEvent,
  PaiThreadTransportState,
  PaiUIMessageChunk,
  PaiWireUIMessage,
  PendingActionRecord,
  PersistedErrorRecord,
  QueueItemId,
  QueueItemRemovalReason,
  RunId,
  RunOperation,
  RunStateDTO,
  RunStatus,
  SuspensionData,
  ThreadCapabilityView,
  ThreadErrorRecord,
  ThreadHeadChangeReason,
  ThreadHeadDTO,
  ThreadId,
  ThreadStatus,
  ThreadVersion,
  ToolContract,
  ToolDataRecord,
  ToolProvenance,
  UsageSummary,
} from "./agent/protocol.ts";
export {
  type ActiveGeneration,
  type GenerationId,
  type GenerationStreamEvent,
  type GenerationStreamFrame,
  type GenerationStreamId,
  type RealtimeProviderEvent,
  toTransportEvent,
  toTransportEvents,
} from "./agent/provider-mapping.ts";
export type { RunHandle } from "./agent/run-handle.ts";
export type { ScriptedText, ScriptedTool, ToolScripts, WaitingAction } from "./agent/script-types.ts";
export type {
  MockFile,
  MockTransportSeed,
  MockTransportSeedInput,
  SeedBuilder,
  SeedRunOptions,
  SeedThreadOptions,
} from "./agent/seed.ts";
export { type ServeAgentOptions, type ServedAgentTransport, serveAgentTransport } from "./agent/server.ts";
export type { StreamedResponse, TextStream } from "./agent/stream-response.ts";
export type { ToolStream } from "./agent/stream-tool.ts";
export type { Thread, ThreadCommands, ThreadInput } from "./agent/thread.ts";
export { isPaiToolPart, type PaiToolPart, type Suspension } from "./agent/tool-part.ts";
export type {
  AcceptedRun,
  AgentClientTransport,
  RegenerateInput,
  RetryInput,
  SendInput,
  SubmitActionInput,
  SubmittedAction,
  ToolDataInput,
  TransportSupports,
  UploadInput,
} from "./agent/transport.ts";
export { createRecordingAgentTransport } from "./boundary/agent/record.ts";
export {
  createReplayAgentTransport,
  type ReplayAgentOptions,
  type ReplayAgentTransport,
} from "./boundary/agent/replay.ts";
export { tapeAgent } from "./boundary/agent/tape-agent.ts";
export { agentTarget } from "./boundary/agent/target.ts";
export type { ScriptGate, TraceSource } from "./trace-gate.ts";
