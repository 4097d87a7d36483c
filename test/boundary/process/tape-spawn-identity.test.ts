import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineIds } from "../../../src/boundary/process/process-ids.ts";
import { portablePaths } from "../../../src/boundary/process/process-paths.ts";
import "../../support/settled.ts";
import { again, fixture, type Line, listen, type Program, playing, recorded, said, twice } from "./tape-spawn-twice.ts";

const here = process.cwd();
const away = tmpdir();
// A folder beside the working directory is none of it, wherever the working directory is.
const beside = here.startsWith(`${away}/`)
  ? "<tmp>"
  : here.startsWith(`${homedir()}/`)
    ? `<home>${here.slice(homedir().length)}-other/x`
    : `${here}-other/x`;

describe("paths mean the same on another machine", () => {
  test.each([
    [`${here}/src/cli.mjs`, "<cwd>/src/cli.mjs"],
    [here, "<cwd>"],
    [`${here}-other/x`, beside],
    [process.execPath, "<node>"],
    [`${process.execPath} -e 1 && cat ${away}/a.b/c.json | wc`, "<node> -e 1 && cat <tmp> | wc"],
    [`${away}/codex-schema-x8/schema.json`, "<tmp>"],
    [`--config=${away}/x`, "--config=<tmp>"],
    [`{"command":"${here}/x.mjs","args":["${away}/y z"]}`, '{"command":"<cwd>/x.mjs","args":["<tmp> z"]}'],
    [`file://${away}/x.txt`, "file://<tmp>"],
    [`${away}fs/x`, `${away}fs/x`],
    [`${homedir()}/.claude/local/claude`, "<home>/.claude/local/claude"],
    ["/opt/a/node_modules/.pnpm/x@1/node_modules/x/cli.js", "<node_modules>/x/cli.js"],
    [`${away}/i/node_modules/.bin/claude`, "<node_modules>/.bin/claude"],
    ["./node_modules/x", "./node_modules/x"],
    ["sub/node_modules/x", "sub/node_modules/x"],
    ["/usr/bin/env", "/usr/bin/env"],
    ["no path", "no path"],
  ])("%s", (path, portable) => {
    expect(portablePaths(path)).toBe(portable);
    expect(portablePaths(portable)).toBe(portable);
  });

  test("a temporary file has another name each time, and the child its recorded track", async () => {
    const { text } = await twice(async (spawn) => {
      const folder = await mkdtemp(join(away, "schema-"));
      await writeFile(join(folder, "schema.json"), "{}\n");
      const { end } = listen(spawn("cat", [join(folder, "schema.json")], { cwd: folder }));
      await end;
      await rm(folder, { recursive: true });
      return end;
    });
    expect(text).toMatch(/"command": "cat",\s+"argv": \["<tmp>"\],\s+"cwd": "<tmp>"/);
    expect(text).not.toContain(away);
  });
});

test("of the environment, harmless names that the program sets are kept; what is secret in an argument is not", async () => {
  const secret = "correct-horse-battery-9";
  const run =
    (key: string): Program<unknown> =>
    async (spawn) => {
      const env = { ...process.env, NODE_ENV: "weird", MY_TOKEN: key };
      return listen(spawn("true", ["--api-key", key, "--model", "m"], { env })).end;
    };
  const { text, store } = await twice(run(secret));
  expect(text).toContain('"env": { "NODE_ENV": "weird" }');
  expect(text).not.toContain(secret);
  await again(store, run("another-key-that-is-secret-8"));
});

