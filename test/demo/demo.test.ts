import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { editText, lintCassette, parseCassette } from "wiretape";
import { type DemoResult, type DemoStep, demoFaults, runDemo } from "../../src/demo/demo.ts";
import { builtPackage, type Ran, wiretape } from "../cli/built-cli.ts";
import { useScratch } from "../support/scratch.ts";

const scratch = useScratch();

describe("from the sources", () => {
  const steps: DemoStep[] = [];
  let result: DemoResult;
  beforeAll(async () => {
    result = await runDemo(join(scratch.folder, "sources"), (step) => steps.push(step));
  });

  test("nothing differs", () => {
    expect(result.faults).toEqual([]);
    expect(result.comparison.differences).toEqual([]);
    expect(result.comparison).toMatchObject({ answers: 12, redacted: { values: 3, places: 3 } });
    expect(result.comparison.chunks).toBeGreaterThanOrEqual(20);
    expect(result.recorded).toMatchObject({ requests: 12 });
  });

  test("the process that replayed was offline, and proved it", () => {
    expect(result.replayed).toMatchObject({
      armed: true,
      refused: ["net", "tls", "dgram", "dns", "fetch"],
      touched: [],
      played: 12,
    });
  });

  test("one request too many is an error, swallowed or not", () => {
    const { onceMore } = result.replayed;
    expect(onceMore.thrown).toMatchObject({ name: "ScriptExhausted", code: "script-exhausted" });
    expect(onceMore.thrown?.message).toContain("was recorded once and is asked for a 2nd time");
    expect(onceMore.finish).toEqual(onceMore.thrown);
  });

  test("each step is told when it is done", () => {
    const told = steps.map(({ step }) => step);
    expect(told).toEqual([
      "served",
      ...Array(12).fill("asked"),
      "recorded",
      "stopped",
      "replayed",
      "compared",
      "agent",
    ]);
  });

  test("the cassette is whole, sealed, and holds no secret", async () => {
    const text = await readFile(result.cassette, "utf8");
    expect(lintCassette(text)).toEqual([]);
    expect(parseCassette(text).tracks).toHaveLength(12);
    expect(text).not.toContain("correct horse");
    expect(await readdir(join(scratch.folder, "sources"))).toEqual([
      ".night-train-agent.sha256",
      ".night-train.sha256",
      basename(result.agent.cassette),
      basename(result.cassette),
    ]);
  });
});

test("each thing that can go wrong is a fault", async () => {
  const { replayed, comparison, recorded } = await runDemo(join(scratch.folder, "faults"), () => undefined);
  const faults = (changed: Partial<typeof replayed>, differences: string[] = []): string[] =>
    demoFaults({ ...replayed, ...changed }, { ...comparison, differences }, recorded.requests);
  expect(faults({})).toEqual([]);
  expect(faults({}, ["chunk 1 differs"])).toEqual(["chunk 1 differs"]);
  expect(faults({ armed: false, refused: [] })).toEqual(["the process that replayed was not offline"]);
  expect(faults({ refused: ["net", "tls"] })).toEqual(["a deliberate touch of dgram, dns, fetch was not refused"]);
  expect(faults({ touched: ["net.connect"] })).toEqual(["the replay touched the network: net.connect"]);
  expect(faults({ played: 11 })).toEqual(["12 tracks were recorded, and 11 were played"]);
  const onceMore = { request: "", thrown: undefined, finish: undefined };
  expect(faults({ onceMore })).toEqual([
    "asking once too often did not end in ScriptExhausted",
    "deck.finish() forgot a violation that was swallowed",
  ]);
});

