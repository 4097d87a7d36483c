import type { AgentClientTransport, TransportSupports } from "./transport.ts";

/** Throws where the transport says that it does not have an optional part. */
export function requireSupport(
  { supports }: Pick<AgentClientTransport, "supports">,
  part: keyof TransportSupports,
  call: string,
): void {
  if (supports[part]) return;
  throw new Error(`${call}: the transport does not support ${part} (its supports.${part} is false).`);
}
