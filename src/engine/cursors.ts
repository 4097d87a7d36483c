import type { ReadSidecar } from "../cassette/content.ts";
import type { CassetteIndex } from "../cassette/open.ts";
import { pseudonymClass } from "../cassette/redact/pseudonyms.ts";
import type { Matcher } from "./identity.ts";
import type { RequestKind } from "./request-kind.ts";

/** The tracks of one identity, first in first out. `next` is the first that may still be played. */
interface Queue {
  readonly tracks: number[];
  next: number;
}

/** Tracks that may be the same request, sorted by identity only as far as somebody asked. */
interface Bucket {
  readonly tracks: number[];
  scanned: number;
  readonly queues: Map<string, Queue>;
}

/** Most buckets hold one track, and are not worth an object until somebody asks for it. */
type Sorted = Map<string, Bucket | number>;

/** What a look at the tracks of an identity found. */
export interface Found {
  /** The track to play, or `undefined` when all are played (or there are none). */
  readonly track: number | undefined;
  /** Every track of this identity that was looked at, in order. */
  readonly same: readonly number[];
}

/**
 * Which track answers which request, and what was played. The cassette itself is never touched: cursors live here.
 * A look costs the tracks of the same bucket that were not yet looked at, each once: nothing grows with the cassette.
 */
export class Cursors {
  readonly #index: CassetteIndex;
  readonly #matcher: Matcher;
  readonly #file: ReadSidecar | undefined;
  readonly #plays: Uint32Array;
  readonly #buckets = new Map<string, Map<string, Sorted>>();
  readonly #lanes = new Map<string, number[]>();
  readonly #laneNext = new Map<string, number>();
  readonly #left = new Map<string, number>();

