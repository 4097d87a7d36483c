import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "tsup";

const root = resolve(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/wiretape-test");

/** What a command did. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder of a build of the sources as they are: made once, and again when a source changes. */
export async function builtPackage(): Promise<string> {
  const digest = createHash("sha256");
  const sources = (await readdir(join(root, "src"), { recursive: true })).filter((file) => /\.(ts|json)$/.test(file));
  for (const file of sources.sort()) digest.update(`${file}\n`).update(await readFile(join(root, "src", file)));
  const folder = join(cache, digest.digest("hex").slice(0, 16));
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const outDir = await mkdtemp(join(cache, "building-"));
  await build({
    config: false,
    entry: {
      index: join(root, "src/index.ts"),
      cli: join(root, "src/cli/main.ts"),
      "replay-offline": join(root, "src/demo/replay-offline.ts"),
      "offline-preload": join(root, "src/demo/offline-preload.ts"),
    },
    tsconfig: join(root, "tsconfig.json"),
    outDir,
    format: "esm",
    target: "node20",
    platform: "neutral",
    external: [/^node:/],
    splitting: true,
    silent: true,
  });
  // Another worker may have been faster: its build is the same.
  await rename(outDir, folder).catch(() => rm(outDir, { recursive: true }));
  for (const name of await readdir(cache)) {
    const old = join(cache, name);
    const age = Date.now() - (await stat(old).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > 3_600_000) await rm(old, { recursive: true, force: true });
  }
  return folder;
}

let folder: Promise<string> | undefined;

/** Runs the command line in a process of its own, as it is shipped. */
export async function wiretape(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const cli = join(await (folder ??= builtPackage()), "cli.js");
  return await run(process.execPath, [cli, ...args], options);
}

/** Runs a program to its end. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(cwd !== undefined && { cwd }),
      env: { PATH: process.env["PATH"], COLUMNS: "100", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => (stdout += piece));
    child.stderr.setEncoding("utf8").on("data", (piece) => (stderr += piece));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}
