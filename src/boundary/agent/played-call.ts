import type { CallTrack, Json } from "../../cassette/schema.ts";
import type { Play } from "../../engine/play.ts";
import { untilAborted } from "../../engine/unless-aborted.ts";
import { storedToAgentError } from "./agent-error.ts";
import { type AgentOperation, agentEvent } from "./agent-requests.ts";

/** Answers a call from a recorded track. `read` makes the result from its stored form. */
export async function playCall<V>(
  play: Play,
  name: AgentOperation,
  thread: string | undefined,
  read: (stored: Json | undefined) => V,
): Promise<V> {
  const { after, result, error } = play.track as CallTrack;
  if (after !== undefined) await play.turn(0, "the answer", after).promise;
  if (result === undefined && error === undefined) return untilAborted(undefined, play); // no answer ever came
  const what = error === undefined ? "the result" : "the failure";
  await play.turn((result ?? error)?.at ?? 0, what, result?.after).promise;
  play.note(agentEvent("response", name, thread));
  if (error !== undefined) throw storedToAgentError(error);
  return read(result?.value);
}
