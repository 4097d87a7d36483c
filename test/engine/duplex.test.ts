import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeContent } from "../../src/cassette/content.ts";
import type { SentChunk } from "../../src/cassette/draft.ts";
import { movedBy, planDuplex, plannedBytes } from "../../src/cassette/duplex-plan.ts";
import { frameSent, openFrames } from "../../src/cassette/frames.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import type { DuplexKind } from "../../src/engine/duplex-kind.ts";
import type { DuplexPlay, DuplexStep } from "../../src/engine/duplex-play.ts";
import type { DuplexRecording } from "../../src/engine/duplex-record.ts";
import { FrameMismatch, ReplayStalled, ScriptExhausted } from "../../src/errors.ts";
import { encodeUtf8 } from "../../src/wire/bytes.ts";
import { lineRoom, messageRoom, openRoom } from "./duplex-room.ts";

type Line = { from: "client" | "server" | "stdin" | "stdout" | "stderr"; bytes: Uint8Array };

async function record(
  kind: DuplexKind,
  lines: readonly Line[],
  call?: { name: string; before: number },
): Promise<Cassette> {
  const deck = await createDeck({ mode: "record" });
  const room = openRoom(deck, kind) as DuplexRecording;
  for (const [index, { from, bytes }] of lines.entries()) {
    if (call?.before === index) room.called(call.name);
    if (from === kind.client) room.sent(bytes);
    else room.received(from as "server", bytes);
  }
  room.closed(kind.kind === "process" ? { code: 0, signal: null } : {});
  await deck.finish();
  return deck.cassette as Cassette;
}

const text = (value: string): Uint8Array => encodeUtf8(value);
const say = (from: Line["from"], value: string): Line => ({ from, bytes: text(value) });

async function frameOf(room: DuplexPlay): Promise<string> {
  const step = await room.next().promise;
  return step.type === "frame" ? Buffer.from(step.bytes).toString("latin1") : step.type;
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
};

describe("what the program is handed", () => {
  test("comes when what it had sent before has come, and not before", async () => {
    const cassette = await record(lineRoom, [
      say("stdout", "ready\n"),
      say("stdin", "one\n"),
      say("stdout", "ONE\n"),
      say("stderr", "note\n"),
      say("stdin", "two\n"),
      say("stdout", "TWO\n"),
    ]);
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    await room.opened().promise;
    expect(await frameOf(room)).toBe("ready\n");
    const held = room.next();
    expect(await isSettled(held.promise)).toBe(false);
    room.sent(text("on"));
    expect(await isSettled(held.promise)).toBe(false);
    room.sent(text("e\nt"));
    expect(await held.promise).toMatchObject({ from: "stdout", bytes: text("ONE\n") });
    expect(await frameOf(room)).toBe("note\n");
    room.sent(text("wo\n"));
    expect(await frameOf(room)).toBe("TWO\n");
    expect(await frameOf(room)).toBe("close");
    await deck.finish();
  });

  test("waits for the end of the program's stream, or for a kill, where it came after one", async () => {
    const lines = [say("stdin", "no newline"), say("stdout", "read all\n")];
    const cassette = await record(lineRoom, lines, { name: "end", before: 1 });
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    const held = room.next();
    room.sent(text("no newline"));
    expect(await isSettled(held.promise)).toBe(false);
    room.called("end");
    expect(await held.promise).toMatchObject({ type: "frame" });
    expect(await frameOf(room)).toBe("close");
    await deck.finish();
  });

  test("an answer to a part of a line waits for as many bytes", async () => {
    const cassette = await record(lineRoom, [
      say("stdin", "ye"),
      say("stdout", "s?"),
      say("stdin", "s\n"),
      say("stdout", "ok"),
    ]);
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    const held = room.next();
    room.sent(text("y"));
    expect(await isSettled(held.promise)).toBe(false);
    room.sent(text("e"));
    expect(await held.promise).toMatchObject({ bytes: text("s?") });
    room.sent(text("s\n"));
    expect(await frameOf(room)).toBe("ok");
    expect(await frameOf(room)).toBe("close");
    await deck.finish();
  });

  test("holds the ids that this program gave, whatever it sends first", async () => {
    const call = (id: unknown, method: string): string => JSON.stringify({ id, method });
    const cassette = await record(messageRoom, [
      say("client", call(1, "a")),
      say("client", call(2, "b")),
      say("server", '{"id":2,"result":"B"}'),
      say("server", '{"id":1,"result":"A"}'),
    ]);
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, messageRoom) as DuplexPlay;
    room.sent(text(call("x", "b")));
    const held = room.next();
    expect(await isSettled(held.promise)).toBe(false);
    room.sent(text(call(7, "a")));
    expect(await held.promise).toMatchObject({ bytes: text('{"id":"x","result":"B"}') });
    expect(await frameOf(room)).toBe('{"id":7,"result":"A"}');
    expect(await frameOf(room)).toBe("close");
    await deck.finish();
  });
});

