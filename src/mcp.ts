export {
  type Cancellation,
  FakeMcpTransport,
  type FakeMcpTransportOptions,
} from "./boundary/mcp/fake-mcp-transport.ts";
export type { JsonRpcId, JsonRpcMessage, JsonRpcRequest } from "./boundary/mcp/json-rpc.ts";
export type {
  ScriptedAnswer,
  ScriptedError,
  ScriptedNotification,
  ScriptedOutcome,
} from "./boundary/mcp/scripted-answer.ts";
export { tapeMcp } from "./boundary/mcp/tape-mcp.ts";
export { mcpTarget } from "./boundary/mcp/target.ts";
export type { AnyMcpTransport, McpSendOptions, McpTransport } from "./boundary/mcp/transport.ts";
export type { ScriptGate, TraceSource } from "./trace-gate.ts";
