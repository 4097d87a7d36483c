import type { EventDraft } from "../../cassette/draft.ts";
import type { CallTrack, Json } from "../../cassette/schema.ts";
import { errorToStored, storedToError } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import type { Play } from "../../engine/play.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import { type Claim, type Lane, type Session, sessionOf } from "../../engine/session.ts";
import { unlessAborted, untilAborted } from "../../engine/unless-aborted.ts";
import { OptionInvalid } from "../../errors.ts";

interface Call {
  readonly name: string;
  /** The arguments, tagged. */
  readonly input: Json;
}

const calls: RequestKind<Call> = {
  kind: "function",
  boundary: "function",
  redact: (redactor, { name, input }) => ({ name, input: redactor.json(input) }),
  facets: ({ name, input }) => ({ name, arguments: input }),
  recorded: (track) => {
    const { call } = track as CallTrack;
    return { name: call.name, input: call.input ?? [] };
  },
  parts: ({ name }) => ({ name }),
  bucket: ({ name = "" }) => name,
  alike: () => false,
  describe: ({ name, input }) => `${name}(${brief(input)})`,
  event: ({ name }) => ({ kind: "call", boundary: "function", name }),
};

function brief(input: Json): string {
  const text = JSON.stringify(input).slice(1, -1);
  return text.length <= 100 ? text : `${text.slice(0, 80)}…`;
}

// A function of the program's, whatever its arguments.
type AnyFunction = (...args: never[]) => unknown;

/**
 * A function on tape: what it is called with and what it gives are recorded, and in replay it is not called at all.
 *
 * The function must be asynchronous: it returns a promise, or an async iterable, whose items then stream in their
 * recorded order (a promise of an async iterable works too). What it throws is recorded and thrown again. Arguments
 * and results may hold what JSON lacks (bytes, dates, URLs, big integers, maps, sets, errors, undefined); what cannot
 * be stored is `OptionInvalid` and names the place. Arguments count for identity; a trailing `AbortSignal` does not.
 *
 * Errors of a replay, thrown by the call itself, as nobody knows whether a promise or an iterable would have come:
 * `ScriptExhausted`, `UnrecordedRequest`, `OutOfOrder`; by what it returned, `ReplayStalled`.
 */
export function tapeFunction<F extends AnyFunction>(deck: Lane, name: string, fn: F): F {
  const session = sessionOf(deck);
  if (session.mode === "live") return fn;
  return tapeCall(session, name, fn as never) as unknown as F;
}

/**
 * Every method of a port on tape, called as `name.method`. Methods are taken from the object and its prototypes;
 * other properties are passed through. The methods must be asynchronous, as for `tapeFunction`.
 */
export function tapeObject<T extends object>(deck: Lane, name: string, object: T): T {
  const session = sessionOf(deck);
  if (session.mode === "live") return object;
  const taped = new Map<PropertyKey, { of: unknown; fn: unknown }>();
  return new Proxy(object, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || typeof key === "symbol" || key === "constructor") return value;
      const known = taped.get(key);
      if (known?.of === value) return known.fn;
      const fn = tapeCall(session, `${name}.${key}`, (...args: unknown[]) => value.apply(target, args));
      taped.set(key, { of: value, fn });
      return fn;
    },
  });
}

function tapeCall(
  session: Session,
  name: string,
  fn: (...args: unknown[]) => unknown,
): (...args: unknown[]) => unknown {
  return (...args) => {
    const { input, signal } = readArguments(args);
    const admission = session.admit();
    const call = { name, input };
    const claim = admission.claim(calls, call);
    // Nothing of a call has to be read first, so it is always the first in its line.
    if (claim instanceof Promise) return claim.then((late) => become(session, late, call, signal, () => fn(...args)));
    return become(session, claim, call, signal, () => fn(...args));
  };
}

function become(
  session: Session,
  claim: Claim,
  call: Call,
  signal: AbortSignal | undefined,
  run: () => unknown,
): unknown {
  return "play" in claim ? replayCall(claim.play, signal) : recordCall(session, claim.record, call, run);
}

// Signals are how a program gives up, not what it asks for: they are passed on and do not count.
function readArguments(args: readonly unknown[]): { input: Json; signal: AbortSignal | undefined } {
  const last = args.at(-1);
  if (last instanceof AbortSignal) return { input: tagValue(args.slice(0, -1)), signal: last };
  const inside = typeof last === "object" && last !== null ? (last as { signal?: unknown }).signal : undefined;
  if (!(inside instanceof AbortSignal)) return { input: tagValue(args), signal: undefined };
  const { signal: _, ...rest } = last as { signal?: unknown };
  return { input: tagValue([...args.slice(0, -1), rest]), signal: inside };
}

