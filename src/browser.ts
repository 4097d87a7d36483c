/** The public surface where there is no file system: everything of `wiretape` but `openDeck`, `withDeck` and `fileStore`. */
export { tapeFunction, tapeObject } from "./boundary/function/function.ts";
export { functionTarget, type TargetFunctions } from "./boundary/function/target.ts";
export { tapeFetch } from "./boundary/http/fetch.ts";
export { type FetchHandler, type HttpTargetOptions, httpTarget } from "./boundary/http/target.ts";
export { editText, sealText } from "./cassette/edit.ts";
export type { Fault, FaultType } from "./cassette/fault-kinds.ts";
export { type LintIssue, lintCassette } from "./cassette/lint.ts";
export { memoryStore } from "./cassette/memory-store.ts";
export { parseCassette } from "./cassette/parse.ts";
export { formatCassette } from "./cassette/print.ts";
export type { RedactOptions, RedactRule } from "./cassette/redact/redactor.ts";
export type {
  AgentTrack,
  Body,
  CallTrack,
  Cassette,
  End,
  Frame,
  FunctionTrack,
  Gate,
  Headers,
  HttpTrack,
  Json,
  McpTrack,
  ModelTrack,
  ProcessTrack,
  Seal,
  StoredError,
  Track,
  TrackKind,
  WebSocketTrack,
} from "./cassette/schema.ts";
export { trackStates } from "./cassette/seal.ts";
export type { CassetteStore, Journal } from "./cassette/store.ts";
export type { DriftDifference, Tier } from "./drive/compare.ts";
export { type DriftOptions, type DriftReport, drift } from "./drive/drift.ts";
export { type DriveOptions, type DriveReport, drive, type TrackReport } from "./drive/drive.ts";
export { type SweepOptions, type SweepVariant, sweep } from "./drive/sweep.ts";
export type { Clock, ClockSource } from "./engine/clock.ts";
export { type CreateDeckOptions, createDeck } from "./engine/create-deck.ts";
export type { Deck, DeckReport } from "./engine/deck.ts";
export type { Facets, MatchOptions } from "./engine/identity.ts";
export type { DeckMode } from "./engine/mode.ts";
export type { DeckOptions } from "./engine/options.ts";
export type { PlayedTrack } from "./engine/player.ts";
export type { Lane } from "./engine/session.ts";
export type { Answer, Target, TrackDrive } from "./engine/target.ts";
export type { TraceEvent } from "./engine/trace.ts";
export {
  CassetteBusy,
  CassetteExists,
  CassetteInvalid,
  CassetteMissing,
  DeckFinished,
  type ErrorDetails,
  ExpectationUnmet,
  FrameMismatch,
  isWiretapeError,
  OptionInvalid,
  OutOfOrder,
  PeerMissing,
  ReplayStalled,
  ScriptExhausted,
  SealBroken,
  SecretFound,
  SidecarBroken,
  UnplayedTracks,
  UnrecordedRequest,
  VarMissing,
  VerifyFailed,
  WiretapeError,
  type WiretapeErrorCode,
} from "./errors.ts";
export { type EventPattern, matchTrace, type PatternValue, type TraceMatch, type TracePattern } from "./pattern.ts";
