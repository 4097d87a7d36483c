import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** A path and what stands for it in a cassette. */
interface Root {
  readonly path: string;
  readonly name: string;
}

// Where a path begins: not in the middle of a longer one, nor behind a "." or "~".
const BEGINS = "(?<![\\w.~-])";
// What a path goes on with in an argument, in a line of a shell, in JSON or TOML.
const REST = "[^\\s\"'`,:;|&<>(){}\\[\\]]*";
const MODULES = new RegExp(`${BEGINS}(?:[A-Za-z]:)?[\\\\/](?:${REST}[\\\\/])?node_modules(?=[\\\\/])`, "g");

// Before packages: a Node that was installed as one is the running Node first.
const NODE = new RegExp(`${BEGINS}${literal(process.execPath)}(?![\\w.-])`, "g");

const TEMPORARY = "<tmp>";
const temporary: readonly string[] = [...new Set([tmpdir(), realPath(tmpdir())])];
let known: { readonly cwd: string; readonly pattern: RegExp; readonly names: ReadonlyMap<string, string> } | undefined;

/**
 * A text with the paths of this machine replaced by what they are, so that it means the same in another checkout and on
 * another machine: `<cwd>/…` below the working directory, `<home>/…`, `<node>` for the running Node, `<node_modules>/…`
 * for a package wherever it is installed, and `<tmp>` for a whole path below the temporary folder, because what is there
 * has a random name. What was replaced already stays.
 */
export function portablePaths(text: string): string {
  if (!/[\\/]/.test(text)) return text;
  const { pattern, names } = currentRoots();
  const own = text.replace(NODE, "<node>");
  const cut = own.includes("node_modules") ? own.replace(MODULES, "<node_modules>") : own;
  return cut.replace(pattern, (_, root: string, rest: string) => {
    const name = names.get(root) as string;
    return name === TEMPORARY ? name : name + rest;
  });
}

/** The other way: what stands for a path of a machine as one of this machine. What was temporary is gone, and stays. */
export function localPaths(text: string): string {
  const local: Readonly<Record<string, string>> = {
    "<cwd>": process.cwd(),
    "<node>": process.execPath,
    "<home>": homedir(),
    "<node_modules>": join(process.cwd(), "node_modules"),
  };
  return text.replace(/<(?:cwd|node|home|node_modules)>/g, (name) => local[name] as string);
}

function currentRoots(): NonNullable<typeof known> {
  const cwd = process.cwd();
  if (known?.cwd === cwd) return known;
  const roots: Root[] = [
    { path: cwd, name: "<cwd>" },
    { path: process.execPath, name: "<node>" },
    { path: homedir(), name: "<home>" },
    ...temporary.map((path) => ({ path, name: TEMPORARY })),
  ].filter(({ path }) => path.length > 1);
  // The longest first: a working directory below the temporary folder is the working directory.
  roots.sort((a, b) => b.path.length - a.path.length);
  const pattern = new RegExp(`${BEGINS}(${roots.map(({ path }) => literal(path)).join("|")})(?![\\w.-])(${REST})`, "g");
  known = { cwd, pattern, names: new Map(roots.map(({ path, name }) => [path, name])) };
  return known;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // there is no such folder yet
  }
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
