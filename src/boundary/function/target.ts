import type { CallTrack, Json, Track } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import type { Answer, Target } from "../../engine/target.ts";

/** Functions by the name under which they are on tape; the methods of an object as `name.method`. */
export type TargetFunctions = { readonly [name: string]: (...args: never[]) => unknown };

/** Functions as the target of a drive: each recorded call is made with the recorded arguments. */
export function functionTarget(functions: TargetFunctions): Target {
  return {
    name: "the functions",
    refuses(track) {
      if (track.kind !== "function") return `it is of kind ${track.kind}`;
      return Object.hasOwn(functions, track.call.name) ? undefined : `there is no function ${track.call.name}`;
    },
    recorded: (track) => callAnswer(track as CallTrack),
    deliveries: (track) => callDeliveries(track),
    async play(track, drive) {
      const { name, input } = (track as CallTrack).call;
      const run = functions[name] as (...args: unknown[]) => unknown;
      const events: Json[] = [];
      try {
        const value = await run(...(untagValue(drive.live(input ?? [])) as unknown[]));
        if (!isAsyncIterable(value)) {
          const result = value === undefined ? {} : { result: tagValue(value) };
          drive.arrived(result);
          return result;
        }
        for await (const item of value) {
          events.push(tagValue(item));
          drive.arrived({ events: { [events.length - 1]: events.at(-1) } });
          if (drive.signal.aborted) break;
        }
        return { events };
      } catch (error) {
        const { name: kind, message, code } = errorToStored(error);
        return {
          ...(events.length > 0 && { events }),
          error: { name: kind, message, ...(code !== undefined && { code }) },
        };
      }
    },
  };
}

/** The recorded answer of a call. */
function callAnswer({ result, error, events, end }: CallTrack): Answer {
  const failure = error ?? end?.error;
  return {
    ...(events !== undefined && { events: events.map(({ value, json, text }) => value ?? json ?? text ?? null) }),
    ...(result?.value !== undefined && { result: result.value }),
    ...(failure !== undefined && {
      error: {
        name: failure.name,
        message: failure.message,
        ...(failure.code !== undefined && { code: failure.code }),
      },
    }),
  };
}

function callDeliveries(track: Track): { at: number; after?: unknown }[] {
  const { events, result, error } = track as CallTrack;
  let at = 0;
  const items = (events ?? []).map((event) => ({ at: (at = event.at ?? at), after: event.after }));
  const outcome = result ?? error;
  return outcome === undefined || events !== undefined ? items : [...items, { at: outcome.at ?? at }];
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
