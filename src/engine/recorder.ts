import type { TrackDraft } from "../cassette/draft.ts";
import type { Redactor } from "../cassette/redact/redactor.ts";
import type { Gate, Json, Sidecar, Track } from "../cassette/schema.ts";
import type { Journal } from "../cassette/store.ts";
import { trackFromDraft } from "../cassette/track-from-draft.ts";
import { sha256Hex } from "../wire/digest.ts";
import type { Clock } from "./clock.ts";
import type { Trace, TraceEvent } from "./trace.ts";

/** A track that is being recorded. All times are whole milliseconds. */
export interface Recording {
  readonly id: string;
  readonly lane: string | undefined;
  /** When its request was made, since the recording began. */
  readonly at: number;
  /** Milliseconds since its request was made. */
  elapsed(): number;
  /**
   * The request goes out now. `changes`: it may change what others see at this origin, so that what is delivered
   * after it may be its effect (never a GET, a HEAD or a read).
   */
  sent(event: TraceEvent, origin: string, changes: boolean): void;
  /**
   * The answer is a stream, and it has begun: what is delivered from now on may be the effect of requests that are
   * made from now on, the first delivery as well.
   */
  opened(): void;
  /**
   * A delivery to the program. Returns the gate to record with it: the state-changing requests made since the
   * delivery before. The first delivery of a track that was not opened has none.
   */
  delivered(event: TraceEvent): Gate | undefined;
  /** Something that the program did in this track after its request: into the trace. */
  happened(event: TraceEvent): void;
  /** The track is complete: it is redacted, framed and journalled. */
  settle(draft: TrackDraft): void;
  /** What `finish()` does with it while it is open: it must settle. */
  onFinish: (() => void) | undefined;
  /** The request never went out: there is no track. */
  drop(): void;
}

/** A complete track: what is in hand to verify, and what will be printed. */
interface Settled {
  readonly draft: TrackDraft;
  readonly track: Track;
}

export interface RecorderParts {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly trace: Trace;
  readonly journal: Journal | undefined;
  /** The first line of the journal, without the secrets that are known when it is asked for. */
  readonly header: () => Readonly<Record<string, Json>>;
  /** The number of the first track. */
  readonly firstNumber: number;
  readonly gates: "causal" | "off";
  /** The folder of sidecar files, as the cassette names it: `<name>.files`. */
  readonly sidecarFolder: string;
  /** Whether a line may be journalled: the final scan, asked before anything reaches a disk. */
  readonly clean: (line: string) => boolean;
}

interface Slot {
  readonly recording: Recording;
  settled: Settled | undefined;
}

const SIDECAR_BYTES = 256 * 1024;
/** The key of all variables together, which is no id of a track. */
const VARS = "vars";

/** Collects the tracks of one recording, in the order in which their requests were made. */
export class Recorder {
  /** Bytes of sidecar files by path; written before the cassette. */
  readonly sidecars = new Map<string, Uint8Array>();
  readonly #parts: RecorderParts;
  readonly #began: number;
  /** By id, in the order of their requests. */
  readonly #slots = new Map<string, Slot>();
  readonly #changes = new Map<string, string[]>();
  readonly #vars = new Map<string, Json>();
  #number: number;
  /** The latest time that was told. */
  #told = 0;
  /** The number of the track of the last delivery. */
  #deliveredLast = 0;
  /** The first line of the journal, as it was when it was last looked at. */
  #header: string;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#began = parts.clock.now();
    this.#number = parts.firstNumber;
    this.#header = JSON.stringify(parts.header());
    parts.journal?.append(this.#headerLine());
  }

  /** Takes the next place in the recording. Synchronous, at the moment of the call. */
  begin(lane: string | undefined): Recording {
    const { trace } = this.#parts;
    const now = (): number => this.#now();
    const number = this.#number++;
    const id = `t${number}`;
    const at = now();
    let changes: string[] = [];
    let seen = -1;
    const log = (event: TraceEvent): void =>
      trace.push(lane === undefined ? { ...event, track: id } : { ...event, lane, track: id });
    const recording: Recording = {
      id,
      lane,
      at,
      elapsed: () => now() - at,
      sent: (event, origin, changing) => {
        changes = this.#changesAt(lane, origin);
        if (changing) changes.push(id);
        log(event);
      },
      opened: () => {
        seen = changes.length;
      },
      delivered: (event) => {
        const causes =
          seen < 0 || this.#parts.gates === "off" ? [] : changes.slice(seen).filter((cause) => cause !== id);
        seen = changes.length;
        this.#inOrder(number);
        log(event);
        return causes.length === 0 ? undefined : causes.length === 1 ? causes[0] : causes;
      },
      happened: log,
      settle: (draft) => this.#settle(slot, draft),
      onFinish: undefined,
      drop: () => void this.#slots.delete(id),
    };
    const slot: Slot = { recording, settled: undefined };
    this.#slots.set(id, slot);
    return recording;
  }

