/**
 * Where cassettes are kept. A name is a path below the store with `/`, ending in `.cassette.json`; sidecar files
 * (`<stem>.files/<sha256>`) are written and read through the same methods. No name leaves the store: OptionInvalid.
 */
export interface CassetteStore {
  /** The bytes, or `undefined` where there is no such file. Any other failure throws: it is never "not there". */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Writes a file that is not there: whole or not at all, and of several writers one wins. CassetteExists. */
  createExclusive(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes a file over the one that is there, whole or not at all. */
  replace(name: string, bytes: Uint8Array): Promise<void>;
  /** A fresh journal, `<stem>.recording.jsonl`. One that a killed process left is set aside first, under a number. */
  journal(name: string): Promise<Journal>;
  /**
   * Takes the cassette for one recorder among all processes; the function it gives releases it. CassetteBusy names the
   * holder. What dead processes left is taken over.
   */
  lock(name: string): Promise<() => Promise<void>>;
  /** Keeps a failed recording as `<stem>.failed.cassette.json`, numbered and never over another; its name. */
  park(name: string, bytes: Uint8Array): Promise<string>;
  /** The names of all cassettes, parked ones included, sorted. */
  list(): Promise<string[]>;
}

/** The journal of a recording: lines that outlive the process. */
export interface Journal {
  readonly name: string;
  /** Adds a line; it is in the file when this returns, so a killed process loses nothing. */
  append(line: string): void;
  /** Replaces all lines: written beside and renamed over. */
  rewrite(lines: readonly string[]): void;
  /** Closes and deletes it: its tracks are in a cassette now. */
  remove(): Promise<void>;
  /** Closes it and leaves it there. */
  close(): Promise<void>;
}
