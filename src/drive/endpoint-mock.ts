import { closest } from "fastest-levenshtein";
import { type Platform, platform } from "../engine/platform.ts";
import { OptionInvalid, ReplayStalled } from "../errors.ts";
import type { FlatEvent } from "../pattern.ts";
import type { EndpointHandler, EndpointReply } from "./endpoint-agent.ts";
import { type EndpointRequestScript, type ReadRequest, readRequests } from "./endpoint-request.ts";
import { drain } from "./endpoint-session.ts";

export interface EndpointMockOptions {
  readonly requests: readonly EndpointRequestScript[];
  /** At most so many milliseconds between looks at a trace that is not the mock's own, and at subscriptions. Default 10. */
  readonly pollMs?: number;
  /**
   * Where gates look beside the mock's own log: a deck, a list of events. `false`: there is no trace, and a gate fires at
   * once with a warning.
   */
  readonly trace?: false | readonly FlatEvent[] | { readonly trace: readonly FlatEvent[] };
  /** Milliseconds without an event after which requests that wait are an error (`ReplayStalled`). Default 4000; 0: never. */
  readonly stallAfterMs?: number;
}

/**
 * A scripted client for an in-process agent: it plays requests into the agent that subscribed to their model, and drains
 * each reply. Requests run at the same time, unless a gate orders them.
 */
export interface EndpointMock extends AsyncDisposable {
  /** Everything that happened, from before any agent ran: `inbound`, `call`, `frame` and `close` events. */
  readonly trace: readonly FlatEvent[];
  /** The replies that are complete, in the order in which they became so. */
  readonly replies: readonly EndpointReply[];
  /** Warnings, each once. */
  readonly warnings: readonly string[];
  /** An agent takes the requests of a model. The returned function takes it back. */
  subscribe(model: string, handler: EndpointHandler): () => void;
  /** Logs that the agent calls something outside a session. */
  call(op: string, more?: Readonly<Record<string, unknown>>): void;
  /** Resolves with the replies in the order of the script. Rejects with `ReplayStalled` where nothing goes on any more. */
  finished(): Promise<readonly EndpointReply[]>;
}

const KEYS = ["pollMs", "requests", "trace", "stallAfterMs"] as const;

/** Creates the mock; its log begins now. `OptionInvalid` tells everything that is wrong with the script. */
export function createEndpointMock(options: EndpointMockOptions): EndpointMock {
  return startEndpoint(options, readRequests(checked(options).requests), platform);
}

function checked(options: EndpointMockOptions): EndpointMockOptions {
  const faults: string[] = [];
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key as (typeof KEYS)[number]))
      faults.push(`there is no option ${key}; the nearest is ${closest(key, KEYS)}`);
  }
  const { pollMs = 10, stallAfterMs = 0 } = options;
  if (!(Number.isFinite(pollMs) && pollMs > 0))
    faults.push(`pollMs is ${JSON.stringify(pollMs)}; it is milliseconds above 0`);
  if (!(Number.isFinite(stallAfterMs) && stallAfterMs >= 0))
    faults.push(`stallAfterMs is ${JSON.stringify(stallAfterMs)}; it is milliseconds from 0`);
  if (faults.length > 0) throw new OptionInvalid(`The endpoint's options are wrong: ${faults.join("; ")}.`, { faults });
  return options;
}

