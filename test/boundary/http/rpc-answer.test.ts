import { describe, expect, test } from "vitest";
import { createDeck, memoryStore, tapeFetch } from "wiretape";
import { textIn } from "../../support/twice.ts";

type Answer = (body: string) => { chunks: string[]; headers: Record<string, string> };

/** Records what is answered to some bodies, and replays it to others. */
async function exchange(answer: Answer, recorded: readonly string[], replayed: readonly string[]): Promise<Response[]> {
  const store = memoryStore();
  const ask = (fetch: typeof globalThis.fetch, body: string): Promise<Response> =>
    fetch("https://rpc.example.com/", { method: "POST", headers: { "content-type": "application/json" }, body });
  const recording = await createDeck({ store, mode: "record" });
  const fetch = tapeFetch(recording, async (_, init) => {
    const { chunks, headers } = answer(String(init?.body));
    const bytes = new ReadableStream({
      start(out) {
        for (const chunk of chunks) out.enqueue(new TextEncoder().encode(chunk));
        out.close();
      },
    });
    return new Response(bytes, { headers });
  });
  for (const body of recorded) await (await ask(fetch, body)).text();
  await recording.finish();
  expect(await textIn(store)).toContain('"jsonrpc"');
  const deck = await createDeck({ store, mode: "replay" });
  const taped = tapeFetch(deck);
  const responses = await Promise.all(replayed.map((body) => ask(taped, body)));
  await deck.finish();
  return responses;
}

const json = { "content-type": "application/json" };

describe("JSON-RPC: an answer bears the id of this time", () => {
  test("in the style in which it was printed, with its length restated", async () => {
    const text = '{"jsonrpc": "2.0", "id": 7, "result": {"height": 1.0, "of": [7, "7"]}}';
    const [response] = await exchange(
      () => ({ chunks: [text], headers: { ...json, "content-length": String(text.length) } }),
      ['{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'],
      ['{"id":1234567,"params":[],"jsonrpc":"2.0","method":"eth_blockNumber"}'],
    );
    const live = '{"jsonrpc": "2.0", "id": 1234567, "result": {"height": 1.0, "of": [7, "7"]}}';
    expect(response?.headers.get("content-length")).toBe(String(live.length));
    expect(await response?.text()).toBe(live);
  });

  test("ids of any kind, and the same ones as they are", async () => {
    const echo: Answer = (body) => ({
      chunks: [JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: JSON.parse(body).params })],
      headers: json,
    });
    const ask = (id: unknown, params: unknown): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "echo", params });
    const responses = await exchange(
      echo,
      [ask(1, ["a"]), ask(2, ["b"]), ask("x", ["c"])],
      [ask("uuid-1", ["b"]), ask(2, ["a"]), ask("x", ["c"])],
    );
    expect(await Promise.all(responses.map((response) => response.json()))).toEqual([
      { jsonrpc: "2.0", id: "uuid-1", result: ["b"] },
      { jsonrpc: "2.0", id: 2, result: ["a"] },
      { jsonrpc: "2.0", id: "x", result: ["c"] },
    ]);
  });

  test("each in a batch, in whatever order the server answers", async () => {
    const batch = (...ids: number[]): string =>
      JSON.stringify(ids.map((id, i) => ({ jsonrpc: "2.0", id, method: "get", params: [i] })));
    const [response] = await exchange(
      () => ({
        chunks: ['[{"jsonrpc":"2.0","id":2,"result":"b"},{"jsonrpc":"2.0","id":1,"result":"a"}]'],
        headers: json,
      }),
      [batch(1, 2)],
      [batch(2, 1)],
    );
    expect(await response?.json()).toEqual([
      { jsonrpc: "2.0", id: 1, result: "b" },
      { jsonrpc: "2.0", id: 2, result: "a" },
    ]);
  });

  test("in events, however they were torn or printed", async () => {
    const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}';
    const spaced = '{"jsonrpc":"2.0",  "id":7,"result":{"text":"żółw"}}';
    const chunks = [
      `event: message\ndata: ${progress.slice(0, 70)}`,
      `${progress.slice(70)}\n\nda`,
      `ta: ${spaced}\n\n`,
    ];
    const ask = (id: number): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t", _meta: { progressToken: id } } });
    const [response] = await exchange(
      () => ({ chunks, headers: { "content-type": "text/event-stream" } }),
      [ask(7)],
      [ask(1007)],
    );
    const seen: string[] = [];
    for await (const chunk of response?.body ?? []) seen.push(new TextDecoder().decode(chunk));
    expect(seen.map((chunk) => chunk.slice(0, 3))).toEqual(["eve", seen[1]?.slice(0, 3), "ta:"]);
    expect(seen[1]).toMatch(/"progress":1\}\}\n\nda$/);
    expect(seen.join("")).toBe(
      `event: message\ndata: ${progress.replace("7", "1007")}\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 1007, result: { text: "żółw" } })}\n\n`,
    );
  });

  test("what is no JSON-RPC keeps its ids, and they count", async () => {
    const store = memoryStore();
    const deck = await createDeck({ store, mode: "record" });
    const body = (id: number): string => JSON.stringify({ version: "jsonrpc", id });
    const post = (id: number): RequestInit => ({ method: "POST", headers: json, body: body(id) });
    await tapeFetch(deck, async () => Response.json({ id: 1 }))("https://example.com/", post(1)).then((response) =>
      response.text(),
    );
    await deck.finish();
    const replay = await createDeck({ store, mode: "replay" });
    await expect(tapeFetch(replay)("https://example.com/", post(2))).rejects.toThrow(/\/body\/id/);
    await replay.finish("failed").catch(() => undefined);
  });
});
