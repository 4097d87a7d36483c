import { spawn as nodeSpawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createDeck, FrameMismatch, OutOfOrder, ScriptExhausted, tapeFetch, UnrecordedRequest } from "wiretape";
import { tapeSpawn } from "wiretape/process";
import "../../support/settled.ts";
import {
  again,
  fixture,
  type Line,
  listen,
  never,
  type Program,
  playing,
  recorded,
  type Spawn,
  said,
  twice,
} from "./tape-spawn-twice.ts";

const echo = (spawn: Spawn): ReturnType<typeof nodeSpawn> => spawn(process.execPath, [fixture("echo")]);

/** Says lines to an echo, each when the one before was answered, and ends it. */
const talking =
  (...lines: string[]): Program<unknown> =>
  async (spawn) => {
    const child = echo(spawn);
    const { end } = listen(child);
    await said(child, "ready\n");
    for (const line of lines) {
      const heard = said(child, `${line.toUpperCase()}\n`);
      child.stdin?.write(`${line}\n`);
      await heard;
    }
    child.stdin?.end("bye\n");
    return end;
  };

describe("what the recording does not allow", () => {
  test("a spawn more than recorded is thrown, and kept although it is swallowed", async () => {
    const program: Program<unknown> = async (spawn) => listen(spawn(...playing([["exit", 0]]))).end;
    const store = await recorded(program);
    const deck = await createDeck({ store, mode: "replay" });
    const spawn = tapeSpawn(deck, never);
    await program(spawn, deck);
    expect(() => spawn(...playing([["exit", 0]]))).toThrow(ScriptExhausted);
    try {
      spawn(...playing([["exit", 0]]));
    } catch {
      // as a program may do
    }
    await expect(deck.finish()).rejects.toThrow(
      /spawn <node> <cwd>.*recorded once and is asked for a 2nd time[\s\S]*a 3rd time/,
    );
  });

  test("a spawn that was never recorded is thrown, with the nearest one", async () => {
    const deck = await createDeck({ store: await recorded(talking("one")), mode: "replay" });
    const spawn = tapeSpawn(deck, never);
    expect(() => spawn(process.execPath, [fixture("echo"), "--loud"])).toThrow(UnrecordedRequest);
    await expect(deck.finish()).rejects.toThrow(/\/argv\/1/);
  });

  test("another order is an error where order is strict", async () => {
    const program =
      (first: number, second: number): Program<unknown> =>
      async (spawn) => [
        await listen(spawn(...playing([["exit", first]]))).end,
        await listen(spawn(...playing([["exit", second]]))).end,
      ];
    const store = await recorded(program(1, 2), { match: { order: "strict" } });
    const deck = await createDeck({ store, mode: "replay" });
    expect(() => tapeSpawn(deck, never)(...playing([["exit", 2]]))).toThrow(OutOfOrder);
    await expect(deck.finish()).rejects.toThrow(OutOfOrder);
  });

  test("another line on stdin fails the write and ends the child", async () => {
    const deck = await createDeck({ store: await recorded(talking("one")), mode: "replay" });
    const child = echo(tapeSpawn(deck, never));
    const closed = new Promise((resolve) => child.on("close", (...values) => resolve(values)));
    const broke = once(child.stdin as never, "error");
    const heard = text(child.stderr as never);
    const written = new Promise((resolve) => child.stdin?.write("two\n", resolve));
    expect(await written).toBeInstanceOf(FrameMismatch);
    expect((await broke)[0]).toBeInstanceOf(FrameMismatch);
    expect(await closed).toEqual([null, "SIGABRT"]);
    expect(await heard).toContain("FrameMismatch");
    await expect(deck.finish()).rejects.toThrow(/recorded "one\\n", now "two\\n"/);
  });

  test("a line more than recorded does too", async () => {
    const store = await recorded(async (spawn) => {
      const child = echo(spawn);
      await said(child, "ready\n");
      child.kill();
      await once(child, "close");
    });
    const deck = await createDeck({ store, mode: "replay" });
    const child = echo(tapeSpawn(deck, never));
    child.stdin?.on("error", () => undefined);
    child.stdin?.write("one\n");
    expect(await new Promise((resolve) => child.on("close", (...values) => resolve(values)))).toEqual([
      null,
      "SIGABRT",
    ]);
    await expect(deck.finish()).rejects.toThrow(ScriptExhausted);
  });

  test("match.ignore reaches what a spawn is made of", async () => {
    const store = await recorded(async (spawn) => listen(spawn("echo", ["one"], { cwd: tmpdir() })).end, {
      match: { ignore: ["/argv/0", "/cwd"] },
    });
    expect(await again(store, async (spawn) => listen(spawn("echo", ["two"])).end)).toContainEqual(["stdout", "one\n"]);
  });
});

