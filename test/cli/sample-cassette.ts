import type { Cassette } from "../../src/cassette/schema.ts";
import { formatSealed } from "../../src/cassette/seal.ts";

const origin = "https://staging.example.com";

/** Three tracks: a JSON exchange, a watch stream that a POST drives and that breaks, and the POST. */
export const sample: Cassette = {
  wiretape: 1,
  recorded: {
    at: "2026-03-02T09:00:00.000Z",
    with: "wiretape/0.1.0",
    name: "checkout > pays by card",
    origins: [origin],
  },
  tracks: [
    {
      id: "t1",
      kind: "http",
      at: 0,
      request: { method: "GET", url: `${origin}/v1/items?page=1`, headers: [["accept", "*/*"]] },
      response: {
        at: 4,
        status: 200,
        reason: "OK",
        seen: "decoded",
        headers: [["content-type", "application/json"]],
        body: { json: { items: ["a", "b"] } },
      },
    },
    {
      id: "t2",
      kind: "http",
      at: 10,
      lane: "watch",
      request: { method: "GET", url: `${origin}/v1/watch` },
      response: {
        at: 3,
        status: 200,
        headers: [["content-type", "text/event-stream"]],
        body: [
          { at: 3, sse: { json: { type: "snapshot" } } },
          { at: 41, after: "t3", sse: { event: "run", json: { type: "run.admitted" } } },
          { joined: true, sse: { json: { type: "chunk", delta: "Grüße" } }, cuts: [[17, 46]] },
        ],
        end: {
          at: 60,
          error: {
            name: "TypeError",
            message: "terminated",
            cause: { name: "SocketError", message: "other side closed", code: "UND_ERR_SOCKET" },
          },
        },
      },
    },
    {
      id: "t3",
      kind: "http",
      at: 30,
      request: { method: "POST", url: `${origin}/v1/send`, body: { json: { text: "Hello" } } },
      response: { at: 9, status: 202, body: { json: { runId: "run_1" } } },
    },
  ],
};

/** The sample as it is recorded. */
export const sampleText: string = formatSealed(sample);
