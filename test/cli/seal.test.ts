import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editText } from "../../src/cassette/edit.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import { trackStates } from "../../src/cassette/seal.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sample, sampleText } from "./sample-cassette.ts";

const scratch = useScratch();
const seal = (...args: string[]) => wiretape(["seal", ...args], { cwd: scratch.folder });
const path = (name: string) => join(scratch.folder, name);

test("edited and authored tracks become recorded ones; comments stay", async () => {
  const edited = editText(sampleText, [
    { path: ["tracks", 0, "response", "status"], value: 500 },
    { path: ["tracks", 2, "id"], value: "mine" },
    { path: ["tracks", 1, "response", "body", 1, "after"], value: "mine" },
  ]).replace('"wiretape": 1,', '// by hand\n  "wiretape": 1,');
  await writeFile(path("a.cassette.json"), edited);
  const { status, stdout } = await seal("a.cassette.json");
  expect(status).toBe(0);
  expect(stdout).toBe(
    "a.cassette.json: sealed, with changes in 3 tracks and match, vars or the list of tracks\n" +
      "  t1  edited → recorded\n  t2  edited → recorded\n  mine  authored → recorded\n",
  );
  const text = await readFile(path("a.cassette.json"), "utf8");
  expect(text).toContain("// by hand");
  expect([...trackStates(parseCassette(text)).values()]).toEqual(["recorded", "recorded", "recorded"]);
  expect((await seal("a.cassette.json")).stdout).toBe("a.cassette.json: sealed already, nothing to do\n");
  expect(await readdir(scratch.folder)).toEqual(["a.cassette.json"]); // no lock, nothing written beside is left
});

test("what is sealed already is not written again", async () => {
  await writeFile(path("b.cassette.json"), sampleText);
  const before = await stat(path("b.cassette.json"));
  const { stdout } = await seal("b.cassette.json", "--json");
  expect(JSON.parse(stdout)).toEqual({
    files: [{ path: "b.cassette.json", written: false, changed: [], head: false }],
  });
  const after = await stat(path("b.cassette.json"));
  expect([after.mtimeMs, after.ino]).toEqual([before.mtimeMs, before.ino]);
});

test("an invalid file is refused and left as it is; the others are sealed", async () => {
  await writeFile(path("bad.cassette.json"), '{ "wiretape": 1, "traks": [] }');
  await writeFile(path("new.cassette.json"), formatCassette(sample));
  const { status, stdout, stderr } = await seal("bad.cassette.json", "new.cassette.json");
  expect(status).toBe(1);
  expect(stderr).toContain("bad.cassette.json:1:18  traks: ");
  expect(stderr).toContain("Nothing was written.");
  expect(await readFile(path("bad.cassette.json"), "utf8")).toBe('{ "wiretape": 1, "traks": [] }');
  expect(stdout).toContain("new.cassette.json: sealed, with changes in 3 tracks\n  t1  unsealed → recorded\n");
  expect(await readFile(path("new.cassette.json"), "utf8")).toBe(sampleText);
});

test("--json tells a refusal as data", async () => {
  await writeFile(path("bad.cassette.json"), '{ "wiretape": 1, "traks": [] }');
  const { status, stdout, stderr } = await seal("bad.cassette.json", "--json");
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  const [file] = JSON.parse(stdout).files;
  expect(file).toMatchObject({ written: false, error: { code: "cassette-invalid" } });
  expect(file.error.issues).toContainEqual(expect.objectContaining({ line: 1, column: 18, path: "traks" }));
});

test("only a *.cassette.json is sealed", async () => {
  await writeFile(path("package.json"), "{}");
  const { status, stderr } = await seal("package.json");
  expect(status).toBe(2);
  expect(stderr).toContain(".cassette.json");
});
