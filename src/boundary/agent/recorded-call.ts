import type { CallDraft } from "../../cassette/draft.ts";
import type { Json } from "../../cassette/schema.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import type { WiretapeError } from "../../errors.ts";
import { agentErrorToStored } from "./agent-error.ts";
import { type AgentRequest, agentEvent, agentRequests, isAction } from "./agent-requests.ts";
import type { StoredInput } from "./stored-input.ts";

// What agents change is seen in their watches, and in no other boundary's streams.
const ORIGIN = "agent";

/** Which call of a transport it is. */
export type AgentCall = Pick<AgentRequest, "name" | "thread">;

/** A call of an agent's transport that is being recorded. */
export interface CallBeingRecorded {
  readonly recording: Recording;
  /** The track is complete. */
  settle(outcome: Omit<Partial<CallDraft>, "id" | "kind" | "at" | "lane" | "call">): void;
  /** Something of it cannot be kept: it makes no track, and no cassette either, because a replay could not be right. */
  refuse(error: unknown): never;
}

/** The call goes out now. What is still open at the end of the deck ends there, with what `open` says of it. */
export function beginRecordedCall(
  session: Session,
  recording: Recording,
  { name, thread }: AgentCall,
  input: () => Json | undefined,
  open: () => Partial<CallDraft> = () => ({}),
): CallBeingRecorded {
  const { id, at, lane } = recording;
  let over = false;
  const settle = (outcome: Partial<CallDraft>): void => {
    if (over) return;
    over = true;
    recording.onFinish = undefined;
    const call = { name, thread, input: input() };
    recording.settle({ id, kind: "agent", at, lane, call, ...outcome });
  };
  recording.onFinish = () => settle({ ...open(), end: { at: recording.elapsed(), by: "client" } });
  recording.sent(agentRequests.event({ name, thread, input: undefined }), ORIGIN, isAction(name));
  return {
    recording,
    settle,
    refuse(error) {
      over = true;
      recording.onFinish = undefined;
      recording.drop();
      throw session.fail(error as WiretapeError);
    },
  };
}

/** Makes a call for real and records it. `keep` gives the stored form of a result. */
export async function recordCall<V>(
  session: Session,
  recording: Recording,
  asked: AgentCall & { readonly input: StoredInput },
  run: () => Promise<V>,
  keep: (value: V) => Json | undefined | Promise<Json | undefined>,
): Promise<V> {
  const { name, thread, input } = asked;
  let known = input instanceof Promise ? undefined : input;
  let unkept: { readonly error: unknown } | undefined;
  const stored =
    input instanceof Promise &&
    input.then(
      (json) => {
        known = json;
      },
      (error: unknown) => {
        unkept = { error };
      },
    );
  const call = beginRecordedCall(session, recording, asked, () => known);
  let value: V;
  try {
    value = await run();
    await session.turn();
  } catch (error) {
    await session.turn();
    recording.delivered(agentEvent("response", name, thread));
    const at = recording.elapsed();
    await stored;
    call.settle({ error: { at, ...agentErrorToStored(error) } });
    throw error;
  }
  recording.delivered(agentEvent("response", name, thread));
  const at = recording.elapsed();
  let kept: Json | undefined;
  try {
    await stored;
    if (unkept !== undefined) throw unkept.error;
    kept = await keep(value);
  } catch (error) {
    return call.refuse(error);
  }
  call.settle({ result: { at, ...(kept === undefined ? {} : { value: kept }) } });
  return value;
}
