import { readFile } from "node:fs/promises";
import { createHttpAgentTransport } from "../agent/http.ts";
import { serveAgentTransport } from "../agent/server.ts";
import { createRecordingAgentTransport } from "../boundary/agent/record.ts";
import { createReplayAgentTransport } from "../boundary/agent/replay.ts";
import { editText } from "../cassette/edit.ts";
import { parseCassette } from "../cassette/parse.ts";
import type { CallTrack } from "../cassette/schema.ts";
import { trackStates } from "../cassette/seal.ts";
import { createDeck } from "../engine/create-deck.ts";
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
  /** What was edited by hand into one of its events, what the program saw of that, and how the track is known since. */
  readonly edited: { readonly word: string; readonly seen: boolean; readonly state: string };
}

/** Records a session with an agent over HTTP, replays it with the server gone, sends once more than was recorded, and edits a word by hand. */
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
    edited: await replayEdited(await readFile(path, "utf8")),
  };
}

const WORD = "an hour late ";

/** A cassette is a text: one word of an answer is edited, as a person would, and the program sees it. */
async function replayEdited(text: string): Promise<AgentDemo["edited"]> {
  const { tracks } = parseCassette(text);
  const track = tracks.findIndex((one) => "call" in one && one.call.name === "watchThread");
  const { events = [], id } = tracks[track] as CallTrack;
  const event = events.findIndex(({ json }) => (json as { chunk?: { type?: string } }).chunk?.type === "text-delta");
  const place = ["tracks", track, "events", event, "json", "chunk", "delta"];
  const cassette = parseCassette(editText(text, [{ path: place, value: WORD }]));
  const deck = await createDeck({ cassette });
  const { events: heard } = await runAgentSession(createReplayAgentTransport(deck));
  await deck.finish();
  const seen = heard[event]?.includes(JSON.stringify(WORD)) ?? false;
  return { word: WORD.trim(), seen, state: trackStates(cassette).get(id) ?? "missing" };
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
