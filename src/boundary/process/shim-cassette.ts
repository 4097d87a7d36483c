import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileStore } from "../../cassette/file-store.ts";
import { openCassette } from "../../cassette/open.ts";
import type { Cassette, ProcessTrack, Track } from "../../cassette/schema.ts";
import { ledger } from "../../engine/ledger.ts";
import { platform } from "../../engine/platform.ts";
import { missingText } from "../../engine/report.ts";
import { startDeck } from "../../engine/start-deck.ts";
import { CassetteMissing, isWiretapeError, OptionInvalid } from "../../errors.ts";
import { readClaim, type ShimScript, type StartedShim } from "./shim-state.ts";
import { tapeSpawn } from "./tape-spawn.ts";

type CassetteScript = ShimScript & { readonly plays: "cassette" };

const isProcess = (track: Track): track is ProcessTrack => track.kind === "process";

/** Reads a cassette for a shim: which program it plays, and how often. Errors: `CassetteMissing`, `CassetteInvalid`, `OptionInvalid`. */
export function cassetteProgram(path: string, wanted: string | undefined): { command: string; count: number } {
  const { tracks } = readCassette(path);
  const commands = [...new Set(tracks.filter(isProcess).map(({ open }) => open.command))];
  const named = commands.filter((one) => wanted === undefined || one === wanted || basename(one) === wanted);
  const [command] = named;
  if (command === undefined || named.length > 1) {
    const there = commands.length === 0 ? "no process" : commands.map((one) => JSON.stringify(one)).join(", ");
    throw new OptionInvalid(
      `A shim plays one program, and ${path} has ${there}${wanted === undefined ? "" : `; command is ${JSON.stringify(wanted)}`}.\n  next      ${commands.length > 1 ? `choose one: { command: ${JSON.stringify(commands[0])} }` : "record one: tapeSpawn(deck)"}`,
      { commands },
    );
  }
  const played = tracks.filter(isProcess).filter(({ open }) => open.command === command);
  const counts = played.map(({ repeat = 1 }) => (repeat === "forever" ? Number.POSITIVE_INFINITY : repeat));
  return { command, count: counts.reduce((sum, one) => sum + one, 0) };
}

function readCassette(path: string): Cassette {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CassetteMissing(missingText({ path, mode: "replay", reason: "a shim only replays" }), { path });
  }
  return openCassette(bytes, { path }).cassette();
}

/**
 * Starts the double of this process: the deck is brought to where the processes before this one have left it, and is then
 * asked for what this process was started with. Throws what the deck does.
 */
export async function startTrack(
  script: CassetteScript,
  folder: string,
  number: number,
  argv: readonly string[],
): Promise<StartedShim> {
  const { cassette: path, command, match, cwd: home } = script;
  const here = process.cwd();
  // Paths are compared as the program sees them that started us, whatever folder it started us in.
  process.chdir(home);
  const place = { store: fileStore(dirname(resolve(path))), name: basename(path), display: path };
  const cassette = match === "order" ? { cassette: inOrder(readCassette(path), command) } : {};
  const deck = await startDeck({ ...place, ...cassette }, { mode: "replay", unplayed: "ignore" }, platform);
  const spawn = tapeSpawn(deck);
  const begin = (words: readonly string[], cwd: string): ReturnType<typeof spawn> =>
    match === "order" ? spawn(command, []) : spawn(command, words, cwd === home ? {} : { cwd });
  for (let earlier = 1; earlier < number; earlier++) {
    const claim = readClaim(folder, earlier);
    try {
      const child = begin(claim.argv, claim.cwd);
      child.on("error", () => child.unref());
      child.kill("SIGKILL");
    } catch (error) {
      if (!isWiretapeError(error)) throw error;
    }
    // What it met was told by itself.
    for (const entry of ledger().entries) entry.acknowledged = true;
  }
  let newlines = 0;
  let whole = true;
  const child = begin(argv, here);
  child.stdout?.on("data", (data: Buffer) => {
    for (const byte of data) if (byte === 0x0a) newlines++;
    whole = data.at(-1) === 0x0a;
  });
  return { child, lines: () => (whole || child.exitCode === null ? newlines : newlines + 1) };
}

/** The cassette as one whose tracks of a program differ in nothing that is asked: first in, first out. */
function inOrder(cassette: Cassette, command: string): Cassette {
  const tracks = cassette.tracks.map(
    (track): Track => (isProcess(track) && track.open.command === command ? { ...track, open: { command } } : track),
  );
  return { ...cassette, tracks };
}
