import { closest } from "fastest-levenshtein";
import { describeTrack } from "../cassette/fault-kinds.ts";
import { createRedactor, type RedactOptions } from "../cassette/redact/redactor.ts";
import { isPseudonym } from "../cassette/redact/values.ts";
import type { Cassette, Json, Track } from "../cassette/schema.ts";
import { platform } from "../engine/platform.ts";
import type { Answer, Target } from "../engine/target.ts";
import { OptionInvalid } from "../errors.ts";
import { compareAnswers, type DriftDifference, TIERS, type Tier } from "./compare.ts";
import { createLinks, type Links } from "./links.ts";
import { createPace, leftByClient } from "./pace.ts";
import { matchesPointer } from "./pointer.ts";

export interface DriveOptions {
  /** Only these tracks. Default: all that the target can play. */
  tracks?: readonly string[];
  /** Places of answers that may differ: JSON Pointers with `*`, as `/body/created`, `/events/*\\/json/usage`, `/headers/x-build`. */
  ignore?: readonly string[];
  /** Values that are told: a recorded one and the live one in its place, in requests and answers. */
  links?: Readonly<Record<string, string>>;
  /** The tiers that make the report not ok. Default: all but `added`, `header` and `value`. */
  failOn?: readonly Tier[];
  /** Real milliseconds without a delivery after which a request is sent although not all before it have come. Default 2000. */
  patienceMs?: number;
  /** What must not appear in the report beside what is known to be secret. */
  redact?: RedactOptions;
}

/** What became of a track. */
export interface TrackReport {
  readonly id: string;
  /** The track in a few words. */
  readonly what: string;
  readonly outcome: "same" | "differs" | "failed" | "skipped";
  /** Why it was skipped; or what was odd about how it went. */
  readonly reason?: string;
  /** All differences, tolerated tiers included, the gravest first. */
  readonly differences: readonly DriftDifference[];
}

export interface DriveReport {
  readonly target: string;
  /** No track has a difference of a tier that counts, and none failed. */
  readonly ok: boolean;
  readonly tracks: readonly TrackReport[];
  /** The differences of all tracks. */
  readonly differences: readonly DriftDifference[];
  /** Recorded values that stood for others this time. */
  readonly links: Readonly<Record<string, string>>;
}

const KEYS = ["tracks", "ignore", "links", "failOn", "patienceMs", "redact"] as const;
const GRAVE: readonly Tier[] = ["failed", "status", "events", "removed", "type"];

/**
 * Plays the client's side of a cassette into a target and compares what comes back with the recording. A request is sent
 * when every delivery that was recorded before it has arrived; each answer is drained. Values that the target invents
 * anew and that later requests carry are linked from answer to request. Nothing is thrown for a difference: the report
 * tells. `OptionInvalid` for wrong options.
 */
