import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import packageJson from "../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
  language,
  code: code as string,
}));
const snippets = blocks.filter(({ language }) => language === "ts").map(({ code }) => code);
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ code }) =>
    code
      .trim()
      .split("\n")
      .map((line) => line.replace(/\s+#.*$/, "")),
  );

// A folder inside the project, so that the snippets find the packages that they import.
const folder = mkdtempSync(join(root, "test", ".readme-"));
let server: Server;
let address = "";

beforeAll(async () => {
  server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Example Domain</title>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await new Promise((closed) => server.close(closed));
});

const preload = join(root, "test/fixtures/readme/example-com.ts");

async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const clean = {
    ...process.env,
    EXAMPLE_SERVER: address,
    TSX_TSCONFIG_PATH: join(root, "tsconfig.json"),
    NO_COLOR: "1",
    ...env,
  };
  for (const name of [
    "CI",
    "WIRETAPE_MODE",
    "VITEST",
    "VITEST_MODE",
    "VITEST_POOL_ID",
    "VITEST_WORKER_ID",
    "FORCE_COLOR",
  ])
    delete (clean as Record<string, unknown>)[name];
  try {
    return { code: 0, ...(await promisify(execFile)(command, args, { cwd: folder, env: clean })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function program(name: string, code: string): readonly string[] {
  writeFileSync(join(folder, name), code);
  return ["--import", "tsx", "--import", preload, name];
}

test("no snippet is left out", () => {
  expect(snippets).toHaveLength(15);
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["ts", "sh"]));
});

describe("the snippets run as they are written", () => {
  const find = (text: string): string => snippets.find((code) => code.includes(text)) as string;

  test("the first example: an agent's session over HTTP, recorded and replayed", async () => {
    const code = snippets[0] as string;
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
    const first = await run(process.execPath, program("support.ts", code));
    expect(first.stderr).toBe("");
    expect(first.stdout).toContain("It leaves today.");
    // The second run has a server that would say something else, and is not asked.
    const changed = code.replace("It leaves today.", "It is lost.");
    expect(await run(process.execPath, program("support.ts", changed))).toEqual(first);
    const once = code.replace(
      "const run = await",
      'await client.thread("thread-1").send("And mine?").catch(() => 0);\n  const run = await',
    );
    expect(await run(process.execPath, program("support.ts", once))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/thread-1/),
    });
  });

  test("the fetch example: records, then replays without the server's help", async () => {
    const code = find("for await (const _ of");
    const first = await run(process.execPath, program("example.ts", code));
    expect(first).toMatchObject({ code: 0, stdout: "200 https://example.com/ 1 chunks\n" });
    expect(existsSync(join(folder, "cassettes/example.cassette.json"))).toBe(true);
    const second = await run(process.execPath, program("example.ts", code), { EXAMPLE_SERVER: "http://127.0.0.1:1" });
    expect(second.stdout).toBe(first.stdout);
  });

  test("the mock of an agent", async () => {
    const { code, stdout } = await run(
      process.execPath,
      program("mock.ts", find("const mock = createMockAgentClient")),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "idle 2 1\n" });
  });

  test("once too often: the error is thrown although the program swallowed it, and acknowledged", async () => {
    const { code, stdout, stderr } = await run(
      process.execPath,
      program("exhausted.ts", find("ScriptExhausted, tapeFetch")),
    );
    expect(stdout).toMatch(/^true GET https:\/\/example\.com\/ was recorded once and is asked for a 2nd time\./);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const unacknowledged = find("ScriptExhausted, tapeFetch").replace(/^deck\.expectViolation.*$/m, "");
    expect(await run(process.execPath, program("unacknowledged.ts", unacknowledged))).toMatchObject({ code: 1 });
  });

  test("matching and variables: the same cassette twice, whatever the random values", async () => {
    const code = find("order-key");
    expect(await run(process.execPath, program("order.ts", code))).toMatchObject({ code: 0 });
    expect(
      await run(process.execPath, program("order.ts", code), { EXAMPLE_SERVER: "http://127.0.0.1:1" }),
    ).toMatchObject({ code: 0, stderr: "" });
  });

  test("functions and ports", async () => {
    const code = find("tapeFunction, tapeObject");
    const first = await run(process.execPath, program("shop.ts", code));
    expect(first).toMatchObject({ code: 0, stdout: "true true\ntape 1\ntape 2\n" });
    expect(await run(process.execPath, program("shop.ts", code.replace("price: 12n", "price: 0n")))).toEqual(first);
  });

  test("processes", async () => {
    const code = find("tapeSpawn");
    const first = await run(process.execPath, program("build.ts", code));
    expect(first).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^\d{6,}n\n$/) });
    expect(await run(process.execPath, program("build.ts", code))).toEqual(first);
  });

  test("a fake CLI", async () => {
    const { code, stdout, stderr } = await run(process.execPath, program("claude.ts", find("FakeClaudeCli.script")));
    const lines = [
      '{"type":"system","subtype":"init"}',
      '{"type":"result","result":"Done."}',
      "0 [ 'claude', '-p', 'Tidy up.' ]",
    ];
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${lines.join("\n")}\n`, stderr: "" });
  });

  test("WebSocket: recorded from a server, replayed without it", async () => {
    const bells = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    bells.on("connection", (socket) => socket.on("message", (data) => socket.send(`heard ${data}`)));
    await once(bells, "listening");
    const place = `ws://127.0.0.1:${(bells.address() as { port: number }).port}`;
    const args = program("socket.ts", find("tapeWebSocket").replace("wss://example.com", place));
    const first = await run(process.execPath, args);
    expect(first).toMatchObject({ code: 0, stdout: "heard ring\n" });
    await new Promise((closed) => bells.close(closed));
    expect(await run(process.execPath, args)).toEqual(first);
  });

  test("MCP and models on tape", async () => {
    const args = program("assistant.ts", find("tapeMcp"));
    const first = await run(process.execPath, args);
    expect(first).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/"\d{6,}"}\] It is \d+\.\n$/) });
    expect(await run(process.execPath, args)).toEqual(first); // of another process, with another clock
  });

  test("MCP and models", async () => {
    expect(await run(process.execPath, program("mcp.ts", find("FakeMcpTransport")))).toMatchObject({
      code: 0,
      stdout: "0 initialize tools/list\nIt leaves at nine.\n",
    });
  });

  test("doubles", async () => {
    expect(await run(process.execPath, program("doubles.ts", find("makeTestCtx")))).toMatchObject({
      code: 0,
      stdout: "first second 120\n",
    });
  });

  test("both sides of the tape", async () => {
    await run(process.execPath, program("example.ts", find("for await (const _ of")));
    const { code, stdout, stderr } = await run(process.execPath, program("sides.ts", find("sweep(cassette")));
    expect({ code, stderr, lines: stdout.trim().split("\n") }).toEqual({
      code: 0,
      stderr: "",
      lines: [
        "t1 GET /: cut before the first frame",
        "t1 GET /: torn at every byte",
        "t1 GET /: empty body",
        "503 200",
        "true 0",
      ],
    });
  });

  test("the endpoint mock", async () => {
    expect(await run(process.execPath, program("endpoint.ts", find("createEndpointMock")))).toMatchObject({
      code: 0,
      stdout: "You said hi. You said bye.\n",
    });
  });

  test("in a test, under vitest", async () => {
    writeFileSync(join(folder, "page.test.ts"), find("wiretape/vitest"));
    const alias = [
      { find: "^wiretape$", replacement: join(root, "src/index.ts") },
      { find: "^wiretape/(.*)$", replacement: join(root, "src/$1.ts") },
    ];
    const config = `export default { resolve: { alias: ${JSON.stringify(alias)}.map((a) => ({ ...a, find: new RegExp(a.find) })) }, test: { setupFiles: [${JSON.stringify(preload)}] } };`;
    writeFileSync(join(folder, "vitest.config.mjs"), config);
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    for (const EXAMPLE_SERVER of [address, "http://127.0.0.1:1"]) {
      const { code, stdout, stderr } = await run(process.execPath, [vitest, "run", "--root", folder], {
        EXAMPLE_SERVER,
      });
      expect({ code, passed: /1 passed/.test(stdout) }, stdout + stderr).toEqual({ code: 0, passed: true });
    }
  });
});

