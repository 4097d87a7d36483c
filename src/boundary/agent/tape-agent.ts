import type { AgentContract } from "../../agent/protocol.ts";
import type { AgentClientTransport } from "../../agent/transport.ts";
import { type Lane, sessionOf } from "../../engine/session.ts";
import { tapedTransport } from "./taped-transport.ts";

/**
 * An agent's transport on tape, whatever the deck does: recording wraps the transport that `make` makes, replaying
 * answers from the recording and never calls `make`, extending plays what is recorded and makes the rest for real, and
 * a live deck hands the transport on as it is. `make` is called once, when it is first needed.
 */
export function tapeAgent<T extends AgentContract = AgentContract>(
  deck: Lane,
  make: () => AgentClientTransport<T>,
): AgentClientTransport<T> {
  const session = sessionOf(deck);
  if (session.mode === "live") return make();
  if (session.mode === "replay")
    return tapedTransport<T>(session, { real: undefined, played: undefined, readsWorld: false });
  let made: AgentClientTransport<T> | undefined;
  const real = (): AgentClientTransport<T> => (made ??= make());
  const transport = tapedTransport<T>(session, { real, played: undefined, readsWorld: false });
  if (session.mode === "record") void transport.supports; // recorded whether or not the program looks at it
  return transport;
}
