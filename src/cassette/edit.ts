import { parseCassette } from "./parse.ts";
import { formatCassette, formatTrack } from "./print.ts";
import type { Cassette, Json, Seal, Track } from "./schema.ts";
import { headDigest, sealOf, trackDigest } from "./seal.ts";
import { attachSeal, readSealedText } from "./sealed-text.ts";
import { appendItems, editValue, type TextEdit } from "./text-edit.ts";

export type { TextEdit };

/**
 * Text to text. A text that is as we would print it stays so, and its checksum is stamped; in any other text comments
 * and layout survive and there is no checksum. A text with faults is refused, before and after: CassetteInvalid.
 */

/** Stamps every track as recorded: from now on the cassette as it stands is what was meant. */
export function sealText(text: string): string {
  const cassette = parseCassette(text);
  const seal = sealOf(cassette);
  return isCanonical(text, cassette) ? printSealed(cassette, seal) : setSeal(text, seal);
}

/**
 * Adds tracks at the end, as recorded ones. The states of those that are there stay as they are: an edited track stays
 * edited, an authored one authored, and a head that was edited is not stamped again. `vars` are set in the same change.
 */
export function appendTracks(
  text: string,
  tracks: readonly Track[],
  vars: Readonly<Record<string, Json>> = {},
): string {
  const before = parseCassette(text);
  if (tracks.length === 0 && Object.keys(vars).length === 0) return text;
  const after: Cassette = {
    ...before,
    ...(Object.keys(vars).length > 0 && { vars: { ...before.vars, ...vars } }),
    tracks: [...before.tracks, ...tracks],
  };
  const seal = extendSeal(before, after, tracks);
  if (isCanonical(text, before)) return checked(printSealed(after, seal));
  let longer = tracks.length === 0 ? text : appendItems(text, ["tracks"], tracks.map(formatTrack));
  for (const [name, value] of Object.entries(vars)) longer = editValue(longer, { path: ["vars", name], value });
  return checked(setSeal(longer, seal));
}

/** Sets and removes values by path, in turn. The seal is left alone: an edit is known as an edit. */
export function editText(text: string, edits: readonly TextEdit[]): string {
  const before = parseCassette(text);
  const edited = edits.reduce(editValue, text);
  const after = parseCassette(edited);
  if (!isCanonical(text, before)) return edited;
  return after.seal === undefined ? formatCassette(after) : printSealed(after, after.seal);
}

function checked(text: string): string {
  parseCassette(text);
  return text;
}

function isCanonical(text: string, cassette: Cassette): boolean {
  return readSealedText(text) !== undefined || formatCassette(cassette) === text;
}

function printSealed(cassette: Cassette, seal: Seal): string {
  const { seal: _, ...unsealed } = cassette;
  return attachSeal(formatCassette(unsealed), seal);
}

function setSeal(text: string, seal: Seal): string {
  const { crc32: _, ...value } = seal;
  return editValue(text, { path: ["seal"], value: value as Json });
}

function extendSeal(before: Cassette, after: Cassette, tracks: readonly Track[]): Seal {
  const stamped = Object.fromEntries(tracks.map((track) => [track.id, trackDigest(track)]));
  const seal = before.seal;
  if (seal === undefined) return { algorithm: "sha256", head: headDigest(after), tracks: stamped };
  const head = seal.head === headDigest(before) ? headDigest(after) : seal.head;
  return { ...seal, head, tracks: { ...seal.tracks, ...stamped } };
}
