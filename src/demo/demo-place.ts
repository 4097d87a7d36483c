import { access, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sha256Hex } from "../wire/digest.ts";

/** The name that the demo's recordings bear inside. */
export const DEMO_TITLE = "wiretape demo: an afternoon at the night-train desk";

/** The name that the demo's recordings of its agent bear inside. */
export const AGENT_TITLE = "wiretape demo: the agent at the night-train desk";

/** Where the demo records. */
export interface DemoPlace {
  readonly path: string;
  /** Cassettes that are there and are not as the demo wrote them: they are left alone. */
  readonly kept: readonly string[];
}

/**
 * The first place in a folder that is free, or holds, byte for byte, what the demo wrote there. A seal would not do: who
 * edits a cassette may seal it, too.
 */
export async function demoPlace(folder: string, stem = "night-train"): Promise<DemoPlace> {
  const kept: string[] = [];
  for (let n = 1; ; n++) {
    const path = join(folder, `${stem}${n === 1 ? "" : `-${n}`}.cassette.json`);
    if (!(await exists(path)) || (await isAsWritten(path))) return { path, kept };
    kept.push(path);
  }
}

/** Notes what the demo wrote, in a file that `sha256sum --check` reads. */
export async function noteWritten(path: string): Promise<void> {
  await writeFile(receiptOf(path), `${sha256Hex(await readFile(path))}  ${basename(path)}\n`);
}

async function isAsWritten(path: string): Promise<boolean> {
  const receipt = receiptOf(path);
  if (!(await exists(receipt))) return false;
  return (await readFile(receipt, "utf8")).startsWith(`${sha256Hex(await readFile(path))} `);
}

function receiptOf(path: string): string {
  return join(dirname(path), `.${basename(path, ".cassette.json")}.sha256`);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
