import { expect } from "vitest";
import { type Cassette, createDeck, type Deck, memoryStore, parseCassette } from "wiretape";
import type { AnyLanguageModel, ModelVersion } from "wiretape/model";
import { textIn } from "../../support/twice.ts";

export interface Asked {
  readonly prompt: unknown;
  readonly abortSignal?: AbortSignal;
  readonly [option: string]: unknown;
}

/** What a model made by hand does; what it was asked with is kept. */
export interface HandMade {
  readonly version?: ModelVersion;
  readonly provider?: string;
  readonly modelId?: string;
  readonly supportedUrls?: AnyLanguageModel["supportedUrls"];
  readonly generate?: (options: Asked, call: number) => unknown;
  readonly stream?: (options: Asked, call: number) => unknown;
}

export interface HandMadeModel extends AnyLanguageModel {
  readonly asked: Asked[];
  doGenerate(options: Asked): Promise<object & Record<string, unknown>>;
  doStream(options: Asked): Promise<{ stream: ReadableStream<unknown> } & Record<string, unknown>>;
}

export function handMade({
  version = "v3",
  provider = "hand.made",
  modelId = "model/1",
  supportedUrls = {},
  generate,
  stream,
}: HandMade): HandMadeModel {
  const asked: Asked[] = [];
  return {
    specificationVersion: version,
    provider,
    modelId,
    supportedUrls,
    asked,
    doGenerate: async (options) => (await generate?.(options, asked.push(options))) as object & Record<string, unknown>,
    doStream: async (options) =>
      (await stream?.(options, asked.push(options))) as { stream: ReadableStream<unknown> } & Record<string, unknown>,
  };
}

/** A prompt of one message. */
export const ask = (text: string): Asked => ({
  prompt: [{ role: "user", content: [{ type: "text", text }] }],
});

/** A stream that makes each part when it is asked for one; what is thrown breaks it. */
export function streamOf(
  parts: Iterable<unknown> | AsyncIterable<unknown>,
  onCancel?: (reason: unknown) => void,
): ReadableStream<unknown> {
  const items =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : (parts as Iterable<unknown>)[Symbol.iterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const step = await items.next();
        if (step.done === true) controller.close();
        else controller.enqueue(step.value);
      },
      cancel: (reason) => onCancel?.(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reads a stream to its end; what breaks it comes as the last item. */
export async function partsOf(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  try {
    for await (const part of stream) parts.push(part);
  } catch (error) {
    parts.push({ broke: error });
  }
  return parts;
}

/** The chain of causes of an error, itself first; of errors that hold several, all of them. */
export function chain(error: unknown): unknown[] {
  const all: unknown[] = [];
  const visit = (one: unknown): void => {
    if (one === undefined || one === null || all.length > 20) return;
    all.push(one);
    visit((one as Error).cause);
    for (const inner of (one as { errors?: unknown[] }).errors ?? []) visit(inner);
  };
  visit(error);
  return all;
}

/** Runs a program on a deck that records, then on one that replays; it must see the same. */
export async function both<T>(
  program: (deck: Deck, phase: "record" | "replay") => Promise<T>,
): Promise<{ seen: T; cassette: Cassette; text: string }> {
  const store = memoryStore();
  const recorder = await createDeck({ store, mode: "record" });
  const seen = await program(recorder, "record");
  await recorder.finish();
  const player = await createDeck({ store, mode: "replay" });
  expect(await program(player, "replay")).toEqual(seen);
  await player.finish();
  const text = await textIn(store);
  return { seen, cassette: parseCassette(text), text };
}
