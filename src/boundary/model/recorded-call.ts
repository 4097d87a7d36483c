import type { CallDraft, EventDraft } from "../../cassette/draft.ts";
import type { Json } from "../../cassette/schema.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import { OptionInvalid, type WiretapeError } from "../../errors.ts";
import { type ModelRequest, modelEvent, modelRequests } from "./model-requests.ts";
import { storeProviderError } from "./provider-errors.ts";
import { storeAnswer, storePart } from "./stored-part.ts";
import { withoutTornSecrets } from "./torn-secrets.ts";

type Outcome = Omit<Partial<CallDraft>, "id" | "kind" | "at" | "lane" | "call">;

interface CallBeingRecorded {
  /** The track is complete. */
  settle(outcome: Outcome): void;
  /** The model failed instead of answering. */
  fail(error: unknown): void;
  /** Keeps the stored form of a value. What has none makes no track, and no cassette either: a replay could not be right. */
  keep(store: () => Json): Json;
  /** What is still open at the end of the deck ends there, with what this says of it. */
  open: () => Outcome;
}

function begin(
  session: Session,
  recording: Recording,
  call: ModelRequest,
  signal: AbortSignal | undefined,
): CallBeingRecorded {
  const { id, at, lane } = recording;
  let over = false;
  const settle = (outcome: Outcome): void => {
    if (over) return;
    over = true;
    recording.onFinish = undefined;
    const { events } = outcome;
    const parts = events === undefined ? {} : { events: withoutTornSecrets(events, session.redactor) };
    recording.settle({ id, kind: "model", at, lane, call, ...outcome, ...parts });
  };
  const leave = (): void => settle({ ...being.open(), end: { at: recording.elapsed(), by: "client" } });
  const being: CallBeingRecorded = {
    settle,
    fail(error) {
      if (signal?.aborted) return leave();
      recording.delivered(modelEvent("response", call.name));
      const at = recording.elapsed();
      const { stored, details } = storeProviderError(error);
      const events = details === undefined ? {} : { events: [{ at, value: { details } }] };
      settle({ ...events, error: { at, ...stored } });
    },
    keep(store) {
      try {
        return store();
      } catch (error) {
        over = true;
        recording.onFinish = undefined;
        recording.drop();
        throw session.fail(error as WiretapeError);
      }
    },
    open: () => ({}),
  };
  recording.onFinish = leave;
  recording.sent(modelRequests.event(call), originOf(call.name), true);
  return being;
}

/** Asks the model for a whole answer, and records it. */
export async function recordGenerate(
  session: Session,
  recording: Recording,
  call: ModelRequest,
  signal: AbortSignal | undefined,
  run: () => PromiseLike<object>,
): Promise<object> {
  const being = begin(session, recording, call, signal);
  let answer: object;
  try {
    answer = await run();
  } catch (error) {
    being.fail(error);
    throw error;
  }
  recording.delivered(modelEvent("response", call.name));
  const at = recording.elapsed();
  const value = being.keep(() => {
    if (!Array.isArray((Object(answer) as { content?: unknown }).content))
      throw new OptionInvalid(`${call.name} gave no answer: its result has no list under "content".`);
    return storeAnswer(answer);
  });
  being.settle({ result: { at, value } });
  return answer;
}

/**
 * Asks the model for a stream, and records it: what comes with the stream as the result, its parts as events. The
 * program gets each part when it comes; nothing is read ahead of it.
 */
export async function recordStream(
  session: Session,
  recording: Recording,
  call: ModelRequest,
  signal: AbortSignal | undefined,
  run: () => PromiseLike<{ readonly stream: ReadableStream<unknown> }>,
): Promise<object> {
  const being = begin(session, recording, call, signal);
  let answer: { readonly stream: ReadableStream<unknown> };
  try {
    answer = await run();
  } catch (error) {
    being.fail(error);
    throw error;
  }
  recording.delivered(modelEvent("response", call.name));
  const at = recording.elapsed();
  const { stream, ...head } = Object(answer) as typeof answer;
  const value = being.keep(() => {
    if (typeof (stream as Partial<typeof stream> | undefined)?.getReader !== "function")
      throw new OptionInvalid(`${call.name} gave no stream: its result has no ReadableStream under "stream".`);
    return storeAnswer(head);
  });
  const result = { at, ...(Object.keys(head).length === 0 ? {} : { value }) };
  const events: EventDraft[] = [];
  being.open = () => ({ result, events });
  return { ...answer, stream: recordParts(recording, call.name, stream, signal, being, events) };
}

// A stream without a queue of its own: `tee()` would read ahead without bound.
function recordParts(
  recording: Recording,
  name: string,
  source: ReadableStream<unknown>,
  signal: AbortSignal | undefined,
  being: CallBeingRecorded,
  events: EventDraft[],
): ReadableStream<unknown> {
  const reader = source.getReader();
  const gate = (kind: "frame" | "close", type?: string): Pick<EventDraft, "at" | "after"> => {
    const after = recording.delivered(modelEvent(kind, name, type));
    const at = recording.elapsed();
    return after === undefined ? { at } : { at, after };
  };
  const leave = (): void => being.settle({ ...being.open(), end: { at: recording.elapsed(), by: "client" } });
  const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    let step: ReadableStreamReadResult<unknown>;
    try {
      step = await reader.read();
    } catch (error) {
      if (signal?.aborted) leave();
      else being.settle({ ...being.open(), end: { ...gate("close"), error: storeProviderError(error).stored } });
      throw error;
    }
    if (step.done) {
      being.settle(being.open());
      controller.close();
      return;
    }
    const part = step.value;
    const delivery = gate("frame", typeOf(part));
    try {
      events.push({ ...delivery, value: being.keep(() => storePart(part)) });
    } catch (error) {
      await reader.cancel(error);
      throw error;
    }
    controller.enqueue(part);
  };
  const cancel = (reason: unknown): Promise<void> => {
    leave();
    return reader.cancel(reason);
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** The type of a part, where it has one. */
export function typeOf(part: unknown): string | undefined {
  const type = (Object(part) as { type?: unknown }).type;
  return typeof type === "string" ? type : undefined;
}

// Calls of one provider may show in each other's streams, as requests to one origin may.
function originOf(name: string): string {
  return `model ${name.slice(0, name.indexOf("/"))}`;
}
