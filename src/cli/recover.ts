import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileStore } from "../cassette/file-store.ts";
import { parseCassette } from "../cassette/parse.ts";
import { type JournalReading, type Recovery, readJournal, recoverCassette } from "../engine/recover.ts";
import { CassetteExists, CassetteInvalid, OptionInvalid } from "../errors.ts";
import { encodeUtf8 } from "../wire/bytes.ts";
import { printable } from "./printable.ts";
import { count, formatBytes } from "./quantities.ts";
import { readCassetteText, readInput } from "./read-input.ts";
import type { Terminal } from "./terminal.ts";
import { trackFacts } from "./track-facts.ts";

export interface RecoverOptions {
  readonly output?: string | undefined;
  readonly partial?: true | undefined;
  readonly remove?: true | undefined;
  readonly json?: true | undefined;
}

/** `wiretape recover`: a cassette from the journal of a killed recording. 1 where lines of it are corrupt. */
export async function recover(journal: string, options: RecoverOptions, terminal: Terminal): Promise<number> {
  const recorded = recordedCassette(journal);
  if (recorded === undefined && options.output === undefined)
    throw new OptionInvalid(
      `${journal} is not called *.recording.jsonl, so what it was to become cannot be told.\n  next      name the cassette: -o name.cassette.json`,
    );
  const reading = readJournal(
    await readInput(journal, "name a *.recording.jsonl file, which a killed recording leaves beside its cassette"),
  );
  if (reading.faults.length > 0 && !options.partial) throw corrupt(journal, reading);
  const cassette = recorded ?? (options.output as string);
  // A recording that is still running holds the lock of its cassette: CassetteBusy names it.
  const unlock = await fileStore(dirname(cassette)).lock(basename(cassette));
  let recovery: Recovery;
  let output: string;
  try {
    const base = reading.extended === undefined ? undefined : await baseText(journal, reading.extended);
    recovery = recoverCassette(reading, base);
    output = options.output ?? freeOutput(cassette);
    refuseStray(recovery, output, cassette);
    await write(output, recovery.text);
  } finally {
    await unlock();
  }
  if (options.remove) await rm(journal);
  const { faults, torn, extended } = reading;
  const { tracks, missing, gates } = recovery;
  if (options.json) {
    const recovered = tracks.map((track) => ({ id: track.id, kind: track.kind, what: trackFacts(track).what }));
    terminal.json({
      journal,
      output,
      recovered,
      vars: Object.keys(reading.vars),
      extended: extended ?? null,
      missing,
      torn: torn ?? null,
      faults,
      gates,
      removed: options.remove === true,
    });
  } else print(journal, output, reading, recovery, options, terminal);
  return 0;
}

/** The cassette that a journal was to become, beside it. */
function recordedCassette(journal: string): string | undefined {
  const stem = /^(.+)\.recording(?:-\d+)?\.jsonl$/.exec(basename(journal))?.[1];
  return stem === undefined ? undefined : join(dirname(journal), `${stem}.cassette.json`);
}

async function baseText(journal: string, extended: string): Promise<string> {
  // The recording program named it from its own working directory; it is where the journal is.
  const base = join(dirname(journal), basename(extended));
  if (!existsSync(base))
    throw new OptionInvalid(
      `The recording extended ${extended}, and ${base} is not there.\n  next      put the cassette back beside the journal`,
    );
  return readCassetteText(base);
}

function freeOutput(cassette: string): string {
  return existsSync(cassette) ? cassette.replace(/\.cassette\.json$/, ".recovered.cassette.json") : cassette;
}

/** Files beside a cassette are named from its folder: it can be recovered only into the same one. */
function refuseStray({ text }: Recovery, output: string, cassette: string): void {
  if (resolve(dirname(output)) === resolve(dirname(cassette)) || !text.includes('"sha256":')) return;
  const uses = JSON.stringify(parseCassette(text)).includes('"file":{"path":');
  if (uses)
    throw new OptionInvalid(`The cassette uses files beside it, so it has to be written into ${dirname(cassette)}.`);
}

async function write(output: string, text: string): Promise<void> {
  try {
    await fileStore(dirname(output)).createExclusive(basename(output), encodeUtf8(text));
  } catch (error) {
    if (!(error instanceof CassetteExists)) throw error;
    throw new CassetteExists(
      `${output} exists already, and nothing is written over it.\n  next      name another file: -o name.cassette.json`,
      { path: output },
    );
  }
}

function corrupt(journal: string, { faults, tracks }: JournalReading): CassetteInvalid {
  const lines = faults.slice(0, 20).map(({ line, message }) => `  ${journal}:${line}  ${message}`);
  if (faults.length > lines.length) lines.push(`  … and ${faults.length - lines.length} more`);
  return new CassetteInvalid(
    `${journal} has ${count(faults.length, "line")} that cannot be used; nothing was written:\n${lines.join("\n")}\n  next      mend the journal, or recover the ${count(tracks.length, "track")} of the other lines with --partial`,
    { path: journal, faults },
  );
}

function print(
  journal: string,
  output: string,
  { faults, torn, extended, vars }: JournalReading,
  { tracks, missing, gates }: Recovery,
  { remove }: RecoverOptions,
  { color, line }: Terminal,
): void {
  const variables = Object.keys(vars).length;
  line(
    `${color.green("recovered")} ${count(tracks.length, "track")}${variables > 0 ? ` and ${count(variables, "variable")}` : ""} from ${printable(journal)}`,
  );
  for (const track of tracks) line(`  ${track.id}  ${printable(trackFacts(track).what)}`);
  const lost: string[] = [
    ...(missing.length > 0
      ? [`${missing.join(", ")}: not in the journal; still open when the recording ended, or never sent`]
      : []),
    ...(torn === undefined
      ? []
      : [`line ${torn.line}: cut off after ${formatBytes(torn.bytes)}, within what was being written`]),
    ...faults.map((fault) => `line ${fault.line}: ${fault.message}`),
    ...gates.map(
      ({ track, named }) =>
        `${track}: no longer waits for ${named.join(", ")}, which ${named.length === 1 ? "is" : "are"} lost`,
    ),
  ];
  line(
    lost.length === 0
      ? "nothing else was in the journal; tracks that were open when the recording ended are lost"
      : color.yellow("lost"),
  );
  for (const one of lost) line(`  ${printable(one)}`);
  line(
    `${extended === undefined ? "written to" : "added to what was there, written to"} ${color.bold(printable(output))}`,
  );
  line(
    color.dim(
      remove ? "the journal was deleted" : `the journal is kept; delete it when you are done with it (--remove does)`,
    ),
  );
}
