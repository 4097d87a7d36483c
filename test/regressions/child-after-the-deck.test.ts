import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a replayed child that asks for nothing keeps the process alive no longer than its deck", async () => {
  const program = fileURLToPath(new URL("../fixtures/process/silent-finish.ts", import.meta.url));
  const run = promisify(execFile)(process.execPath, ["--import", "tsx", program], { timeout: 15_000 });
  expect(await run).toEqual({ stdout: "finished\n", stderr: "" });
}, 20_000);
