import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { editText, sealText } from "wiretape";
import { demoPlace, noteWritten } from "../../src/demo/demo-place.ts";
import { sampleText } from "../cli/sample-cassette.ts";
import { useScratch } from "../support/scratch.ts";

const scratch = useScratch();
const first = (): string => join(scratch.folder, "night-train.cassette.json");
const second = (): string => join(scratch.folder, "night-train-2.cassette.json");

beforeEach(async () => {
  await writeFile(first(), sampleText);
  await noteWritten(first());
});

test("a folder that is not there yet has room", async () => {
  const folder = join(scratch.folder, "new");
  expect(await demoPlace(folder)).toEqual({ path: join(folder, "night-train.cassette.json"), kept: [] });
});

test("what was written before may be replaced", async () => {
  expect(await demoPlace(scratch.folder)).toEqual({ path: first(), kept: [] });
});

const edits: [string, (text: string) => string][] = [
  ["a change", (text) => editText(text, [{ path: ["tracks", 0, "response", "status"], value: 500 }])],
  ["a note", (text) => editText(text, [{ path: ["note"], value: "mine" }])],
  ["a comment", (text) => text.replace("\n", "\n  // mine\n")],
  [
    "a change that was sealed",
    (text) => sealText(editText(text, [{ path: ["tracks", 0, "response", "status"], value: 500 }])),
  ],
  ["something else", () => "mine"],
  ["nothing at all", () => ""],
];

test.each(edits)("%s is kept", async (_, edit) => {
  const edited = edit(sampleText);
  await writeFile(first(), edited);
  expect(await demoPlace(scratch.folder)).toEqual({ path: second(), kept: [first()] });
  expect(await readFile(first(), "utf8")).toBe(edited);
});

test("so is a cassette of that name that the demo did not write", async () => {
  await writeFile(second(), sampleText);
  await writeFile(first(), "mine");
  expect((await demoPlace(scratch.folder)).kept).toEqual([first(), second()]);
});