describe("more than one child", () => {
  test("at the same time, each says its own", async () => {
    const { seen } = await twice(async (spawn) => {
      const [first, second] = [echo(spawn), echo(spawn)];
      const [one, two] = [listen(first), listen(second)];
      await Promise.all([said(first, "ready\n"), said(second, "ready\n")]);
      second.stdin?.write("b\n");
      await said(second, "B\n");
      first.stdin?.write("a\n");
      await said(first, "A\n");
      first.stdin?.end("bye\n");
      second.stdin?.end("bye\n");
      return [await one.end, await two.end];
    });
    expect(seen).toMatchObject([
      expect.arrayContaining([["stdout", "A\n"]]),
      expect.arrayContaining([["stdout", "B\n"]]),
    ]);
  });

  test("in lanes, whichever is first", async () => {
    const program =
      (names: string[]): Program<unknown> =>
      async (_spawn, deck) => {
        const real = deck.mode === "replay" ? never : nodeSpawn;
        const runs = names.map((name) => [name, talking(name)(tapeSpawn(deck.lane(name), real), deck)] as const);
        const ends = await Promise.all(runs.map(async ([name, run]) => [name, await run] as const));
        return Object.fromEntries(ends);
      };
    const store = await recorded(program(["a", "b"]));
    expect(await again(store, program(["b", "a"]))).toMatchObject({
      a: expect.arrayContaining([["stdout", "A\n"]]),
      b: expect.arrayContaining([["stdout", "B\n"]]),
    });
  });

  test("recorded where the deck extends, played where it was there", async () => {
    const store = await recorded(talking("one"));
    const more: Program<unknown> = async (spawn, deck) => [
      await talking("one")(spawn, deck),
      await listen(spawn("echo", ["new"])).end,
    ];
    const deck = await createDeck({ store, mode: "extend" });
    const real = ((command: string, ...rest: never[]) =>
      command === "echo" ? nodeSpawn(command, ...rest) : never(command)) as unknown as Spawn;
    const seen = await more(tapeSpawn(deck, real), deck);
    await deck.finish();
    expect(await again(store, more)).toEqual(seen);
  });

  test("behind a request whose body is still being read: its turn comes, and so do its errors", async () => {
    const server = createServer((_, response) => response.end("ok"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const program: Program<unknown> = async (spawn, deck) => {
      const body = new ReadableStream({
        async start(controller) {
          await sleep(50);
          controller.enqueue(new Uint8Array([1]));
          controller.close();
        },
      });
      const answer = tapeFetch(deck)(url, { method: "POST", body, duplex: "half" } as RequestInit);
      const child = listen(spawn("echo", ["hi"])).end;
      return [await (await answer).text(), await child];
    };
    const { store } = await twice(program);
    server.close();
    const deck = await createDeck({ store, mode: "replay" });
    await program(tapeSpawn(deck, never), deck);
    const asked = program(tapeSpawn(deck, never), deck);
    await expect(asked).rejects.toThrow(ScriptExhausted);
    await expect(deck.finish()).rejects.toThrow(/spawn echo hi/);
  });
});

describe("consumers of every kind", () => {
  const run = (
    spawn: Spawn,
    file: string,
    args: string[],
  ): Promise<{ code: number | null; out: string; err: string }> =>
    new Promise((resolve, reject) => {
      const child = spawn(file, args);
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (data) => (out += data));
      child.stderr.setEncoding("utf8").on("data", (data) => (err += data));
      child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
    });

  test("collect, as exec and execFile do", async () => {
    const { seen } = await twice(async (spawn) =>
      run(spawn, "sh", ["-c", "printf 'caf\\303\\251'; printf oops >&2; exit 9"]),
    );
    expect(seen).toEqual({ code: 9, out: "café", err: "oops" });
  });

  test("iterate, pause, read, pipe", async () => {
    const script: Line[] = [
      ["out", "one\n"],
      ["pause", 20],
      ["out", "two\n"],
      ["pause", 20],
      ["out", "three\n"],
      ["exit", 0],
    ];
    const { seen } = await twice(async (spawn) => {
      const iterated: string[] = [];
      for await (const chunk of spawn(...playing(script)).stdout) iterated.push(String(chunk));
      const paused = spawn(...playing(script)).stdout;
      let read = "";
      paused.on("readable", () => {
        for (let chunk = paused.read(3); chunk !== null; chunk = paused.read(3)) read += chunk;
      });
      await once(paused, "end");
      const first = spawn(...playing(script));
      const second = spawn("cat");
      first.stdout.pipe(second.stdin);
      return [iterated, read, await text(second.stdout)];
    });
    expect(seen).toEqual([["one\n", "two\n", "three\n"], "one\ntwo\nthree\n", "one\ntwo\nthree\n"]);
  });

  test("chain children by the pipe itself: what passes there is theirs alone", async () => {
    const { seen, text: stored } = await twice(async (spawn) => {
      const first = spawn("echo", ["hello"]);
      const second = spawn("tr", ["a-z", "A-Z"], { stdio: [first.stdout, "pipe", "pipe"] });
      return text(second.stdout as Readable);
    });
    expect(seen).toBe("HELLO\n");
    expect(stored).not.toContain('"text": "hello');
  });

  test("leave out what they do not need", async () => {
    await twice(async (spawn) => [
      await listen(spawn(process.execPath, { cwd: "test", stdio: ["ignore", "pipe", "ignore"] } as never)).end,
      await listen(spawn("echo $0 `printf hi`", { shell: true })).end,
      await once(spawn("true", [], { stdio: "ignore", detached: true }), "exit"),
    ]);
  });
});
