import { closest } from "fastest-levenshtein";
import type { Fault } from "../cassette/fault-kinds.ts";
import type { RedactOptions } from "../cassette/redact/redactor.ts";
import { OptionInvalid } from "../errors.ts";
import type { ClockSource } from "./clock.ts";
import type { MatchOptions } from "./identity.ts";
import type { DeckMode } from "./mode.ts";

/** How a deck is opened. Unknown options are refused. */
export interface DeckOptions {
  /** Default: `WIRETAPE_MODE`, else `replay` when `CI` is set, else `auto`. */
  mode?: DeckMode;
  match?: MatchOptions;
  redact?: RedactOptions;
  /** `instant` (default): recorded order, no waiting. `recorded`: the recorded pace. A number: that many times faster. */
  timing?: "instant" | "recorded" | number;
  /** `sealed` refuses a cassette in which any track is not as it was recorded. Default `any`. */
  integrity?: "any" | "sealed";
  /** What recorded tracks that nobody asked for are. Default `error`. */
  unplayed?: "error" | "ignore";
  /** Default: the real one. A `FakeClock` may be given as it is. */
  clock?: ClockSource;
  /** `causal` (default): a recording notes which requests came before each chunk, so that replays keep the order. */
  gates?: "causal" | "off";
  /** Real milliseconds without a request or a delivery after which a held replay is an error. Default 4000; 0: never. */
  stallAfterMs?: number;
  /** What goes wrong in this replay: laid over the recorded answers, whose file stays as it is. Nothing while recording. */
  faults?: readonly Fault[];
  /** A remark for people, written into a recording. */
  note?: string;
}

const KEYS: Record<string, readonly string[]> = {
  "": [
    "mode",
    "match",
    "redact",
    "timing",
    "integrity",
    "unplayed",
    "clock",
    "gates",
    "stallAfterMs",
    "faults",
    "note",
  ],
  match: ["order", "ignore", "include", "normalize"],
};

/** Refuses unknown and impossible options, all at once. */
export function checkOptions(options: DeckOptions, more: readonly string[] = []): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new OptionInvalid(`The deck's options are an object, as { mode: "replay" }; got ${kindOf(options)}.`);
  }
  const faults: string[] = [];
  const keys = (value: unknown, group: string): void => {
    const known = [...(KEYS[group] as readonly string[]), ...(group === "" ? more : [])];
    for (const key of Object.keys(value as object)) {
      if (!known.includes(key)) {
        const name = group === "" ? key : `${group}.${key}`;
        faults.push(`there is no option ${name}; the nearest is ${closest(key, known)}`);
      }
    }
  };
  const oneOf = (name: string, value: unknown, allowed: readonly string[]): void => {
    if (value !== undefined && !allowed.includes(value as string)) {
      faults.push(`${name} is ${JSON.stringify(value)}; it is one of ${allowed.join(", ")}`);
    }
  };
  keys(options, "");
  if (options.match !== undefined && (typeof options.match !== "object" || options.match === null)) {
    faults.push(`match is ${kindOf(options.match)}; it is an object, as { ignore: ["/body/requestId"] }`);
  } else if (options.match !== undefined) {
    keys(options.match, "match");
    for (const name of ["ignore", "include"] as const) {
      const list: unknown = options.match[name];
      if (list !== undefined && !Array.isArray(list)) {
        faults.push(`match.${name} is ${JSON.stringify(list)}; it is a list, as ["/body/requestId"]`);
      }
    }
    oneOf("match.order", options.match.order, ["identity", "strict"]);
  }
  oneOf("integrity", options.integrity, ["any", "sealed"]);
  oneOf("unplayed", options.unplayed, ["error", "ignore"]);
  oneOf("gates", options.gates, ["causal", "off"]);
  const { timing, stallAfterMs } = options;
  if (
    typeof timing === "number" ? !(timing > 0) : timing !== undefined && timing !== "instant" && timing !== "recorded"
  ) {
    faults.push(`timing is ${JSON.stringify(timing)}; it is "instant", "recorded" or a speed above 0`);
  }
  if (options.faults !== undefined && !Array.isArray(options.faults)) {
    faults.push(`faults is ${kindOf(options.faults)}; it is a list, as [{ type: "cut", track: "t1", frame: 2 }]`);
  }
  if (stallAfterMs !== undefined && !(Number.isFinite(stallAfterMs) && stallAfterMs >= 0)) {
    faults.push(`stallAfterMs is ${JSON.stringify(stallAfterMs)}; it is a number of milliseconds from 0`);
  }
  if (faults.length > 0) throw new OptionInvalid(`The deck's options are wrong: ${faults.join("; ")}.`, { faults });
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
}
