import { randomBytes } from "node:crypto";
import { closeSync, type Dirent, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { link, mkdir, open, readdir, readFile, readlink, realpath, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { CassetteBusy, CassetteExists, CassetteInvalid, OptionInvalid } from "../errors.ts";
import type { CassetteStore, Journal } from "./store.ts";
import { checkLine, checkName, failedName, isCassetteName, isSidecarName, journalName, stemOf } from "./store-names.ts";

/** Cassettes as files below a folder. Folders are made when something is written into them. */
export function fileStore(folder: string): CassetteStore {
  const root = resolve(folder);
  const at = (name: string): string => join(root, ...name.split("/"));

  async function place(name: string): Promise<string> {
    checkName(name);
    const path = at(name);
    if (isSidecarName(name)) await refuseLinkOut(root, path, name);
    return path;
  }

  async function create(path: string, bytes: Uint8Array): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    const beside = await writeBeside(path, bytes);
    try {
      await linkExclusively(beside, path);
    } finally {
      await rm(beside, { force: true });
    }
    await syncFolder(dirname(path));
  }

  return {
    async read(name) {
      const path = await place(name);
      try {
        return new Uint8Array(await readFile(path));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw unreadable(path, error);
      }
    },
    async createExclusive(name, bytes) {
      const path = await place(name);
      await writing(path, () => create(path, bytes));
    },
    async replace(name, bytes) {
      const named = await place(name);
      await writing(named, async () => {
        const path = await throughLinks(named);
        await mkdir(dirname(path), { recursive: true });
        const beside = await writeBeside(path, bytes);
        try {
          await rename(beside, path);
        } catch (error) {
          await rm(beside, { force: true });
          throw error;
        }
        await syncFolder(dirname(path));
      });
    },
    async journal(name) {
      const stem = stemOf(name);
      const path = at(journalName(stem));
      return await writing(path, async () => {
        await mkdir(dirname(path), { recursive: true });
        await setAside(path, (n) => at(journalName(stem, n)));
        return fileJournal(journalName(stem), path);
      });
    },
    async lock(name) {
      const path = at(stemOf(name));
      return await writing(path, () => takeLock(path, name));
    },
    async park(name, bytes) {
      const stem = stemOf(name);
      for (let n = 1; ; n++) {
        const failed = failedName(stem, n);
        try {
          await writing(at(failed), () => create(at(failed), bytes));
          return failed;
        } catch (error) {
          if (!(error instanceof CassetteExists)) throw error;
        }
      }
    },
    async list() {
      const names: string[] = [];
      await collect(root, "", names);
      return names.sort();
    },
  };
}

async function collect(root: string, below: string, names: string[]): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await readdir(join(root, below), { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT" && below === "") return; // nothing was ever written
    throw unreadable(join(root, below), error);
  }
  for (const entry of entries) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && !entry.name.startsWith(".")) await collect(root, name, names);
    } else if (isCassetteName(name)) names.push(name);
  }
}

/** Writes a new file beside `path`, complete and on the disk; its path. */
async function writeBeside(path: string, bytes: Uint8Array): Promise<string> {
  const beside = besideOf(path);
  const file = await open(beside, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(beside, { force: true });
    throw error;
  }
  await file.close();
  return beside;
}

function besideOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(6).toString("hex")}.tmp`);
}

/** The file that a path leads to, there or not; of a cassette that must be one, too. A rename would replace the link itself. */
async function throughLinks(path: string): Promise<string> {
  let file = path;
  for (let hops = 0; hops < 40; hops++) {
    let target: string;
    try {
      target = await readlink(file);
    } catch (error) {
      if (!["EINVAL", "ENOENT", "UNKNOWN"].includes(codeOf(error))) throw error; // no link, or nothing yet
      if (file === path || isCassetteName(basename(file))) return file;
      throw new OptionInvalid(
        `${path} is a link to ${file}, which is not named as a cassette; nothing was written.\n  next      delete the link, or let it lead to a file that ends in .cassette.json`,
        { path, target: file },
      );
    }
    file = resolve(await realpath(dirname(file)), target);
  }
  throw new OptionInvalid(`${path} is a link that leads back to itself; nothing was written.\n  next      delete it`, {
    path,
  });
}

const unsupported = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

/** Gives a complete file its name, unless the name is taken: CassetteExists. */
async function linkExclusively(beside: string, path: string): Promise<void> {
  try {
    await link(beside, path);
    return;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw exists(path);
    if (!unsupported.has(codeOf(error))) throw error;
  }
  // A file system without links: the name is claimed by an empty file, then the whole one is renamed over it.
  try {
    await (await open(path, "wx")).close();
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? exists(path) : error;
  }
  await rename(beside, path);
}

/** Makes a rename or link in a folder outlive a crash of the machine, where the platform can. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return; // folders cannot be opened there
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "EBADF", "EPERM"].includes(codeOf(error))) throw error; // some network file systems
  } finally {
    await handle.close();
  }
}

/** Moves a file out of the way, under the first number that is free. */
async function setAside(path: string, numbered: (n: number) => string): Promise<void> {
  for (let n = 1; ; n++) {
    try {
      await linkExclusively(path, numbered(n));
      await rm(path, { force: true });
      return;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return; // there was none
      if (!(error instanceof CassetteExists)) throw error;
    }
  }
}

function fileJournal(name: string, path: string): Journal {
  let file: number | undefined = openSync(path, "ax");
  const write = (into: number, text: string): void => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(into, bytes, done);
  };
  const opened = (): number => {
    if (file === undefined) throw new TypeError(`the journal ${name} is closed`);
    return file;
  };
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    name,
    append: (line) => write(opened(), checkLine(line)),
    rewrite(lines) {
      const before = opened();
      const beside = besideOf(path);
      const fresh = openSync(beside, "ax");
      try {
        write(fresh, lines.map(checkLine).join(""));
        fsyncSync(fresh);
        renameSync(beside, path);
      } catch (error) {
        closeSync(fresh);
        unlinkSync(beside);
        throw error;
      }
      closeSync(before);
      file = fresh;
    },
    async remove() {
      close();
      await rm(path, { force: true });
    },
    close: async () => close(),
  };
}

interface Claim {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

const attempts = 8;
const contentionMs = 250;

/**
 * Each contender puts down a claim, a file of its own, and then looks for others: of two, the one that looked last sees
 * the other, so never both go on. Both may step back; they try again after a while. What a dead process left is deleted
 * by its own name, which nobody ever uses again, so a takeover cannot hit a living lock.
 */
async function takeLock(stem: string, name: string): Promise<() => Promise<void>> {
  await mkdir(dirname(stem), { recursive: true });
  const mine = `${stem}.${process.pid}-${randomBytes(6).toString("hex")}.lock`;
  for (let attempt = 1; ; attempt++) {
    const claim: Claim = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
    await rename(await writeBeside(mine, Buffer.from(`${JSON.stringify(claim)}\n`)), mine);
    const other = await otherClaim(stem, mine);
    if (other === undefined) return () => rm(mine, { force: true });
    await rm(mine, { force: true });
    // One that has stood for a while holds the lock and is no contender.
    if (attempt === attempts || Date.now() - Date.parse(other.since) > contentionMs) throw busy(name, other);
    await new Promise((done) => setTimeout(done, 5 + Math.random() * 20 * attempt));
  }
}

async function otherClaim(stem: string, mine: string): Promise<(Claim & { path: string }) | undefined> {
  const prefix = `${basename(stem)}.`;
  for (const entry of await readdir(dirname(stem))) {
    const path = join(dirname(stem), entry);
    if (path === mine || !entry.startsWith(prefix) || !/^\d+-[0-9a-f]{12}\.lock$/.test(entry.slice(prefix.length)))
      continue;
    const claim = await readClaim(path);
    if (claim === undefined) continue; // released in the meantime
    if (claim.host === hostname() && !isAlive(claim.pid)) await rm(path, { force: true });
    else return { ...claim, path };
  }
  return undefined;
}

async function readClaim(path: string): Promise<Claim | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unreadable(path, error);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH"; // EPERM: alive, and somebody else's
  }
}

function busy(name: string, { pid, host, since, path }: Claim & { path: string }): CassetteBusy {
  return new CassetteBusy(
    `${name} is being recorded by process ${pid}${host === hostname() ? "" : ` on ${host}`} since ${since}; wait for it, ` +
      `or, if you know that it is gone, delete ${path}`,
    { name, pid, host, since, lock: path },
  );
}

/** A link may not lead a sidecar out of the folder: a cassette is untrusted input. */
async function refuseLinkOut(root: string, path: string, name: string): Promise<void> {
  for (let existing = path; existing.length > root.length; existing = dirname(existing)) {
    let real: string;
    try {
      real = await realpath(existing);
    } catch (error) {
      if (codeOf(error) === "ENOENT") continue;
      throw unreadable(existing, error);
    }
    const inside = relative(await realpath(root), real);
    if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
      throw new OptionInvalid(`${JSON.stringify(name)} is a link that leads out of the folder ${root}`, { name });
    return;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? "";
}

function exists(path: string): CassetteExists {
  return new CassetteExists(`${path} exists already; nothing was written`, { path });
}

function unreadable(path: string, cause: unknown): CassetteInvalid {
  return new CassetteInvalid(`${path} cannot be read: ${reason(cause)}`, { path, code: codeOf(cause) }, { cause });
}

async function writing<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (codeOf(error) === "" || !/^E[A-Z0-9]+$/.test(codeOf(error))) throw error;
    throw new OptionInvalid(
      `${path} cannot be written: ${reason(error)}`,
      { path, code: codeOf(error) },
      { cause: error },
    );
  }
}

function reason(error: unknown): string {
  switch (codeOf(error)) {
    case "EACCES":
    case "EPERM":
      return "permission is denied; give the user that runs this the right to it";
    case "EISDIR":
      return "it is a folder; move it away, or name a file";
    case "ENOTDIR":
      return "what should be a folder on the way to it is a file; move that away";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "the disk is full";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
