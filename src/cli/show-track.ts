import type { Headers, Track } from "../cassette/schema.ts";
import type { ShownState } from "./cassette-state.ts";
import { columns, shorten } from "./columns.ts";
import { printable } from "./printable.ts";
import { formatBytes, formatDuration } from "./quantities.ts";
import { type Cell, formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { type Moment, timeline } from "./timeline.ts";
import type { TrackFacts } from "./track-facts.ts";

/** Prints one track as a readable timeline. */
export function showTrack(
  track: Track,
  facts: TrackFacts & { readonly state: ShownState; readonly line: number },
  path: string,
  terminal: Terminal,
): void {
  const { color, width } = terminal;
  const clip = (text: string, taken = 0): string => shorten(printable(text), width - taken);
  const state = facts.state === "recorded" ? color.green(facts.state) : color.yellow(facts.state);
  terminal.line(`${color.bold(facts.id)}  ${clip(facts.what, columns(facts.id) + 2)}`);
  const about = [
    `${facts.kind}${facts.lane === undefined ? "" : `, lane ${facts.lane}`}`,
    `${formatDuration(facts.at)} after the recording began`,
    ...(facts.repeat === undefined
      ? []
      : [`plays ${facts.repeat === "forever" ? "for ever" : `${facts.repeat} times`}`]),
    ...(facts.optional ? ["optional"] : []),
    `${path}:${facts.line}`,
  ];
  terminal.line(`  ${state}${color.dim(`, ${printable(about.join(", "))}`)}`);
  if (facts.note !== undefined) terminal.line(`  ${color.dim("note")} ${clip(facts.note, 7)}`);
  for (const [title, headers] of headersOf(track)) {
    terminal.line();
    terminal.line(color.dim(title));
    const longest = Math.min(32, Math.max(...headers.map(([name]) => columns(printable(name)))));
    for (const [name, value] of headers) {
      const shown = printable(name);
      terminal.line(`  ${shown}${" ".repeat(Math.max(0, longest - columns(shown)))}  ${clip(value, longest + 4)}`);
    }
  }
  terminal.line();
  const moments = timeline(track);
  const heads = [
    { title: "time", align: "right" },
    { title: "what" },
    { title: "form" },
    { title: "content", flexible: true },
    { title: "size", align: "right" },
    { title: "after" },
    { title: "chunks", flexible: true },
    { title: "note", flexible: true },
  ] as const;
  const rows = moments.map((moment) => row(moment, terminal));
  for (const line of formatTable(heads, rows, { width, heading: color.dim })) terminal.line(line);
}

function row({ what, at, from, form, content, bytes, after, joined, cuts, note }: Moment, { color }: Terminal): Cell[] {
  const failed = what === "error" || what === "end";
  const style = what === "frame" ? undefined : failed ? color.yellow : color.bold;
  const cut = cuts?.map(
    (one) => `cut at byte ${one.offset} (+${one.at} ms${one.after === undefined ? "" : `, after ${one.after}`})`,
  );
  return [
    { text: at === undefined ? "" : `+${formatDuration(at)}`, style: color.dim },
    { text: from ?? what, style },
    { text: form ?? "", style: color.dim },
    { text: content, style: failed ? color.yellow : undefined },
    { text: bytes === undefined ? "" : formatBytes(bytes), style: color.dim },
    { text: after ?? "", style: color.cyan },
    { text: [...(joined ? ["joined"] : []), ...(cut ?? [])].join(", "), style: color.dim },
    { text: note ?? "", style: color.dim },
  ];
}

function headersOf(track: Track): [string, Headers][] {
  const found: [string, Headers | undefined][] =
    track.kind === "http"
      ? [
          ["request headers", track.request.headers],
          ["response headers", track.response?.headers],
          ["response trailers", track.response?.trailers],
        ]
      : track.kind === "websocket"
        ? [["headers", track.open.headers]]
        : [];
  return found.filter((pair): pair is [string, Headers] => pair[1] !== undefined && pair[1].length > 0);
}
