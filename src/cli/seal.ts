import { basename, dirname } from "node:path";
import { sealText } from "../cassette/edit.ts";
import { fileStore } from "../cassette/file-store.ts";
import { openCassette } from "../cassette/open.ts";
import { CassetteInvalid } from "../errors.ts";
import { encodeUtf8 } from "../wire/bytes.ts";
import { type CassetteState, cassetteState, type ShownState } from "./cassette-state.ts";
import { printable } from "./printable.ts";
import { count } from "./quantities.ts";
import { readCassetteText } from "./read-input.ts";
import type { Terminal } from "./terminal.ts";

export interface SealOptions {
  readonly json?: true | undefined;
}

interface Sealed {
  readonly path: string;
  readonly written: boolean;
  /** Tracks that are recorded ones from now on, and what they were. */
  readonly changed: readonly { readonly id: string; readonly from: ShownState }[];
  /** Match, variables or the list of tracks had been edited. */
  readonly head: boolean;
  /** Why the file was refused. */
  readonly error?: { readonly code: string; readonly message: string; readonly issues?: unknown };
}

/** `wiretape seal`: declares cassettes as they stand to be what was meant. 1 where one is not valid. */
export async function seal(paths: readonly string[], options: SealOptions, terminal: Terminal): Promise<number> {
  const files: Sealed[] = [];
  for (const path of paths) files.push(await sealFile(path));
  if (options.json) terminal.json({ files });
  else for (const file of files) print(file, terminal);
  return files.some(({ error }) => error !== undefined) ? 1 : 0;
}

async function sealFile(path: string): Promise<Sealed> {
  const text = await readCassetteText(path).catch(refused);
  if (typeof text !== "string") return text;
  const store = fileStore(dirname(path));
  const name = basename(path);
  // Who seals holds the lock, so that no recording is written in between.
  const unlock = await store.lock(name);
  try {
    const before = cassetteState(openCassette(text, { path }));
    const sealed = sealText(text);
    if (sealed !== text) await store.replace(name, encodeUtf8(sealed));
    return { path, written: sealed !== text, changed: changes(before), head: before.headEdited };
  } catch (error) {
    return refused(error);
  } finally {
    await unlock();
  }

  function refused(error: unknown): Sealed {
    if (!(error instanceof CassetteInvalid)) throw error;
    const { code, message, details } = error;
    return { path, written: false, changed: [], head: false, error: { code, message, issues: details["issues"] } };
  }
}

function changes({ sealed, tracks }: CassetteState): Sealed["changed"] {
  return [...tracks].flatMap(([id, state]) =>
    state === "recorded" ? [] : [{ id, from: sealed ? state : "unsealed" }],
  );
}

function print({ path, written, changed, head, error }: Sealed, { color, line, complain }: Terminal): void {
  if (error !== undefined) {
    complain(`${error.message}\nNothing was written.`);
    return;
  }
  const what = [
    ...(changed.length > 0 ? [count(changed.length, "track")] : []),
    ...(head ? ["match, vars or the list of tracks"] : []),
  ];
  line(
    `${color.bold(printable(path))}: ${!written ? "sealed already, nothing to do" : `sealed${what.length > 0 ? `, with changes in ${what.join(" and ")}` : " as it was"}`}`,
  );
  for (const { id, from } of changed) line(`  ${id}  ${color.yellow(from)} → ${color.green("recorded")}`);
}
