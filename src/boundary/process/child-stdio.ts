import type { StdioOptions } from "node:child_process";
import { writeSync } from "node:fs";
import { Duplex, Readable, Stream, type Writable } from "node:stream";
import { platform } from "../../engine/platform.ts";
import { OptionInvalid } from "../../errors.ts";

/** What a pipe takes while nobody reads it. */
const PIPE = 65_536;

/** What one entry of `stdio` makes of a stream of the child. */
export type StdioPlan = { readonly to: "pipe" | "ignore" } | { readonly to: "fd"; readonly target: Writable | number };

/** Where a double writes what its program says, and whether there is room for more. */
export interface ChildOutput {
  /** What the program under test reads; `null` where it is not piped. */
  readonly stream: Readable | null;
  /** Writes one chunk. `false`: there is no room for more until `drained` is called. */
  write(bytes: Uint8Array): boolean;
  end(): void;
}

/** The plan of each stream: standard input, output and error at least. Throws as Node does on what is none. */
export function stdioPlans(option: StdioOptions | undefined): readonly StdioPlan[] {
  const wrong = (value: unknown): TypeError =>
    Object.assign(new TypeError(`The argument 'stdio' is invalid. Received ${String(value)}`), {
      code: "ERR_INVALID_ARG_VALUE",
    });
  const whole = option ?? "pipe";
  if (typeof whole === "string" && !["pipe", "overlapped", "ignore", "inherit"].includes(whole)) throw wrong(whole);
  if (typeof whole !== "string" && !Array.isArray(whole)) throw wrong(whole);
  const list: readonly unknown[] = typeof whole === "string" ? [whole, whole, whole] : whole;
  return Array.from({ length: Math.max(3, list.length) }, (_, index): StdioPlan => {
    const value = list[index];
    if (value === "ignore" || ((value === undefined || value === null) && index > 2)) return { to: "ignore" };
    if (value === undefined || value === null || value === "pipe" || value === "overlapped") return { to: "pipe" };
    if (value === "inherit" || value === index) return { to: "fd", target: own(index) };
    if (typeof value === "number") return { to: "fd", target: own(value) };
    if (value === "ipc") {
      throw new OptionInvalid(
        `stdio[${index}] is "ipc", Node's own channel between a parent and a child. A double of a process has none: leave it out, or run the real program.`,
      );
    }
    // Another double's stream is not behind a file descriptor; a real child's is.
    if (typeof value === "object" && ("fd" in value || "_handle" in value || value instanceof Stream)) {
      return { to: "fd", target: value as object as Writable };
    }
    throw wrong(value);
  });
}

function own(descriptor: number): Writable | number {
  return descriptor === 1 ? process.stdout : descriptor === 2 ? process.stderr : descriptor;
}

class PipedOutput extends Readable {
  readonly #consumed: ((data: Uint8Array | string | undefined) => void) | undefined;

  #discards = false;

  constructor(read: () => void, consumed: ((data: Uint8Array | string | undefined) => void) | undefined) {
    super({ highWaterMark: PIPE, read });
    this.#consumed = consumed;
  }

  // However a program reads (events, iteration, `read()`), what it gets is emitted; a listener would make the stream flow.
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event === "data") {
      // What flows to nobody is thrown away, and read by nobody.
      if (this.readableFlowing === true && this.listenerCount("data") === 0) this.#discards = true;
      else this.#consumed?.(values[0] as Uint8Array | string);
    } else if (event === "end" && !this.#discards) this.#consumed?.(undefined);
    return (super.emit as (event: string | symbol, ...values: unknown[]) => boolean)(event, ...values);
  }
}

/** The far end of one output of a child. `drained` is called when there is room again after a `write` that said no. */
export function openOutput(
  plan: StdioPlan,
  drained: () => void,
  consumed?: (data: Uint8Array | string | undefined) => void,
): ChildOutput {
  if (plan.to === "ignore") return { stream: null, write: () => true, end: () => undefined };
  if (plan.to === "fd") {
    const { target } = plan;
    const write = (bytes: Uint8Array): boolean => {
      if (typeof target === "number") {
        writeSync(target, bytes);
        return true;
      }
      const room = target.write(Buffer.from(bytes));
      if (!room) target.once("drain", drained);
      return room;
    };
    return { stream: null, write, end: () => undefined };
  }
  let full = false;
  const room = (): void => {
    if (!full) return;
    full = false;
    drained();
  };
  const stream = new PipedOutput(room, consumed);
  // A reader that has gone away holds nobody up.
  stream.once("close", room);
  return {
    stream,
    write(bytes) {
      if (stream.destroyed) return true;
      // The reader may scribble on what it gets: it is a copy.
      full = !stream.push(Buffer.from(bytes)) && stream.readableLength >= PIPE;
      return !full;
    },
    end() {
      if (!stream.destroyed) stream.push(null);
    },
  };
}

/** A pipe beyond the standard three: a script says nothing there and hears nothing. */
export function silentPipe(): Duplex {
  return new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => platform.turn(() => done()) });
}
