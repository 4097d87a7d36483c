import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { FaultType } from "../cassette/fault-kinds.ts";
import { fileStore } from "../cassette/file-store.ts";
import { parseCassette } from "../cassette/parse.ts";
import { formatCassette } from "../cassette/print.ts";
import type { Cassette } from "../cassette/schema.ts";
import { type SweepVariant, sweep as sweepCassette } from "../drive/sweep.ts";
import { CassetteExists, OptionInvalid } from "../errors.ts";
import { encodeUtf8 } from "../wire/bytes.ts";
import { printable } from "./printable.ts";
import { count } from "./quantities.ts";
import { readCassetteText } from "./read-input.ts";
import type { Terminal } from "./terminal.ts";

export interface SweepCommandOptions {
  readonly output: string;
  readonly track?: readonly string[] | undefined;
  readonly fault?: readonly string[] | undefined;
  readonly limit?: string | undefined;
  readonly seed?: string | undefined;
  readonly json?: true | undefined;
}

/** `wiretape sweep`: writes the derived cassettes of a recording into a folder. Never over one that is there. */
export async function sweep(path: string, options: SweepCommandOptions, terminal: Terminal): Promise<number> {
  const cassette = parseCassette(await readCassetteText(path), { path });
  refuseFiles(cassette, path, options.output);
  const variants = [...sweepCassette(ownSchema(cassette, path, options.output), sweepOptions(options))];
  const files = named(variants, basename(path).replace(/\.cassette\.json$/, ""));
  const there = [...files.keys()].filter((name) => existsSync(join(options.output, name)));
  if (there.length > 0) {
    throw new CassetteExists(
      `${count(there.length, "cassette")} of this sweep ${there.length === 1 ? "exists" : "exist"} in ${options.output} already, and nothing is written over them; the first is ${there[0]}.\n  next      name an empty folder, or delete them`,
      { paths: there },
    );
  }
  await mkdir(options.output, { recursive: true });
  const store = fileStore(options.output);
  for (const [name, variant] of files) await store.createExclusive(name, encodeUtf8(formatCassette(variant.cassette)));
  const written = [...files].map(([name, variant]) => ({
    path: join(options.output, name),
    name: variant.name,
    fault: variant.fault,
  }));
  if (options.json) terminal.json({ cassette: path, written });
  else {
    for (const one of written) terminal.line(`${printable(one.path)}  ${terminal.color.dim(printable(one.name))}`);
    terminal.line(`${count(written.length, "derived cassette")} of ${printable(path)}`);
  }
  return 0;
}

function sweepOptions({
  track,
  fault,
  limit,
  seed,
}: SweepCommandOptions): NonNullable<Parameters<typeof sweepCassette>[1]> {
  return {
    ...(track !== undefined && { tracks: track }),
    ...(fault !== undefined && { faults: fault as FaultType[] }),
    ...(limit !== undefined && { limit: number(limit, "limit") }),
    ...(seed !== undefined && { seed: number(seed, "seed") }),
  };
}

function number(text: string, name: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new OptionInvalid(`--${name} is ${JSON.stringify(text)}; it is a whole number.`);
}

// A derived cassette that refers to files would have to take them with it.
function refuseFiles(cassette: Cassette, path: string, output: string): void {
  if (resolve(output) === resolve(dirname(path)) || !JSON.stringify(cassette.tracks).includes('"sha256":')) return;
  const uses = JSON.stringify(cassette.tracks).includes('"file":{"path":');
  if (uses)
    throw new OptionInvalid(
      `${path} uses files beside it, so what is derived from it has to be written into ${dirname(path)}: -o ${dirname(path)}`,
    );
}

// The path to the schema is relative to the file.
function ownSchema(cassette: Cassette, path: string, output: string): Cassette {
  const { $schema, ...rest } = cassette;
  if ($schema === undefined || /^[a-z]+:/.test($schema)) return cassette;
  return { $schema: relative(resolve(output), resolve(dirname(path), $schema)).replaceAll("\\", "/"), ...rest };
}

function named(variants: readonly SweepVariant[], stem: string): Map<string, SweepVariant> {
  const files = new Map<string, SweepVariant>();
  for (const variant of variants) {
    const { type, track, ...rest } = variant.fault;
    const facts = Object.entries(rest).map(([key, value]) => `${key === "frame" ? "" : `${key}-`}${value}`);
    files.set(`${[stem, track, type, ...facts].join(".")}.cassette.json`, variant);
  }
  return files;
}
