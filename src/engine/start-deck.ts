import { type CassetteIndex, indexCassette, openCassette } from "../cassette/open.ts";
import { createRedactor } from "../cassette/redact/redactor.ts";
import { scanForSecrets } from "../cassette/redact/scan.ts";
import type { Sidecar } from "../cassette/schema.ts";
import { trackStates } from "../cassette/seal.ts";
import { CassetteExists, CassetteMissing, OptionInvalid, SealBroken } from "../errors.ts";
import { clockOf } from "./clock.ts";
import { finalScan, type RecordingFacts, recordingHead } from "./commit.ts";
import type { Deck } from "./deck.ts";
import { overlayFaults } from "./fault-overlay.ts";
import { createMatcher } from "./identity.ts";
import { askedMode } from "./mode.ts";
import { checkOptions, type DeckOptions } from "./options.ts";
import type { Platform } from "./platform.ts";
import { Recorder } from "./recorder.ts";
import { existsText, missingText } from "./report.ts";
import { type DeckPlace, RunningDeck } from "./running-deck.ts";
import { loadSidecars, requestSidecars } from "./sidecars.ts";
import { Trace } from "./trace.ts";

/** Opens a deck: decides the mode, reads or locks the cassette, and puts the two engines together. */
export async function startDeck(place: DeckPlace, options: DeckOptions, platform: Platform): Promise<Deck> {
  checkOptions(options);
  const { store, name, display } = place;
  const redactor = createRedactor(options.redact, platform.environment);
  const asked = decide(place, options, platform);
  const trace = new Trace();
  const common = { place, options, platform, redactor, trace };
  if (asked.mode === "live") return new RunningDeck({ ...common, mode: "live" });

  const writes = asked.mode === "record" || asked.mode === "rerecord";
  const open = async (): Promise<CassetteIndex | undefined> => {
    if (place.cassette !== undefined) return indexCassette(place.cassette);
    const bytes = await store?.read(name);
    return bytes === undefined ? undefined : openCassette(bytes, { path: display });
  };
  if (!writes) {
    const index = await open();
    if (index === undefined && asked.mode === "replay") {
      throw new CassetteMissing(missingText({ path: display, mode: asked.mode, reason: asked.reason }), {
        path: display,
      });
    }
    if (index !== undefined) {
      const matcher = createMatcher(options.match, index.head.match, true);
      if (options.integrity === "sealed") refuseEdited(index, display);
      const files = requestSidecars(index, place.cassette !== undefined);
      const requestFile = files.length === 0 ? undefined : await loadSidecars(place, files);
      if (asked.mode !== "extend") {
        const played = options.faults === undefined ? index : overlayFaults(index, options.faults);
        return new RunningDeck({ ...common, mode: "replay", index: played, requestFile, matcher });
      }
      return record(index, requestFile);
    }
  }
  return record(undefined);

  async function record(base: CassetteIndex | undefined, requestFile?: (file: Sidecar) => Uint8Array): Promise<Deck> {
    // Who records holds the lock, so that two processes cannot both believe that the file is theirs to write.
    const unlock = await store?.lock(name);
    try {
      const exists = base === undefined && asked.mode !== "rerecord" && (await store?.read(name)) !== undefined;
      if (exists) throw new CassetteExists(existsText(display), { path: display });
      const matcher = createMatcher(options.match, base?.head.match, base !== undefined);
      const facts: RecordingFacts = {
        display,
        date: platform.date(),
        title: place.title,
        note: options.note,
        match: matcher.stored,
        schema: place.schema,
        base: base?.text,
      };
      const scan = finalScan(options.redact, platform.environment);
      const journal = await store?.journal(name);
      const recorder = new Recorder({
        clock: options.clock === undefined ? platform.clock : clockOf(options.clock),
        redactor,
        trace,
        journal,
        header: () =>
          ({ ...recordingHead(facts, redactor), ...(base === undefined ? {} : { extends: display }) }) as never,
        firstNumber: base === undefined ? 1 : 1 + lastNumber(base),
        gates: options.gates ?? "causal",
        sidecarFolder: `${name.slice(name.lastIndexOf("/") + 1).replace(/\.cassette\.json$/, "")}.files`,
        clean: (line) => scanForSecrets(line, scan).length === 0,
      });
      const replace = asked.mode === "rerecord" || base !== undefined;
      const mode = base === undefined ? "record" : "extend";
      const endJournal = async (keep: boolean): Promise<void> => (keep ? journal?.close() : journal?.remove());
      const parts = { ...common, mode, matcher, recorder, facts, replace, unlock, endJournal } as const;
      return new RunningDeck(base === undefined ? parts : { ...parts, index: base, requestFile });
    } catch (error) {
      await unlock?.();
      throw error;
    }
  }
}

function decide(place: DeckPlace, options: DeckOptions, platform: Platform): ReturnType<typeof askedMode> {
  const asked = askedMode(options.mode, platform.environment);
  if (place.cassette === undefined || (asked.mode !== "record" && asked.mode !== "rerecord")) return asked;
  if (options.mode === undefined) return { mode: "replay", reason: "the cassette is given as a value" };
  throw new OptionInvalid(
    `A deck over a given cassette replays it; mode ${asked.mode} needs a store and a name to write to.`,
  );
}

function refuseEdited(index: CassetteIndex, display: string): void {
  const changed = [...trackStates(index.cassette())].filter(([, state]) => state !== "recorded");
  const seal = index.seal;
  if (changed.length === 0 && seal !== undefined) return;
  const what =
    seal === undefined ? "it has no seal" : changed.map(([id, state]) => `track ${id} is ${state}`).join(", ");
  throw new SealBroken(
    `${display} is not as it was recorded: ${what}.\n  next      record again, or accept the edit with "wiretape seal ${display}", or open the deck with integrity "any"`,
    { cassette: display, tracks: Object.fromEntries(changed) },
  );
}

function lastNumber(index: CassetteIndex): number {
  let last = 0;
  for (let i = 0; i < index.size; i++) last = Math.max(last, Number(/^t(\d{1,9})$/.exec(index.id(i))?.[1] ?? 0));
  return last;
}
