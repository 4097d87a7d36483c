import type { DuplexKind } from "../../src/engine/duplex-kind.ts";
import type { DuplexTrack } from "../../src/engine/duplex-play.ts";
import { type DuplexPlay, playDuplex } from "../../src/engine/duplex-play.ts";
import { type DuplexRecording, recordDuplex } from "../../src/engine/duplex-record.ts";
import type { RequestKind } from "../../src/engine/request-kind.ts";
import { type Claim, type Lane, sessionOf } from "../../src/engine/session.ts";

/** The smallest boundary of conversations: it has a name, and nothing else. */
export const rooms: RequestKind<{ command: string }> = {
  kind: "process",
  boundary: "room",
  redact: (_, request) => request,
  facets: ({ command }) => ({ command }),
  recorded: (track) => ({ command: (track as DuplexTrack & { open: { command: string } }).open.command }),
  parts: ({ command }) => ({ name: command }),
  bucket: ({ name = "" }) => name,
  alike: (a, b) => a.command === b.command,
  describe: ({ command }) => command,
  event: ({ command }) => ({ kind: "request", boundary: "room", name: command }),
};

export const lineRoom: DuplexKind = {
  kind: "process",
  boundary: "room",
  client: "stdin",
  unit: "line",
  order: "sequence",
};

export const messageRoom: DuplexKind = {
  kind: "mcp",
  boundary: "room",
  client: "client",
  unit: "message",
  order: "any",
  ids: (message, from) => {
    if (typeof message !== "object" || message === null || !("id" in message)) return [];
    const gives = "method" in message;
    if (from === "client") return gives ? [{ path: ["id"], space: "request", role: "gives" }] : [];
    return gives ? [] : [{ path: ["id"], space: "request", role: "names" }];
  },
};

export function openRoom(lane: Lane, kind: DuplexKind, command = "room"): DuplexPlay | DuplexRecording {
  const session = sessionOf(lane);
  const requests = { ...rooms, kind: kind.kind, recorded: () => ({ command }), bucket: () => "" };
  const claim = session.admit().claim(kind.kind === "process" ? rooms : requests, { command }) as Claim;
  if ("play" in claim) return playDuplex(claim.play, kind);
  const open = kind.kind === "process" ? { command } : {};
  return recordDuplex(claim.record, kind, open, rooms.event({ command }));
}