describe("as it is shipped", () => {
  const demo = (...args: string[]): Promise<Ran> => wiretape(["demo", ...args], { cwd: scratch.folder });

  test("a short account, the path of the cassette, and 0", async () => {
    const { status, stdout, stderr } = await wiretape(["demo"], { cwd: scratch.folder, env: { COLUMNS: "80" } });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n").length).toBeLessThan(60);
    for (const text of [
      /^ {2}1 {2}start a staging server +http:\/\/127\.0\.0\.1:\d+ +\d+ ms$/m,
      /^ +12 requests on tape in [\d.]+ m?s$/m,
      /^ +secrets replaced in \d+ places, before any disk$/m,
      /^ {2}4 {2}replay in a new process +where net, tls, dgram, dns and fetch throw +[\d.]+ m?s$/m,
      /^ +12 tracks played in [\d.]+ m?s$/m,
      /^ +the network was not touched$/m,
      /^ {2}5 {2}compare +every byte and every chunk boundary is the same$/m,
      /^ +12 answers, [\d.]+ KiB, \d+ chunks$/m,
      /^ +but for 3 secrets, seen as pseudonyms in 3 places$/m,
      /^ {2}6 {2}an agent, the same way +a watch, two questions, a retry +[\d.]+ m?s$/m,
      /^ +4 tracks, 25 events: each event the same text$/m,
      /^ +a third question: ScriptExhausted, all 3 actions/m,
      /^ +edited by hand: "an hour late" is seen$/m,
      /ScriptExhausted: GET http.*\/v1\/numbers was recorded once\s+and is asked for a 2nd time\./,
      /deck\.finish\(\) threw it all the same/,
      /^ {4}wiretape-demo\/night-train\.cassette\.json$/m,
    ])
      expect(stdout).toMatch(text);
    expect(stdout).not.toMatch(/[ \t]+$/m);
    expect(stdout).not.toContain("\u001b");
  });

  test("again: what it wrote is replaced; what was edited is left alone, and that is told", async () => {
    const path = join(scratch.folder, "again/night-train.cassette.json");
    await demo("--dir", "again", "--json");
    const before = await readFile(path, "utf8");
    expect((await demo("--dir", "again", "--json")).status).toBe(0);
    const after = await readFile(path, "utf8");
    expect(after).not.toBe(before);

    const edited = editText(after, [{ path: ["tracks", 0, "response", "status"], value: 500 }]);
    await writeFile(path, edited);
    const { status, stdout } = await demo("--dir", "again");
    expect(status).toBe(0);
    expect(stdout).toContain("again/night-train.cassette.json was edited, and was left alone.");
    expect(stdout).toContain("    again/night-train-2.cassette.json\n");
    expect(await readFile(path, "utf8")).toBe(edited);
  });

  test("--json: one document", async () => {
    const { stdout } = await demo("--dir", "data", "--json");
    const told = JSON.parse(stdout);
    expect(Object.keys(told)).toEqual([
      "ok",
      "cassette",
      "kept",
      "recorded",
      "replayed",
      "compared",
      "onceMore",
      "agent",
      "faults",
    ]);
    expect(told).toMatchObject({
      ok: true,
      cassette: "data/night-train.cassette.json",
      recorded: { requests: 12, milliseconds: expect.any(Number), replacements: expect.any(Number) },
      replayed: { armed: true, refused: ["net", "tls", "dgram", "dns", "fetch"], touched: [], played: 12 },
      compared: { answers: 12, bytes: expect.any(Number), chunks: expect.any(Number), differences: [] },
      onceMore: {
        request: "GET /v1/numbers",
        thrown: { code: "script-exhausted" },
        finish: { code: "script-exhausted" },
      },
      faults: [],
    });
  });

  test("a folder that cannot be is told, and ends with 2", async () => {
    await writeFile(join(scratch.folder, "file"), "");
    const { status, stderr } = await demo("--dir", "file/below");
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: .*cannot be (read|written)/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe("the guard", () => {
  const guarded = async (program: string): Promise<unknown> => {
    const preload = `file://${join(await builtPackage(), "offline-preload.js")}`;
    const args = ["--import", preload, "--input-type=module", "-e", program];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
  };

  test("refuses every way out, also through names that were imported, and keeps what a program swallows", async () => {
    const program = `
      import { connect, Socket, createServer } from "node:net";
      import { connect as secure } from "node:tls";
      import { createSocket } from "node:dgram";
      import { lookup, promises, Resolver } from "node:dns";
      import { resolve4 } from "node:dns/promises";
      import http from "node:http";
      import https from "node:https";
      import http2 from "node:http2";
      const attempts = {
        connect: () => connect(50009, "127.0.0.1"),
        socket: () => new Socket().connect(50009, "127.0.0.1"),
        pipe: () => connect("/tmp/x.sock"),
        listen: () => createServer().listen(0),
        tls: () => secure(50009),
        udp: () => createSocket("udp4"),
        lookup: () => lookup("localhost", () => undefined),
        resolver: () => new Resolver().resolve4("localhost", () => undefined),
        promise: () => promises.resolve("localhost"),
        named: () => resolve4("localhost"),
        fetch: () => fetch("http://127.0.0.1:50009/"),
        fetchByName: () => fetch("http://localhost:50009/"),
        fetchSecurely: () => fetch("https://127.0.0.1:50009/"),
        http: () => new Promise((done, fail) => http.get("http://127.0.0.1:50009/").on("error", fail)),
        https: () => new Promise((done, fail) => https.get("https://127.0.0.1:50009/").on("error", fail)),
        http2: () => new Promise((done, fail) => http2.connect("http://127.0.0.1:50009/").on("error", fail)),
      };
      const got = {};
      for (const [name, attempt] of Object.entries(attempts))
        try { await attempt(); got[name] = "went out"; }
        catch (error) { got[name] = error.code ?? error.cause?.code ?? error.message; }
      const guard = globalThis[Symbol.for("wiretape.demo.offline")];
      console.log(JSON.stringify({ got, touched: guard.touched.length }));`;
    const names = [
      "connect",
      "socket",
      "pipe",
      "listen",
      "tls",
      "udp",
      "lookup",
      "resolver",
      "promise",
      "named",
      "fetch",
    ];
    names.push("fetchByName", "fetchSecurely", "http", "https", "http2");
    expect(await guarded(program)).toEqual({
      got: Object.fromEntries(names.map((name) => [name, "ERR_OFFLINE"])),
      touched: names.length,
    });
  });
});
