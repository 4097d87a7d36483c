/** The process that replays: it is given the path of a cassette, and tells its parent what it saw. */
import { tapeFetch } from "../boundary/http/fetch.ts";
import type { Deck } from "../engine/deck.ts";
import { ledger } from "../engine/ledger.ts";
import { openDeck } from "../engine/open-deck.ts";
import { offlineGuard, proveOffline } from "./offline-guard.ts";
import { runStagingSession, type SessionObservation } from "./session.ts";

/** An error as it crosses from one process to another. */
export interface SentError {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** What the offline process found. */
export interface OfflineReplay {
  /** The guard was armed before this program began. */
  readonly armed: boolean;
  /** Deliberate touches of the network that were refused. */
  readonly refused: readonly string[];
  /** What was touched while replaying, though it may have been swallowed. */
  readonly touched: readonly string[];
  readonly observation: SessionObservation;
  readonly played: number;
  readonly milliseconds: number;
  readonly onceMore: OnceMore;
}

/** What became of a request beyond the recording. */
export interface OnceMore {
  readonly request: string;
  /** What the program got, and swallowed. */
  readonly thrown: SentError | undefined;
  /** What `deck.finish()` threw all the same. */
  readonly finish: SentError | undefined;
}

async function replay(cassette: string): Promise<OfflineReplay> {
  const guard = offlineGuard();
  const refused = guard === undefined ? [] : await proveOffline(guard);
  const deck = await openDeck(cassette, { mode: "replay" });
  const [origin = ""] = deck.cassette?.recorded?.origins ?? [];
  const began = performance.now();
  const observation = await runStagingSession(tapeFetch(deck), origin);
  const milliseconds = performance.now() - began;
  const { played } = await deck.finish();
  const onceMore = await askOnceMore(await openDeck(cassette, { mode: "replay" }), origin);
  return {
    armed: guard !== undefined,
    refused,
    touched: guard?.touched ?? [],
    observation,
    played,
    milliseconds,
    onceMore,
  };
}

/** A program that asks for one thing more than was recorded, and swallows the error. */
async function askOnceMore(deck: Deck, origin: string): Promise<OnceMore> {
  const fetch = tapeFetch(deck);
  await runStagingSession(fetch, origin);
  const thrown = await caught(() => fetch(`${origin}/v1/numbers`));
  const finish = await caught(() => deck.finish());
  // The violation was meant: the process need not fail for it.
  for (const entry of ledger().entries) if (entry.owner === deck) entry.acknowledged = true;
  return { request: "GET /v1/numbers", thrown, finish };
}

async function caught(action: () => Promise<unknown>): Promise<SentError | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    const { name, code, message } = error as SentError;
    return { name, code, message };
  }
}

process.send?.(await replay(process.argv[2] ?? ""));
process.disconnect?.();
