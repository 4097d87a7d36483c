import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { endsProgram, signalOf } from "./child-signals.ts";

type Emit = (event: string | symbol, ...values: unknown[]) => boolean;
type Push = (chunk: unknown, encoding?: BufferEncoding) => boolean;
type Write = (chunk: unknown, ...rest: unknown[]) => boolean;
type End = (chunk?: unknown, ...rest: unknown[]) => Writable;

/**
 * Notes every event of a child before anybody hears it. A listener could be removed with all others, and one for `error`
 * would count as somebody who handles it.
 */
export function tapEvents(
  child: ChildProcess,
  note: (event: string | symbol, values: readonly unknown[]) => void,
): void {
  const emit = child.emit as Emit;
  child.emit = ((event, ...values) => {
    note(event, values);
    return emit.call(child, event, ...values);
  }) as Emit;
}

/** Notes what arrives in a stream when it does, and its end: in the order of arrival, read by the program or not. */
export function tapOutput(
  stream: Readable | null | undefined,
  note: (bytes: Uint8Array) => void,
  ended: () => void = () => undefined,
): void {
  if (!stream) return;
  const push = stream.push as Push;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const bytes = bytesOf(chunk, encoding);
    if (chunk === null) ended();
    else if (bytes !== undefined && bytes.length > 0) note(bytes);
    return push.call(stream, chunk, encoding);
  };
}

/** Notes what the program writes, when it does, and that it ends or tears down the stream: while `isOpen` says so. */
export function tapInput(
  stream: Writable | null | undefined,
  isOpen: () => boolean,
  note: (bytes: Uint8Array) => void,
  ended: () => void,
): void {
  if (!stream) return;
  const write = stream.write as Write;
  const end = stream.end as End;
  const destroy = stream.destroy;
  let over = false;
  const written = (chunk: unknown, encoding: unknown): void => {
    const bytes = over || !isOpen() ? undefined : bytesOf(chunk, encoding ?? defaultEncoding(stream));
    if (bytes !== undefined && bytes.length > 0) note(bytes);
  };
  const finished = (): void => {
    if (over || !isOpen()) return;
    over = true;
    ended();
  };
  // The stream goes first: what it refuses with an exception was not written.
  stream.write = ((chunk, ...rest) => {
    const room = write.call(stream, chunk, ...rest);
    written(chunk, rest[0]);
    return room;
  }) as Write;
  stream.end = ((chunk, ...rest) => {
    const result = end.call(stream, chunk, ...rest);
    written(chunk, rest[0]);
    finished();
    return result;
  }) as End as Writable["end"];
  stream.destroy = (error?: Error) => {
    // A pipe that broke at its other end is torn down by Node, with the system's error.
    if ((error as NodeJS.ErrnoException | undefined)?.syscall === undefined) finished();
    return destroy.call(stream, error);
  };
}

/** Notes the signals that reach a child and would end a program, by whoever sends them through it: the program, a limit of time, an abort. */
export function tapKill(child: ChildProcess, note: (signal: NodeJS.Signals) => void): void {
  const kill = child.kill;
  child.kill = (value) => {
    const reached = kill.call(child, value);
    const signal = signalOf(value);
    if (reached && signal !== 0 && endsProgram(signal)) note(signal);
    return reached;
  };
}

function bytesOf(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (typeof chunk === "string") {
    const named = typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
    return Buffer.from(chunk, named);
  }
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined;
}

function defaultEncoding(stream: Writable): unknown {
  return (stream as { _writableState?: { defaultEncoding?: unknown } })._writableState?.defaultEncoding;
}
