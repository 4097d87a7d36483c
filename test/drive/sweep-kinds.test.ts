import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tapeSpawn } from "../../src/boundary/process/tape-spawn.ts";
import { tapeWebSocket } from "../../src/boundary/websocket/tape-websocket.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { sweep } from "../../src/drive/sweep.ts";
import { createDeck } from "../../src/engine/create-deck.ts";

const folder = join(import.meta.dirname, "../../cassettes");
const examples = readdirSync(folder).filter((name) => name.endsWith(".cassette.json"));

test("there are examples of every kind", () => {
  const kinds = examples.flatMap((name) =>
    parseCassette(readFileSync(join(folder, name), "utf8")).tracks.map(({ kind }) => kind),
  );
  expect(new Set(kinds)).toEqual(new Set(["http", "websocket", "process", "mcp", "agent", "model", "function"]));
});

test.each(examples)("whatever goes wrong with %s is a cassette", (name) => {
  const cassette = parseCassette(readFileSync(join(folder, name), "utf8"));
  const variants = sweep(cassette, { frames: 50, limit: 2000 });
  expect(variants.length).toBeGreaterThan(2);
  for (const { name: variant, cassette: derived } of variants) {
    const text = formatCassette(derived);
    expect(formatCassette(parseCassette(text)), variant).toBe(text);
  }
});

describe("what a program sees of a conversation that goes wrong", () => {
  const room = parseCassette(`{ "wiretape": 1, "tracks": [{
    "id": "r", "kind": "websocket", "at": 0, "open": { "url": "ws://x.test/" },
    "frames": [
      { "at": 1, "from": "server", "text": "one" },
      { "at": 2, "from": "client", "text": "go" },
      { "at": 3, "from": "server", "text": "two" },
      { "at": 4, "from": "server", "text": "three" }
    ],
    "close": { "at": 5, "code": 1000 }
  }]}`);

  const heard = async (cassette: Cassette): Promise<string[]> => {
    const deck = await createDeck({ cassette });
    const socket = new (tapeWebSocket(deck))("ws://x.test/");
    const all: string[] = [];
    await new Promise<void>((resolve) => {
      socket.onmessage = ({ data }: MessageEvent) => {
        all.push(String(data));
        if (data === "one" && all.length === 1) socket.send("go");
      };
      socket.onerror = () => void all.push("error");
      socket.onclose = ({ code }: CloseEvent) => {
        all.push(String(code));
        resolve();
      };
    });
    await deck.finish();
    return all;
  };

  test.each([
    ["cut after frame 2", ["one", "two", "1000"]],
    ["reset in the middle of frame 3", ["one", "two", "error", "1006"]],
    ["frame 1 twice", ["one", "one", "two", "three", "1000"]],
  ])("a socket: %s", async (fault, expected) => {
    const variant = sweep(room).find(({ name }) => name.endsWith(fault));
    expect(await heard(variant?.cassette as Cassette)).toEqual(expected);
  });

  test.each([
    ["torn at every byte", "a,b,\n,c,\n", "0"],
    ["all chunks in one", "ab\nc\n", "0"],
    ["reset in the middle of frame 1", "a", "SIGKILL"],
    ["cut after frame 1", "ab\n", "0"],
  ])("a program: %s", async (fault, chunks, end) => {
    const cassette = parseCassette(`{ "wiretape": 1, "tracks": [{
      "id": "p", "kind": "process", "at": 0, "open": { "command": "tool" },
      "frames": [{ "at": 1, "from": "stdout", "text": "ab\\n" }, { "at": 2, "from": "stdout", "text": "c\\n" }],
      "close": { "at": 5, "code": 0, "signal": null }
    }]}`);
    const variant = sweep(cassette).find(({ name }) => name.endsWith(fault)) as { cassette: Cassette };
    const deck = await createDeck({ cassette: variant.cassette });
    const child = tapeSpawn(deck)("tool", []);
    const said: string[] = [];
    child.stdout?.on("data", (data: Buffer) => said.push(String(data)));
    const ended = await new Promise((resolve) => child.on("close", (code, signal) => resolve(String(signal ?? code))));
    expect([said.join(), ended]).toEqual([chunks, end]);
    await deck.finish();
  });
});
