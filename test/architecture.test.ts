import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { VERSION } from "../src/engine/version.ts";

/** The house: which folder may import which. Law, not advice; types count. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  errors: [],
  pattern: ["errors"],
  "trace-gate": ["pattern", "errors"],
  wire: ["wire", "errors"],
  cassette: ["cassette", "wire", "errors"],
  engine: ["engine", "cassette", "wire", "pattern", "errors"],
  agent: ["agent", "wire", "pattern", "trace-gate", "errors"],
  suite: ["suite", "agent", "errors"],
  boundary: ["engine", "cassette", "wire", "pattern", "trace-gate", "errors"],
  doubles: ["doubles", "engine", "cassette", "pattern", "trace-gate", "wire", "errors"],
  drive: ["drive", "engine", "cassette", "pattern", "trace-gate", "wire", "errors"],
  runner: ["runner", "engine", "cassette", "pattern", "errors"],
  demo: ["demo", "agent", "boundary", "engine", "cassette", "wire", "errors"],
  cli: ["cli", "demo", "drive", "boundary", "engine", "cassette", "wire", "pattern", "errors"],
};

/** Rooms that are one file. Any other file at the top is an entry point, though a folder may bear its name. */
const LONE_FILES = new Set(["errors", "pattern", "trace-gate"]);

/** Files of the core that may touch the platform. Everything else in it runs anywhere. */
const NODE_FILES = new Set(["cassette/file-store.ts", "engine/open-deck.ts"]);
const NODE_FOLDERS = new Set(["runner", "demo", "cli"]);
/** A boundary that is about what only Node has. */
const NODE_BOUNDARY = /^boundary\/process\//;

/** The packages that each place may import. */
const PACKAGES: Record<string, readonly string[]> = {
  "cassette/schema.ts": ["zod"],
  cassette: ["fast-json-stable-stringify", "fastest-levenshtein", "jsonc-parser"],
  engine: ["fast-json-stable-stringify", "fastest-levenshtein"],
  drive: ["fastest-levenshtein"],
  agent: ["ai"],
  "agent/react.ts": ["react"],
  runner: ["vitest"],
  cli: ["commander", "picocolors"],
};

const root = resolve(import.meta.dirname, "../src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"))
  .sort();
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));

const SPECIFIER =
  /(?:^|\n)\s*(?:import|export)\b(?:[^;"']*?\bfrom)?\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)|\bimport\s*\(\s*["']([^"']+)["']/g;

function specifiers(file: string): string[] {
  return [...(sources.get(file) as string).matchAll(SPECIFIER)].map(
    (match) => (match[1] ?? match[2] ?? match[3]) as string,
  );
}

function imports(file: string): string[] {
  return specifiers(file)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(root, resolve(root, dirname(file), specifier)).replaceAll("\\", "/"));
}

/** The room of a file: its folder, or for a file at the top its own name. Entry points have none. */
function room(file: string): string {
  const [first = "", ...rest] = file.split("/");
  if (rest.length > 0) return first;
  const name = first.replace(/\.ts$/, "");
  return LONE_FILES.has(name) ? name : "entry";
}

test("there is something to look at", () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap(imports).length).toBeGreaterThan(100);
});

describe.each(files)("%s", (file) => {
  const here = room(file);

  test("imports only what the table allows", () => {
    const wrong = imports(file).filter((target) => {
      if (target.endsWith(".json")) return false;
      if (here === "entry") return false;
      const there = room(target);
      if (file.startsWith("boundary/agent/") && there === "agent") return false;
      if (here === "suite" && there === "agent") return !/^agent\/(protocol|transport)\.ts$/.test(target);
      if (here === "boundary" && there === "boundary") return file.split("/")[1] !== target.split("/")[1];
      return !(MAY_IMPORT[here] as readonly string[]).includes(there);
    });
    expect(wrong).toEqual([]);
  });

  test("imports no package and no builtin that its place may not have", () => {
    const allowed = [...(PACKAGES[here] ?? []), ...(PACKAGES[file] ?? [])];
    const packages = specifiers(file).filter((specifier) => !/^(\.|node:)/.test(specifier));
    expect(packages.filter((name) => !allowed.includes(name))).toEqual([]);
    const builtins = specifiers(file).filter((specifier) => specifier.startsWith("node:"));
    // The agent's server is imported by everybody who imports the client: its types cost nothing, its builtins are
    // imported when it is called.
    if (/^agent\/server[\w-]*\.ts$/.test(file)) {
      expect(sources.get(file)).not.toMatch(/^import (?!type )[^;]*from "node:/m);
    } else if (!NODE_FILES.has(file) && !NODE_FOLDERS.has(here) && !NODE_BOUNDARY.test(file))
      expect(builtins).toEqual([]);
  });

  test("is short, and no barrel", () => {
    const text = sources.get(file) as string;
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(400);
    expect(file).not.toMatch(/utils|helpers|(^|\/)common/);
    if (here !== "entry") {
      expect(file).not.toMatch(/\/index\.ts$/);
      expect(text).not.toMatch(/^export \* from/m);
    } else {
      // The public surface is explicit re-exports and nothing else.
      expect(
        text
          .replace(/\/\*\*[\s\S]*?\*\//g, "")
          .replace(/^(export|import) [^;]+;$/gm, "")
          .trim(),
      ).toBe("");
    }
  });
});

test("there is no cycle, types counted", () => {
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === "done" || !sources.has(file)) return;
    if (state.get(file) === "open") {
      cycles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      return;
    }
    state.set(file, "open");
    for (const target of imports(file)) visit(target, [...path, file]);
    state.set(file, "done");
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

test("the engine has no time of its own: timers, dates and fetch are in the platform port alone", () => {
  const own = files.filter((file) => file.startsWith("engine/") && file !== "engine/platform.ts");
  const touched = own.filter((file) => {
    const code = (sources.get(file) as string)
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
      .replace(/"[^"\n]*"|`[^`]*`/g, '""');
    return /\b(setTimeout|setImmediate|setInterval|queueMicrotask)\s*\(|\bnew Date\b|\bDate\.now\b|\bperformance\.|\bfetch\(/.test(
      code,
    );
  });
  expect(touched).toEqual([]);
});

test("zod is never loaded at run time: it declares the schema, and the types come from it", () => {
  const importers = files.filter((file) => imports(file).includes("cassette/schema.ts"));
  const loading = importers.filter((file) =>
    [
      ...(sources.get(file) as string).matchAll(/^(import|export)\s+(?!type\b)([^;]*?)from\s+"[^"]*\/schema\.ts"/gm),
    ].some(([, , names = ""]) => !names.split(",").every((name) => /^\s*[{]?\s*(type\s|[}]?\s*$)/.test(name))),
  );
  expect(loading).toEqual([]);
});

test("the version is told once", () => expect(VERSION).toBe(packageJson.version));

test("every entry point is built, typed and published", () => {
  const entries = files.filter((file) => room(file) === "entry").map((file) => file.replace(/\.ts$/, ""));
  const exported = Object.entries(packageJson.exports)
    .filter(([, target]) => typeof target === "object")
    .map(([path]) => (path === "." ? "index" : path.slice(2)));
  expect(exported.toSorted()).toEqual(entries.filter((entry) => entry !== "browser").toSorted());
});
