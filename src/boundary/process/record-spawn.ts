import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Gate, StoredError } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import { type CallFacts, type DuplexRecording, recordDuplex } from "../../engine/duplex-record.ts";
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
  const ending = untilEnding(recording);
  const begin = (): DuplexRecording =>
    recordDuplex(ending.recording, processLines, storedOpening(request, facts), processRequests.event(request));
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
      ending.began();
      if (event === "close") track.closed(ended);
    } else if (event === "error" && child.pid === undefined) track.refused(storedSpawnError(values[0]));
  });

  const listens = (): boolean => !silent && (child.exitCode ?? null) === null && (child.signalCode ?? null) === null;
  let kills = 0;
  let killed = false;
  for (const from of ["stdout", "stderr"] as const) {
    const received = (bytes: Uint8Array): void => {
      killed = false;
      track.received(from, bytes);
    };
    const over = (): void => {
      ending.began();
      silent ||= from === "stdout" || !child.stdout;
    };
    tapOutput(child[from], received, over);
  }
  const called = (name: "kill" | "end", facts: CallFacts, waitedFor: boolean): void => {
    if (waitedFor) track.called(name, facts);
    else recording.happened({ kind: "call", boundary: "process", name, ...facts });
  };
  tapKill(child, (signal) => {
    killed = true;
    kills++;
    called("kill", { signal, ...(kills > 1 && { number: kills }) }, listens());
  });
  // Behind a kill that has not shown what it does, it is the kill that the next delivery waits for.
  const inputEnded = (): void => called("end", {}, !killed);
  tapInput(child.stdin, listens, (bytes) => track.sent(bytes), inputEnded);
  let refused = false;
  for (const [index, stream] of [...(child.stdio ?? [])].entries()) {
    if (index < 3) continue;
    const refuse = (): void => {
      if (!refused) session.fail(beyondThree(index, request));
      refused = true;
    };
    tapOutput(stream as Readable, refuse);
    tapInput(stream as Writable, listens, refuse, () => undefined);
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
 * The end of a child comes in pieces: each output ends, it exits, and what it had said may still arrive behind that. A
 * replay tells the rest and then the end. So what the program does because of one piece must hold no other: from the first
 * one on nothing has a gate, and the end has that of this moment.
 */
function untilEnding(recording: Recording): { readonly recording: Recording; began(): void } {
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
    began() {
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
