import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tapeFetch } from "../../src/boundary/http/fetch.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";

const scratch = useScratch();

test("tells what has changed, and ends with 1 where it matters", async () => {
  let answer: object = { name: "Ada", n: 1 };
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const deck = await createDeck({ mode: "record" });
  await (await tapeFetch(deck)(`${url}/me`, { headers: { authorization: "Bearer recorded-token-1" } })).json();
  await deck.finish();
  await writeFile(join(scratch.folder, "a.cassette.json"), formatCassette(deck.cassette as Cassette));
  const run = (...args: string[]) =>
    wiretape(["drift", "a.cassette.json", "--target", url, ...args], { cwd: scratch.folder });

  const same = await run("--header", "authorization: Bearer live-token-12345");
  expect([same.status, same.stdout]).toEqual([
    0,
    `${url}: nothing that matters has changed (1 of 1 track without a difference)\n`,
  ]);
  expect(seen).toEqual(["Bearer recorded-token-1", "Bearer live-token-12345"]);

  answer = { name: "Bearer live-token-12345", n: "1" };
  const changed = await run("--header", "authorization: Bearer live-token-12345");
  expect(changed.status).toBe(1);
  expect(changed.stdout).toContain("it has changed");
  expect(changed.stdout).toContain("type     /body/n was a number, now a string");
  expect(changed.stdout + changed.stderr).not.toContain("live-token");
  const json = await run("--json", "--ignore", "/body/n");
  expect(json.status).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, differences: [{ tier: "value", path: "/body/name" }] });
  expect((await run("--fail-on", "vaule")).stderr).toContain('nearest is "value"');
  expect((await run("--header", "nothing")).status).toBe(2);
  await new Promise((resolve) => server.close(resolve));
});
