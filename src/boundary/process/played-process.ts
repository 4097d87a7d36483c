import { constants } from "node:os";
import type { Frame, Gate, ProcessTrack, Sidecar } from "../../cassette/schema.ts";
import { storedToError } from "../../cassette/stored-error.ts";
import { type DuplexPlay, type DuplexStep, playDuplex } from "../../engine/duplex-play.ts";
import type { Play } from "../../engine/play.ts";
import type { Session } from "../../engine/session.ts";
import { DeckFinished } from "../../errors.ts";
import type { ProcessScript, ProcessStep } from "./child-script.ts";
import { processLines } from "./process-requests.ts";

/** What Node's spawn tells by an `error` event; any other failure of the system it throws. */
const TOLD_LATER = new Set(["EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOENT"]);

/**
 * Plays a recorded child. Its steps come when what the program did before them in the recording has been done.
 *
 * A signal is answered as it was recorded where it is the one that was sent there, and nothing else is waited for; a
 * recorded child that lived on behind a kill does so again; any other signal ends it.
 */
export function playProcess(play: Play, session: Session, command: string, finished: () => void): ProcessScript {
  const track = play.track as ProcessTrack;
  let forget = (): void => undefined;
  let duplex!: DuplexPlay;
  let kills = 0;

  async function open(): Promise<void> {
    // Whatever it does then: a child that is silent, or that nobody reads, asks for nothing.
    forget = play.whenFinished(finished);
    const files = (track.frames ?? []).flatMap(({ file }): Sidecar[] => (file === undefined ? [] : [file]));
    duplex = playDuplex(play, processLines, files.length === 0 ? undefined : await session.sidecars(files));
    try {
      await duplex.opened().promise;
    } catch (error) {
      if (!(error instanceof DeckFinished)) throw error;
      await new Promise(() => undefined);
    }
    if (track.fault !== undefined) throw spawnError(track.fault, command);
  }

  function told(step: DuplexStep): ProcessStep | undefined {
    switch (step.type) {
      case "frame":
        return { from: step.from as "stdout" | "stderr", bytes: step.bytes };
      case "close": {
        forget();
        const { code = null, signal = null } = track.close ?? {};
        return { exit: { code: signal === null ? (code ?? 0) : null, signal } };
      }
      case "broke":
        throw storedToError(step.error);
      default:
        return undefined;
    }
  }

  return {
    opened() {
      const { fault } = track;
      if (fault !== undefined && isThrown(fault.code)) throw spawnError(fault, command);
      return open();
    },
    next() {
      const { promise, cancel } = duplex.next();
      return { promise: promise.then(told), cancel };
    },
    stdin: (bytes) => duplex.sent(bytes),
    stdinEnded: () => void duplex.called("end"),
    killed(signal) {
      kills++;
      const answered = duplex.called("kill", { signal, ...(kills > 1 && { number: kills }) });
      return answered || (signal !== "SIGKILL" && kills < lastKill(track));
    },
  };
}

/** The number of the last kill that something of the recording was waiting for. */
function lastKill({ frames = [], close, end }: ProcessTrack): number {
  const gates = frames.flatMap(({ after, cuts = [] }: Frame) => [after, ...cuts.map((cut) => cut[2])]);
  return Math.max(0, ...[...gates, close?.after, end?.after].map(killNumber));
}

function killNumber(gate: Gate | undefined): number {
  if (typeof gate !== "object" || Array.isArray(gate)) return 0;
  const { name, number = 1 } = gate as { readonly [key: string]: unknown };
  return name === "kill" ? Number(number) : 0;
}

function isThrown(code: string | number | undefined): boolean {
  return typeof code === "string" && Object.hasOwn(constants.errno, code) && !TOLD_LATER.has(code);
}

// The recording holds no path of the machine it was made on: the message says what was asked for here.
function spawnError(fault: NonNullable<ProcessTrack["fault"]>, command: string): Error {
  const { code, message } = fault;
  const number = (constants.errno as Readonly<Record<string, number | undefined>>)[String(code)];
  if (number === undefined) return storedToError(fault);
  const syscall = isThrown(code) ? "spawn" : `spawn ${command}`;
  const own = message.startsWith("spawn ") ? `${syscall} ${code}` : message;
  return Object.assign(storedToError({ ...fault, message: own }), { errno: -number, syscall });
}
