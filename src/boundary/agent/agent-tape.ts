import type { AgentContract, ThreadId } from "../../agent/protocol.ts";
import type { AgentClientTransport } from "../../agent/transport.ts";
import type { Json } from "../../cassette/schema.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import type { Admission, Claim, Session } from "../../engine/session.ts";
import type { WiretapeError } from "../../errors.ts";
import { type AgentOperation, type AgentRequest, agentRequests } from "./agent-requests.ts";
import { closableIterator } from "./closable-iterator.ts";
import { playCall } from "./played-call.ts";
import { playWatch } from "./played-watch.ts";
import { copyOfEvent, type PlayedWorld } from "./played-world.ts";
import { recordCall } from "./recorded-call.ts";
import { recordWatch } from "./recorded-watch.ts";
import { type StoredInput, storedInput } from "./stored-input.ts";

/** What an agent on tape stands on. */
export interface TapedParts<T extends AgentContract> {
  /** The real transport, asked for when something has to go out; absent where nothing may. */
  readonly real: (() => AgentClientTransport<T>) | undefined;
  /** What the played events make; absent where nobody looks at it. */
  readonly played: PlayedWorld<T> | undefined;
  /** Whether reads and watches beyond the recording are answered from the world. */
  readonly readsWorld: boolean;
}

/** What an operation is asked with. */
type CallInput = { readonly threadId?: ThreadId } & Readonly<Record<string, unknown>>;

/** What is particular to a call. */
interface CallFacets<V> {
  /** For the log of requests, what the method was called with; default: the input. */
  readonly argument?: unknown;
  /** The stored form of what it is asked with; default: the input without its thread. */
  readonly stored?: () => StoredInput;
  /** The stored form of its result, and back; default: tagged values. */
  readonly keep?: (value: V) => Promise<Json>;
  readonly restore?: (stored: Json | undefined) => V;
  /** Told of the result that is played; resolves when the world has followed it. */
  readonly onPlayed?: (value: V) => Promise<void> | undefined;
  /** For a read: what the world answers beyond the recording; `undefined`: nothing. */
  readonly fromWorld?: () => V | undefined;
}

/** What is particular to a watch. */
interface WatchFacets<T extends AgentContract, E> {
  open(real: AgentClientTransport<T>, signal: AbortSignal): AsyncIterable<E>;
  /** Told of each event that is played, a copy of its own; resolves when the world has followed it. */
  onPlayed(event: E): Promise<void> | undefined;
  fromWorld(): AsyncIterable<E> | undefined;
}

/** Calls and watches on tape. */
export interface AgentTape<T extends AgentContract> {
  call<V>(
    name: AgentOperation,
    input: CallInput,
    run: (real: AgentClientTransport<T>) => Promise<V>,
    facets?: CallFacets<V>,
  ): Promise<V>;
  watch<E extends { readonly type: string }>(
    name: AgentOperation,
    input: CallInput,
    signal: AbortSignal | undefined,
    facets: WatchFacets<T, E>,
  ): AsyncIterable<E>;
}

