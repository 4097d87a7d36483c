import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createDeck, memoryStore, OptionInvalid, ReplayStalled, tapeFunction } from "wiretape";
import { tapeSpawn } from "wiretape/process";
import "../../support/settled.ts";
import { again, type Line, listen, never, type Program, playing, recorded, said, twice } from "./tape-spawn-twice.ts";

const staying: Line[] = [
  ["out", "up\n"],
  ["stay", 20_000],
];
const stubborn: Line[] = [
  ["on", "SIGTERM"],
  ["out", "up\n"],
  ["stay", 20_000],
];

/** Waits until the child is up, then kills it. */
const killing =
  (lines: readonly Line[], signals: readonly (NodeJS.Signals | number)[], between = 30): Program<unknown> =>
  async (spawn) => {
    const child = spawn(...playing(lines));
    const { end } = listen(child);
    await said(child, "up\n");
    const killed: boolean[] = [];
    for (const signal of signals) {
      killed.push(child.kill(signal as NodeJS.Signals));
      await sleep(between);
    }
    return [await end, killed, child.killed, child.exitCode, child.signalCode, child.kill()];
  };

describe("a child that is killed", () => {
  test.each([["SIGTERM"], ["SIGKILL"], [9]] as [NodeJS.Signals][])("by %s, where it was", async (signal) => {
    const { seen } = await twice(killing(staying, [signal]));
    expect(seen).toMatchObject([expect.anything(), [true], true, null, expect.stringMatching(/^SIG/), false]);
  });

  test("cleans up, and ends with a code of its own", async () => {
    const polite: Line[] = [["on exit", ["SIGINT", 7]], ...staying];
    const { seen, text } = await twice(killing(polite, ["SIGINT"]));
    expect(seen).toMatchObject([expect.anything(), [true], true, 7, null, false]);
    expect(text).toContain('"name": "kill", "signal": "SIGINT", "track": "t1"');
  });

  test("ignores SIGTERM, says so, and meets SIGKILL", async () => {
    const { seen } = await twice(killing(stubborn, ["SIGTERM", "SIGKILL"], 60));
    expect(seen).toMatchObject([
      expect.arrayContaining([["stdout", "SIGTERM\n"]]),
      [true, true],
      true,
      null,
      "SIGKILL",
      false,
    ]);
  });

  test("ignores SIGTERM without a word: the program has to go on to SIGKILL again", async () => {
    const deaf: Line[] = [["ignore", "SIGTERM"], ...staying];
    const program: Program<unknown> = async (spawn) => {
      const child = spawn(...playing(deaf));
      const { end } = listen(child);
      await said(child, "up\n");
      child.kill();
      await sleep(60);
      const survived = child.exitCode === null && child.signalCode === null;
      child.kill("SIGKILL");
      return [survived, await end];
    };
    const { seen } = await twice(program);
    expect(seen).toMatchObject([true, expect.arrayContaining([["exit", null, "SIGKILL"]])]);
  });

  test("ends at once where the program kills it earlier than it did", async () => {
    const script: Line[] = [
      ["out", "up\n"],
      ["bytes", 3],
      ["out", "more\n"],
      ["on exit", ["SIGTERM", 9]],
      ["out", "last\n"],
      ["stay", 20_000],
    ];
    const store = await recorded(async (spawn) => {
      const child = spawn(...playing(script));
      await said(child, "up\n");
      child.stdin.write("go\n");
      await said(child, "last\n");
      child.kill();
      await once(child, "close");
    });
    const early = await again(store, async (spawn) => {
      const child = spawn(...playing(script));
      const { end } = listen(child);
      await said(child, "up\n");
      child.kill();
      return end;
    });
    expect(early).toEqual([["spawn"], ["stdout", "up\n"], ["exit", null, "SIGTERM"], ["close", null, "SIGTERM"]]);
  });

  test("by another signal than it was ends by that one", async () => {
    const polite: Line[] = [["on exit", ["SIGTERM", 7]], ...staying];
    const store = await recorded(killing(polite, ["SIGTERM"]));
    expect(await again(store, killing(polite, ["SIGKILL"]))).toMatchObject([
      expect.anything(),
      [true],
      true,
      null,
      "SIGKILL",
      false,
    ]);
  });

  test("that ended by itself in the recording ends by the signal", async () => {
    const asking: Line[] = [
      ["out", "up\n"],
      ["bytes", 1],
      ["exit", 0],
    ];
    const store = await recorded(async (spawn) => {
      const child = spawn(...playing(asking));
      await said(child, "up\n");
      child.stdin.write("x");
      await once(child, "close");
    });
    expect(await again(store, killing(asking, ["SIGTERM"]))).toMatchObject([
      expect.anything(),
      [true],
      true,
      null,
      "SIGTERM",
      false,
    ]);
  });

  test("never, where it was: ReplayStalled says what is waited for", async () => {
    const store = await recorded(killing(staying, ["SIGTERM"]));
    const deck = await createDeck({ store, mode: "replay", stallAfterMs: 50 });
    const child = tapeSpawn(deck, never)(...playing(staying));
    const errors: unknown[] = [];
    child.on("error", (error) => errors.push(error));
    expect(await new Promise((resolve) => child.on("close", (...values) => resolve(values)))).toEqual([
      null,
      "SIGABRT",
    ]);
    expect(errors).toEqual([expect.any(ReplayStalled)]);
    await expect(deck.finish()).rejects.toThrow(/"name":"kill","signal":"SIGTERM"/);
  });

  test("by its limit of time, or by the signal of an abort", async () => {
    const { seen } = await twice(async (spawn) => [
      await listen(spawn(...playing(staying), { timeout: 400, killSignal: "SIGINT" })).end,
      await listen(spawn(...playing(staying), { signal: AbortSignal.timeout(400) })).end,
    ]);
    expect(seen).toMatchObject([
      expect.arrayContaining([["exit", null, "SIGINT"]]),
      expect.arrayContaining([
        ["exit", null, "SIGTERM"],
        ["error", expect.objectContaining({ name: "AbortError", code: "ABORT_ERR" })],
      ]),
    ]);
  });

  test("when it had ended already: nothing happens", async () => {
    const { seen } = await twice(async (spawn) => {
      const child = spawn(...playing([["exit", 5]]));
      await once(child, "close");
      return [child.kill(), child.kill("SIGKILL"), child.killed, child.exitCode, child.signalCode];
    });
    expect(seen).toEqual([false, false, false, 5, null]);
  });
});

