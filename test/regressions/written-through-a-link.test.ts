import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tapeFetch, withDeck } from "wiretape";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/** A cassette that is recorded again through a link took the link's place, and the file that it led to stayed old. */
const scratch = useScratch();

const record = (path: string, mode: "record" | "rerecord" | "extend", ...paths: string[]): Promise<void> =>
  withDeck(path, { mode }, async (deck) => {
    for (const one of paths)
      await (await tapeFetch(deck, async () => new Response("answer"))(`http://localhost/${one}`)).text();
  });

/** A link in a folder of its own, to another link, to a cassette in a third folder; the last may be missing. */
async function linked(
  target: string,
): Promise<{ readonly link: string; readonly file: string; readonly links: string[] }> {
  const root = dirname(scratch.cassette());
  const links = [join(root, "tests", "a.cassette.json"), join(root, "shared", "b.cassette.json")];
  for (const link of links) await mkdir(dirname(link), { recursive: true });
  await symlink("../shared/b.cassette.json", links[0]!);
  await symlink(`../kept/${target}`, links[1]!);
  return { link: links[0]!, file: join(root, "kept", target), links };
}

test("to record again, or more, through links writes the file that they lead to, and the links stay", async () => {
  const { link, file, links } = await linked("c.cassette.json");
  await record(file, "record", "one");
  await record(link, "rerecord", "two");
  expect(await readFile(file, "utf8")).toContain("http://localhost/two");
  expect(await readFile(file, "utf8")).not.toContain("http://localhost/one");
  await record(link, "extend", "two", "three");
  expect(await readFile(file, "utf8")).toContain("http://localhost/three");
  for (const one of links) {
    expect((await lstat(one)).isSymbolicLink()).toBe(true);
    expect(await readdir(dirname(one))).toHaveLength(1);
  }
  expect(await readdir(dirname(file))).toEqual(["c.cassette.json"]);
});

test("a file that a link leads to and that is not there yet comes into being", async () => {
  const { link, file, links } = await linked("c.cassette.json");
  await record(link, "rerecord", "one");
  expect(await readFile(file, "utf8")).toContain("http://localhost/one");
  for (const one of links) expect((await lstat(one)).isSymbolicLink()).toBe(true);
});

test("what is no cassette by its name is not written through a link: a folder of tapes may come from anywhere", async () => {
  const { link, file } = await linked("profile");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "mine");
  await expect(record(link, "rerecord", "one")).rejects.toMatchObject({
    code: "option-invalid",
    message: expect.stringMatching(/is a link to .*profile, which is not named as a cassette; nothing was written/),
  });
  expect(await readFile(file, "utf8")).toBe("mine");
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
});

test("links that lead to each other are an error that says so", async () => {
  const path = scratch.cassette();
  await mkdir(dirname(path), { recursive: true });
  await symlink("tape.cassette.json", path);
  await expect(record(path, "rerecord", "one")).rejects.toMatchObject({
    code: "option-invalid",
    message: expect.stringContaining("leads back to itself"),
  });
});
