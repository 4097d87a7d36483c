import { APICallError } from "@ai-sdk/provider";
import { generateText, RetryError, streamText } from "ai";
import { expect, test } from "vitest";
import { openDeck } from "wiretape";
import { tapeModel } from "wiretape/model";
import "../support/settled.ts";

test("the example that was written by hand answers the AI SDK, whole, streamed, and with an overload to retry", async () => {
  const deck = await openDeck("cassettes/model.cassette.json", { mode: "replay" });
  const model = tapeModel(deck, (): never => expect.fail("made")) as never;
  const whole = await generateText({ model, prompt: "One plus one?" });
  expect(whole.text).toBe("2");
  expect(whole.totalUsage).toMatchObject({ inputTokens: 4, outputTokens: 1 });
  expect(whole.response.timestamp).toEqual(new Date("2026-11-30T21:00:00.000Z"));
  expect(await streamText({ model, prompt: "Count." }).text).toBe("1, 2");
  const failure = await generateText({ model, prompt: "Are you there?" }).catch((error: unknown) => error);
  expect(RetryError.isInstance(failure)).toBe(true);
  const { errors } = failure as RetryError;
  expect(errors).toHaveLength(3);
  expect(APICallError.isInstance(errors[0])).toBe(true);
  expect(errors[0]).toMatchObject({ statusCode: 529, isRetryable: true });
  await deck.finish();
});
