import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseCassette } from "../../src/cassette/parse.ts";
import { trackStates } from "../../src/cassette/seal.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sampleText } from "./sample-cassette.ts";

const scratch = useScratch();
const run = (...args: string[]) => wiretape(["sweep", ...args], { cwd: scratch.folder });

test("writes a cassette for each fault, named for it, and leaves the recording alone", async () => {
  await writeFile(join(scratch.folder, "a.cassette.json"), sampleText);
  const { status, stdout } = await run("a.cassette.json", "-o", "out", "--fault", "cut", "status", "--json");
  expect(status).toBe(0);
  const { written } = JSON.parse(stdout) as {
    written: { path: string; name: string; fault: { type: string; track: string } }[];
  };
  expect(written.length).toBeGreaterThan(4);
  expect((await readdir(join(scratch.folder, "out"))).toSorted()).toEqual(
    written.map(({ path }) => path.slice(4)).toSorted(),
  );
  for (const { path, fault } of written) {
    expect(path).toContain(`a.${fault.track}.${fault.type}`);
    const states = trackStates(parseCassette(await readFile(join(scratch.folder, path), "utf8")));
    expect([...states.values()].some((state) => state !== "recorded")).toBe(true);
  }
  expect(await readFile(join(scratch.folder, "a.cassette.json"), "utf8")).toBe(sampleText);
});

test("never writes over what is there, and tells wrong options", async () => {
  await writeFile(join(scratch.folder, "a.cassette.json"), sampleText);
  expect((await run("a.cassette.json", "-o", "out", "--fault", "empty")).status).toBe(0);
  const again = await run("a.cassette.json", "-o", "out", "--fault", "empty");
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("nothing is written over them")]);
  const wrong = await run("a.cassette.json", "-o", "b", "--fault", "tare", "--limit", "0");
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringMatching(/nearest is "tear"[\s\S]*limit is 0/)]);
  expect((await run("a.cassette.json", "-o", "b", "--seed", "x")).status).toBe(2);
  expect((await run("a.cassette.json")).status).toBe(2);
});
