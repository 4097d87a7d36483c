import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { reportFailure } from "../../src/cli/report-failure.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { CassetteInvalid, OptionInvalid } from "../../src/errors.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";

const scratch = useScratch();
const commands = ["demo", "ls", "show", "lint", "seal", "recover"];

test("--version is the package's", async () => {
  expect(await wiretape(["--version"])).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: "" });
});

test("--help lists every command", async () => {
  const { status, stdout, stderr } = await wiretape(["--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
});

test.each(commands)("%s --help has an example and names --json", async (command) => {
  const { status, stdout } = await wiretape([command, "--help"]);
  expect(status).toBe(0);
  expect(stdout).toContain(`Example:\n  wiretape ${command}`);
  expect(stdout).toContain("--json");
});

describe("wrong use is told on stderr and ends with 2", () => {
  test.each([
    [[], "Usage: wiretape"],
    [["shwo"], "unknown command 'shwo'\n(Did you mean show?)"],
    [["ls", "--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
    [["--verbose"], "unknown option '--verbose'"],
    [["show"], "missing required argument 'file'"],
    [["show", "a", "b"], "too many arguments"],
    [["lint"], "missing required argument 'file'"],
    [["show", "nope.cassette.json"], "nope.cassette.json cannot be read: there is no such file."],
    [["show", "."], ". cannot be read: it is a folder."],
    [["ls", "nowhere"], "nowhere is not there"],
    [["recover", "x.recording.jsonl"], "there is no such file"],
  ])("wiretape %j", async (args, message) => {
    const { status, stdout, stderr } = await wiretape(args, { cwd: scratch.folder });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

test("with --json a failure is a document on stdout, too", async () => {
  const { status, stdout, stderr } = await wiretape(["show", "nope", "--json"], { cwd: scratch.folder });
  expect({ status, stderr }).toEqual({ status: 2, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: "option-invalid",
      message: expect.stringContaining("nope cannot be read"),
      details: { path: "nope", code: "ENOENT" },
    },
  });
});

describe("the terminal", () => {
  const terminal = (isTTY: boolean, env: Record<string, string> = {}, columns?: number) => {
    const written = { stdout: "", stderr: "" };
    const opened = openTerminal({
      stdout: { isTTY, ...(columns !== undefined && { columns }), write: (text) => (written.stdout += text) },
      stderr: { isTTY, write: (text) => (written.stderr += text) },
      env,
    });
    return { opened, written };
  };

  test("colours on a terminal, and only there", () => {
    expect(terminal(true).opened.color.red("x")).toBe("\u001b[31mx\u001b[39m");
    expect(terminal(false, { FORCE_COLOR: "1", CI: "true" }).opened.color.red("x")).toBe("x");
  });

  test("honours NO_COLOR, unless it is empty, and dumb terminals", () => {
    expect(terminal(true, { NO_COLOR: "1" }).opened.color.red("x")).toBe("x");
    expect(terminal(true, { NO_COLOR: "" }).opened.color.red("x")).not.toBe("x");
    expect(terminal(true, { TERM: "dumb" }).opened.color.red("x")).toBe("x");
  });

  test("is as wide as it says, COLUMNS says, or 120", () => {
    expect(terminal(true, {}, 77).opened.width).toBe(77);
    expect(terminal(false, { COLUMNS: "99" }).opened.width).toBe(99);
    expect(terminal(false, { COLUMNS: "many" }).opened.width).toBe(120);
  });

  test("tells errors of ours without a stack, others whole, and never what a terminal acts on", () => {
    const { opened, written } = terminal(false);
    expect(reportFailure(new OptionInvalid("no \u001b[2Jsuch"), false, opened)).toBe(2);
    expect(reportFailure(new CassetteInvalid("line 1\nline 2"), false, opened)).toBe(1);
    expect(written.stderr).toBe("error: no \\u001b[2Jsuch\nerror: line 1\nline 2\n");
    expect(reportFailure(new TypeError("oops"), false, opened)).toBe(1);
    expect(written.stderr).toMatch(/a fault of wiretape; please report it.\nTypeError: oops\n\s+at /);
  });
});