function recordCall(session: Session, recording: Recording, call: Call, run: () => unknown): unknown {
  const { name } = call;
  const events: EventDraft[] = [];
  let streams = false;
  let refused = false;
  // What cannot be kept makes no track, and no cassette either: a replay could not be right.
  const refuse = (error: OptionInvalid): never => {
    refused = true;
    recording.onFinish = undefined;
    recording.drop();
    throw session.fail(error);
  };
  const keep = (value: unknown): Json => {
    try {
      return tagValue(value);
    } catch (error) {
      return refuse(error as OptionInvalid);
    }
  };
  const settle = (outcome: object): void => {
    if (refused) return;
    recording.onFinish = undefined;
    const { id, at, lane } = recording;
    recording.settle({ id, kind: "function", at, lane, call, ...(streams ? { events } : {}), ...outcome });
  };
  recording.onFinish = () => settle({ end: { at: recording.elapsed(), by: "client" } });
  recording.sent(calls.event(call), "", true);
  const fail = (error: unknown): never => {
    settle({ error: { at: recording.elapsed(), ...errorToStored(error) } });
    throw error;
  };
  const take = (value: unknown): unknown => {
    if (isAsyncIterable(value)) {
      streams = true;
      return recordItems(recording, value, events, keep, settle);
    }
    recording.delivered({ kind: "response", boundary: "function", name });
    settle({ result: { at: recording.elapsed(), value: keep(value) } });
    return value;
  };
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    return fail(error);
  }
  if (isThenable(value)) return Promise.resolve(value).then(take, fail);
  if (isAsyncIterable(value)) return take(value);
  return refuse(
    new OptionInvalid(
      `${name} returned a value at once; a function on tape is asynchronous, because a replay answers in its turn.\n  next      make it an async function, or call it outside the tape`,
      { name },
    ),
  );
}

async function* recordItems(
  recording: Recording,
  source: AsyncIterable<unknown>,
  events: EventDraft[],
  keep: (value: unknown) => Json,
  settle: (outcome: object) => void,
): AsyncGenerator<unknown, unknown> {
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  let reading = false;
  const end = (outcome: object): void => {
    ended = true;
    settle(outcome);
  };
  try {
    for (;;) {
      reading = true;
      const step = await iterator.next();
      reading = false;
      if (step.done === true) {
        end(step.value === undefined ? {} : { result: { at: recording.elapsed(), value: keep(step.value) } });
        return step.value;
      }
      const after = recording.delivered({ kind: "frame", boundary: "function" });
      events.push({ at: recording.elapsed(), value: keep(step.value), ...(after === undefined ? {} : { after }) });
      yield step.value;
    }
  } catch (error) {
    if (!ended) end({ end: { at: recording.elapsed(), error: errorToStored(error) } });
    if (!reading) await iterator.return?.(); // a source that failed by itself is over
    throw error;
  } finally {
    if (!ended) {
      end({ end: { at: recording.elapsed(), by: "client" } });
      await iterator.return?.();
    }
  }
}

function replayCall(play: Play, signal: AbortSignal | undefined): unknown {
  const track = play.track as CallTrack;
  if (track.events === undefined) return replayResult(play, track, signal);
  const items = replayItems(play, track, signal);
  // The recorded function returned the iterable, or a promise of it: what is given here serves as both.
  const shell = {
    [Symbol.asyncIterator]: () => items,
    next: () => items.next(),
    return: (value: unknown) => items.return(value),
  };
  // biome-ignore lint/suspicious/noThenProperty: so that a caller may also await it, as it may have done while recording
  return Object.assign(shell, { then: (resolve: (value: unknown) => void) => resolve(items) });
}

async function replayResult(play: Play, track: CallTrack, signal: AbortSignal | undefined): Promise<unknown> {
  const { result, error } = track;
  if (track.after !== undefined) await unlessAborted(play.wait(0, "the answer", track.after), signal);
  if (result === undefined && error === undefined) return untilAborted(signal, play); // the program gave up, and does so again
  const at = (result ?? error)?.at ?? 0;
  await unlessAborted(play.wait(at, error === undefined ? "the result" : "the failure", result?.after), signal);
  play.note({ kind: "response", boundary: "function", name: track.call.name });
  if (error !== undefined) throw storedToError(error);
  return result?.value === undefined ? undefined : untagValue(result.value);
}

async function* replayItems(
  play: Play,
  track: CallTrack,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, unknown> {
  const stream = {};
  let at = 0;
  let number = 0;
  if (track.after !== undefined) await unlessAborted(play.wait(0, "the answer", track.after), signal);
  for (const event of track.events ?? []) {
    at = event.at ?? at;
    await unlessAborted(play.wait(at, `item ${++number}`, event.after, stream), signal);
    play.note({ kind: "frame", boundary: "function" });
    yield untagValue((event.value ?? event.json ?? event.text) as Json);
  }
  const { end, result, error } = track;
  if (end?.by === "client") return untilAborted(signal, play);
  const failure = end?.error ?? error;
  if (failure !== undefined) {
    await unlessAborted(play.wait(end?.at ?? error?.at ?? at, "the end", end?.after, stream), signal);
    throw storedToError(failure);
  }
  return result?.value === undefined ? undefined : untagValue(result.value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
