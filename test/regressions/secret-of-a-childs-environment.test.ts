import type { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createDeck, memoryStore, parseCassette, tapeFetch } from "wiretape";
import { tapeSpawn } from "wiretape/process";
import "../support/settled.ts";

const secret = "qX7-only-the-child-has-it";
const says = 'process.stdin.on("data", (line) => console.log(process.env.SERVICE_TOKEN, String(line).trim()))';

async function talk(run: typeof spawn): Promise<string> {
  const child = run(process.execPath, ["-e", says], { env: { ...process.env, SERVICE_TOKEN: secret } });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  child.stdin.end(`told ${secret}\n`);
  await once(child, "close");
  return said;
}

test("what only a child is given as a secret is taken out of what it says and is told, and out of what came before", async () => {
  const store = memoryStore();
  const server = createServer((_, response) => response.end(`before: ${secret}`)).listen(0);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const deck = await createDeck({ mode: "record", store, name: "tape.cassette.json" });
  expect(await (await tapeFetch(deck)(`http://localhost:${port}/`)).text()).toContain(secret);
  expect(await talk(tapeSpawn(deck))).toBe(`${secret} told ${secret}\n`);
  await deck.finish();
  server.close();
  const text = new TextDecoder().decode(await store.read("tape.cassette.json"));
  expect(text).not.toContain(secret);
  expect(text.match(/REDACTED-environment-1/g)).toHaveLength(4);

  const replayed = await createDeck({ mode: "replay", cassette: parseCassette(text) });
  await tapeFetch(replayed)(`http://localhost:${port}/`);
  expect(await talk(tapeSpawn(replayed))).toBe("REDACTED-environment-1 told REDACTED-environment-1\n");
  await replayed.finish();
});

test("an environment of anything at all is the child's affair", async () => {
  const deck = await createDeck({ mode: "record", store: memoryStore(), name: "tape.cassette.json" });
  const env = { PATH: process.env.PATH, A_TOKEN: 5, B_TOKEN: null, C_TOKEN: undefined } as never;
  const child = tapeSpawn(deck)(process.execPath, ["-e", "0"], { env });
  expect(await once(child, "close")).toEqual([0, null]);
  await deck.finish();
});
