import type { Json, TrackKind } from "../cassette/schema.ts";

/** A place in a message that holds an id. */
export interface IdPlace {
  /** Keys and indexes from the message's root. */
  readonly path: readonly (string | number)[];
  /** Ids of one space are compared with one another: "request", "progress". */
  readonly space: string;
  /**
   * `gives`: the sender makes it up here. The program's are random by design: they never count, and are the recorded
   * ones' partners from then on. `names`: it is one that the program has given: what the program names is compared as its
   * recorded partner, what the other side names is handed to the program as the live one.
   */
  readonly role: "gives" | "names";
}

/**
 * What the engine must know about the conversations of one boundary: how what the program sends is compared with what was
 * recorded. The engine knows no WebSocket, no pipes and no JSON-RPC.
 */
export interface DuplexKind {
  readonly kind: TrackKind;
  /** The name of the boundary in the trace. */
  readonly boundary: string;
  /** The program's side. */
  readonly client: "client" | "stdin";
  /** What is compared at once: a message (a chunk of the program's), or a line of a byte stream, however it was torn. */
  readonly unit: "message" | "line";
  /**
   * `sequence`: what the program sends comes in the recorded order. `any`: of those that were recorded and have not come,
   * each may be the next; what is equal is first in, first out.
   */
  readonly order: "sequence" | "any";
  /** The ids in a message that is JSON; absent: there are none. */
  ids?(message: Json, from: "client" | "server"): readonly IdPlace[];
  /** What of a JSON message of the program's counts, given without the ids that it gives; absent: all of it. */
  counts?(message: Json): Json;
  /** What the trace's event of a message says beside its sender: flat, for gates and assertions. */
  event?(message: Json): Readonly<Record<string, string | number>>;
}
