import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pseudonymClass } from "../../cassette/redact/pseudonyms.ts";
import type { ProcessTrack } from "../../cassette/schema.ts";
import type { DuplexKind } from "../../engine/duplex-kind.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import type { SpawnFacts } from "./child-arguments.ts";
import { lineIds } from "./process-ids.ts";
import { portablePaths } from "./process-paths.ts";

/** A spawn, as it is compared and stored: with paths that mean the same on every machine (see `portablePaths`). */
export interface SpawnRequest {
  readonly command: string;
  readonly argv: readonly string[];
  /** The child's folder; absent: the program's own. */
  readonly cwd?: string | undefined;
}

/** The spawns of the process boundary. The environment does not count. */
export const processRequests: RequestKind<SpawnRequest> = {
  kind: "process",
  boundary: "process",
  redact(redactor, request) {
    // What is secret in an argument may follow from the option before it, as in a track.
    const { open } = redactor.track({ id: "spawn", kind: "process", at: 0, open: { ...request } as never, frames: [] });
    return open as SpawnRequest;
  },
  facets: ({ command, argv, cwd }) => ({ command, argv, ...(cwd !== undefined && { cwd }) }),
  recorded: (track) => {
    const { command, argv = [], cwd } = (track as ProcessTrack).open;
    return portableRequest(command, argv, cwd);
  },
  parts: ({ command }) => ({ name: command }),
  bucket: ({ name = "" }) => pseudonymClass(portablePaths(name)),
  alike: (a, b) =>
    a.command === b.command &&
    a.cwd === b.cwd &&
    a.argv.length === b.argv.length &&
    a.argv.every((argument, i) => argument === b.argv[i]),
  describe: ({ command, argv }) => `spawn ${brief([command, ...argv].join(" "))}`,
  event: ({ command }) => ({ kind: "request", boundary: "process", name: command }),
};

/** What the program writes to a child: each line counts, in order, however it was torn. */
export const processLines: DuplexKind = {
  kind: "process",
  boundary: "process",
  client: "stdin",
  unit: "line",
  order: "sequence",
  ids: lineIds,
};

/** The request that a spawn is. */
export function spawnRequest({ command, argv, spawnOptions }: SpawnFacts): SpawnRequest {
  const { cwd } = spawnOptions;
  if (cwd === undefined || cwd === null) return portableRequest(command, argv, undefined);
  return portableRequest(command, argv, resolve(typeof cwd === "string" ? cwd : fileURLToPath(cwd)));
}

function portableRequest(command: string, argv: readonly string[], cwd: string | undefined): SpawnRequest {
  const folder = cwd === undefined ? undefined : portablePaths(cwd);
  return {
    command: portablePaths(command),
    argv: argv.map(portablePaths),
    ...(folder !== undefined && folder !== "<cwd>" && { cwd: folder }),
  };
}

function brief(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 100)}…`;
}
