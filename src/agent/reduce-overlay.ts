import type { PaiWireUIMessage } from "./protocol.ts";

/** A live-only data chunk, as it is shown. */
export interface OverlayPart {
  readonly type: string;
  readonly id?: string | undefined;
  readonly data: unknown;
}

/** A message as it is shown while live-only data stands over it: replaced by type and id, else at the end. */
export function withOverlay(message: PaiWireUIMessage, shown: readonly OverlayPart[]): PaiWireUIMessage {
  const parts = [...message.parts] as (OverlayPart | PaiWireUIMessage["parts"][number])[];
  for (const { type, id, data } of shown) {
    const part = { type, ...(id !== undefined && { id }), data };
    const at = id === undefined ? -1 : parts.findIndex((each) => each.type === type && (each as OverlayPart).id === id);
    // At the end, so that it is the latest of its name.
    if (at >= 0) parts.splice(at, 1);
    parts.push(part);
  }
  return { ...message, parts } as PaiWireUIMessage;
}