/** The tape of a lane: finds out what becomes of each operation, and has it played or recorded. */
export function agentTape<T extends AgentContract>(
  session: Session,
  { real, played, readsWorld }: TapedParts<T>,
): AgentTape<T> {
  const backend = real as () => AgentClientTransport<T>; // where there is none, nothing is ever to be recorded

  /** `undefined`: the recording does not answer, and the world may. */
  const claim = (
    admission: Admission,
    request: AgentRequest,
    worldMay: boolean,
  ): Claim | undefined | Promise<Claim | undefined> =>
    worldMay ? admission.tryClaim(agentRequests, request) : admission.claim(agentRequests, request);

  /** What the world cannot answer either is a request beyond the recording. */
  const beyond = (request: AgentRequest): Claim | Promise<Claim> => session.admit().claim(agentRequests, request);

  /** Everything that was played so far is in the world. Where that cannot be, its answer would be wrong. */
  const caughtUp = async (thread: ThreadId | undefined): Promise<void> => {
    try {
      await played?.settled(thread);
    } catch (error) {
      throw session.fail(error as WiretapeError);
    }
  };

  async function call<V>(
    name: AgentOperation,
    input: CallInput,
    run: (real: AgentClientTransport<T>) => Promise<V>,
    facets: CallFacets<V> = {},
  ): Promise<V> {
    const { keep = tagged, restore = untagged, onPlayed, fromWorld } = facets;
    const thread = input.threadId;
    const stored = facets.stored === undefined ? storedInput(input) : facets.stored();
    const admission = session.admit();
    const record = ({ recording }: { recording: Admission["recording"] & {} }): Promise<V> =>
      recordCall(session, recording, { name, thread, input: stored }, () => run(backend()), keep);
    if (admission.recording !== undefined) return record({ recording: admission.recording });
    played?.world.requests.add(name, "argument" in facets ? facets.argument : input);
    const request = { name, thread, input: stored instanceof Promise ? await read(stored, admission) : stored };
    const claimed = claim(admission, request, readsWorld && fromWorld !== undefined);
    let decided = claimed instanceof Promise ? await claimed : claimed;
    if (decided === undefined) {
      await caughtUp(thread);
      const answer = fromWorld?.();
      if (answer !== undefined) return answer;
      decided = await beyond(request);
    }
    if ("record" in decided) return record({ recording: decided.record });
    const value = await playCall(decided.play, name, thread, restore);
    await onPlayed?.(value);
    return value;
  }

  function watch<E extends { readonly type: string }>(
    name: AgentOperation,
    input: CallInput,
    signal: AbortSignal | undefined,
    facets: WatchFacets<T, E>,
  ): AsyncIterable<E> {
    const thread = input.threadId;
    const become = (request: AgentRequest, decided: Claim | undefined): AsyncIterator<E, unknown> => {
      if (decided === undefined) return late(beyondWatch(request));
      if ("play" in decided)
        return playWatch(decided.play, name, thread, signal, (again) =>
          played === undefined ? undefined : facets.onPlayed(again()),
        );
      return recordWatch(session, decided.record, request, (own) => facets.open(backend(), own), signal);
    };
    const beyondWatch = async (request: AgentRequest): Promise<AsyncIterator<E, unknown>> => {
      await caughtUp(thread);
      const events = facets.fromWorld();
      return events === undefined ? become(request, await beyond(request)) : copies(events);
    };
    return {
      [Symbol.asyncIterator]() {
        // Nothing goes out, so there is nothing to record or to claim.
        if (signal?.aborted) return closableIterator(nothing as never, signal);
        try {
          const request = { name, thread, input: storedInput(input) };
          const admission = session.admit();
          if (admission.recording !== undefined) return become(request, { record: admission.recording });
          played?.world.requests.add(name, thread);
          const claimed = claim(admission, request, readsWorld);
          if (claimed instanceof Promise) return late(claimed.then((decided) => become(request, decided)));
          return become(request, claimed);
        } catch (error) {
          // What an iterable fails with, it fails with when it is read.
          return late(Promise.reject(error));
        }
      },
    };
  }

  return { call, watch };
}

const tagged = async (value: unknown): Promise<Json | undefined> => (value === undefined ? undefined : tagValue(value));

function untagged<V>(stored: Json | undefined): V {
  return (stored === undefined ? undefined : untagValue(stored)) as V;
}

const nothing = { pull: async () => ({ done: true, value: undefined }), close: () => undefined };

async function read(stored: Promise<Json>, admission: Admission): Promise<Json> {
  try {
    return await stored;
  } catch (error) {
    admission.drop();
    throw error;
  }
}

/** An iterator that is known later. What it cannot be is told to whoever reads it. */
function late<E>(ready: Promise<AsyncIterator<E, unknown>>): AsyncIterator<E, unknown> {
  let left = false;
  const untold = (): undefined => undefined; // next() has the error too, and the deck
  ready.catch(untold);
  return {
    next: async () => (left ? { done: true, value: undefined } : (await ready).next()),
    return() {
      left = true;
      ready.then((items) => items.return?.(), untold);
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

/** The events of the world are shared by its watchers: each program gets its own. */
function copies<E extends object>(events: AsyncIterable<E>): AsyncIterator<E, unknown> {
  const items = events[Symbol.asyncIterator]();
  return {
    async next() {
      const step = await items.next();
      return step.done === true ? step : { done: false, value: copyOfEvent(step.value) };
    },
    return: async () => (await items.return?.()) ?? { done: true, value: undefined },
  };
}
