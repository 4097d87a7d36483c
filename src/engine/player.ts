import type { ReadSidecar } from "../cassette/content.ts";
import type { CassetteIndex } from "../cassette/open.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Track } from "../cassette/schema.ts";
import { OutOfOrder, ReplayStalled, ScriptExhausted, UnrecordedRequest, type WiretapeError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { Cursors } from "./cursors.ts";
import { Deliveries } from "./deliveries.ts";
import type { Matcher } from "./identity.ts";
import { nearest } from "./nearest.ts";
import type { Platform } from "./platform.ts";
import { completed, type Play, type Stage, TrackPlay } from "./play.ts";
import {
  exhaustedText,
  type Nearest,
  outOfOrderText,
  type Scene,
  stalledText,
  type TrackPlace,
  unrecordedText,
} from "./report.ts";
import type { RequestKind } from "./request-kind.ts";
import type { Trace } from "./trace.ts";

/** What was played: which track answered the how-manieth request. */
export interface PlayedTrack {
  readonly id: string;
  readonly kind: Track["kind"];
  readonly lane?: string;
  /** The number of the request that it answered, from 1. */
  readonly request: number;
}

export interface PlayerParts {
  readonly index: CassetteIndex;
  /** The bytes of recorded requests that stand in files. */
  readonly requestFile?: ReadSidecar | undefined;
  readonly matcher: Matcher;
  readonly redactor: Redactor;
  readonly trace: Trace;
  readonly platform: Platform;
  readonly clock: Clock;
  /** How many times faster than recorded; 0 = at once. */
  readonly speed: number;
  readonly stallAfterMs: number;
  /** How messages call the cassette. */
  readonly name: string;
  /** Reports a violation. `key` tells it from others of its code: a request that is asked again is the same violation. */
  readonly fail: <E extends WiretapeError>(error: E, key?: string) => E;
}

// How many tracks an error looks at for the nearest one: errors may be slow, but not without bound.
const NEAREST_CANDIDATES = 200;

/** Answers requests from a recording, strictly: what is not there is an error, never an old answer or the network. */
export class Player {
  readonly cursors: Cursors;
  readonly played: PlayedTrack[] = [];
  /** How many claims were given back. */
  returned = 0;
  readonly #parts: PlayerParts;
  readonly #deliveries: Deliveries;
  readonly #stage: Stage;
  readonly #misses = new Map<string, number>();
  readonly #givenUp = new Map<string, number>();
  readonly #givenBack = new Set<number>();
  #requests = 0;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    this.cursors = new Cursors(parts.index, parts.matcher, parts.requestFile);
    this.#deliveries = new Deliveries(parts.platform, parts.trace, parts.clock, parts.stallAfterMs, (held) =>
      this.#stalled(held),
    );
    const { trace, clock, speed, fail, matcher, redactor, name, index } = parts;
    const place = (track: string): TrackPlace => this.place(index.indexOf(track));
    this.#stage = { deliveries: this.#deliveries, trace, clock, speed, fail, matcher, redactor, name, place };
  }

  /** Claims the track that answers a request, or `undefined` where there is none. Synchronous. */
  tryClaim<R>(kind: RequestKind<R>, lane: string | undefined, live: R): Play | undefined {
    return this.#claim(kind, lane, live, false);
  }

  /** Claims the track that answers a request. Synchronous; throws the violation where there is none. */
  claim<R>(kind: RequestKind<R>, lane: string | undefined, live: R): Play {
    return this.#claim(kind, lane, live, true) as Play;
  }

  /** Ends every wait with an error. */
  stop(error: unknown): void {
    this.#deliveries.stop(error);
  }

  /** A track as messages name it. */
  place(track: number): TrackPlace {
    const { index } = this.#parts;
    const what = index.name(track) ?? [index.method(track), index.url(track)].filter(Boolean).join(" ");
    return { id: index.id(track), line: index.line(track), summary: what === "" ? index.kind(track) : what };
  }

  #claim<R>(kind: RequestKind<R>, lane: string | undefined, live: R, must: boolean): Play | undefined {
    const { matcher, redactor, index } = this.#parts;
    const request = kind.redact(redactor, live);
    const key = kind.bucket(kind.parts(request));
    const number = must ? ++this.#requests : this.#requests + 1;
    let known: string | undefined;
    const identity = (): string => (known ??= matcher.identity(kind.kind, lane, kind.facets(request, matcher.include)));
    let track = this.cursors.only(kind, lane ?? "", key, request);
    if (track === undefined) {
      const found =
        matcher.order === "strict"
          ? this.#findStrict(kind, lane ?? "", key, identity(), request)
          : this.cursors.find(kind, lane ?? "", key, identity(), request);
      track = found.track;
      if (track === undefined) {
        if (!must) return undefined;
        throw this.#parts.fail(this.#miss(kind, lane, request, identity(), found.same), identity());
      }
    }
    if (!must) this.#requests++;
    this.cursors.take(track);
    if (matcher.order === "strict") this.cursors.passTo(lane ?? "", track);
    const id = index.id(track);
    const entry = { id, kind: kind.kind, request: number } as PlayedTrack & { lane?: string };
    if (lane !== undefined) entry.lane = lane;
    this.played.push(entry);
    this.#parts.trace.push(completed(kind.event(request), lane, id));
    const taken = track;
    return new TrackPlay(this.#stage, index.peek(track), lane, track, index.at(track), () => {
      if (this.#givenBack.has(taken)) return;
      this.#givenBack.add(taken);
      this.returned++;
      this.cursors.giveBack(taken, kind, lane ?? "", key, identity());
      this.played.splice(this.played.indexOf(entry), 1);
      this.#givenUp.set(identity(), (this.#givenUp.get(identity()) ?? 0) + 1);
    });
  }

  #findStrict<R>(
    kind: RequestKind<R>,
    lane: string,
    key: string,
    identity: string,
    request: R,
  ): { track: number | undefined; same: readonly number[] } {
    for (const track of this.cursors.inOrder(lane)) {
      if (this.#parts.index.kind(track) === kind.kind && this.cursors.identityOf(kind, track) === identity) {
        return { track, same: [track] };
      }
    }
    const { same } = this.cursors.find(kind, lane, key, identity, request);
    return { track: undefined, same };
  }

  #miss<R>(
    kind: RequestKind<R>,
    lane: string | undefined,
    request: R,
    identity: string,
    same: readonly number[],
  ): WiretapeError {
    const { matcher, index, redactor } = this.#parts;
    const misses = (this.#misses.get(identity) ?? 0) + 1;
    this.#misses.set(identity, misses);
    const described = kind.describe(request);
    const scene = this.scene(lane);
    const left = same.filter((track) => this.cursors.plays(track) === 0);
    const details = { request: described, cassette: scene.cassette, lane };
    if (matcher.order === "strict" && left[0] !== undefined) {
      const expected = this.cursors
        .inOrder(lane ?? "")
        [Symbol.iterator]()
        .next().value as number | undefined;
      const text = outOfOrderText({
        request: described,
        scene,
        found: this.place(left[0]),
        expected: expected === undefined ? undefined : this.place(expected),
      });
      return new OutOfOrder(redactor.text(text), { ...details, track: index.id(left[0]) });
    }
    const script = this.#scriptOf(kind, lane, request);
    const pastTheEnd = script.over;
    const near =
      same.length > 0 ? undefined : this.#nearest(kind, lane, request, pastTheEnd ? script.tracks : undefined);
    if (same.length === 0 && !pastTheEnd) {
      const text = unrecordedText({ request: described, scene, nearest: near });
      return new UnrecordedRequest(redactor.text(text), {
        ...details,
        nearest: near?.track.id,
        differences: near?.differences,
      });
    }
    const played = new Map(same.map((track) => [index.id(track), track]));
    const playedBy = this.played.flatMap(({ id, request: answered }) => {
      const track = played.get(id);
      return track === undefined ? [] : [{ track: this.place(track), request: answered }];
    });
    const givenUp = this.#givenUp.get(identity) ?? 0;
    const asked = playedBy.length + givenUp + misses;
    const last = this.#lastOf(script.scope === undefined ? undefined : script.tracks);
    const recorded = same.length;
    const text = exhaustedText({
      request: described,
      scene,
      recorded,
      asked,
      playedBy,
      last: pastTheEnd || script.scope !== undefined ? last : undefined,
      nearest: near,
      script: script.scope && { ...script.scope, tracks: script.tracks.length },
      givenUp,
    });
    return new ScriptExhausted(redactor.text(text), {
      ...details,
      recorded,
      asked,
      playedBy: playedBy.map(({ track, request: answered }) => ({ track: track.id, request: answered })),
      last: last?.id,
      nearest: near?.track.id,
    });
  }

  /** The script that a request is past the end of, if it is `over`: a part of the lane that the request names, or all of it. */
  #scriptOf<R>(
    kind: RequestKind<R>,
    lane: string | undefined,
    request: R,
  ): { tracks: readonly number[]; over: boolean; scope?: { name: string; unit: string } } {
    const { index, requestFile } = this.#parts;
    const tracks = this.cursors.lane(lane ?? "");
    const over = tracks.length > 0 && this.cursors.over(lane ?? "");
    const scope = kind.scope?.(request);
    if (scope !== undefined) {
      const own = tracks.filter(
        (track) => index.kind(track) === kind.kind && scope.has(kind.recorded(index.peek(track), requestFile)),
      );
      if (own.length > 0) return { tracks: own, scope, over: over || this.cursors.allOver(own) };
    }
    return { tracks, over };
  }

  /** The track that was played last: of some, or of all. */
  #lastOf(tracks: readonly number[] | undefined): TrackPlace | undefined {
    const { index } = this.#parts;
    const among = new Set(tracks);
    const last = this.played.findLast(({ id }) => tracks === undefined || among.has(index.indexOf(id)));
    return last && this.place(index.indexOf(last.id));
  }

  /** @param over what of the lane is over: then the played tracks are looked at, else those that are left */
  #nearest<R>(
    kind: RequestKind<R>,
    lane: string | undefined,
    request: R,
    over: readonly number[] | undefined,
  ): Nearest | undefined {
    const { matcher, index, requestFile } = this.#parts;
    const facets = (one: R) => matcher.compared(kind.facets(one, matcher.include));
    const candidates = (over ?? this.cursors.lane(lane ?? ""))
      .filter((track) => index.kind(track) === kind.kind && (over !== undefined || this.cursors.plays(track) === 0))
      .slice(0, NEAREST_CANDIDATES)
      .map((track) => ({ track, facets: facets(kind.recorded(index.peek(track), requestFile)) }));
    const found = nearest(candidates, facets(request));
    return found && { track: this.place(found.candidate.track), differences: found.differences };
  }

  /** The cassette and counts that messages name. */
  scene(lane: string | undefined): Scene {
    return {
      cassette: this.#parts.name,
      lane,
      tracks: this.cursors.lane(lane ?? "").length,
      left: this.cursors.left(lane ?? ""),
    };
  }

  #stalled(held: { delivery: { track: string; what: string }; waitsFor: string }[]): WiretapeError {
    const { index, name, stallAfterMs, redactor, fail } = this.#parts;
    const facts = held.map(({ delivery, waitsFor }) => ({
      track: this.place(index.indexOf(delivery.track)),
      what: delivery.what,
      waitsFor,
    }));
    const text = stalledText({ cassette: name, held: facts, seconds: stallAfterMs / 1000 });
    const waiting = held.map(({ delivery, waitsFor }) => ({ track: delivery.track, what: delivery.what, waitsFor }));
    return fail(new ReplayStalled(redactor.text(text), { cassette: name, waiting }));
  }
}