/** The mock over requests that were read. */
export function startEndpoint(
  options: Omit<EndpointMockOptions, "requests">,
  requests: readonly ReadRequest[],
  { timer, now, turn, warn }: Platform,
): EndpointMock {
  const { pollMs = 10, trace: other, stallAfterMs = 4000 } = options;
  const events: FlatEvent[] = [];
  const replies: EndpointReply[] = [];
  const warnings: string[] = [];
  const handlers = new Map<string, EndpointHandler>();
  const waiting = new Set(requests);
  const listeners = new Set<{ resolve: () => void; reject: (error: unknown) => void }>();
  const stopped = new AbortController();
  let running = 0;
  let looking = false;
  let seenElsewhere = 0;
  let lastEvent = now();
  let stopTimer: (() => void) | undefined;

  const elsewhere = (): readonly FlatEvent[] =>
    other === undefined || other === false ? [] : "trace" in other ? other.trace : (other as readonly FlatEvent[]);

  function log(event: FlatEvent): void {
    events.push(event);
    lastEvent = now();
    look();
  }

  function isOpen({ gate, number }: ReadRequest): boolean {
    if (gate === undefined) return true;
    if (other === false) {
      const text = `request ${number} of the endpoint waits for ${JSON.stringify(gate.source)}, and there is no trace to see it in: it fires at once`;
      if (!warnings.includes(text)) {
        warnings.push(text);
        warn(text);
      }
      return true;
    }
    return events.some(gate.matches) || elsewhere().some(gate.matches);
  }

  // In a turn of its own: an agent that subscribes is done with it when its first request comes.
  function look(): void {
    if (looking || stopped.signal.aborted) return;
    looking = true;
    turn(() => {
      looking = false;
      if (stopped.signal.aborted) return;
      for (const request of [...waiting]) {
        const handler = handlers.get(request.model);
        if (handler !== undefined && isOpen(request)) fire(request, handler);
      }
      watch();
    });
  }

  /** Looks again later where something waits for what nobody tells of, and notices that nothing goes on. */
  function watch(): void {
    stopTimer?.();
    stopTimer = undefined;
    if (waiting.size === 0 || stopped.signal.aborted) return;
    const polls = other !== undefined && other !== false;
    const stalls = listeners.size > 0 && stallAfterMs > 0;
    if (!polls && !stalls) return;
    stopTimer = timer(polls ? pollMs : Math.max(1, lastEvent + stallAfterMs - now()), () => {
      stopTimer = undefined;
      const seen = elsewhere().length;
      if (seen !== seenElsewhere) lastEvent = now();
      seenElsewhere = seen;
      if (stalls && running === 0 && now() - lastEvent >= stallAfterMs) stall();
      else look();
    });
  }

  function stall(): void {
    const held = [...waiting].map((request) => `  waits     request ${request.number} for ${whatFor(request)}`);
    const subscribed = [...handlers.keys()];
    const error = new ReplayStalled(
      [
        `The endpoint stands still: ${waiting.size === 1 ? "a request waits" : `${waiting.size} requests wait`}, and nothing has happened for ${stallAfterMs / 1000} seconds.`,
        ...held,
        `  subscribed ${subscribed.length === 0 ? "nobody" : subscribed.join(", ")}`,
        `  seen      ${events.length + elsewhere().length} events${events.length === 0 ? "" : `, the last ${JSON.stringify(events.at(-1))}`}`,
        "  next      subscribe an agent to the model, or look at endpoint.trace for the event that the gate should match",
      ].join("\n"),
      { waiting: [...waiting].map(({ number }) => number) },
    );
    for (const { reject } of listeners) reject(error);
    listeners.clear();
  }

  function whatFor({ model, gate }: ReadRequest): string {
    if (handlers.has(model)) return `an event that matches ${JSON.stringify(gate?.source)}`;
    const known = [...handlers.keys()];
    const near = known.length === 0 ? "" : ` (the nearest that is subscribed is "${closest(model, known)}")`;
    return `an agent that subscribes to "${model}"${near}`;
  }

  function fire(request: ReadRequest, handler: EndpointHandler): void {
    waiting.delete(request);
    running++;
    drain(request, handler, log, stopped.signal).then((reply) => {
      running--;
      replies.push(reply);
      lastEvent = now();
      if (replies.length === requests.length) {
        for (const { resolve } of listeners) resolve();
        listeners.clear();
      }
      watch();
    });
  }

  const call = (op: string, more: Readonly<Record<string, unknown>> = {}): void => log({ ...more, kind: "call", op });

  return {
    trace: events,
    replies,
    warnings,
    subscribe(model, handler) {
      if (handlers.has(model))
        throw new OptionInvalid(
          `An agent is subscribed to "${model}" already; take it back first, or give this one a model of its own.`,
        );
      handlers.set(model, handler);
      lastEvent = now();
      look();
      return () => void handlers.delete(model);
    },
    call,
    async finished() {
      if (replies.length < requests.length) {
        await new Promise<void>((resolve, reject) => {
          listeners.add({ resolve, reject });
          lastEvent = now();
          look();
        });
      }
      return replies.toSorted((a, b) => a.request - b.request);
    },
    async [Symbol.asyncDispose]() {
      stopTimer?.();
      stopped.abort();
      for (const { reject } of listeners)
        reject(new ReplayStalled("The endpoint was disposed of while requests waited.", {}));
      listeners.clear();
    },
  };
}
