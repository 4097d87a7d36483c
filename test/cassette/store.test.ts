import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileStore } from "../../src/cassette/file-store.ts";
import { memoryStore } from "../../src/cassette/memory-store.ts";
import type { CassetteStore } from "../../src/cassette/store.ts";
import { CassetteBusy, CassetteExists, CassetteInvalid, OptionInvalid } from "../../src/errors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wiretape-store-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array | undefined): string | undefined => data && new TextDecoder().decode(data);

describe.each<[string, () => CassetteStore]>([
  ["in memory", memoryStore],
  ["in a folder", () => fileStore(join(folder, "made/when/needed"))],
])("a store %s", (_, make) => {
  test("reads what was written, and says undefined for what is not there", async () => {
    const store = make();
    expect(await store.read("a.cassette.json")).toBeUndefined();
    expect(await store.list()).toEqual([]);
    const written = bytes("one");
    await store.createExclusive("sub/a.cassette.json", written);
    written[0] = 0;
    const read = await store.read("sub/a.cassette.json");
    expect(text(read)).toBe("one");
    read![0] = 0;
    expect(text(await store.read("sub/a.cassette.json"))).toBe("one");
    await store.createExclusive("sub/a.files/0abc", bytes("side"));
    expect(text(await store.read("sub/a.files/0abc"))).toBe("side");
    await store.createExclusive("b.cassette.json", bytes(""));
    expect(await store.list()).toEqual(["b.cassette.json", "sub/a.cassette.json"]);
  });

  test("never writes over a file unless asked to replace it", async () => {
    const store = make();
    await store.createExclusive("a.cassette.json", bytes("one"));
    await expect(store.createExclusive("a.cassette.json", bytes("two"))).rejects.toThrow(CassetteExists);
    expect(text(await store.read("a.cassette.json"))).toBe("one");
    await store.replace("a.cassette.json", bytes("two"));
    expect(text(await store.read("a.cassette.json"))).toBe("two");
  });

  test("parks failed recordings one beside the other", async () => {
    const store = make();
    expect(await store.park("x/a.cassette.json", bytes("1"))).toBe("x/a.failed.cassette.json");
    expect(await store.park("x/a.cassette.json", bytes("2"))).toBe("x/a.failed-2.cassette.json");
    expect(text(await store.read("x/a.failed.cassette.json"))).toBe("1");
    expect(text(await store.read("x/a.failed-2.cassette.json"))).toBe("2");
  });

  test("locks a cassette for one at a time, and names the holder", async () => {
    const store = make();
    const release = await store.lock("a.cassette.json");
    await expect(store.lock("a.cassette.json")).rejects.toThrow(CassetteBusy);
    await expect(store.lock("a.cassette.json")).rejects.toThrow(/being recorded .*since \d{4}-/);
    await (await store.lock("b.cassette.json"))();
    await release();
    await (await store.lock("a.cassette.json"))();
  });

  test("refuses names that leave it, or that are no cassette's", async () => {
    const store = make();
    for (const name of [
      "/a.cassette.json",
      "../a.cassette.json",
      "a/../../b.cassette.json",
      "a\\b.cassette.json",
      "C:/a.cassette.json",
      "a.json",
      ".cassette.json",
      "",
      "a.files/../../x",
      "a\0.cassette.json",
    ]) {
      await expect(store.read(name), name).rejects.toThrow(OptionInvalid);
      await expect(store.createExclusive(name, bytes("")), name).rejects.toThrow(OptionInvalid);
      await expect(store.replace(name, bytes("")), name).rejects.toThrow(OptionInvalid);
      await expect(store.lock(name), name).rejects.toThrow(OptionInvalid);
      await expect(store.park(name, bytes("")), name).rejects.toThrow(OptionInvalid);
      await expect(store.journal(name), name).rejects.toThrow(OptionInvalid);
    }
  });

  test("a journal takes lines, is written anew, and is used no more once it is closed", async () => {
    const store = make();
    const journal = await store.journal("a.cassette.json");
    expect(journal.name).toBe("a.recording.jsonl");
    journal.append("1");
    journal.rewrite(["2", "3"]);
    journal.append("4");
    expect(() => journal.append("5\n6")).toThrow(OptionInvalid);
    await journal.close();
    expect(() => journal.append("7")).toThrow(TypeError);
    expect(await store.list()).toEqual([]);
  });
});

