import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import type { RunnerTestCase } from "vitest";
import { OptionInvalid } from "../errors.ts";

/** Where the cassettes of a test file are, unless an option says otherwise: a folder beside it. */
export const DEFAULT_FOLDER = "__cassettes__";

/** A test as its cassettes see it. */
export interface TestName {
  /** The absolute path of the test file. */
  readonly file: string;
  /** The full name, kept in the cassette: `checkout.test.ts > payment > pays by card`. */
  readonly title: string;
}

/** Where a cassette goes; both are relative to the folder of the test file. */
export interface CassettePlace {
  readonly folder?: string | undefined;
  readonly path?: string | undefined;
}

/**
 * What a test is called: file name, suites and test, read from the task itself, because the ready-made names of vitest
 * differ from version to version. NFC, so that a file system that decomposes names gives the same title.
 */
export function testName(task: Pick<RunnerTestCase, "name" | "suite" | "file">): TestName {
  const names = [task.name];
  for (let suite = task.suite; suite !== undefined && !("filepath" in suite); suite = suite.suite)
    names.unshift(suite.name);
  const file = task.file.filepath;
  return { file, title: [basename(file), ...names].join(" > ").normalize("NFC") };
}

/**
 * The path of a test's cassette: `<folder>/<test file>/<test>-<hash>.cassette.json` beside the test file.
 *
 * Short, lower-case ASCII, and never a name that some file system keeps for itself. What the short form loses is in
 * the hash, which is of the full title: tests of different titles have different cassettes.
 * @param name tells further cassettes of one test apart
 */
export function cassettePath(test: TestName, place: CassettePlace, name?: string): string {
  const beside = dirname(test.file);
  if (place.path !== undefined) return resolve(beside, place.path);
  if (name !== undefined && !/^[A-Za-z0-9][\w-]{0,39}$/.test(name)) {
    throw new OptionInvalid(
      `${JSON.stringify(name)} is no name for a deck: it becomes part of a file name, so it is up to 40 letters, digits, "_" and "-", and begins with a letter or digit.`,
      { name },
    );
  }
  const [file = "", ...names] = test.title.split(" > ");
  const folder = notReserved(slug(file.replace(/\.[cm]?[jt]sx?$/, "").replace(/\.(test|spec)$/, ""), 40));
  const hash = createHash("sha256").update(test.title).digest("hex").slice(0, 10);
  const stem = `${slug(names.join(" "), 50)}-${hash}${name === undefined ? "" : `.${name}`}`;
  return join(resolve(beside, place.folder ?? DEFAULT_FOLDER), folder, `${stem}.cassette.json`);
}

// Words of letters and digits, cut between words where that leaves something.
function slug(text: string, length: number): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (words.length <= length) return words || "test";
  return words
    .slice(0, length + 1)
    .replace(/-[^-]*$/, "")
    .slice(0, length);
}

// Windows keeps these for devices. A test's own name needs no such care: a hash follows it.
function notReserved(name: string): string {
  return /^(con|prn|aux|nul|com\d|lpt\d)$/.test(name) ? `${name}-tests` : name;
}