describe("the commands run as they are written", () => {
  test("set-up: the scripts that it names are there; CI runs them on a fresh clone", () => {
    const [demo, tests] = commands;
    expect([demo, tests]).toEqual(["npm ci && npm run demo", "npm ci && npm test"]);
    expect(packageJson.scripts).toMatchObject({
      demo: expect.any(String),
      test: expect.any(String),
      prepare: expect.any(String),
    });
    expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(/^npm ci\b[\s\S]*^npm test$/m);
  });

  test.each(commands.slice(2))("%s", async (command) => {
    const project = join(folder, "project");
    if (!existsSync(project)) {
      mkdirSync(project);
      cpSync(join(root, "cassettes"), join(project, "cassettes"), { recursive: true });
      writeFileSync(
        join(project, "cassettes/x.recording.jsonl"),
        '{"wiretape":1}\n{"id":"t1","kind":"function","at":0,"call":{"name":"f","input":[]},"result":{"at":1,"value":1}}\n',
      );
    }
    if (command.includes("example.cassette.json")) {
      const find = snippets.find((code) => code.includes("for await (const _ of")) as string;
      await run(process.execPath, program("example.ts", find));
      cpSync(join(folder, "cassettes/example.cassette.json"), join(project, "cassettes/example.cassette.json"));
    }
    const [npx, wiretape, ...args] = command.split(" ");
    expect([npx, wiretape]).toEqual(["npx", "wiretape"]);
    const files = args.flatMap((arg) =>
      arg.includes("*")
        ? readdirSync(join(project, "cassettes"))
            .filter((name) => name.endsWith(".cassette.json"))
            .map((name) => `cassettes/${name}`)
        : [arg],
    );
    const main = join(root, "src/cli/main.ts");
    const { code, stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--import", join(root, "node_modules/tsx/dist/loader.mjs"), "--import", preload, main, ...files],
      {
        cwd: project,
        env: { ...process.env, EXAMPLE_SERVER: address, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") },
      },
    ).then(
      (out) => ({ code: 0, ...out }),
      (error) => error as { code: number; stdout: string; stderr: string },
    );
    expect(code, stdout + stderr).toBe(0);
    expect(stdout.length).toBeGreaterThan(10);
  });
});
