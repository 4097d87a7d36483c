import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Cassette, createDeck, openDeck, parseCassette, tapeFunction } from "wiretape";
import { tapeSpawn } from "wiretape/process";
import "../../support/settled.ts";
import { listen, never, said } from "./tape-spawn-twice.ts";

const processTrack = (frames: object[], rest: object = { close: { code: 0 } }): Cassette =>
  parseCassette(
    JSON.stringify({ wiretape: 1, tracks: [{ id: "p", kind: "process", open: { command: "tool" }, frames, ...rest }] }),
  );

test("the example cassette plays", async () => {
  const deck = await openDeck("cassettes/process.cassette.json", { mode: "replay" });
  const spawn = tapeSpawn(deck, never);
  const build = spawn("builder", ["--watch", "src"], { cwd: "/project" });
  const built = listen(build).end;
  await said(build, "start");
  build.stdin.write("r\n");
  expect(await built).toEqual([
    ["spawn"],
    ["stdout", '{"event":"start","files":3}\n'],
    ["stderr", "warning: unused import\n"],
    ["stdout", '{"event":"done","ok":false}\n'],
    ["exit", 2, null],
    ["close", 2, null],
  ]);
  expect((await listen(spawn("no-such-builder")).end)[0]).toMatchObject([
    "error",
    { code: "ENOENT", path: "no-such-builder" },
  ]);
  const sort = spawn("sort", [], { cwd: await mkdtemp(join(tmpdir(), "sort-")) });
  const sorted = listen(sort);
  sort.stdin.write("b\na\n");
  await sleep(20);
  expect(sorted.told).toEqual([["spawn"]]);
  sort.stdin.end();
  expect(await sorted.end).toContainEqual(["stdout", "a\nb\n"]);
  const server = spawn(join(process.cwd(), "node_modules/.bin/server"));
  const served = listen(server).end;
  await said(server, "listening\n");
  server.kill();
  expect(await served).toEqual([
    ["spawn"],
    ["stdout", "listening\n"],
    ["stdout", "shutting down\n"],
    ["exit", 143, null],
    ["close", 143, null],
  ]);
  await deck.finish();
});

test("a program that gives up between chunks gets no more of them, by a kill, an abort, or a limit of time", async () => {
  const frames = Array.from({ length: 3_000 }, (_, n) => ({ from: "stdout", line: { n } }));
  const stops: ((child: ReturnType<ReturnType<typeof tapeSpawn>>, abort: () => void) => unknown)[] = [
    (child) => child.stdout?.once("data", () => child.kill()),
    (child, abort) => child.stdout?.once("data", () => setTimeout(abort, 1)),
    () => undefined,
  ];
  for (const [index, stop] of stops.entries()) {
    const deck = await createDeck({ cassette: processTrack(frames) });
    const abort = new AbortController();
    const child = tapeSpawn(deck, never)("tool", [], { signal: abort.signal, ...(index === 2 && { timeout: 2 }) });
    const { told, end } = listen(child);
    stop(child, () => abort.abort());
    expect((await end).at(-1)).toEqual(["close", null, "SIGTERM"]);
    const chunks = told.filter(([name]) => name === "stdout").length;
    expect(chunks).toBeLessThan(index === 0 ? 2 : 2_000);
    await deck.finish();
  }
});

test("a child waits for another boundary where a gate says so", async () => {
  const cassette = parseCassette(
    JSON.stringify({
      wiretape: 1,
      tracks: [
        {
          id: "p",
          kind: "process",
          open: { command: "tool" },
          frames: [
            { from: "stdout", text: "up\n" },
            { from: "stdout", after: "f", text: "asked\n" },
          ],
          close: { code: 0 },
        },
        { id: "f", kind: "function", call: { name: "ask", input: [] }, result: { value: 1 } },
      ],
    }),
  );
  const deck = await createDeck({ cassette });
  const child = tapeSpawn(deck, never)("tool");
  const { told, end } = listen(child);
  await said(child, "up\n");
  await sleep(20);
  expect(told.length).toBe(2);
  await tapeFunction(deck, "ask", async () => 2)();
  expect(await end).toContainEqual(["stdout", "asked\n"]);
  await deck.finish();
});

test("what broke, or cannot be told, is the child's error", async () => {
  const deck = await createDeck({
    cassette: processTrack([], { end: { error: { name: "Error", message: "the pipe burst" } } }),
  });
  const child = tapeSpawn(deck, never)("tool");
  expect(await listen(child).end).toMatchObject([
    ["spawn"],
    ["stderr", "Error: the pipe burst\n"],
    ["error", { message: "the pipe burst" }],
    ["exit", null, "SIGABRT"],
    ["close", null, "SIGABRT"],
  ]);
  await deck.finish();
});

test("a child that waits keeps the process alive, until the deck is finished", async () => {
  const file = new URL("../../fixtures/process/tape-finish.ts", import.meta.url).pathname;
  const run = (mode: string): Promise<string> =>
    text(spawn(process.execPath, ["--import", "tsx", file, mode], { stdio: ["ignore", "pipe", "inherit"] }).stdout);
  expect(await Promise.all([run("wait"), run("finish")])).toEqual([
    "still here\nstill waiting\n",
    "still here\nfinished\n",
  ]);
});
