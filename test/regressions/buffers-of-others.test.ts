import { expect, test } from "vitest";
import { createDeck, tapeFetch } from "wiretape";
import "../support/settled.ts";

/** Recording took the memory of others away: Node's shared pool, and chunks that a given fetch uses again. */
function streaming(...chunks: Uint8Array[]): typeof globalThis.fetch {
  const answer = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  return async () => new Response(answer());
}

const record = () => createDeck({ mode: "record" });

test("chunks that are Node Buffers leave Node's pool alone", async () => {
  const deck = await record();
  const fetch = tapeFetch(deck, streaming(Buffer.from("one "), Buffer.from("two")));
  expect(await (await fetch("http://localhost/")).text()).toBe("one two");
  expect(Buffer.from("the pool is still there").toString()).toBe("the pool is still there");
  expect((await deck.finish()).recorded).toBe(1);
  expect(deck.cassette?.tracks[0]).toMatchObject({ response: { body: [{ text: "one " }, { text: "two" }] } });
});

test("a chunk that a given fetch hands out twice is still its own", async () => {
  const deck = await record();
  const fetch = tapeFetch(deck, streaming(new TextEncoder().encode("again")));
  for (let i = 0; i < 2; i++) expect(await (await fetch("http://localhost/")).text()).toBe("again");
  await deck.finish();
});

test("an upload that is written into the same buffer again is recorded as it went out", async () => {
  const deck = await record();
  const fetch = tapeFetch(deck, async (_, init) => new Response(await new Response(init?.body ?? null).text()));
  const shared = Buffer.alloc(3);
  async function* pieces() {
    for (const text of ["aaa", "bbb"]) {
      shared.write(text);
      yield shared;
    }
  }
  const init = { method: "POST", body: pieces() as unknown as ReadableStream, duplex: "half" };
  await (await fetch("http://localhost/", init)).text();
  await deck.finish();
  expect(deck.cassette?.tracks[0]).toMatchObject({ request: { body: { text: "aaabbb" } } });
});

test("a chunk that is no bytes fails as a read, and says so", async () => {
  const deck = await record();
  const fetch = tapeFetch(deck, streaming("text" as never));
  const response = await fetch("http://localhost/");
  await expect(response.text()).rejects.toThrow("A chunk of the response's body is no Uint8Array.");
  await deck.finish();
});