describe("what the program sends", () => {
  const two = [say("stdin", '{"a":1,"b":[1,2]}\n'), say("stdout", "ok\n"), say("stdin", "bye\n")];

  test("is compared as JSON where it is JSON", async () => {
    const deck = await createDeck({ cassette: await record(lineRoom, two) });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    room.sent(text('{ "b": [1, 2], "a": 1 }\n'));
    expect(await frameOf(room)).toBe("ok\n");
    room.sent(text("bye\n"));
    await deck.finish();
  });

  test("differs: FrameMismatch names the frame and the places, and fails the deck", async () => {
    const deck = await createDeck({ cassette: await record(lineRoom, two) });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    const wrong = (): void => room.sent(text('{"a":1,"b":[1,3]}\n'));
    expect(wrong).toThrow(FrameMismatch);
    expect(wrong).toThrow(/frame 1[\s\S]*track t1[\s\S]*\/frame\/b\/1: recorded 2, now 3/);
    await expect(deck.finish()).rejects.toThrow(FrameMismatch);
  });

  test("may differ where match.ignore says so", async () => {
    const cassette = { ...(await record(lineRoom, two)), match: { ignore: ["/frame/b"] } };
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    room.sent(text('{"a":1,"b":[1,3]}\n'));
    expect(await frameOf(room)).toBe("ok\n");
    await deck.finish();
  });

  test("is more than was recorded: ScriptExhausted", async () => {
    const deck = await createDeck({ cassette: await record(lineRoom, two) });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    room.sent(text('{"a":1,"b":[1,2]}\nbye\n'));
    expect(() => room.sent(text("again\n"))).toThrow(ScriptExhausted);
    await expect(deck.finish()).rejects.toThrow(
      /"again\\n" as its frame 3, and all 2 of its recorded frames have come/,
    );
  });

  test("never comes: ReplayStalled says what is waited for", async () => {
    const deck = await createDeck({ cassette: await record(lineRoom, two), stallAfterMs: 30 });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    await expect(room.next().promise).rejects.toThrow(ReplayStalled);
    await expect(deck.finish()).rejects.toThrow(/waits for the program to send frame 1: {"a":1,"b":\[1,2\]}/);
  });

  test("is the recorded one where it holds a secret", async () => {
    const lines = [say("stdin", '{"password":"hunter2hunter2"}\n'), say("stdout", "ok\n")];
    const cassette = await record(lineRoom, lines);
    expect(JSON.stringify(cassette)).not.toContain("hunter2");
    const deck = await createDeck({ cassette });
    const room = openRoom(deck, lineRoom) as DuplexPlay;
    room.sent(text('{"password":"correct-horse-9"}\n'));
    expect(await frameOf(room)).toBe("ok\n");
    expect(() => room.sent(text("my password: correct-horse-9\n"))).toThrow(/^(?![\s\S]*correct-horse)/);
    await expect(deck.finish()).rejects.toThrow(ScriptExhausted);
  });
});