describe("what is left", () => {
  test("a child that runs when the deck is finished stays until it is killed", async () => {
    const program: Program<unknown> = async (spawn, deck) => {
      const child = spawn(...playing(staying));
      const { told, end } = listen(child);
      await said(child, "up\n");
      await deck.finish();
      await sleep(20);
      const before = [...told];
      child.kill();
      return [before, await end];
    };
    const { seen, text } = await twice(program);
    expect(seen).toMatchObject([[["spawn"], ["stdout", "up\n"]], expect.arrayContaining([["close", null, "SIGTERM"]])]);
    expect(text).toContain('"by": "client"');
  });

  test("output that was read to its end has an end, though the deck was finished before the child was", async () => {
    for (let run = 0; run < 3; run++) {
      const { seen } = await twice(async (spawn) =>
        text(
          spawn(
            ...playing([
              ["out", "all"],
              ["exit", 0],
            ]),
          ).stdout,
        ),
      );
      expect(seen).toBe("all");
    }
  });

  test("what the program does at one end does not hold the other", async () => {
    const { seen } = await twice(async (spawn, deck) => {
      const ask = tapeFunction(deck, "ask", async (what: string) => what);
      const child = spawn(
        ...playing([
          ["repeat", [3_000, "a line of some length\n"]],
          ["exit", 3],
        ]),
      );
      const closed = once(child, "close");
      const exited = once(child, "exit").then(() => ask("exit"));
      const read = text(child.stdout).then(() => [ask("stdout"), child.kill(), child.stdin.end()]);
      const heard = text(child.stderr).then(() => ask("stderr"));
      await Promise.all([exited, read, heard]);
      return closed;
    });
    expect(seen).toEqual([3, null]);
  });

  test.each(["(sleep 0.2; echo late) & exit 3", "sleep 0.2 & exit 3", "exec >&-; sleep 0.2; exit 3"])(
    "%s: what is done because of the first end is not waited for by the others",
    async (line) => {
      const { seen } = await twice(async (spawn, deck) => {
        const ask = tapeFunction(deck, "ask", async (what: string) => what);
        const child = spawn(line, { shell: "/bin/sh" });
        const { end } = listen(child);
        await Promise.race([once(child, "exit"), once(child.stdout as Readable, "end")]);
        return [await ask("ended"), await end];
      });
      expect(seen).toMatchObject(["ended", expect.arrayContaining([["close", 3, null]])]);
    },
  );

  test("an end that came behind a request of another boundary waits for it", async () => {
    const program: Program<unknown> = async (spawn, deck) => {
      const ask = tapeFunction(deck, "ask", async () => "answer");
      const child = spawn("sleep 0.3", { shell: true });
      const { told, end } = listen(child);
      await sleep(50);
      return [[...told], child.exitCode, await ask(), await end];
    };
    const { seen } = await twice(program);
    expect(seen).toMatchObject([[["spawn"]], null, "answer", expect.arrayContaining([["exit", 0, null]])]);
  });

  test("a grandchild that holds the output does not hold the exit", async () => {
    const { seen } = await twice(async (spawn) => {
      const child = spawn("sleep 1 & echo started", { shell: "/bin/sh" });
      return once(child, "exit");
    });
    expect(seen).toEqual([0, null]);
  });
});

