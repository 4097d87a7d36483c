import { expect, test } from "vitest";
import { createDeck, parseCassette } from "wiretape";
import { FakeMcpTransport, tapeMcp } from "wiretape/mcp";
import "../support/settled.ts";

test("a conversation of MCP in which somebody wrote nonsense plays on: what is no message is the transport's error", async () => {
  const nonsense = [null, 5, { method: "$/failed" }, { jsonrpc: "2.0", method: "$/transport", params: null }];
  const frames = [...nonsense, { jsonrpc: "2.0", method: "notifications/last" }].map((json) => ({
    from: "server",
    json,
  }));
  const text = JSON.stringify({ wiretape: 1, tracks: [{ id: "t1", kind: "mcp", frames, close: {} }] });
  const deck = await createDeck({ mode: "replay", cassette: parseCassette(text) });
  const transport = tapeMcp(deck, () => {
    throw new Error("a replay opens nothing");
  });
  const told: unknown[] = [];
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => told.push(message);
  transport.onerror = (error) => told.push(error.name);
  await transport.start();
  await closed;
  expect(told).toEqual(["TypeError", ...nonsense.slice(1), frames.at(-1)?.json]);
  await deck.finish();
});

test("a raw answer that JSON cannot say is refused when it is scripted: the client would wait for ever", () => {
  const transport = new FakeMcpTransport();
  expect(() => transport.script("tools/list", { raw: undefined })).toThrow(/raw that is undefined/);
  expect(() => transport.script("tools/list", undefined as never)).toThrow("is undefined; an answer");
  transport.script("tools/list", { raw: null });
});
