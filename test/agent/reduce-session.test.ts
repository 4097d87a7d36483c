import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMessageSession } from "../../src/agent/message-session.ts";
import { ReductionFault } from "../../src/agent/reduce-fault.ts";

const shell = (): UIMessage => ({ id: "msg_1", role: "assistant", metadata: { pai: 1 }, parts: [] });

/** What the SDK alone makes of the chunks, fed one by one; `undefined` where it refuses one. */
async function bySdk(chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      // Shows the parts that steps add, which the SDK does not emit by themselves.
      controller.enqueue({ type: "message-metadata", messageMetadata: {} });
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  try {
    for await (const copy of readUIMessageStream({
      message: shell(),
      stream,
      onError: () => undefined,
      terminateOnError: true,
    })) {
      last = copy;
    }
    return last;
  } catch {
    return undefined;
  }
}

const id = fc.constantFrom("a", "b");
const maybe = fc.option(fc.constantFrom({ openai: { n: 1 } }, { openai: { n: 2 } }), { nil: undefined });
const word = fc.constantFrom("x", " ", '{"k":', '"v"}', "1", "é", "");
const chunk = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("text-delta" as const),
      id,
      delta: word,
      providerMetadata: maybe,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("reasoning-delta" as const),
      id,
      delta: word,
      providerMetadata: maybe,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant("tool-input-delta" as const), toolCallId: id, inputTextDelta: word }),
  },
  fc.record({ type: fc.constantFrom("text-start" as const, "reasoning-start" as const), id }),
  fc.record({ type: fc.constantFrom("text-end" as const, "reasoning-end" as const), id }),
  fc.record({
    type: fc.constant("tool-input-start" as const),
    toolCallId: id,
    toolName: fc.constantFrom("t", "u"),
    dynamic: fc.boolean(),
  }),
  fc.record({
    type: fc.constant("tool-input-available" as const),
    toolCallId: id,
    toolName: fc.constant("t"),
    input: fc.constant({ k: "v" }),
  }),
  fc.record({ type: fc.constant("tool-output-available" as const), toolCallId: id, output: fc.constant({ o: [1] }) }),
  fc.record({
    type: fc.constant("data-note" as const),
    id: fc.option(id, { nil: undefined }),
    data: fc.integer(),
    transient: fc.boolean(),
  }),
  fc.constantFrom<UIMessageChunk>(
    { type: "start-step" },
    { type: "finish-step" },
    { type: "start", messageId: "msg_1", messageMetadata: { more: true } },
    { type: "finish", messageMetadata: { end: true } },
    { type: "abort" },
  ),
) as fc.Arbitrary<UIMessageChunk>;
/** Everything that deltas need is open, so that many programs are valid ones. */
const opening: UIMessageChunk[] = [
  { type: "start", messageId: "msg_1" },
  ...["a", "b"].flatMap((each): UIMessageChunk[] => [
    { type: "text-start", id: each },
    { type: "reasoning-start", id: each },
    { type: "tool-input-start", toolCallId: each, toolName: "t" },
  ]),
];

test("a session is the SDK fed every chunk, wherever it is settled", async () => {
  let valid = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(chunk, fc.boolean()), { maxLength: 30 }), async (program) => {
      const session = createMessageSession(shell());
      for (const each of opening) session.push(each);
      let refused = false;
      for (const [each, settles] of program) {
        session.push(each);
        // Not awaited each time: batches may follow each other.
        if (settles) session.settle().catch(() => undefined);
      }
      const mine = await session.settle().catch((error: unknown) => {
        expect(error).toBeInstanceOf(ReductionFault);
        refused = true;
        return undefined;
      });
      const theirs = await bySdk([...opening, ...program.map(([each]) => each)]);
      expect(refused).toBe(theirs === undefined);
      expect(mine).toEqual(theirs);
      if (theirs !== undefined) valid++;
      session.close();
    }),
    { numRuns: 300 },
  );
  expect(valid).toBeGreaterThan(20);
});

test("each settle has exactly the chunks before it, and its message does not change any more", async () => {
  const session = createMessageSession(shell());
  session.push({ type: "text-start", id: "a" });
  session.push({ type: "text-delta", id: "a", delta: "one" });
  const first = session.settle();
  session.push({ type: "text-delta", id: "a", delta: " two" });
  const second = session.settle();
  expect((await first).parts).toMatchObject([{ text: "one" }]);
  expect((await second).parts).toMatchObject([{ text: "one two" }]);
  expect((await first).parts).toMatchObject([{ text: "one" }]);
  expect(await session.settle()).toBe(session.settled);
});

test("chunks are not written into, nor shared with the message", async () => {
  const session = createMessageSession(shell());
  const note = Object.freeze({ type: "data-note" as const, id: "n", data: Object.freeze({ a: 1 }) });
  session.push(note);
  session.push({ type: "data-note", id: "n", data: { a: 2 } });
  expect((await session.settle()).parts).toEqual([{ type: "data-note", id: "n", data: { a: 2 } }]);
  expect(note.data).toEqual({ a: 1 });
});

test("the SDK's error chunk says nothing of the message and ends nothing", async () => {
  const session = createMessageSession(shell());
  session.push({ type: "text-start", id: "a" });
  session.push({ type: "error", errorText: "told to the user" });
  session.push({ type: "text-delta", id: "a", delta: "on" });
  expect((await session.settle()).parts).toMatchObject([{ text: "on" }]);
});