  /** @param file reads the files that recorded requests are made of */
  constructor(index: CassetteIndex, matcher: Matcher, file?: ReadSidecar) {
    this.#index = index;
    this.#matcher = matcher;
    this.#file = file;
    this.#plays = new Uint32Array(index.size);
    for (let i = 0; i < index.size; i++) {
      const lane = index.lane(i) ?? "";
      let tracks = this.#lanes.get(lane);
      if (tracks === undefined) this.#lanes.set(lane, (tracks = []));
      tracks.push(i);
    }
    for (const [lane, tracks] of this.#lanes) this.#left.set(lane, tracks.length);
  }

  /** How often a track was played. */
  plays(track: number): number {
    return this.#plays[track] as number;
  }

  /** How many tracks were never played; of one lane, or of all. */
  left(lane?: string): number {
    if (lane !== undefined) return this.#left.get(lane) ?? 0;
    let sum = 0;
    for (const count of this.#left.values()) sum += count;
    return sum;
  }

  /** Whether nothing of a lane may be played any more: a track that may repeat is not over. */
  over(lane: string): boolean {
    return this.left(lane) === 0 && this.allOver(this.lane(lane));
  }

  /** Whether none of these tracks may be played any more. */
  allOver(tracks: readonly number[]): boolean {
    return !tracks.some((track) => this.#mayPlay(track));
  }

  /** The tracks of a lane in recorded order. */
  lane(lane: string): readonly number[] {
    return this.#lanes.get(lane) ?? [];
  }

  /**
   * The track that surely answers a request and was not played yet, found without an identity: the only one of its
   * bucket, and alike. `undefined` only means that it takes a closer look.
   */
  only<R>(kind: RequestKind<R>, lane: string, key: string, request: R): number | undefined {
    if (!this.#matcher.plain || this.#matcher.order === "strict") return undefined;
    const track = this.#sorted(kind, lane).get(key);
    if (typeof track !== "number" || this.plays(track) > 0) return undefined;
    return kind.alike(kind.recorded(this.#index.peek(track), this.#file), request) ? track : undefined;
  }

  /** Finds the next track of an identity, which is that of `request`. */
  find<R>(kind: RequestKind<R>, lane: string, key: string, identity: string, request: R): Found {
    const bucket = this.#bucket(kind, lane, key);
    if (bucket === undefined) return { track: undefined, same: [] };
    const queue = bucket.queues.get(identity);
    if (queue !== undefined) {
      const track = this.#nextOf(queue);
      if (track !== undefined) return { track, same: queue.tracks };
    }
    while (bucket.scanned < bucket.tracks.length) {
      const track = bucket.tracks[bucket.scanned++] as number;
      const found =
        this.#matcher.plain && kind.alike(kind.recorded(this.#index.peek(track), this.#file), request)
          ? identity
          : this.identityOf(kind, track);
      let same = bucket.queues.get(found);
      if (same === undefined) bucket.queues.set(found, (same = { tracks: [], next: 0 }));
      same.tracks.push(track);
      if (found === identity && this.#mayPlay(track)) return { track, same: same.tracks };
    }
    return { track: undefined, same: queue?.tracks ?? bucket.queues.get(identity)?.tracks ?? [] };
  }

  /** The next track of a lane in strict order; ones that may be passed over are offered as well. */
  *inOrder(lane: string): Iterable<number> {
    const tracks = this.lane(lane);
    let next = this.#laneNext.get(lane) ?? 0;
    while (next < tracks.length && !this.#mayPlay(tracks[next] as number)) next++;
    this.#laneNext.set(lane, next);
    for (let i = next; i < tracks.length; i++) {
      const track = tracks[i] as number;
      if (!this.#mayPlay(track)) continue;
      yield track;
      const { optional, repeat } = this.#index.peek(track);
      if (optional !== true && !(repeat !== undefined && this.plays(track) > 0)) return;
    }
  }

  /** In strict order: what lies before a track is passed over for good. */
  passTo(lane: string, track: number): void {
    this.#laneNext.set(lane, this.lane(lane).indexOf(track, this.#laneNext.get(lane) ?? 0));
  }

  /** The identity of a recorded track. */
  identityOf<R>(kind: RequestKind<R>, track: number): string {
    const request = kind.recorded(this.#index.peek(track), this.#file);
    return this.#matcher.identity(kind.kind, this.#index.lane(track), kind.facets(request, this.#matcher.include));
  }

  take(track: number): void {
    if ((this.#plays[track] as number)++ === 0) this.#count(track, -1);
  }

  /** A claim is given back: the track may be played again, before later ones of its identity. */
  giveBack<R>(track: number, kind: RequestKind<R>, lane: string, key: string, identity: string): void {
    if (--(this.#plays[track] as number) === 0) this.#count(track, 1);
    const queue = this.#bucket(kind, lane, key)?.queues.get(identity);
    if (queue !== undefined) queue.next = Math.min(queue.next, queue.tracks.indexOf(track));
    const next = this.#laneNext.get(lane);
    if (next !== undefined) this.#laneNext.set(lane, Math.min(next, this.lane(lane).indexOf(track)));
  }

  #count(track: number, by: number): void {
    const lane = this.#index.lane(track) ?? "";
    this.#left.set(lane, (this.#left.get(lane) ?? 0) + by);
  }

  #mayPlay(track: number): boolean {
    const plays = this.plays(track);
    if (plays === 0) return true;
    const { repeat } = this.#index.peek(track);
    return repeat === "forever" || (repeat !== undefined && plays < repeat);
  }

  #nextOf(queue: Queue): number | undefined {
    while (queue.next < queue.tracks.length) {
      const track = queue.tracks[queue.next] as number;
      if (this.#mayPlay(track)) return track;
      queue.next++;
    }
    return undefined;
  }

  #sorted<R>(kind: RequestKind<R>, lane: string): Sorted {
    let lanes = this.#buckets.get(kind.kind);
    if (lanes === undefined) this.#buckets.set(kind.kind, (lanes = new Map()));
    let sorted = lanes.get(lane);
    if (sorted === undefined) lanes.set(lane, (sorted = this.#sort(kind, lane)));
    return sorted;
  }

  #bucket<R>(kind: RequestKind<R>, lane: string, key: string): Bucket | undefined {
    const sorted = this.#sorted(kind, lane);
    const place = this.#matcher.coarse ? key : "";
    const found = sorted.get(place);
    if (typeof found !== "number") return found;
    const bucket = { tracks: [found], scanned: 0, queues: new Map() };
    sorted.set(place, bucket);
    return bucket;
  }

  // Once for each kind and lane, from the index alone: no track is parsed for it.
  #sort<R>(kind: RequestKind<R>, lane: string): Sorted {
    const index = this.#index;
    const sorted: Sorted = new Map();
    for (const track of this.lane(lane)) {
      if (index.kind(track) !== kind.kind) continue;
      const url = index.url(track);
      const key = this.#matcher.coarse
        ? kind.bucket({
            method: index.method(track),
            url: url === undefined ? undefined : pseudonymClass(url),
            name: index.name(track),
          })
        : "";
      const found = sorted.get(key);
      if (found === undefined) sorted.set(key, track);
      else if (typeof found === "number") sorted.set(key, { tracks: [found, track], scanned: 0, queues: new Map() });
      else found.tracks.push(track);
    }
    return sorted;
  }
}
