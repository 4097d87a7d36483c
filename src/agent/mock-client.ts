import { type AgentClient, createAgentClient } from "./client.ts";
import {
  createMockAgentTransport,
  type MockAgentArguments,
  type MockAgentControls,
  type MockAgentTransport,
} from "./mock.ts";
import type { AgentContract } from "./protocol.ts";

/** A mock, and the real client over it. */
export interface MockAgentClient<T extends AgentContract = AgentContract> extends MockAgentControls<T> {
  readonly client: AgentClient<T>;
  readonly transport: MockAgentTransport<T>;
}

/** A mock with its controls next to a client. */
export function createMockAgentClient<T extends AgentContract = AgentContract>(
  ...options: MockAgentArguments<T>
): MockAgentClient<T> {
  const transport = createMockAgentTransport<T>(...options);
  const { seed, reset, responses, events, commands, files, inspect } = transport;
  return {
    client: createAgentClient<T>(transport),
    transport,
    seed,
    reset,
    responses,
    events,
    commands,
    files,
    inspect,
  };
}