export async function drive(cassette: Cassette, target: Target, options: DriveOptions = {}): Promise<DriveReport> {
  const {
    tracks: only,
    ignore = [],
    links: told = {},
    failOn = GRAVE,
    patienceMs = 2000,
    redact,
  } = checked(cassette, options);
  const chosen = cassette.tracks.filter(({ id }) => only === undefined || only.includes(id));
  const refused = new Map(chosen.map((track) => [track.id, target.refuses(track)]));
  const driven = chosen.filter(({ id }) => refused.get(id) === undefined);
  const recorded = new Map(driven.map((track) => [track.id, target.recorded(track)]));
  const links = createLinks(
    { tracks: driven },
    driven.map(({ id }) => recorded.get(id) as Answer),
  );
  for (const [from, to] of Object.entries(told)) links.set(from, to);
  const answers = await playAll(driven, target, recorded, links, patienceMs);

  // What stood in the place of a secret is one.
  const secrets = [...links.known].flatMap(([from, to]) => (isPseudonym(from) ? [to] : []));
  const redactor = createRedactor({ ...redact, values: [...(redact?.values ?? []), ...secrets] }, platform.environment);
  const clean = (difference: DriftDifference): DriftDifference =>
    redactor.json(difference as unknown as Json) as unknown as DriftDifference;
  const reports = chosen.map((track): TrackReport => {
    const about = { id: track.id, what: redactor.text(describeTrack(track)) };
    const why = refused.get(track.id);
    if (why !== undefined) return { ...about, outcome: "skipped", reason: why, differences: [] };
    const { answer, odd } = answers.get(track.id) as Played;
    const tolerated = (path: string): boolean => ignore.some((pointer) => matchesPointer(pointer, path));
    const differences = compareAnswers(recorded.get(track.id) as Answer, answer, {
      track: track.id,
      links,
      tolerated,
      left: leftByClient(track),
    })
      .map(clean)
      .sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier));
    const failed = differences.some(({ tier }) => tier === "failed");
    const outcome = failed ? "failed" : differences.some(({ tier }) => failOn.includes(tier)) ? "differs" : "same";
    return { ...about, outcome, ...(odd !== undefined && { reason: odd }), differences };
  });
  return {
    target: target.name,
    ok: reports.every(({ outcome }) => outcome === "same" || outcome === "skipped"),
    tracks: reports,
    differences: reports.flatMap(({ differences }) => differences),
    links: redactor.json(
      Object.fromEntries([...links.known].filter(([from, to]) => from !== to && !isPseudonym(from))),
    ) as Readonly<Record<string, string>>,
  };
}

interface Played {
  readonly answer: Answer;
  readonly odd: string | undefined;
}

async function playAll(
  tracks: readonly Track[],
  target: Target,
  recorded: ReadonlyMap<string, Answer>,
  links: Links,
  patienceMs: number,
): Promise<ReadonlyMap<string, Played>> {
  const pace = createPace(tracks, (track) => target.deliveries(track), patienceMs, platform);
  const played = new Map<string, Played>();
  const running: Promise<void>[] = [];
  for (const track of tracks) {
    await pace.begin(track);
    running.push(
      (async () => {
        const { signal, arrived, until, odd } = pace.of(track);
        const expected = recorded.get(track.id) as unknown as Json;
        const heard = (part?: object): void => {
          // Before anything that waits for this goes on.
          if (part !== undefined) links.learn(expected, part as Json);
          arrived();
        };
        let answer: Answer;
        try {
          answer = await target.play(track, { live: links.live, signal, arrived: heard, until });
        } catch (error) {
          const { name, message } = error instanceof Error ? error : new Error(String(error));
          answer = { error: { name, message } };
        }
        links.learn(expected, answer as unknown as Json);
        played.set(track.id, { answer, odd: odd() });
        pace.ended(track);
      })(),
    );
  }
  pace.allSent();
  await Promise.all(running);
  return played;
}

function checked(cassette: Cassette, options: DriveOptions): DriveOptions {
  const faults: string[] = [];
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key as (typeof KEYS)[number]))
      faults.push(`there is no option ${key}; the nearest is ${closest(key, KEYS)}`);
  }
  const ids = cassette.tracks.map(({ id }) => id);
  for (const id of options.tracks ?? []) {
    if (!ids.includes(id))
      faults.push(`there is no track "${id}"${ids.length === 0 ? "" : `; the nearest is "${closest(id, ids)}"`}`);
  }
  for (const tier of options.failOn ?? []) {
    if (!TIERS.includes(tier)) faults.push(`there is no tier "${tier}"; the nearest is "${closest(tier, TIERS)}"`);
  }
  for (const pointer of options.ignore ?? []) {
    if (typeof pointer !== "string" || !pointer.startsWith("/"))
      faults.push(`${JSON.stringify(pointer)} is no JSON Pointer: it begins with "/", as "/body/created"`);
  }
  const { patienceMs } = options;
  if (patienceMs !== undefined && !(Number.isFinite(patienceMs) && patienceMs > 0))
    faults.push(`patienceMs is ${JSON.stringify(patienceMs)}; it is milliseconds above 0`);
  if (faults.length > 0)
    throw new OptionInvalid(`The options of the drive are wrong: ${faults.join("; ")}.`, { faults });
  return options;
}
