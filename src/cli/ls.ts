import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "../cassette/file-store.ts";
import { openCassette } from "../cassette/open.ts";
import { CassetteInvalid, OptionInvalid } from "../errors.ts";
import { type CassetteState, cassetteState, stateText } from "./cassette-state.ts";
import { count, formatBytes } from "./quantities.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface LsOptions {
  readonly json?: true | undefined;
}

interface Listed {
  readonly path: string;
  readonly size: number;
  readonly state: string;
  readonly tracks: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly edited: readonly string[];
  readonly authored: readonly string[];
  readonly recordedAt?: string | undefined;
  readonly name?: string | undefined;
  /** How many faults an invalid file has. */
  readonly faults?: number | undefined;
}

/** `wiretape ls`: the cassettes below a folder. */
export async function ls(folder: string, options: LsOptions, terminal: Terminal): Promise<number> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory())
    throw new OptionInvalid(
      `${folder} is ${found === undefined ? "not there" : "no folder"}; name a folder to look into.`,
    );
  const store = fileStore(folder);
  const names = await store.list();
  const listed: Listed[] = [];
  for (const name of names) {
    const bytes = await store.read(name);
    if (bytes !== undefined) listed.push(look(join(folder, name), bytes)); // deleted in the meantime: it is not there
  }
  if (options.json) terminal.json({ folder, cassettes: listed });
  else print(folder, listed, terminal);
  return 0;
}

function look(path: string, bytes: Uint8Array): Listed {
  const size = bytes.length;
  try {
    const index = openCassette(bytes, { path });
    const state: CassetteState = cassetteState(index);
    const kinds: Record<string, number> = {};
    for (let i = 0; i < index.size; i++) kinds[index.kind(i)] = (kinds[index.kind(i)] ?? 0) + 1;
    const { edited, authored } = state;
    const { at: recordedAt, name } = index.head.recorded ?? {};
    return { path, size, state: stateText(state), tracks: index.size, kinds, edited, authored, recordedAt, name };
  } catch (error) {
    if (!(error instanceof CassetteInvalid)) throw error;
    const faults = (error.details["issues"] as readonly unknown[] | undefined)?.length ?? 1;
    return { path, size, state: "invalid", tracks: 0, kinds: {}, edited: [], authored: [], faults };
  }
}

function print(folder: string, listed: readonly Listed[], terminal: Terminal): void {
  const { color, width } = terminal;
  if (listed.length === 0) {
    terminal.line(`There is no cassette below ${join(folder, ".")}. A recording makes one: "wiretape demo" shows how.`);
    return;
  }
  const style = (state: string): ((text: string) => string) | undefined =>
    state === "recorded" ? color.green : state === "invalid" ? color.red : color.yellow;
  const rows = listed.map(({ path, tracks, kinds, size, state, recordedAt, name, faults }) => [
    { text: path, style: color.bold },
    { text: faults === undefined ? kindsText(tracks, kinds) : "" },
    { text: formatBytes(size) },
    { text: faults === undefined ? state : `invalid (${count(faults, "fault")})`, style: style(state) },
    { text: recordedAt?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1 $2") ?? "", style: color.dim },
    { text: name ?? "", style: color.dim },
  ]);
  const heads = [
    { title: "cassette", flexible: true },
    { title: "tracks" },
    { title: "size", align: "right" },
    { title: "state" },
    { title: "recorded (UTC)" },
    { title: "name", flexible: true },
  ] as const;
  for (const line of formatTable(heads, rows, { width, heading: color.dim })) terminal.line(line);
  const invalid = listed.filter(({ faults }) => faults !== undefined).length;
  const sum = listed.reduce((bytes, { size }) => bytes + size, 0);
  terminal.line();
  terminal.line(
    `${count(listed.length, "cassette")}, ${formatBytes(sum)}${invalid > 0 ? `; ${invalid} invalid: "wiretape lint" says why` : ""}`,
  );
}

function kindsText(tracks: number, kinds: Readonly<Record<string, number>>): string {
  const parts = Object.entries(kinds).map(([kind, n]) => `${n} ${kind}`);
  return tracks === 0 ? "none" : parts.join(", ");
}
