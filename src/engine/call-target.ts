import type { CallTrack, StoredError } from "../cassette/schema.ts";
import type { Answer } from "./target.ts";

/** The recorded answer of a call, as a drive compares it. */
export function callAnswer({ result, error, events, end }: CallTrack): Answer {
  const failure = error ?? end?.error;
  return {
    ...(events !== undefined && { events: events.map(({ value, json, text }) => value ?? json ?? text ?? null) }),
    ...(result?.value !== undefined && { result: result.value }),
    ...(failure !== undefined && failedAnswer(failure)),
  };
}

/** The answer of a call that failed. */
export function failedAnswer({ name, message, code }: StoredError): Pick<Answer, "error"> {
  return { error: { name, message, ...(code !== undefined && { code }) } };
}

/** When each delivery of a call was recorded: its items, or its one outcome. */
export function callDeliveries({ events, result, error }: CallTrack): { at: number; after?: unknown }[] {
  let at = 0;
  const items = (events ?? []).map((event) => ({ at: (at = event.at ?? at), after: event.after }));
  const outcome = events === undefined ? (result ?? error) : undefined;
  return outcome === undefined ? items : [{ at: outcome.at ?? 0 }];
}
