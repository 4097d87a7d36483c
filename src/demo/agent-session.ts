import { rawEventText } from "../agent/sse-events.ts";
import type { AgentClientTransport } from "../agent/transport.ts";

/** What a session with the agent saw. */
export interface AgentObservation {
  /** The `data:` text of each event, as it came. */
  readonly events: readonly string[];
  /** What each action answered. */
  readonly results: readonly unknown[];
}

/**
 * The program that talks to the agent: it watches the thread while it asks, asks again where an answer failed, and
 * leaves. It knows nothing of tapes.
 */
export async function runAgentSession(transport: AgentClientTransport): Promise<AgentObservation> {
  const events: string[] = [];
  const results: unknown[] = [];
  const actions = [
    () => transport.send({ threadId: "desk", text: "When does the night train to Vienna leave?" }),
    () => transport.send({ threadId: "desk", text: "Book me the lower berth." }),
  ];
  const act = async (action: (typeof actions)[number] | undefined): Promise<boolean> => {
    if (action === undefined) return false;
    results.push(await action());
    return true;
  };
  for await (const event of transport.watchThread("desk")) {
    events.push(rawEventText(event) ?? "");
    if (event.type === "generation.failed") await act(() => transport.retry({ threadId: "desk" }));
    if (event.type !== "snapshot" && event.type !== "generation.completed") continue;
    if (!(await act(actions.shift()))) break;
  }
  return { events, results };
}
