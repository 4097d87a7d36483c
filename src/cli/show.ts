import type { CassetteIndex } from "../cassette/cassette-index.ts";
import { suggest } from "../cassette/nearest.ts";
import { openCassette } from "../cassette/open.ts";
import { OptionInvalid } from "../errors.ts";
import { type CassetteState, cassetteState, type ShownState, stateText } from "./cassette-state.ts";
import { printable } from "./printable.ts";
import { count, formatBytes, formatDuration } from "./quantities.ts";
import { HINT, readInput } from "./read-input.ts";
import { showTrack } from "./show-track.ts";
import { type Cell, formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { timeline } from "./timeline.ts";
import { type TrackFacts, trackFacts } from "./track-facts.ts";

export interface ShowOptions {
  readonly track?: string | undefined;
  readonly json?: true | undefined;
}

/** `wiretape show`: one cassette as a table, or one track of it as a timeline. */
export async function show(path: string, options: ShowOptions, terminal: Terminal): Promise<number> {
  const bytes = await readInput(path, HINT);
  const index = openCassette(bytes, { path });
  const state = cassetteState(index);
  const place = options.track === undefined ? undefined : placeOf(index, options.track, path);
  const stateOf = (id: string): ShownState => (state.sealed ? (state.tracks.get(id) ?? "authored") : "unsealed");
  if (place !== undefined) {
    const track = index.track(place);
    const shown = { ...trackFacts(track), state: stateOf(track.id), line: index.line(place) };
    if (options.json) terminal.json({ path, track: { ...shown, timeline: timeline(track) } });
    else showTrack(track, shown, path, terminal);
    return 0;
  }
  const facts = Array.from({ length: index.size }, (_, i) => trackFacts(index.track(i)));
  const tracks = facts.map((one, i) => ({ ...one, state: stateOf(one.id), line: index.line(i) }));
  if (options.json) {
    const { $schema: _, wiretape: format, ...head } = index.head;
    terminal.json({
      path,
      format,
      size: bytes.length,
      state: stateText(state),
      headEdited: state.headEdited,
      ...head,
      tracks,
    });
  } else showCassette(path, bytes.length, index, state, tracks, terminal);
  return 0;
}

function placeOf(index: CassetteIndex, id: string, path: string): number {
  const place = index.indexOf(id);
  if (place !== -1) return place;
  const ids = Array.from({ length: index.size }, (_, i) => index.id(i));
  throw new OptionInvalid(`${path} has no track ${JSON.stringify(id)}${suggest(id, ids, "its tracks are")}`, {
    path,
    track: id,
  });
}

function showCassette(
  path: string,
  size: number,
  index: CassetteIndex,
  state: CassetteState,
  tracks: readonly (TrackFacts & { state: ShownState })[],
  terminal: Terminal,
): void {
  const { color, width } = terminal;
  const { recorded, note, match, vars } = index.head;
  const text = stateText(state);
  terminal.line(color.bold(printable(path)));
  const fields: [string, string | undefined][] = [
    ["name", recorded?.name],
    ["recorded", [recorded?.at, recorded?.with && `with ${recorded.with}`].filter(Boolean).join(" ")],
    ["origins", recorded?.origins?.join(", ")],
    ["note", note],
    ["match", match && JSON.stringify(match)],
    ["vars", vars && JSON.stringify(vars)],
    ["size", `${count(tracks.length, "track")}, ${formatBytes(size)}`],
    [
      "state",
      state.headEdited && !text.includes("head") ? `${text}, and match, vars or the list of tracks was edited` : text,
    ],
  ];
  for (const [name, value] of fields)
    if (value)
      terminal.line(
        `  ${color.dim(name.padEnd(9))} ${name === "state" ? paintState(text, terminal)(value) : printable(value)}`,
      );
  if (tracks.length === 0) return;
  const [origin] = recorded?.origins?.length === 1 ? recorded.origins : [];
  const rows = tracks.map((track): Cell[] => [
    { text: track.id, style: color.bold },
    { text: track.kind },
    { text: track.lane ?? "" },
    { text: formatDuration(track.at), style: color.dim },
    { text: origin === undefined ? track.what : track.what.replace(` ${origin}/`, " /") },
    { text: track.status, style: /^[45]|[^\d]/.test(track.status) ? color.yellow : undefined },
    { text: track.frames === 0 ? "" : String(track.frames) },
    { text: track.frames === 0 ? "" : formatBytes(track.bytes) },
    { text: track.gates.join(" "), style: color.cyan },
    { text: [track.repeat && `×${track.repeat}`, track.optional && "optional"].filter(Boolean).join(" ") },
    { text: track.state, style: paintState(track.state, terminal) },
  ]);
  const heads = [
    { title: "id" },
    { title: "kind" },
    { title: "lane" },
    { title: "at", align: "right" },
    { title: "what", flexible: true },
    { title: "status", flexible: true },
    { title: "frames", align: "right" },
    { title: "size", align: "right" },
    { title: "gates", flexible: true },
    { title: "plays" },
    { title: "state" },
  ] as const;
  terminal.line();
  for (const line of formatTable(heads, rows, { width, heading: color.dim })) terminal.line(line);
}

/** The colour of a state. */
export function paintState(state: string, { color }: Terminal): (text: string) => string {
  return state === "recorded" ? color.green : color.yellow;
}
