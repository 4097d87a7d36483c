import { createHttpAgentTransport } from "../agent/http.ts";
import { serveAgentTransport } from "../agent/server.ts";
import { createRecordingAgentTransport } from "../boundary/agent/record.ts";
import { createReplayAgentTransport } from "../boundary/agent/replay.ts";
import { ledger } from "../engine/ledger.ts";
import { openDeck, openTitledDeck } from "../engine/open-deck.ts";
import { createDeskAgent } from "./agent-desk.ts";
import { type AgentObservation, runAgentSession } from "./agent-session.ts";
import { AGENT_TITLE, noteWritten } from "./demo-place.ts";

/** How the agent's part of the demo went. */
export interface AgentDemo {
  readonly cassette: string;
  readonly tracks: number;
  readonly events: number;
  /** What the replay saw otherwise; none: the events are the same bytes, the results the same values. */
  readonly differences: readonly string[];
  /** The first line of what one send too many met, and whether `deck.finish()` threw it too. */
  readonly onceMore: string;
  readonly kept: boolean;
}

/** Records a session with an agent over HTTP, replays it with the server gone, and sends once more than was recorded. */
export async function runAgentDemo(path: string): Promise<AgentDemo> {
  const { seen, tracks } = await record(path);
  const deck = await openDeck(path, { mode: "replay" });
  const transport = createReplayAgentTransport(deck);
  const again = await runAgentSession(transport);
  const more = transport.send({ threadId: "desk", text: "And breakfast?" });
  const thrown = await more.then(() => undefined, messageOf);
  const finished = await deck.finish().then(() => undefined, messageOf);
  // The violation was meant: the process need not fail for it.
  for (const entry of ledger().entries) if (entry.owner === deck) entry.acknowledged = true;
  return {
    cassette: path,
    tracks,
    events: seen.events.length,
    differences: differences(seen, again),
    onceMore: thrown?.split("\n")[0] ?? "nothing",
    kept: thrown !== undefined && finished === thrown,
  };
}

async function record(path: string): Promise<{ seen: AgentObservation; tracks: number }> {
  const served = await serveAgentTransport(createDeskAgent());
  try {
    const deck = await openTitledDeck(path, { mode: "rerecord" }, AGENT_TITLE);
    const http = createHttpAgentTransport({ baseUrl: served.url });
    await http.readSupports();
    const seen = await runAgentSession(createRecordingAgentTransport(http, deck));
    const { recorded } = await deck.finish();
    await noteWritten(path);
    return { seen, tracks: recorded };
  } finally {
    await served.close();
  }
}

function differences(seen: AgentObservation, again: AgentObservation): string[] {
  const found: string[] = [];
  for (let i = 0; i < Math.max(seen.events.length, again.events.length); i++)
    if (seen.events[i] !== again.events[i]) found.push(`event ${i + 1} of the agent differs`);
  if (JSON.stringify(seen.results) !== JSON.stringify(again.results)) found.push("a result of the agent differs");
  return found;
}

const messageOf = (error: unknown): string => `${(error as Error).name}: ${(error as Error).message}`;
