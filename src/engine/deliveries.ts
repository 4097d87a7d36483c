import type { Gate } from "../cassette/schema.ts";
import type { Clock } from "./clock.ts";
import { describeGate, gateIn, type OpenableGate, tellGate } from "./gate.ts";
import type { Platform } from "./platform.ts";
import type { Trace } from "./trace.ts";

/** One thing that the program is to be handed: a chunk, a head, a result or an end. */
export interface Delivery {
  /** The track, for messages. */
  readonly track: string;
  /** What it is, for messages: "chunk 3", "the head". */
  readonly what: string;
  /** When it was recorded: milliseconds since the recording began. */
  readonly recordedAt: number;
  /** Its place in the file, where two were recorded in the same millisecond. */
  readonly order: number;
  readonly after: Gate | undefined;
  /** With timing: when the clock says that it is due. */
  readonly dueAt?: number | undefined;
  /** Has a turn of the event loop of its own, whatever the clock says: how a program reacts to it is part of what it does. */
  readonly apart?: boolean | undefined;
  /** What else has to be so before it may be handed over, beside its gate; looked at whenever something happens in the play. */
  readonly until?: Condition | undefined;
  /** The stream it belongs to: chunks of a stream that is read alone may share a turn. */
  readonly stream?: object | undefined;
}

/** Something that a delivery waits for. Once it is met it stays so. */
export interface Condition {
  readonly met: boolean;
  /** What is waited for, in words: "frame 3 of the program". */
  describe(): string;
}

interface Waiting {
  readonly delivery: Delivery;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  gate: OpenableGate | undefined;
  /** Ends a sleep until it is due. */
  wake: AbortController | undefined;
}

/** A delivery that is being waited for. */
export interface Pending {
  readonly promise: Promise<void>;
  /** The program does not want it any more: it is taken out of the queue, and its promise never settles. */
  cancel(): void;
}

// A turn of the event loop at least once a millisecond keeps timers, aborts and other streams alive while one stream
// is read at full speed.
const SHARED_TURN_MS = 1;

// The longest that a timer can be set to.
const FAR_MS = 2 ** 31 - 1;

/**
 * Hands out deliveries one a turn, the earliest recorded first of those that are asked for and whose gate is open. A
 * delivery never waits for another delivery, only for requests, so a program that makes its requests is never held.
 */
export class Deliveries {
  readonly #platform: Platform;
  readonly #trace: Trace;
  readonly #clock: Clock;
  readonly #stallAfterMs: number;
  readonly #stalled: (held: { delivery: Delivery; waitsFor: string }[]) => unknown;
  readonly #ready: Waiting[] = [];
  readonly #held = new Set<Waiting>();
  readonly #timed = new Set<Waiting>();
  readonly #lingering = new Set<() => void>();
  #turning = false;
  #turnedAt = Number.NEGATIVE_INFINITY;
  #lastStream: object | undefined;
  #progressAt = 0;
  #stopStallTimer: (() => void) | undefined;

