import { constants } from "node:os";
import { OptionInvalid } from "../../errors.ts";
import { encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { splitLines } from "../../wire/lines.ts";
import type { ProcessStep } from "./child-script.ts";
import { checkKeys } from "./fake-cli-options.ts";

/** A chunk that a CLI wrote to its standard error at this point of its standard output. */
export class CliStderr {
  readonly #data: Uint8Array;

  constructor(data: string | Uint8Array) {
    this.#data = bytesOf(data, "A CliStderr");
    Object.freeze(this);
  }

  /** Its bytes: a copy each time. */
  get data(): Uint8Array {
    return this.#data.slice();
  }
}

/**
 * What a run says next: an object is one JSON line, compact; a text or bytes are written as they are, newline and all, so
 * a torn line, a blank one or a plain warning is simply written; a `CliStderr` goes to standard error at this point.
 */
export type CliPayload = Readonly<Record<string, unknown>> | CliStderr | string | Uint8Array;

/** How a run ends, beside what it says. */
export interface CliEnding {
  /** What stands on standard error when everything else was said. */
  stderr?: string | Uint8Array;
  /** The exit code; a signal's name, or its number below zero, where a signal ends it. Default 0. */
  returncode?: number | NodeJS.Signals;
}

/** The parts of a run. */
export interface CliRunParts extends CliEnding {
  stdout?: string | Uint8Array;
  /** Chunks on standard error, each with the number of lines of standard output that come before it. */
  interleavedStderr?: readonly (readonly [lines: number, data: string | Uint8Array])[];
}

/** One line of standard output, its newline included where there is one. */
export interface CliLine {
  readonly bytes: Uint8Array;
  /** It was given as a text or as bytes: nothing in it may be rewritten. */
  readonly verbatim: boolean;
}

interface Held {
  readonly lines: readonly CliLine[];
  readonly steps: readonly (ProcessStep | { readonly line: number })[];
}

const held = new WeakMap<CliRun, Held>();

/**
 * One spawn of a CLI, whole: its standard output, its standard error, its exit code. Immutable: it is the recording, and
 * any number of doubles may play it at once.
 */
export class CliRun {
  readonly #stdout: Uint8Array;
  readonly #stderr: Uint8Array;
  readonly #interleaved: readonly (readonly [number, Uint8Array])[];
  /** The exit code; below zero, the number of the signal that ended it. */
  readonly returncode: number;

  constructor(parts: CliRunParts = {}) {
    checkKeys("A CliRun", parts, ["stdout", "stderr", "returncode", "interleavedStderr"]);
    this.#stdout = bytesOf(parts.stdout ?? "", "A run's stdout");
    this.#stderr = bytesOf(parts.stderr ?? "", "A run's stderr");
    const interleaved: unknown = parts.interleavedStderr ?? [];
    if (!Array.isArray(interleaved) || !interleaved.every(Array.isArray)) {
      throw new OptionInvalid('Interleaved stderr is a list of pairs, lines and data, as [[1, "a warning"]].');
    }
    this.#interleaved = (interleaved as unknown as NonNullable<CliRunParts["interleavedStderr"]>).map(
      ([lines, data]) => [lines, bytesOf(data, "Its stderr")],
    );
    this.returncode = returncodeOf(parts.returncode ?? 0);
    const wrong = this.#interleaved.find(([lines]) => !Number.isInteger(lines) || lines < 0);
    if (wrong !== undefined) {
      throw new OptionInvalid(`Interleaved stderr stands after a number of lines from 0, not ${String(wrong[0])}.`);
    }
    Object.freeze(this);
    held.set(this, this.#play([]));
  }

  /** A copy of the bytes of standard output. */
  get stdout(): Uint8Array {
    return this.#stdout.slice();
  }

  /** A copy of what stands on standard error at the end. */
  get stderr(): Uint8Array {
    return this.#stderr.slice();
  }

  /** The chunks on standard error that stand between lines of standard output: copies. */
  get interleavedStderr(): readonly (readonly [lines: number, data: Uint8Array])[] {
    return this.#interleaved.map(([lines, data]) => [lines, data.slice()]);
  }

  /** Puts a run together from what it says, in order. Refuses what is no payload, naming its place. */
  static of(payloads: Iterable<CliPayload>, ending: CliEnding = {}): CliRun {
    checkKeys("CliRun.of", ending, ["stderr", "returncode"]);
    if (typeof payloads === "string" || typeof payloads?.[Symbol.iterator] !== "function") {
      throw new OptionInvalid(`The payloads of a run are a list, as [{ type: "result" }]; got ${kindOf(payloads)}.`);
    }
    const pieces: Uint8Array[] = [];
    const interleavedStderr: [number, Uint8Array][] = [];
    const raw: (readonly [start: number, end: number])[] = [];
    let size = 0;
    let lines = 0;
    let index = 0;
    for (const payload of payloads) {
      if (payload instanceof CliStderr) interleavedStderr.push([lines, payload.data]);
      else {
        const bytes = payloadBytes(payload, index);
        if (typeof payload === "string" || payload instanceof Uint8Array) raw.push([size, size + bytes.length]);
        pieces.push(bytes);
        size += bytes.length;
        for (const byte of bytes) if (byte === 0x0a) lines++;
      }
      index++;
    }
    const run = new CliRun({ stdout: Buffer.concat(pieces), interleavedStderr, ...ending });
    held.set(run, run.#play(raw));
    return run;
  }

  #play(raw: readonly (readonly [number, number])[]): Held {
    let start = 0;
    let next = 0;
    const lines = splitLines(this.#stdout).map((end): CliLine => {
      while (next < raw.length && (raw[next] as readonly [number, number])[1] <= start) next++;
      const touched = next < raw.length && (raw[next] as readonly [number, number])[0] < end;
      const line = { bytes: this.#stdout.subarray(start, end), verbatim: touched };
      start = end;
      return line;
    });
    // By position alone, and stable: chunks at one point keep their order, whatever they hold.
    const errors = this.#interleaved.toSorted(([a], [b]) => a - b).map(([after, bytes]) => ({ after, bytes }));
    const steps: (ProcessStep | { readonly line: number })[] = [];
    const flush = (said: number): void => {
      while (errors[0] !== undefined && errors[0].after <= said) {
        steps.push({ from: "stderr", bytes: (errors.shift() as { bytes: Uint8Array }).bytes });
      }
    };
    for (const line of lines.keys()) {
      flush(line);
      steps.push({ line });
    }
    flush(Number.POSITIVE_INFINITY);
    if (this.#stderr.length > 0) steps.push({ from: "stderr", bytes: this.#stderr });
    steps.push({ exit: exitOf(this.returncode) });
    return { lines, steps };
  }
}

/** How a run is played: its lines, and every step in order. Shared by all plays, not to be written to. */
export function playOf(run: CliRun): Held {
  const found = held.get(run);
  if (found === undefined) throw new OptionInvalid(`A run is a CliRun, as CliRun.of([…]); got ${kindOf(run)}.`);
  return found;
}

/** A run as it crosses from one process to another. */
export interface PackedRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly interleaved: readonly (readonly [lines: number, data: string])[];
  readonly returncode: number;
  /** The lines that were given as text or bytes. */
  readonly verbatim: readonly number[];
}

/** A run as plain data: bytes in base64. */
export function packRun(run: CliRun): PackedRun {
  const verbatim = [...playOf(run).lines.entries()].filter(([, line]) => line.verbatim).map(([index]) => index);
  return {
    stdout: encodeBase64(run.stdout),
    stderr: encodeBase64(run.stderr),
    interleaved: run.interleavedStderr.map(([lines, data]) => [lines, encodeBase64(data)]),
    returncode: run.returncode,
    verbatim,
  };
}

/** The run that was packed. */
export function unpackRun({ stdout, stderr, interleaved, returncode, verbatim }: PackedRun): CliRun {
  const run = new CliRun({
    stdout: Buffer.from(stdout, "base64"),
    stderr: Buffer.from(stderr, "base64"),
    interleavedStderr: interleaved.map(([lines, data]) => [lines, Buffer.from(data, "base64")]),
    returncode,
  });
  const { lines, steps } = playOf(run);
  const marked = new Set(verbatim);
  held.set(run, { lines: lines.map((line, index) => ({ ...line, verbatim: marked.has(index) })), steps });
  return run;
}

/** The number of a signal, below zero: how a returncode tells of it. */
export function returncodeOfSignal(signal: NodeJS.Signals): number {
  return -constants.signals[signal];
}

function returncodeOf(value: number | NodeJS.Signals): number {
  if (typeof value === "string" && Object.hasOwn(constants.signals, value)) return returncodeOfSignal(value);
  if (typeof value === "number" && Number.isInteger(value) && value <= 0xffff_ffff) {
    if (value >= 0 || Object.values(constants.signals).includes(-value as never)) return value;
  }
  throw new OptionInvalid(
    `A returncode is an exit code from 0, a signal's name, or its number below zero; got ${JSON.stringify(value)}.`,
  );
}

function exitOf(returncode: number): { readonly code: number | null; readonly signal: string | null } {
  if (returncode >= 0) return { code: returncode, signal: null };
  const [name = null] = Object.entries(constants.signals).find(([, number]) => number === -returncode) ?? [];
  return { code: null, signal: name };
}

function payloadBytes(payload: unknown, index: number): Uint8Array {
  if (typeof payload === "string" || payload instanceof Uint8Array) return bytesOf(payload, "A payload");
  const proto = typeof payload === "object" && payload !== null ? Object.getPrototypeOf(payload) : undefined;
  const line = proto === Object.prototype || proto === null ? JSON.stringify(payload) : undefined;
  if (line !== undefined) return encodeUtf8(`${line}\n`);
  throw new OptionInvalid(
    `Payload ${index + 1} of a run is ${kindOf(payload)}; it is an object (one JSON line), a text or bytes (verbatim), or a CliStderr.`,
  );
}

function bytesOf(data: string | Uint8Array, what: string): Uint8Array {
  if (typeof data === "string") return encodeUtf8(data).slice();
  if (data instanceof Uint8Array) return new Uint8Array(data);
  throw new OptionInvalid(`${what} is a text or bytes; got ${kindOf(data)}.`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return typeof value;
  return `a ${(value as object).constructor?.name ?? "nameless object"}`;
}
