import type { CassetteIndex } from "../cassette/open.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Cassette, Json, Sidecar, Track } from "../cassette/schema.ts";
import type { CassetteStore } from "../cassette/store.ts";
import {
  ExpectationUnmet,
  OptionInvalid,
  SecretFound,
  SidecarBroken,
  UnplayedTracks,
  VarMissing,
  type WiretapeError,
  type WiretapeErrorCode,
} from "../errors.ts";
import { clockOf } from "./clock.ts";
import { finalScan, parkRecording, provenText, type RecordingFacts, writeRecording } from "./commit.ts";
import { type Deck, type DeckReport, finishedError, Violations } from "./deck.ts";
import type { Matcher } from "./identity.ts";
import { enter } from "./ledger.ts";
import type { DeckOptions } from "./options.ts";
import type { Platform } from "./platform.ts";
import { type PlayedTrack, Player } from "./player.ts";
import type { Recorder } from "./recorder.ts";
import { unplayedText, violationsText } from "./report.ts";
import type { RequestKind } from "./request-kind.ts";
import { type Admission, bindSession, type Claim, type Lane, type Session } from "./session.ts";
import { loadSidecars } from "./sidecars.ts";
import { TicketLine } from "./tickets.ts";
import type { Trace, TraceEvent } from "./trace.ts";
import { checkVarName, checkVarValue } from "./vars.ts";

/** Where a deck's cassette is. */
export interface DeckPlace {
  /** Where it is stored, and under which name. */
  readonly store: CassetteStore | undefined;
  readonly name: string;
  /** How messages call it. */
  readonly display: string;
  /** The cassette itself, instead of a stored one. */
  readonly cassette?: Cassette | undefined;
  /** The full name of what is recorded, kept inside. */
  readonly title?: string | undefined;
  /** `$schema` of a recording, for editors. */
  readonly schema?: string | undefined;
}

/** Everything that a deck runs on. */
export interface DeckParts {
  readonly place: DeckPlace;
  readonly options: DeckOptions;
  readonly platform: Platform;
  readonly redactor: Redactor;
  readonly trace: Trace;
  readonly mode: Deck["mode"];
  readonly index?: CassetteIndex;
  /** The bytes of recorded requests that stand in files. */
  readonly requestFile?: ((file: Sidecar) => Uint8Array) | undefined;
  readonly matcher?: Matcher;
  readonly recorder?: Recorder;
  readonly facts?: RecordingFacts;
  readonly replace?: boolean;
  readonly unlock?: (() => Promise<void>) | undefined;
  /** Ends the journal: its cassette was written, or it is kept for `wiretape recover`. */
  readonly endJournal?: (keep: boolean) => Promise<void>;
}

/** A deck at work: the lanes, the two engines, and how it ends. */
export class RunningDeck implements Deck {
  readonly name = "";
  readonly mode: Deck["mode"];
  readonly #parts: DeckParts;
  readonly #player: Player | undefined;
  readonly #violations = new Violations();
  readonly #lanes = new Map<string, Lane>();
  readonly #vars = new Map<string, Promise<Json>>();
  readonly #warnings: string[] = [];
  #written: Cassette | undefined;
  #ending: Promise<DeckReport> | undefined;