describe("files", () => {
  test("a journal's lines are in the file when append returns; one that was left is set aside, never lost", async () => {
    const store = fileStore(folder);
    const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
    const first = await store.journal("a.cassette.json");
    first.append("é1");
    expect(await read("a.recording.jsonl")).toBe("é1\n");
    first.rewrite(["2", "3"]);
    first.append("4");
    expect(await read("a.recording.jsonl")).toBe("2\n3\n4\n");
    await first.close();
    const second = await store.journal("a.cassette.json");
    expect([await read("a.recording-1.jsonl"), await read("a.recording.jsonl")]).toEqual(["2\n3\n4\n", ""]);
    await second.close();
    const third = await store.journal("a.cassette.json");
    expect(await read("a.recording-1.jsonl")).toBe("2\n3\n4\n");
    await third.remove();
    expect((await readdir(folder)).sort()).toEqual(["a.recording-1.jsonl", "a.recording-2.jsonl"]);
  });

  test("nothing is left lying about", async () => {
    const store = fileStore(folder);
    await store.createExclusive("a.cassette.json", bytes("1"));
    await store.replace("a.cassette.json", bytes("2"));
    await store.createExclusive("a.cassette.json", bytes("3")).catch(() => undefined);
    await (await store.lock("a.cassette.json"))();
    await (await store.journal("a.cassette.json")).remove();
    expect(await readdir(folder)).toEqual(["a.cassette.json"]);
  });

  test("what cannot be read or written is an error that says what to do, never a file that is missing", async () => {
    const store = fileStore(folder);
    await mkdir(join(folder, "dir.cassette.json"));
    await expect(store.read("dir.cassette.json")).rejects.toThrow(CassetteInvalid);
    await expect(store.read("dir.cassette.json")).rejects.toThrow(
      /dir\.cassette\.json cannot be read: it is a folder; move it away/,
    );
    await expect(store.replace("dir.cassette.json", bytes("x"))).rejects.toThrow(/cannot be written: it is a folder/);
    await expect(store.createExclusive("dir.cassette.json", bytes("x"))).rejects.toThrow(CassetteExists);
    await writeFile(join(folder, "file"), "");
    await expect(store.read("file/a.cassette.json")).rejects.toThrow(
      /what should be a folder on the way to it is a file/,
    );
    await expect(store.createExclusive("file/a.cassette.json", bytes("x"))).rejects.toThrow(OptionInvalid);
    expect((await readdir(folder)).sort()).toEqual(["dir.cassette.json", "file"]);
  });

  test("permission that is denied is named", async () => {
    const store = fileStore(folder);
    await store.createExclusive("a.cassette.json", bytes("x"));
    await chmod(join(folder, "a.cassette.json"), 0);
    await chmod(folder, 0o555);
    // Nothing is denied to root.
    const root = process.getuid?.() === 0;
    if (root) process.seteuid?.(65534);
    try {
      await expect(store.read("a.cassette.json")).rejects.toThrow(
        /a\.cassette\.json cannot be read: permission is denied/,
      );
      for (const write of [store.createExclusive, store.replace])
        await expect(write("b.cassette.json", bytes("x"))).rejects.toThrow(/cannot be written: permission is denied/);
      await expect(store.lock("b.cassette.json")).rejects.toThrow(/permission is denied/);
      await expect(store.journal("b.cassette.json")).rejects.toThrow(/permission is denied/);
    } finally {
      if (root) process.seteuid?.(0);
      await chmod(folder, 0o755);
    }
  });

  test("a link may not lead a sidecar out of the folder, however deep it is", async () => {
    const outside = await mkdtemp(join(tmpdir(), "wiretape-outside-"));
    await writeFile(join(outside, "secret"), "secret");
    await mkdir(join(folder, "a.files"));
    await symlink(join(outside, "secret"), join(folder, "a.files/link"));
    await symlink(outside, join(folder, "b.files"));
    await symlink(outside, join(folder, "c"));
    const store = fileStore(folder);
    for (const name of ["a.files/link", "b.files/secret", "c/d.files/new"]) {
      await expect(store.read(name), name).rejects.toThrow(/a link that leads out of the folder/);
      await expect(store.createExclusive(name, bytes("x")), name).rejects.toThrow(OptionInvalid);
      await expect(store.replace(name, bytes("x")), name).rejects.toThrow(OptionInvalid);
    }
    expect(await readdir(outside)).toEqual(["secret"]);
    await rm(outside, { recursive: true });
  });
});

describe("several processes", () => {
  function child(
    job: string,
    argument = "",
  ): { process: ChildProcess; output: Promise<string>; said: (word: string) => Promise<void> } {
    const path = new URL("./store-child.ts", import.meta.url).pathname;
    const started = spawn(process.execPath, ["--import", "tsx", path, folder, job, argument], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let errors = "";
    started.stderr.on("data", (data) => (errors += data));
    started.stdout.on("data", (data) => (output += data));
    return {
      process: started,
      output: new Promise((done, fail) => {
        started.on("close", (code, signal) =>
          code === 0 || signal === "SIGKILL" ? done(output) : fail(new Error(errors)),
        );
      }),
      said: (word) =>
        new Promise((done, fail) => {
          started.stdout.on("data", () => output.includes(word) && done());
          started.on("close", () => (output.includes(word) ? done() : fail(new Error(errors))));
        }),
    };
  }

  test("of those that create the same file one wins, and the file is whole", async () => {
    const outputs = await Promise.all(["a", "b", "c"].map((letter) => child("create", letter).output));
    for (let i = 0; i < 20; i++) {
      const winners = outputs.flatMap((output, k) => (output.split("\n").includes(`won ${i}`) ? ["abc"[k]] : []));
      expect(winners).toHaveLength(1);
      expect(await readFile(join(folder, `race-${i}.cassette.json`), "utf8")).toBe(winners[0]!.repeat(200_000));
    }
    expect((await readdir(folder)).length).toBe(20);
  });

  test("a lock lets one in at a time", async () => {
    await fileStore(folder).createExclusive("counter.cassette.json", bytes("0"));
    await Promise.all([1, 2, 3].map(() => child("count", "10").output));
    expect(await readFile(join(folder, "counter.cassette.json"), "utf8")).toBe("30");
    expect(await readdir(folder)).toEqual(["counter.cassette.json"]);
  });

  test("a lock names the process that holds it, and one that a killed process left is taken over", async () => {
    const store = fileStore(folder);
    const holder = child("hold");
    await holder.said("held");
    await expect(store.lock("held.cassette.json")).rejects.toThrow(
      `being recorded by process ${holder.process.pid} since`,
    );
    holder.process.kill("SIGKILL");
    await holder.output;
    const release = await store.lock("held.cassette.json");
    expect(await readdir(folder)).toHaveLength(1);
    await release();
    expect(await readdir(folder)).toEqual([]);
  });

  test("a killed process loses no line of its journal", async () => {
    const killed = child("journal");
    await killed.output;
    const lines = (await readFile(join(folder, "killed.recording.jsonl"), "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(1000);
    expect(lines.at(-1)).toBe('{"track":999}');
  });
});
