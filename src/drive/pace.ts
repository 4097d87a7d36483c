import type { Track } from "../cassette/schema.ts";
import type { Platform } from "../engine/platform.ts";

/** One track of a drive: how far its answer is. */
interface Lap {
  readonly track: Track;
  readonly place: number;
  /** When it began in the recording, in milliseconds since that began. */
  readonly at: number;
  readonly deliveries: readonly { readonly at: number; readonly after?: unknown }[];
  readonly leaving: AbortController;
  arrived: number;
  over: boolean;
  odd: string | undefined;
}

/** Who may go when: a request goes when all that was delivered before it in the recording has arrived. */
export interface Pace {
  /** Waits until the request of a track may go. Tracks begin in the order of the file. */
  begin(track: Track): Promise<void>;
  of(track: Track): {
    readonly signal: AbortSignal;
    arrived(): void;
    until(at: number, own: number): Promise<void>;
    odd(): string | undefined;
  };
  /** The answer of a track is complete. */
  ended(track: Track): void;
  /** Every request has been made: what the recorded program left open may be left when it has delivered what it had. */
  allSent(): void;
}

/** A stream that the program left has this long to say something that was not recorded, in real milliseconds. */
const LEAVING_MS = 50;

export function createPace(
  tracks: readonly Track[],
  deliveriesOf: (track: Track) => readonly { readonly at: number; readonly after?: unknown }[],
  patienceMs: number,
  { now, timer }: Pick<Platform, "now" | "timer">,
): Pace {
  let latest = 0;
  const laps = new Map(
    tracks.map((track, place): [string, Lap] => {
      latest = track.at ?? latest;
      const lap = { track, place, at: latest, deliveries: deliveriesOf(track), leaving: new AbortController() };
      return [track.id, { ...lap, arrived: 0, over: false, odd: undefined }];
    }),
  );
  const open = new Set(laps.values());
  const waiting = new Set<{ ready: () => string | undefined; go: () => void; late: (missing: string) => void }>();
  let lastArrival = now();
  let sent = false;
  let cancelTimer: (() => void) | undefined;

  /** What of others has to have arrived before a moment of the recording. Asked once for each wait. */
  function needsBefore(moment: number, lap: Lap): { lap: Lap; needed: number }[] {
    return [...open].flatMap((other) => {
      if (other === lap) return [];
      const tie = other.place < lap.place;
      const needed = other.deliveries.filter(({ at, after }) => {
        const time = other.at + at;
        return (time < moment || (time === moment && tie)) && !comesLater(after, lap);
      }).length;
      return other.arrived < needed ? [{ lap: other, needed }] : [];
    });
  }

  const missing = (needs: readonly { lap: Lap; needed: number }[]): string | undefined => {
    const one = needs.find(({ lap, needed }) => !lap.over && lap.arrived < needed);
    return one && `delivery ${one.lap.arrived + 1} of ${one.lap.track.id}`;
  };

  // What was delivered as the effect of this request, or of one behind it, is not waited for.
  function comesLater(gate: unknown, lap: Lap): boolean {
    const named = typeof gate === "string" ? [gate] : Array.isArray(gate) ? gate : [];
    return named.some((id) => (laps.get(String(id))?.place ?? -1) >= lap.place);
  }

  function look(): void {
    for (const one of [...waiting]) {
      if (one.ready() !== undefined) continue;
      waiting.delete(one);
      one.go();
    }
    if (sent) leave();
    cancelTimer?.();
    cancelTimer = waiting.size === 0 ? undefined : timer(Math.max(1, lastArrival + patienceMs - now()), impatient);
  }

  function impatient(): void {
    cancelTimer = undefined;
    if (now() - lastArrival >= patienceMs) {
      for (const one of [...waiting]) {
        const late = one.ready();
        waiting.delete(one);
        if (late !== undefined) one.late(late);
        one.go();
      }
      lastArrival = now();
    }
    look();
  }

  function wait(lap: Lap, needs: readonly { lap: Lap; needed: number }[]): Promise<void> {
    const ready = (): string | undefined => missing(needs);
    if (ready() === undefined) return Promise.resolve();
    return new Promise((go) => {
      waiting.add({
        ready,
        go,
        late: (what) => {
          lap.odd ??= `its request went although ${what} had not come for ${patienceMs / 1000} seconds`;
        },
      });
      look();
    });
  }

  function leave(): void {
    for (const lap of open) {
      if (lap.leaving.signal.aborted || !leftByClient(lap.track)) continue;
      const othersRun = [...open].some((other) => !leftByClient(other.track));
      if (lap.arrived < lap.deliveries.length || othersRun) continue;
      timer(LEAVING_MS, () => lap.leaving.abort());
    }
  }

  return {
    begin(track) {
      const lap = laps.get(track.id) as Lap;
      return wait(lap, needsBefore(lap.at, lap));
    },
    of(track) {
      const lap = laps.get(track.id) as Lap;
      return {
        signal: lap.leaving.signal,
        arrived() {
          lap.arrived++;
          lastArrival = now();
          look();
        },
        until: (at, own) => wait(lap, [...needsBefore(lap.at + at, lap), { lap, needed: own }]),
        odd: () => lap.odd,
      };
    },
    ended(track) {
      const lap = laps.get(track.id) as Lap;
      lap.over = true;
      open.delete(lap);
      lastArrival = now();
      look();
      if (open.size === 0) cancelTimer?.();
    },
    allSent() {
      sent = true;
      look();
      // What the recorded program left and does not deliver any more would be waited for without end.
      const check = (): void => {
        if (open.size === 0) return;
        if (now() - lastArrival >= patienceMs && [...open].every(({ track }) => leftByClient(track))) {
          for (const lap of open) lap.leaving.abort();
          return;
        }
        timer(Math.max(1, Math.min(patienceMs, 250)), check);
      };
      check();
    },
  };
}

/** Whether the recorded program left before the answer had ended. */
export function leftByClient(track: Track): boolean {
  const end = track.kind === "http" ? (track.response?.end ?? track.end) : track.end;
  return end?.by === "client";
}