  constructor(parts: DeckParts) {
    this.#parts = parts;
    this.mode = parts.mode;
    const { index, requestFile, matcher, options, platform, redactor, trace, place } = parts;
    if (index !== undefined && matcher !== undefined) {
      const { timing = "instant" } = options;
      this.#player = new Player({
        index,
        requestFile,
        matcher,
        redactor,
        trace,
        platform,
        clock: options.clock === undefined ? platform.clock : clockOf(options.clock),
        speed: timing === "instant" ? 0 : timing === "recorded" ? 1 : timing,
        stallAfterMs: options.stallAfterMs ?? 4000,
        name: place.display,
        fail: (error, key) => this.#fail(error, key),
      });
    }
    bindSession(this, this.#session(undefined));
  }

  get cassette(): Cassette | undefined {
    return this.#written ?? this.#parts.index?.cassette();
  }

  get remaining(): number {
    return this.#player?.cursors.left() ?? 0;
  }

  get played(): readonly PlayedTrack[] {
    return this.#player?.played ?? [];
  }

  get unplayed(): readonly Track[] {
    const { index } = this.#parts;
    return index === undefined ? [] : this.#unplayed().map((track) => index.track(track));
  }

  get violations(): readonly WiretapeError[] {
    return this.#violations.all;
  }

  get trace(): readonly TraceEvent[] {
    return this.#parts.trace.events;
  }

  lane(name: string): Lane {
    if (typeof name !== "string" || !/^[A-Za-z0-9][\w.-]*$/.test(name)) {
      throw new OptionInvalid(
        `${JSON.stringify(name)} is no name of a lane: it is letters, digits, "_", "." and "-", and begins with a letter or digit.`,
      );
    }
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = Object.freeze({ name });
      this.#lanes.set(name, lane);
      bindSession(lane, this.#session(name));
    }
    return lane;
  }

  expectViolation(code: WiretapeErrorCode): void {
    this.#violations.expect(code);
  }

  async var<T extends Json>(name: string, make: () => T | Promise<T>): Promise<T> {
    checkVarName(name);
    this.#refuseFinished(`deck.var("${name}") was called`);
    const known = this.#vars.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const value = this.#makeVar(name, make);
    this.#vars.set(name, value);
    value.catch(() => this.#vars.delete(name)); // it may be tried again; the caller has the error
    return value;
  }

  finish(outcome: "passed" | "failed" = "passed"): Promise<DeckReport> {
    this.#ending ??= this.#finish(outcome);
    return this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Disposal cannot know the outcome: it never commits a recording, and asks nothing about what was left.
    if (this.#ending === undefined) await this.finish("failed");
  }

  async #makeVar<T extends Json>(name: string, make: () => T | Promise<T>): Promise<T> {
    const { index, recorder, place } = this.#parts;
    const recorded = this.#recordedVar(name);
    if (recorded !== undefined) return structuredClone(recorded) as T;
    if (recorder === undefined && this.mode === "replay") {
      const known = Object.keys(index?.head.vars ?? {});
      throw this.#fail(
        new VarMissing(
          `The variable "${name}" was not recorded.\n  cassette  ${place.display} ${known.length === 0 ? "has no variables" : `has ${known.join(", ")}`}\n  next      record again, or add it by hand under "vars"`,
          { name, cassette: place.display },
        ),
        name,
      );
    }
    const value = await make();
    checkVarValue(name, value);
    recorder?.setVar(name, value);
    return value;
  }

  #recordedVar(name: string): Json | undefined {
    const vars = this.#parts.index?.head.vars;
    return vars !== undefined && Object.hasOwn(vars, name) ? vars[name] : undefined;
  }

  #session(lane: string | undefined): Session {
    const { redactor, recorder } = this.#parts;
    const player = this.#player;
    const line = new TicketLine();
    const deck = this;
    return {
      mode: this.mode,
      lane,
      redactor,
      admit(): Admission {
        deck.#refuseFinished("A request was made");
        if (player === undefined) {
          // A recording takes its place when the request is made, a replay when it is claimed.
          const recording = (recorder as Recorder).begin(lane);
          const claim = (): Claim => ({ record: recording });
          return { recording, claim, tryClaim: claim, drop: recording.drop };
        }
        const ticket = line.take();
        const tryClaim = <R>(kind: RequestKind<R>, request: R): Claim | undefined => {
          const play = player.tryClaim(kind, lane, request);
          if (play !== undefined) return { play };
          return recorder === undefined ? undefined : { record: recorder.begin(lane) };
        };
        return {
          recording: undefined,
          claim: (kind, request) =>
            ticket.use(() =>
              recorder === undefined ? { play: player.claim(kind, lane, request) } : (tryClaim(kind, request) as Claim),
            ),
          tryClaim: (kind, request) => ticket.use(() => tryClaim(kind, request)),
          drop: ticket.drop,
        };
      },
      fail: (error) => this.#fail(error, error.message),
      turn: () => new Promise((resolve) => deck.#parts.platform.turn(resolve)),
      recordedFact: (name) => this.#recordedVar(name),
      recordFact: (name, value) => recorder?.setVar(name, value),
      sidecars: (files) => this.#loadSidecars(files),
    };
  }

  async #loadSidecars(files: readonly Sidecar[]): Promise<(file: Sidecar) => Uint8Array> {
    try {
      return await loadSidecars(this.#parts.place, files);
    } catch (error) {
      throw error instanceof SidecarBroken ? this.#fail(error, error.message) : error;
    }
  }

  #fail<E extends WiretapeError>(error: E, key = ""): E {
    const entry = enter(error, this, this.#parts.platform);
    this.#violations.add(error, key, () => {
      entry.acknowledged = true;
    });
    return error;
  }

  #refuseFinished(what: string): void {
    if (this.#ending !== undefined) throw this.#fail(finishedError(this.#parts.place.display, what));
  }

  #unplayed(): number[] {
    const { index } = this.#parts;
    const tracks: number[] = [];
    for (let i = 0; i < (index?.size ?? 0); i++) if (this.#player?.cursors.plays(i) === 0) tracks.push(i);
    return tracks;
  }

  async #finish(outcome: "passed" | "failed"): Promise<DeckReport> {
    const { recorder } = this.#parts;
    let written: { written?: string; parked?: string } = {};
    recorder?.settleOpen();
    this.#player?.stop(finishedError(this.#parts.place.display, "A stream was still being read"));
    if (recorder !== undefined) written = await this.#endRecording(recorder, outcome);
    this.#throwViolations();
    // A body that failed did not get to what was expected, and to what is left.
    if (outcome === "passed") {
      this.#throwUnmet();
      this.#throwUnplayed();
    }
    return {
      mode: this.mode,
      outcome,
      cassette: this.#parts.place.display,
      played: new Set(this.played.map(({ id }) => id)).size,
      recorded: recorder?.settled.length ?? 0,
      ...written,
      replacements: this.#parts.redactor.counts(),
      returned: this.#player?.returned ?? 0,
      warnings: this.#warnings,
    };
  }

  async #endRecording(
    recorder: Recorder,
    outcome: "passed" | "failed",
  ): Promise<{ written?: string; parked?: string }> {
    const { place, facts, redactor, platform, options, replace = false, unlock, endJournal } = this.#parts;
    const { store, name } = place;
    const violated = this.#violations.open.length > 0;
    let keepJournal = true;
    try {
      const scan = finalScan(options.redact, platform.environment);
      const { text, cassette } = provenText(recorder, facts as RecordingFacts, redactor, scan);
      if (outcome === "failed" || violated) {
        const empty = store === undefined || recorder.settled.length === 0;
        const parked = empty ? undefined : await parkRecording(store, name, text, recorder);
        keepJournal = false;
        return parked === undefined ? {} : { parked };
      }
      if (store !== undefined) await writeRecording(store, name, text, recorder, facts as RecordingFacts, replace);
      this.#written = cassette;
      keepJournal = false;
      return store === undefined ? {} : { written: name };
    } catch (error) {
      // What must not be on a disk must not stay there as a journal either.
      if (error instanceof SecretFound) keepJournal = false;
      throw error;
    } finally {
      await endJournal?.(keepJournal);
      await unlock?.();
    }
  }

  #throwViolations(): void {
    const open = this.#violations.open;
    const [first] = open;
    if (first !== undefined) {
      if (open.length === 1) throw first;
      const Kind = first.constructor as new (message: string, details: object, options: object) => WiretapeError;
      const text = violationsText(open.map(({ message }) => message));
      throw new Kind(text, { ...first.details, violations: open }, { cause: first });
    }
  }

  #throwUnmet(): void {
    const [unmet] = this.#violations.unmet;
    if (unmet !== undefined) {
      throw new ExpectationUnmet(
        `A violation ${unmet} was expected, and none came.\n  next      take the expectation away, or make the program ask for what the recording does not allow`,
        { expected: this.#violations.unmet },
      );
    }
  }

  #throwUnplayed(): void {
    const { index, options } = this.#parts;
    const player = this.#player;
    if (index === undefined || player === undefined || this.mode !== "replay" || options.unplayed === "ignore") return;
    const left = this.#unplayed().filter((track) => {
      const { optional, repeat } = index.track(track);
      return optional !== true && repeat === undefined;
    });
    if (left.length === 0) return;
    const scene = { cassette: this.#parts.place.display, lane: undefined, tracks: index.size, left: this.remaining };
    throw new UnplayedTracks(unplayedText({ scene, unplayed: left.map((track) => player.place(track)) }), {
      cassette: scene.cassette,
      tracks: left.map((track) => index.id(track)),
    });
  }
}