  /** Whole milliseconds since the recording began, never less than what was told before. */
  #now(): number {
    return (this.#told = Math.max(this.#told, Math.floor(this.#parts.clock.now() - this.#began)));
  }

  // Deliveries of one millisecond play in the order of their tracks. One that came after a later track's is told as a
  // millisecond later: order counts, not time.
  #inOrder(track: number): void {
    const told = this.#told;
    if (this.#now() === told && track < this.#deliveredLast) this.#told++;
    this.#deliveredLast = track;
  }

  /** Records a variable. */
  setVar(name: string, value: Json): void {
    const redacted = this.#parts.redactor.json(value, VARS);
    this.#vars.set(name, redacted);
    if (!this.#takeOut()) this.#append(variableLine(name, redacted));
  }

  get vars(): Readonly<Record<string, Json>> | undefined {
    return this.#vars.size === 0 ? undefined : Object.fromEntries(this.#vars);
  }

  /** What is still open ends here, by the client; what holds a secret that was learned elsewhere is redacted again. */
  settleOpen(): void {
    for (const { recording, settled } of [...this.#slots.values()]) if (settled === undefined) recording.onFinish?.();
    this.#takeOut();
  }

  /** The complete tracks with what was seen of them, in the order of their requests. */
  get settled(): readonly Settled[] {
    return [...this.#slots.values()].flatMap(({ settled }) => (settled === undefined ? [] : [settled]));
  }

  #changesAt(lane: string | undefined, origin: string): string[] {
    const key = `${lane ?? ""}\n${origin}`;
    let changes = this.#changes.get(key);
    if (changes === undefined) this.#changes.set(key, (changes = []));
    return changes;
  }

  #settle(slot: Slot, draft: TrackDraft): void {
    if (slot.settled !== undefined) return; // the deck ended first, and said how the track ended
    // Redaction sees the whole track before anything of it is framed or journalled.
    slot.settled = this.#framed(this.#parts.redactor.track(draft, slot.recording.id));
    if (!this.#takeOut()) this.#append(journalLine(slot.settled));
  }

  /** Takes secrets that were learned late out of what was recorded before; whether the journal was written anew. */
  #takeOut(): boolean {
    const { redactor, journal } = this.#parts;
    let changed = false;
    for (let keys = redactor.outdated(); keys.size > 0; keys = redactor.outdated()) {
      for (const key of keys) changed = this.#redactAgain(key) || changed;
    }
    const header = JSON.stringify(this.#parts.header());
    if (header !== this.#header) changed = true;
    this.#header = header;
    if (changed) journal?.rewrite(this.#journalLines());
    return changed;
  }

  /** Only what changes is framed again. */
  #redactAgain(key: string): boolean {
    const { redactor } = this.#parts;
    let changed = false;
    if (key === VARS) {
      for (const [name, value] of this.#vars) {
        const again = redactor.json(value);
        if (again !== value) changed = true;
        this.#vars.set(name, again);
      }
      return changed;
    }
    const slot = this.#slots.get(key);
    if (slot?.settled === undefined) return false;
    const again = redactor.track(slot.settled.draft);
    if (again === slot.settled.draft) return false;
    slot.settled = this.#framed(again);
    return true;
  }

  /** A header that may not be journalled stands without what people wrote in it: a journal needs one to be recovered. */
  #headerLine(): string {
    if (this.#parts.clean(this.#header)) return this.#header;
    const { wiretape = 1, extends: extended } = JSON.parse(this.#header);
    return JSON.stringify({ wiretape, extends: extended });
  }

  #append(line: string): void {
    const { journal, clean } = this.#parts;
    if (journal !== undefined && clean(line)) journal.append(line); // the same scan will refuse to commit, and say where
  }

  #framed(draft: TrackDraft): Settled {
    return { draft, track: trackFromDraft(draft, (bytes) => this.#sidecar(bytes)) };
  }

  #sidecar(bytes: Uint8Array): Sidecar | undefined {
    if (bytes.length <= SIDECAR_BYTES) return undefined;
    const sha256 = sha256Hex(bytes);
    const path = `${this.#parts.sidecarFolder}/${sha256}`;
    this.sidecars.set(path, bytes);
    return { path, sha256, size: bytes.length };
  }

  #journalLines(): string[] {
    const lines = [
      ...[...this.#vars].map(([name, value]) => variableLine(name, value)),
      ...this.settled.map(journalLine),
    ];
    return [this.#headerLine(), ...lines.filter(this.#parts.clean)];
  }
}

const variableLine = (name: string, value: Json): string => JSON.stringify({ var: name, value });

// Sidecar files are written when the cassette is: until then the journal holds their bytes itself.
function journalLine({ draft, track }: Settled): string {
  const line = JSON.stringify(track);
  return line.includes('"sha256":') ? JSON.stringify(trackFromDraft(draft)) : line;
}
