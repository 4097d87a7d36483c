import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Gate, StoredError } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import { type DuplexRecording, recordDuplex } from "../../engine/duplex-record.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import { OptionInvalid } from "../../errors.ts";
import type { SpawnFacts } from "./child-arguments.ts";
import { keptEnvironment } from "./process-env.ts";
import { portablePaths } from "./process-paths.ts";
import { processLines, processRequests, type SpawnRequest } from "./process-requests.ts";
import { tapEvents, tapInput, tapKill, tapOutput } from "./process-taps.ts";

/**
 * Starts the real child and records it. The program gets that very child: what passes is noted where Node hands it over
 * (`push`, `write`, `kill`, `emit` of these objects), so nothing is read ahead, held back, or read that the program leaves.
 */
export function recordSpawn(
  session: Session,
  recording: Recording,
  request: SpawnRequest,
  facts: SpawnFacts,
  start: () => ChildProcess,
): ChildProcess {
  const late = lateGates(recording);
  const begin = (): DuplexRecording =>
    recordDuplex(late.recording, processLines, storedOpening(request, facts), processRequests.event(request));
  let child: ChildProcess;
  try {
    child = start();
  } catch (error) {
    // A wrong argument is nothing that was asked of the world.
    if (isSystemError(error)) begin().refused(storedSpawnError(error));
    else recording.drop();
    throw error;
  }
  const track = begin();
  let ended: { readonly code: number | null; readonly signal: string | null } | undefined;
  let silent = false;
  // A child that has ended is over although somebody else still holds its pipes. One whose output has ended is over too,
  // though how was not told: the program has seen that end, and sees it again.
  recording.onFinish = () => (ended !== undefined || silent ? track.closed(ended) : track.left());
  tapEvents(child, (event, values) => {
    if (event === "exit" || event === "close") {
      const [code = null, signal = null] = values as [number | null, string | null];
      ended ??= { code, signal };
      if (event === "exit") late.ended();
      else track.closed(ended);
    } else if (event === "error" && child.pid === undefined) track.refused(storedSpawnError(values[0]));
  });

  let kills = 0;
  let killed = false;
  const isAlive = (): boolean => (child.exitCode ?? null) === null && (child.signalCode ?? null) === null;
  for (const from of ["stdout", "stderr"] as const) {
    tapOutput(
      child[from],
      (bytes) => {
        killed = false;
        track.received(from, bytes);
      },
      () => {
        silent = true;
      },
    );
  }
  tapKill(child, (signal) => {
    killed = true;
    kills++;
    track.called("kill", { signal, ...(kills > 1 && { number: kills }) });
  });
  const inputEnded = (): void => {
    // Behind a kill that has not shown what it does, it is the kill that the next delivery waits for.
    if (killed) recording.happened({ kind: "call", boundary: "process", name: "end" });
    else track.called("end");
  };
  tapInput(child.stdin, isAlive, (bytes) => track.sent(bytes), inputEnded);
  let refused = false;
  for (const [index, stream] of [...(child.stdio ?? [])].entries()) {
    if (index < 3) continue;
    const refuse = (): void => {
      if (!refused) session.fail(beyondThree(index, request));
      refused = true;
    };
    tapOutput(stream as Readable, refuse);
    tapInput(stream as Writable, isAlive, refuse, () => undefined);
  }
  return child;
}

function storedOpening(
  { command, argv, cwd }: SpawnRequest,
  { spawnOptions }: SpawnFacts,
): {
  readonly command: string;
} {
  const env = keptEnvironment(spawnOptions.env);
  return {
    command,
    ...(argv.length > 0 && { argv: [...argv] }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  };
}

/**
 * Node may tell a child's end before the last of its output. A replay tells it behind, so what the program did because of
 * the end must hold neither: what comes later has no gate, and the end has that of the moment when it was told.
 */
function lateGates(recording: Recording): { readonly recording: Recording; ended(): void } {
  let end: { readonly gate: Gate | undefined } | undefined;
  return {
    recording: {
      ...recording,
      delivered(event) {
        if (end !== undefined && event.kind === "close") return end.gate;
        const gate = recording.delivered(event);
        return end === undefined ? gate : undefined;
      },
    },
    ended() {
      end ??= { gate: recording.delivered({ kind: "close", boundary: "process" }) };
    },
  };
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

function storedSpawnError(error: unknown): StoredError {
  const stored = errorToStored(error);
  return { ...stored, message: portablePaths(stored.message) };
}

function beyondThree(index: number, { command }: SpawnRequest): OptionInvalid {
  return new OptionInvalid(
    `${command} and the program talked over stdio[${index}]. A cassette holds a child's standard input, output and error; what passes beside them could not be replayed.\n  next      let the child use the three, or leave it off the tape`,
    { command, index },
  );
}
