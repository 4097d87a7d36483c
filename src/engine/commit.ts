import { appendTracks } from "../cassette/edit.ts";
import { parseCassette } from "../cassette/parse.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import { compileRules, type RedactOptions } from "../cassette/redact/rules.ts";
import { type ScanOptions, scanForSecrets } from "../cassette/redact/scan.ts";
import type { Cassette, Match } from "../cassette/schema.ts";
import { formatSealed } from "../cassette/seal.ts";
import type { CassetteStore } from "../cassette/store.ts";
import { unfaithful } from "../cassette/track-from-draft.ts";
import { CassetteExists, SecretFound, VerifyFailed } from "../errors.ts";
import { encodeUtf8, equalBytes } from "../wire/bytes.ts";
import type { Platform } from "./platform.ts";
import type { Recorder } from "./recorder.ts";
import { VERSION } from "./version.ts";

/** What a recording becomes a file with. */
export interface RecordingFacts {
  /** How messages call the cassette. */
  readonly display: string;
  /** When the recording began, ISO 8601. */
  readonly date: string;
  /** The full name of what was recorded: a test's, say. */
  readonly title: string | undefined;
  readonly note: string | undefined;
  readonly match: Match | undefined;
  /** `$schema`, for editors. */
  readonly schema: string | undefined;
  /** The text that is extended, when the mode is `extend`. */
  readonly base: string | undefined;
}

/** The head of a recording: all but its tracks, variables and seal. */
export function recordingHead(facts: RecordingFacts, redactor: Redactor): Omit<Cassette, "tracks" | "seal"> {
  return {
    ...(facts.schema === undefined ? {} : { $schema: facts.schema }),
    wiretape: 1,
    recorded: {
      at: facts.date,
      with: `wiretape/${VERSION}`,
      ...(facts.title === undefined ? {} : { name: redactor.text(facts.title) }),
    },
    ...(facts.note === undefined ? {} : { note: redactor.text(facts.note) }),
    ...(facts.match === undefined ? {} : { match: facts.match }),
  };
}

/** A recording as a text, and what that text reads back as. */
export interface ProvenText {
  readonly text: string;
  readonly cassette: Cassette;
}

/** Prints a recording and proves it: every payload reads back as it was seen, and no secret is in the text. */
export function provenText(
  recorder: Recorder,
  facts: RecordingFacts,
  redactor: Redactor,
  scan: ScanOptions,
): ProvenText {
  const settled = recorder.settled;
  const tracks = settled.map(({ track }) => track);
  let text: string;
  if (facts.base === undefined) {
    const head = recordingHead(facts, redactor);
    const origins = [...new Set(tracks.flatMap((track) => (track.kind === "http" ? originOf(track.request.url) : [])))];
    text = formatSealed({
      ...head,
      recorded: { ...head.recorded, ...(origins.length === 0 ? {} : { origins }) },
      ...(recorder.vars === undefined ? {} : { vars: recorder.vars }),
      tracks,
    });
  } else {
    text = appendTracks(facts.base, tracks, recorder.vars);
  }
  const read = parseCassette(text, { path: facts.display });
  const byId = new Map(read.tracks.map((track) => [track.id, track]));
  for (const { draft } of settled) {
    const track = byId.get(draft.id);
    const load = (file: { path: string }): Uint8Array => recorder.sidecars.get(file.path) as Uint8Array;
    const fault = track === undefined ? "it is not in the text" : unfaithful(track, draft, load);
    if (fault !== undefined) {
      throw new VerifyFailed(
        `The recording of ${facts.display} does not read back as what was seen: track ${draft.id}: ${fault}. Nothing was written.\n  next      this is a fault of wiretape: please report it with the journal that was kept beside the cassette`,
        { cassette: facts.display, track: draft.id },
      );
    }
  }
  refuseSecrets(text, facts.display, scan);
  return { text, cassette: read };
}

/** What the final scan looks for: what the deck's redactor was told of, and what it found in the environment. */
export function finalScan(redact: RedactOptions | undefined, environment: Platform["environment"]): ScanOptions {
  const { values, waived } = compileRules(redact);
  return { environment, values, waive: [...waived] };
}

/** The final scan: throws `SecretFound` where the text still holds what looks like a secret. */
function refuseSecrets(text: string, display: string, scan: ScanOptions): void {
  const findings = scanForSecrets(text, scan);
  if (findings.length === 0) return;
  const places = findings.map(({ rule, line, column }) => `line ${line}, column ${column}: looks like ${rule}`);
  throw new SecretFound(
    [
      `The recording of ${display} still holds what looks like ${findings.length === 1 ? "a secret" : `${findings.length} secrets`}, so nothing was written.`,
      ...places.slice(0, 10).map((line) => `  found     ${line}`),
      places.length > 10 ? `            and ${places.length - 10} more` : "",
      "  next      name the place in redact.add, the value in redact.values, or, where it is no secret, waive the rule by name: redact.waive",
    ]
      .filter(Boolean)
      .join("\n"),
    { cassette: display, findings },
  );
}

/**
 * Writes a proven text: sidecar files first, then the cassette, whole or not at all. `CassetteExists` where somebody
 * else wrote the file meanwhile: what is there is never lost.
 */
export async function writeRecording(
  store: CassetteStore,
  name: string,
  text: string,
  recorder: Recorder,
  facts: RecordingFacts,
  replace: boolean,
): Promise<void> {
  const found = replace && facts.base === undefined ? undefined : await store.read(name);
  const expected = facts.base === undefined ? undefined : encodeUtf8(facts.base);
  const same = found === undefined || (expected !== undefined && equalBytes(found, expected));
  if (!same) {
    if (text === facts.base) return; // nothing was added
    const what = expected === undefined ? "came into being while it was recorded" : "was changed while it was extended";
    throw new CassetteExists(
      `${facts.display} ${what}; it was left as it is.\n  next      what was recorded is kept beside it as *.recording.jsonl: "wiretape recover" makes a cassette of it; or record again`,
      { path: facts.display },
    );
  }
  await writeSidecars(store, name, recorder);
  if (replace) await store.replace(name, encodeUtf8(text));
  else await store.createExclusive(name, encodeUtf8(text));
}

/** Keeps a proven text beside the cassette, with its sidecar files; its name. */
export async function parkRecording(
  store: CassetteStore,
  name: string,
  text: string,
  recorder: Recorder,
): Promise<string> {
  await writeSidecars(store, name, recorder);
  return store.park(name, encodeUtf8(text));
}

async function writeSidecars(store: CassetteStore, name: string, recorder: Recorder): Promise<void> {
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  for (const [path, bytes] of recorder.sidecars) {
    try {
      await store.createExclusive(folder + path, bytes);
    } catch (error) {
      if (!(error instanceof CassetteExists)) throw error; // named by its digest: what is there is the same
    }
  }
}

function originOf(url: string): string[] {
  try {
    return [new URL(url).origin];
  } catch {
    return []; // an opaque or relative URL has no origin to list
  }
}
