import { OptionInvalid } from "./errors.ts";
import { type CompiledPattern, compileGate, type FlatEvent, type TracePattern } from "./pattern.ts";

/** When a scripted answer may be given: at once, or once an event has been seen that matches, at any point of the run. */
export type ScriptGate = "start" | TracePattern;

/**
 * Where the gates of a double look beside its own log: a deck, another double, a list of events. `false`: nowhere, and a
 * gate is open at once, with a warning.
 */
export type TraceSource = false | readonly FlatEvent[] | { readonly trace: readonly FlatEvent[] };

/** The log of a double, and the gates that look at it. */
export interface TraceLog {
  /** What has happened, from before anything else. */
  readonly events: readonly FlatEvent[];
  log(event: FlatEvent): void;
  /** Whether a gate is open: once it is it stays so. */
  isOpen(gate: CompiledPattern | undefined): boolean;
  /** Calls back when a gate opens; the returned function gives up. */
  whenOpen(gate: CompiledPattern, then: () => void): () => void;
  /** Resolves when a gate is open; rejects with the signal's reason. */
  opened(gate: CompiledPattern | undefined, signal?: AbortSignal): Promise<void>;
}

/** How often a trace that is not the log's own is looked at, in milliseconds. */
const POLL_MS = 5;

const { setTimeout, clearTimeout } = globalThis;

/** A log with nothing in it. `whose`: how a warning calls the double. */
export function createTraceLog(source: TraceSource | undefined, whose: string): TraceLog {
  const other = checked(source, whose);
  const events: FlatEvent[] = [];
  const waiting = new Set<{ readonly gate: CompiledPattern; readonly then: () => void }>();
  const warned = new Set<CompiledPattern>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const elsewhere = (): readonly FlatEvent[] =>
    other === undefined || other === false ? [] : "trace" in other ? other.trace : (other as readonly FlatEvent[]);

  function isOpen(gate: CompiledPattern | undefined): boolean {
    if (gate === undefined) return true;
    if (other === false) {
      if (!warned.has(gate)) {
        warned.add(gate);
        console.warn(
          `${whose} waits for ${JSON.stringify(gate.source)}, and there is no trace to see it in: it goes on at once.`,
        );
      }
      return true;
    }
    return events.some(gate.matches) || elsewhere().some(gate.matches);
  }

  function look(): void {
    for (const one of [...waiting]) {
      if (!isOpen(one.gate)) continue;
      waiting.delete(one);
      one.then();
    }
    if (timer !== undefined) clearTimeout(timer);
    // A list of somebody else's tells nobody of what is added to it.
    timer = waiting.size === 0 || other === undefined || other === false ? undefined : setTimeout(look, POLL_MS);
  }

  function whenOpen(gate: CompiledPattern, then: () => void): () => void {
    const one = { gate, then };
    waiting.add(one);
    look();
    return () => void waiting.delete(one);
  }

  return {
    events,
    log(event) {
      events.push(event);
      look();
    },
    isOpen,
    whenOpen,
    async opened(gate, signal) {
      if (gate === undefined || isOpen(gate)) return;
      await new Promise<void>((resolve, reject) => {
        const giveUp = whenOpen(gate, resolve);
        signal?.addEventListener("abort", () => {
          giveUp();
          reject(signal.reason);
        });
        if (signal?.aborted) {
          giveUp();
          reject(signal.reason);
        }
      });
    },
  };
}

/** Reads the gate of a scripted answer. `OptionInvalid` where it is none, naming `what` it belongs to. */
export function readScriptGate(gate: ScriptGate | undefined, what: string): CompiledPattern | undefined {
  if (gate === undefined || gate === "start") return undefined;
  if (typeof gate === "object" && gate !== null && !Array.isArray(gate)) return compileGate(gate, `${what}: after`);
  throw new OptionInvalid(
    `${what}: after is "start" or a pattern such as { kind: "call", op: "chat" }; got ${JSON.stringify(gate)}.`,
  );
}

function checked(source: TraceSource | undefined, whose: string): TraceSource | undefined {
  const list = typeof source === "object" && source !== null && "trace" in source ? source.trace : source;
  if (source === undefined || source === false || Array.isArray(list)) return source;
  throw new OptionInvalid(
    `${whose}: trace is a deck, a double, a list of events, or false; got ${source === null ? "null" : typeof source}.`,
  );
}