  /** @param stalled makes the error with which held deliveries are rejected; `stallAfterMs` 0 never stalls. */
  constructor(
    platform: Platform,
    trace: Trace,
    clock: Clock,
    stallAfterMs: number,
    stalled: (held: { delivery: Delivery; waitsFor: string }[]) => unknown,
  ) {
    this.#platform = platform;
    this.#trace = trace;
    this.#clock = clock;
    this.#stallAfterMs = stallAfterMs;
    this.#stalled = stalled;
    trace.listen((event, made) => {
      if (this.#held.size === 0) return;
      this.#progressAt = platform.now();
      for (const waiting of this.#held) {
        if (waiting.gate !== undefined && tellGate(waiting.gate, event, made)) waiting.gate = undefined;
        if (waiting.gate === undefined && waiting.delivery.until?.met !== false) this.#release(waiting);
      }
    });
  }

  /** Whether nothing is waiting or held: the program reads one thing at a time. */
  get idle(): boolean {
    return this.#ready.length === 0 && this.#held.size === 0 && this.#timed.size === 0;
  }

  /** Whether the next ungated delivery of a stream may be handed over in this turn: it is read alone, and just was. */
  mayShare(stream: object): boolean {
    return stream === this.#lastStream && this.idle && this.#platform.now() - this.#turnedAt < SHARED_TURN_MS;
  }

  /** Waits for the turn of a delivery; `undefined` when it may be handed over in this very turn. */
  wait(delivery: Delivery): Pending | undefined {
    const gate = gateIn(this.#trace, delivery.after);
    const { dueAt, stream, until } = delivery;
    const free = gate === undefined && until?.met !== false;
    if (free && dueAt === undefined && stream !== undefined && this.mayShare(stream)) return undefined;
    let waiting!: Waiting;
    const promise = new Promise<void>((resolve, reject) => {
      waiting = { delivery, resolve, reject, gate, wake: undefined };
    });
    if (free) this.#queue(waiting);
    else this.#hold(waiting);
    return { promise, cancel: () => this.#cancel(waiting) };
  }

  /**
   * Keeps the process alive, as an open connection does, while the program waits for what will never come. The returned
   * function ends it, and so does `stop`.
   */
  linger(): () => void {
    const cancel = this.#platform.timer(FAR_MS, () => undefined);
    const end = (): void => {
      if (this.#lingering.delete(end)) cancel();
    };
    this.#lingering.add(end);
    return end;
  }

  /** Calls when the deck is finished, which it does not keep from coming. The returned function takes it back. */
  whenStopped(told: () => void): () => void {
    this.#lingering.add(told);
    return () => void this.#lingering.delete(told);
  }

  /** Rejects everything that waits: the deck is finished. */
  stop(error: unknown): void {
    for (const end of [...this.#lingering]) end();
    this.#stopStallTimer?.();
    for (const waiting of [...this.#held, ...this.#ready, ...this.#timed]) {
      waiting.reject(error);
      waiting.wake?.abort(error);
    }
    this.#held.clear();
    this.#timed.clear();
    this.#ready.length = 0;
  }

  #queue(waiting: Waiting): void {
    const { dueAt } = waiting.delivery;
    const wait = dueAt === undefined ? 0 : dueAt - this.#clock.now();
    if (!(wait > 0)) {
      this.#ripe(waiting);
      return;
    }
    this.#timed.add(waiting);
    waiting.wake = new AbortController();
    this.#clock.sleep(wait, waiting.wake.signal).then(
      () => {
        if (this.#timed.delete(waiting)) this.#ripe(waiting);
      },
      (error: unknown) => {
        if (this.#timed.delete(waiting)) waiting.reject(error); // a clock that failed; what was cancelled is gone already
      },
    );
  }

  #ripe(waiting: Waiting): void {
    push(this.#ready, waiting);
    if (this.#turning) return;
    this.#turning = true;
    if (this.#alone()) this.#platform.settle(this.#tick);
    else this.#platform.turn(this.#turn);
  }

  /** Whether one delivery is waited for and nothing else, and the last turn of the event loop was just now. */
  #alone(): boolean {
    return (
      this.#ready.length === 1 &&
      this.#ready[0]?.delivery.apart !== true &&
      this.#held.size === 0 &&
      this.#timed.size === 0 &&
      this.#platform.now() - this.#turnedAt < SHARED_TURN_MS
    );
  }

  // Everything that the program could do without a turn of the event loop is done: if nothing else was asked for, the
  // delivery need not wait for that turn.
  readonly #tick = (): void => {
    if (this.#alone()) {
      this.#turning = false;
      this.#hand();
    } else this.#platform.turn(this.#turn);
  };

  readonly #turn = (): void => {
    this.#turning = false;
    const now = this.#platform.now();
    this.#turnedAt = now;
    this.#progressAt = now;
    this.#hand();
    if (this.#ready.length > 0 && !this.#turning) {
      this.#turning = true;
      this.#platform.turn(this.#turn);
    }
  };

  #hand(): void {
    const next = pop(this.#ready);
    if (next === undefined) return;
    this.#lastStream = next.delivery.stream;
    next.resolve();
  }

  #hold(waiting: Waiting): void {
    this.#held.add(waiting);
    if (this.#stallAfterMs > 0 && this.#stopStallTimer === undefined) {
      this.#progressAt = this.#platform.now();
      this.#armStallTimer(this.#stallAfterMs);
    }
  }

  #release(waiting: Waiting): void {
    this.#held.delete(waiting);
    this.#queue(waiting);
  }

  #cancel(waiting: Waiting): void {
    this.#held.delete(waiting);
    if (this.#timed.delete(waiting)) waiting.wake?.abort();
    const place = this.#ready.indexOf(waiting);
    if (place >= 0) remove(this.#ready, place);
  }

  #armStallTimer(ms: number): void {
    this.#stopStallTimer = this.#platform.timer(ms, () => {
      this.#stopStallTimer = undefined;
      if (this.#held.size === 0) return;
      const quiet = this.#platform.now() - this.#progressAt;
      const busy = this.#ready.length > 0 || this.#timed.size > 0;
      if (busy || quiet < this.#stallAfterMs) {
        this.#armStallTimer(busy ? this.#stallAfterMs : Math.max(1, this.#stallAfterMs - quiet));
        return;
      }
      const held = [...this.#held];
      this.#held.clear();
      const error = this.#stalled(
        held.map(({ delivery, gate }) => ({
          delivery,
          waitsFor: gate === undefined ? (delivery.until?.describe() ?? "nothing") : describeGate(gate),
        })),
      );
      for (const waiting of held) waiting.reject(error);
    });
  }
}

// A binary heap ordered by recorded time, then place in the file.
function before(a: Waiting, b: Waiting): boolean {
  const x = a.delivery;
  const y = b.delivery;
  return x.recordedAt !== y.recordedAt ? x.recordedAt < y.recordedAt : x.order < y.order;
}

function push(heap: Waiting[], item: Waiting): void {
  heap.push(item);
  rise(heap, heap.length - 1);
}

function pop(heap: Waiting[]): Waiting | undefined {
  const first = heap[0];
  if (first !== undefined) remove(heap, 0);
  return first;
}

function remove(heap: Waiting[], place: number): void {
  const last = heap.pop() as Waiting;
  if (place === heap.length) return;
  heap[place] = last;
  sink(heap, place);
  rise(heap, place);
}

function rise(heap: Waiting[], from: number): void {
  for (let i = from; i > 0; ) {
    const parent = (i - 1) >> 1;
    if (!before(heap[i] as Waiting, heap[parent] as Waiting)) return;
    [heap[i], heap[parent]] = [heap[parent] as Waiting, heap[i] as Waiting];
    i = parent;
  }
}

function sink(heap: Waiting[], from: number): void {
  for (let i = from; ; ) {
    let least = i;
    for (const child of [2 * i + 1, 2 * i + 2]) {
      if (child < heap.length && before(heap[child] as Waiting, heap[least] as Waiting)) least = child;
    }
    if (least === i) return;
    [heap[i], heap[least]] = [heap[least] as Waiting, heap[i] as Waiting];
    i = least;
  }
}