describe("a spawn that fails", () => {
  test("by an error event, as it did", async () => {
    const { seen, text } = await twice(async (spawn) => {
      const child = spawn("./no/such/program", ["x"]);
      return [child.pid, await listen(child).end.catch(() => undefined), child.exitCode];
    });
    expect(seen).toMatchObject([
      undefined,
      [["error", { code: "ENOENT", syscall: "spawn ./no/such/program" }], [], ["close", expect.any(Number), null]],
      expect.any(Number),
    ]);
    expect(text).toContain('"code": "ENOENT"');
  });

  test("by an exception, as it did", async () => {
    const { seen, text } = await twice(async (spawn) => {
      try {
        return spawn("true", ["x".repeat(200_000)]).pid;
      } catch (error) {
        const { code, errno, syscall, message } = error as NodeJS.ErrnoException;
        return { code, errno, syscall, message };
      }
    });
    expect(seen).toMatchObject({ code: "E2BIG", syscall: "spawn", message: "spawn E2BIG" });
    expect(text).toContain('"code": "E2BIG"');
  });

  test("on wrong arguments takes no track, in either mode", async () => {
    await twice(async (spawn) => {
      expect(() => spawn("")).toThrow(/cannot be empty/);
      expect(() => spawn("true", [], { stdio: "none" as never })).toThrow(TypeError);
      expect(() => spawn("true", [], { killSignal: "SIGNONE" as never })).toThrow(/SIGNONE/);
      expect(() => spawn("true", [], { stdio: ["pipe", "pipe", "pipe", "ipc"] })).toThrow(OptionInvalid);
      return listen(spawn(...playing([["exit", 0]]))).end;
    });
  });

  test("to stay in a cassette refuses what passes beside the three streams", async () => {
    const deck = await createDeck({ store: memoryStore(), mode: "record" });
    const child = tapeSpawn(deck)("echo hidden >&3", { shell: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
    expect(await text(child.stdio[3] as Readable)).toBe("hidden\n");
    await expect(deck.finish()).rejects.toThrow(/talked over stdio\[3\]/);
  });
});