describe("ids that are random by design are this run's", () => {
  const conversation =
    (id: () => string): Program<unknown> =>
    async (spawn) => {
      const child = spawn(process.execPath, [fixture("control")]);
      const { end } = listen(child);
      const say = (message: unknown): boolean => child.stdin.write(`${JSON.stringify(message)}\n`);
      const [control, request] = [id(), id()];
      const asked = said(child, "can_use_tool");
      say({ type: "control_request", request_id: control, request: { subtype: "initialize" } });
      await asked;
      const done = said(child, '"allowed"');
      say({
        type: "control_response",
        response: { subtype: "success", request_id: "cli-1", response: { behavior: "allow" } },
      });
      await done;
      const listed = said(child, '"tools"');
      say({ jsonrpc: "2.0", id: request, method: "tools/list" });
      await listed;
      child.stdin.end();
      return (await end).map((told) =>
        JSON.stringify(told).replaceAll(control, "CONTROL").replaceAll(request, "REQUEST"),
      );
    };

  test("in Claude's control protocol and in JSON-RPC", async () => {
    const { seen } = await twice(conversation(() => crypto.randomUUID()));
    expect(seen).toEqual(
      expect.arrayContaining([expect.stringContaining("CONTROL"), expect.stringContaining("REQUEST")]),
    );
  });

  test("and nowhere else", () => {
    expect(lineIds({ type: "user", id: 1, message: {} }, "client")).toEqual([]);
    expect(lineIds({ type: "assistant", id: 1, message: {} }, "server")).toEqual([]);
    expect(lineIds({ type: "control_request", request_id: "x", request: {} }, "server")).toEqual([]);
    expect(lineIds({ type: "control_response", response: { request_id: "x" } }, "client")).toEqual([]);
    expect(lineIds({ id: 1, result: {} }, "client")).toEqual([]);
    expect(lineIds([{ id: 1, method: "a" }], "client")).toEqual([]);
    expect(lineIds("text", "client")).toEqual([]);
    const params = { _meta: { progressToken: 7 } };
    expect(lineIds({ id: 1, method: "tools/call", params }, "client")).toEqual([
      { path: ["id"], space: "request", role: "gives" },
      { path: ["params", "_meta", "progressToken"], space: "progress", role: "gives" },
    ]);
    expect(lineIds({ method: "notifications/cancelled", params: { requestId: 1 } }, "client")).toEqual([
      { path: ["params", "requestId"], space: "request", role: "names" },
    ]);
    expect(lineIds({ method: "notifications/progress", params: { progressToken: 7 } }, "server")).toEqual([
      { path: ["params", "progressToken"], space: "progress", role: "names" },
    ]);
  });
});

test("any child plays back as it was: what it said, to whom, in which chunks, and how it ended", async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((data) => String.fromCharCode(...data)),
    fc.constantFrom('{"a":1}\n', '{"a":', "}\n", "\xc3", "\xa9", "\n", "x".repeat(3_000)),
  );
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom("out" as const, "err" as const), bytes) },
    { weight: 2, arbitrary: fc.constant(["pause", 5] as ["pause", number]) },
    { weight: 1, arbitrary: fc.constant(["turn"] as ["turn"]) },
  );
  const ending = fc.oneof(
    fc.nat(255).map((code): Line => ["exit", code]),
    fc.constantFrom("SIGKILL" as const, "SIGTERM" as const).map((signal): Line => ["signal", signal]),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      ending,
      fc.string({ minLength: 1, maxLength: 8 }),
      async (lines, end, answer) => {
        // Each turn of the program's: the child says that it waits, and the program answers with a line of its own.
        let turns = 0;
        const script = lines.flatMap((one): Line[] => {
          if (one[0] !== "turn") return [one];
          turns++;
          return [
            ["out", "?turn?"],
            ["bytes", turns * Buffer.byteLength(`${answer}\n`)],
          ];
        });
        await twice(async (spawn) => {
          const child = spawn(...playing([...script, end]));
          let asked = 0;
          let whole = "";
          child.stdout.on("data", (data: Buffer) => {
            whole += data.toString("latin1");
            for (; whole.split("?turn?").length - 1 > asked; asked++) child.stdin.write(`${answer}\n`);
          });
          child.stdin.on("error", () => undefined);
          return listen(child).end;
        });
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);

test("a recording says what its child was", async () => {
  const store = await recorded(async (spawn) => listen(spawn(...playing([["exit", 0]]))).end);
  const text = new TextDecoder().decode(await store.read("deck.cassette.json"));
  expect(text).toContain('"command": "<node>"');
  expect(text).toContain('"close": { "at":');
});
