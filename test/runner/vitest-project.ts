import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** What a run of vitest came to. */
export interface Run {
  readonly code: number | null;
  /** What was printed, without colours. */
  readonly output: string;
  /** By full name without the file: how the test went, and its errors. */
  readonly tests: ReadonlyMap<string, { readonly status: string; readonly errors: readonly string[] }>;
}

/** A copy of the fixture project, in which the installed vitest runs against the sources. */
export interface VitestProject {
  run(arguments_: readonly string[], environment?: Record<string, string>): Promise<Run>;
  /** The files below it that are not part of the fixture, sorted. */
  files(): string[];
  read(path: string): string;
  remove(): void;
}

/** Copies the fixture project to a temporary folder. */
export function vitestProject(): VitestProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "wiretape-vitest-")));
  const fixture = join(root, "test/fixtures/vitest");
  cpSync(fixture, folder, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const own = new Set([...readdirSync(fixture), "node_modules", "result.json"]);
  return {
    run: (arguments_, environment = {}) => run(folder, arguments_, environment),
    files: () =>
      readdirSync(folder)
        .filter((name) => !own.has(name))
        .flatMap((name) => [name, ...below(folder, name)])
        .filter((name) => name.includes(".json"))
        .sort(),
    read: (path) => readFileSync(join(folder, path), "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function below(folder: string, name: string): string[] {
  if (!/^[\w-]+$/.test(name)) return [];
  return readdirSync(join(folder, name), { recursive: true, encoding: "utf8" }).map((path) =>
    `${name}/${path}`.replaceAll("\\", "/"),
  );
}

async function run(folder: string, arguments_: readonly string[], environment: Record<string, string>): Promise<Run> {
  const result = join(folder, "result.json");
  rmSync(result, { force: true });
  // Neither the mode of this run nor its vitest may reach the child.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(CI|WIRETAPE_.*|VITEST.*|NODE_OPTIONS|NODE_ENV|TEST)$/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), NO_COLOR: "1", WIRETAPE_SOURCES: join(root, "src"), ...environment };
  const child = spawn(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${result}`,
      ...arguments_,
    ],
    { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await new Promise<number | null>((done, fail) => child.on("error", fail).on("close", done));
  if (!existsSync(result)) throw new Error(`vitest wrote no result:\n${output}`);
  const report = JSON.parse(readFileSync(result, "utf8")) as {
    testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
  };
  const tests = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ fullName, status, failureMessages }) => [fullName, { status, errors: failureMessages ?? [] }] as const);
  return { code, output, tests: new Map(tests) };
}

/** A loopback server that echoes `/echo/<word>` and counts `/count?<what>`, and says how often it was asked. */
export interface EchoServer {
  readonly url: string;
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Starts the server. */
export async function echoServer(): Promise<EchoServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    asked.push(url);
    request.resume();
    response.end(
      url.startsWith("/count") ? String(asked.filter((one) => one === url).length) : url.slice("/echo/".length),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((done, fail) => {
        server.close((error) => (error === undefined ? done() : fail(error)));
        server.closeAllConnections();
      }),
  };
}
