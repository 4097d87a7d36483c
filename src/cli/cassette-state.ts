import type { CassetteIndex } from "../cassette/cassette-index.ts";
import { headDigest, type TrackState, trackStates } from "../cassette/seal.ts";

/** A track's state as it is shown: without a seal nothing can be told. */
export type ShownState = TrackState | "unsealed";

/** What a seal says of a whole cassette. */
export interface CassetteState {
  readonly sealed: boolean;
  /** Match, variables or the list of tracks is not as it was sealed. */
  readonly headEdited: boolean;
  readonly edited: readonly string[];
  readonly authored: readonly string[];
  /** By track id. */
  readonly tracks: ReadonlyMap<string, TrackState>;
}

export function cassetteState(index: CassetteIndex): CassetteState {
  const cassette = index.cassette();
  const tracks = trackStates(cassette);
  const sealed = index.seal !== undefined;
  const those = (state: TrackState): string[] => [...tracks].flatMap(([id, own]) => (own === state ? [id] : []));
  return {
    sealed,
    headEdited: sealed && index.seal?.head !== headDigest(cassette),
    edited: those("edited"),
    authored: sealed ? those("authored") : [],
    tracks,
  };
}

/** In a few words: `recorded`, `2 edited, 1 authored`, `unsealed`. */
export function stateText({ sealed, headEdited, edited, authored }: CassetteState): string {
  if (!sealed) return "unsealed";
  const parts = [
    ...(edited.length > 0 ? [`${edited.length} edited`] : []),
    ...(authored.length > 0 ? [`${authored.length} authored`] : []),
    // A track that was added or removed changes the list of tracks: said only where nothing else tells of an edit.
    ...(headEdited && edited.length + authored.length === 0 ? ["head edited"] : []),
  ];
  return parts.length === 0 ? "recorded" : parts.join(", ");
}