test("a play that is finished while the program waits says so, and rejects nothing", async () => {
  const cassette = await record(lineRoom, [say("stdin", "x\n"), say("stdout", "y\n")]);
  const deck = await createDeck({ cassette });
  const room = openRoom(deck, lineRoom) as DuplexPlay;
  const held = room.next();
  await deck.finish();
  expect(await held.promise).toEqual({ type: "finished" } satisfies DuplexStep);
});

const chunks = (senders: readonly SentChunk["from"][]): fc.Arbitrary<SentChunk[]> =>
  fc
    .array(
      fc.record({
        from: fc.constantFrom(...senders),
        later: fc.nat(3),
        bytes: fc.oneof(
          fc.uint8Array({ maxLength: 12 }),
          fc.json({ maxDepth: 1 }).map((json) => text(`${json}\n`)),
          fc.constantFrom("é", "{\n", "\n", '{"a":1}\n{"b"').map(text),
        ),
      }),
      { maxLength: 12 },
    )
    .map((list) => {
      let at = 0;
      return list.map(({ from, later, bytes }) => ({ from, bytes, at: (at += later) }));
    });

test("the plan of any conversation is what it was, chunk by chunk", () => {
  fc.assert(
    fc.property(fc.oneof(chunks(["stdin", "stdout", "stderr"]), chunks(["client", "server"])), (sent) => {
      const { frames, style } = frameSent(sent);
      const plan = planDuplex(frames, style, undefined);
      const reader = openFrames(frames, style);
      for (const chunk of plan) {
        const { from, at } = chunk;
        const bytes = plannedBytes(chunk, (index) => ({ bytes: encodeContent(frames[index]!, style) }));
        const { after: _, ...expected } = { after: undefined, ...reader.next() };
        expect({ from, at, bytes, ...(chunk.binary && { binary: true }) }).toEqual(expected);
      }
      expect(reader.next()).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test("cuts of a frame whose id became another lie where they lay: before it, behind it, and inside it", () => {
  const [before, after] = [text('{"id":"abc","x":1}'), text('{"id":"a-much-longer-one","x":1}')];
  const moved = movedBy(before, after);
  expect([0, 6, 7].map(moved)).toEqual([0, 6, 7]); // up to the first letter that differs
  expect([before.length, before.length - 3].map(moved)).toEqual([after.length, after.length - 3]);
  const inside = moved(9);
  expect(inside).toBeGreaterThanOrEqual(7);
  expect(inside).toBeLessThanOrEqual(after.length - '","x":1}'.length);
  const back = movedBy(after, before);
  for (let offset = 0; offset <= after.length; offset++) {
    expect(back(offset)).toBeLessThanOrEqual(before.length);
    if (offset > 0) expect(back(offset)).toBeGreaterThanOrEqual(back(offset - 1));
  }
});

test("any conversation plays back as it was, however the program tears what it writes", async () => {
  await fc.assert(
    fc.asyncProperty(
      chunks(["stdin", "stdout", "stderr"]),
      fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
      async (sent, tears) => {
        const cassette = await record(lineRoom, sent as Line[]);
        const deck = await createDeck({ cassette });
        const room = openRoom(deck, lineRoom) as DuplexPlay;
        const wanted = sent.filter(({ from }) => from !== "stdin");
        const written = Buffer.concat(sent.filter(({ from }) => from === "stdin").map(({ bytes }) => bytes));
        const got: Line[] = [];
        const reading = (async () => {
          for (let step = await room.next().promise; step.type === "frame"; step = await room.next().promise)
            got.push({ from: step.from, bytes: step.bytes });
        })();
        for (let from = 0; from < written.length; ) {
          const size = tears.next().value;
          room.sent(written.subarray(from, from + size));
          from += size;
          if (size === 5) await new Promise((resolve) => setImmediate(resolve));
        }
        await reading;
        expect(got).toEqual(wanted.map(({ from, bytes }) => ({ from, bytes: Uint8Array.from(bytes) })));
        await deck.finish();
      },
    ),
    { numRuns: 150 },
  );
});
