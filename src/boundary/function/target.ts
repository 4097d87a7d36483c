import type { CallTrack, Json } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import { callAnswer, callDeliveries, failedAnswer } from "../../engine/call-target.ts";
import type { Target } from "../../engine/target.ts";

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
    deliveries: (track) => callDeliveries(track as CallTrack),
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
        return { ...(events.length > 0 && { events }), ...failedAnswer(errorToStored(error)) };
      }
    },
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
