import type { AgentContract } from "../../agent/protocol.ts";
import type { AgentClientTransport } from "../../agent/transport.ts";
import type { Lane } from "../../engine/session.ts";
import { tapeAgent } from "./tape-agent.ts";

/**
 * Wraps a transport (the HTTP one, or any other) and records what crosses it: each call with its input and its result
 * or error, each watch with its events in the exact text in which they came. Files are kept with their type and name.
 *
 * The program gets everything when it comes: nothing is read ahead or held back, and a watch that the program leaves is
 * left below as well. On a deck that replays the recording answers, and `real` is not asked.
 */
export function createRecordingAgentTransport<T extends AgentContract = AgentContract>(
  real: AgentClientTransport<T>,
  deck: Lane,
): AgentClientTransport<T> {
  return tapeAgent(deck, () => real);
}
