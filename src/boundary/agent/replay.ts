import type { MockInspectionController } from "../../agent/mock-inspect.ts";
import type { AgentContract } from "../../agent/protocol.ts";
import type { AgentClientTransport } from "../../agent/transport.ts";
import { type Lane, sessionOf } from "../../engine/session.ts";
import { OptionInvalid } from "../../errors.ts";
import { createPlayedWorld } from "./played-world.ts";
import { tapedTransport } from "./taped-transport.ts";

export interface ReplayAgentOptions {
  /**
   * What answers a read or a watch beyond the recording. `"recorded"` (default): nothing, it is `ScriptExhausted`.
   * `"world"`: the threads, files and lists as the play has made them so far; a watch gets a snapshot, the active
   * generation from its start, and what is played from then on.
   */
  readonly reads?: "recorded" | "world";
}

/** A transport that a cassette answers. */
export type ReplayAgentTransport<T extends AgentContract = AgentContract> = AgentClientTransport<T> & {
  /** What was asked, and what the played events have made. Read-only. */
  readonly inspect: MockInspectionController<T>;
};

/**
 * A transport that plays a recording, strictly: actions (send, retry, submit, commands, uploads…) consume their tracks,
 * and one more than was recorded is `ScriptExhausted`, never a run that stays running; watches play their recorded
 * events verbatim, each after the actions that came before it. Every violation stays on the deck.
 */
export function createReplayAgentTransport<T extends AgentContract = AgentContract>(
  deck: Lane,
  options: ReplayAgentOptions = {},
): ReplayAgentTransport<T> {
  const { reads = "recorded", ...unknown } = options;
  const [key] = Object.keys(unknown);
  if (key !== undefined)
    throw new OptionInvalid(`There is no option "${key}": the one of a replayed agent is "reads".`);
  if (reads !== "recorded" && reads !== "world")
    throw new OptionInvalid(`"reads" is "recorded" or "world", not ${JSON.stringify(reads)}.`);
  const session = sessionOf(deck);
  if (session.mode !== "replay")
    throw new OptionInvalid(
      `createReplayAgentTransport(deck) needs a deck that replays; the mode of this one is ${session.mode}.\n  next      use tapeAgent(deck, () => transport), which records or replays as the deck does`,
      { mode: session.mode },
    );
  const played = createPlayedWorld<T>();
  const transport = tapedTransport<T>(session, { real: undefined, played, readsWorld: reads === "world" });
  return Object.defineProperty(transport, "inspect", {
    value: played.inspect,
    enumerable: true,
  }) as ReplayAgentTransport<T>;
}
