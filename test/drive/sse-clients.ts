import { createParser } from "eventsource-parser";

/** Clients of a stream of JSON events that ends with a `done` event: one that is right, and three with a known bug. */
export type SseClient = (response: Response) => Promise<string>;

const textOf = (events: readonly { type: string; text?: string }[]): string => {
  if (events.at(-1)?.type !== "done") throw new Error("the stream ended before it was done");
  return events.map(({ text = "" }) => text).join("");
};

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  for await (const chunk of response.body ?? []) yield chunk as Uint8Array;
}

/** Splits lines where chunks end. */
const splitsChunks: SseClient = async (response) => {
  const decoder = new TextDecoder();
  const events: { type: string; text?: string }[] = [];
  for await (const chunk of chunksOf(response)) {
    for (const line of decoder.decode(chunk, { stream: true }).split("\n")) {
      if (line.startsWith("data: ")) events.push(JSON.parse(line.slice(6)));
    }
  }
  return textOf(events);
};

/** Decodes each chunk by itself: a character that is torn over two is lost. */
const losesCharacters: SseClient = async (response) => {
  let text = "";
  for await (const chunk of chunksOf(response)) text += new TextDecoder().decode(chunk);
  return textOf(eventsIn(text));
};

/** Takes what has come for all there is. */
const ignoresTheEnd: SseClient = async (response) => {
  const events = eventsIn(await response.text());
  return events.map(({ text = "" }) => text).join("");
};

const right: SseClient = async (response) => {
  const decoder = new TextDecoder();
  const events: { type: string; text?: string }[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) });
  for await (const chunk of chunksOf(response)) parser.feed(decoder.decode(chunk, { stream: true }));
  return textOf(events);
};

function eventsIn(text: string): { type: string; text?: string }[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.replace(/^data: /, "")));
}

export const clients = { splitsChunks, losesCharacters, ignoresTheEnd, right };
