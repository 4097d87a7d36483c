import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import "../../support/settled.ts";
import { fixture, type Line, listen, playing, said, twice } from "./tape-spawn-twice.ts";

const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i));

describe("a recorded child plays back", () => {
  const scripts: Record<string, Line[]> = {
    "that says something and ends": [
      ["out", "one\n"],
      ["exit", 0],
    ],
    "that says nothing": [["exit", 0]],
    "that fails": [
      ["err", "no\n"],
      ["exit", 42],
    ],
    "that crashes by a signal": [
      ["out", "half a li"],
      ["signal", "SIGSEGV"],
    ],
    "that says every byte, torn in a character": [
      ["out", everyByte],
      ["pause", 20],
      ["out", "\xc3"],
      ["pause", 20],
      ["out", "\xa9\n"],
      ["exit", 0],
    ],
    "that speaks on both streams in turn": [
      ["out", '{"n":1}\n'],
      ["pause", 20],
      ["err", "warning\n"],
      ["pause", 20],
      ["out", '{"n":2}\n{"n"'],
      ["pause", 20],
      ["err", "again\n"],
      ["pause", 20],
      ["out", ":3}\n"],
      ["exit", 1],
    ],
  };

  test.each(Object.entries(scripts))("%s", async (_name, script) => {
    const { seen } = await twice((spawn) => listen(spawn(...playing(script))).end);
    expect(seen.length).toBeGreaterThan(2);
  });

  test("that answers line by line, and ends as its input says", async () => {
    const { seen, text } = await twice(async (spawn) => {
      const child = spawn(process.execPath, [fixture("echo")]);
      const { end } = listen(child);
      for (const line of ["one", "err two", "three"]) {
        const heard = said(child, `${line.toUpperCase()}\n`, line.startsWith("err") ? "stderr" : "stdout");
        child.stdin.write(`${line}\n`);
        await heard;
      }
      child.stdin.end("bye\n");
      return end;
    });
    expect(seen.at(-1)).toEqual(["close", 4, null]);
    expect(text).toContain('"argv": ["<cwd>/test/fixtures/process/tape-echo.mjs"]');
    expect(text).toContain('"from": "stdin", "text": "err two\\n"');
  });

  test("that waits for the end of its input", async () => {
    const script: Line[] = [["eof"], ["out", "all read\n"], ["exit", 3]];
    const { seen, text } = await twice(async (spawn) => {
      const child = spawn(...playing(script));
      const { told, end } = listen(child);
      child.stdin.write("no newline");
      await sleep(30);
      const before = [...told];
      child.stdin.end();
      return [before, await end];
    });
    expect(seen[0]).toEqual([["spawn"]]);
    expect(text).toContain('"name": "end"');
  });

  test("that asks without a newline", async () => {
    const script: Line[] = [
      ["out", "Name? "],
      ["bytes", 4],
      ["out", "Sure? "],
      ["bytes", 5],
      ["exit", 0],
    ];
    await twice(async (spawn) => {
      const child = spawn(...playing(script));
      const { end } = listen(child);
      await said(child, "Name? ");
      child.stdin.write("Ada\n");
      await said(child, "Sure? ");
      child.stdin.write("y");
      return end;
    });
  });

  test("that says a megabyte to a reader that takes its time", async () => {
    const megabyte = "a line of thirty-two characters\n".repeat(32_768);
    const { seen } = await twice(async (spawn) => {
      const child = spawn(
        ...playing([
          ["repeat", [32_768, "a line of thirty-two characters\n"]],
          ["exit", 0],
        ]),
      );
      const end = new Promise((resolve) => child.on("close", (...values) => resolve(values)));
      while (child.stdout.readableLength === 0) await sleep(5);
      await sleep(50);
      const waiting = child.stdout.readableLength;
      const chunks: string[] = [];
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        chunks.push(chunk.toString());
        await sleep(1);
      }
      return { full: waiting <= 131_072 && waiting > 0, whole: chunks.join("") === megabyte, end: await end };
    });
    expect(seen).toEqual({ full: true, whole: true, end: [0, null] });
  });

  test("read line by line", async () => {
    const { seen } = await twice(async (spawn) => {
      const child = spawn(
        ...playing([
          ["out", "a\nb\xff\nc"],
          ["exit", 0],
        ]),
      );
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) lines.push(line);
      return lines;
    });
    expect(seen.length).toBe(3);
  });
});
