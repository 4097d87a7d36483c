import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpTrack } from "wiretape";
import { parseCassette } from "wiretape";
import { type StagingServer, startStagingServer } from "../../../src/demo/staging-server.ts";
import { observe, seenError } from "../../support/observe.ts";
import { rawServer } from "../../support/raw-server.ts";
import { twice } from "../../support/twice.ts";

let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer();
});
afterAll(() => staging.close());

const at = (path: string): string => staging.url + path;

describe("what comes back is the same, to the byte and the chunk", () => {
  test.each([
    ["JSON", "/v1/items?page=1", { status: 200 }],
    ["NDJSON in torn writes", "/v1/export.ndjson", { status: 200 }],
    ["numbers that JavaScript would round", "/v1/numbers", { status: 200 }],
    ["characters torn over two writes", "/v1/unicode", { status: 200 }],
    ["a picture", "/v1/avatar.png", { status: 200 }],
    ["a large binary", "/v1/large?bytes=700000", { status: 200 }],
    ["gzip, as the program sees it", "/v1/gzip", { status: 200 }],
    ["no body", "/v1/empty", { status: 200, chunks: [] }],
    ["redirects", "/v1/redirect?to=/v1/items&times=3", { status: 200, redirected: true }],
    ["a JSON error", "/v1/error/503", { status: 503 }],
    ["an unknown route", "/nowhere", { status: 404 }],
    ["a slow head", "/v1/slow?ms=30", { status: 200 }],
    ["a slow body", "/v1/drip?chunks=5&everyMs=5", { status: 200 }],
    ["a body that breaks", "/v1/torn?after=100", { status: 200, error: { message: "terminated" } }],
    ["a connection reset before the head", "/v1/reset", { error: { message: "fetch failed" } }],
    ["an event stream that breaks inside an event", "/v1/sse-torn", { status: 200, error: { message: "terminated" } }],
  ])("%s", async (_, path, expected) => {
    const { recorded } = await twice((fetch) => observe(() => fetch(at(path))));
    expect(recorded).toMatchObject(expected);
  });

  test("HEAD, 204 and 304 have no body at all", async () => {
    const { recorded } = await twice(async (fetch) => {
      const head = await observe(() => fetch(at("/v1/items"), { method: "HEAD" }));
      const first = await fetch(at("/v1/cached"));
      await first.arrayBuffer();
      const etag = first.headers.get("etag") as string;
      const unchanged = await observe(() => fetch(at("/v1/cached"), { headers: { "if-none-match": etag } }));
      return { head, unchanged };
    });
    expect(recorded.head.chunks).toBeNull();
    expect(recorded.unchanged).toMatchObject({ status: 304, chunks: null });
  });

  test("a redirect that is not followed", async () => {
    const { recorded } = await twice((fetch) =>
      observe(() => fetch(at("/v1/redirect?to=/v1/items"), { redirect: "manual" })),
    );
    expect(recorded.status).toBe(302);
  });

  test("a refused connection and a name that does not resolve", async () => {
    const gone = await startStagingServer();
    await gone.close();
    const { recorded, text } = await twice(async (fetch) => ({
      refused: await observe(() => fetch(`${gone.url}/v1/items`)),
      unknown: await observe(() => fetch("http://name.invalid/")),
    }));
    expect(recorded.refused.error).toMatchObject({
      name: "TypeError",
      message: "fetch failed",
      cause: { code: "ECONNREFUSED" },
    });
    expect(recorded.unknown.error).toMatchObject({ cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) } });
    expect((parseCassette(text).tracks[0] as HttpTrack).fault?.cause?.code).toBe("ECONNREFUSED");
  });

  test("headers that are folded, repeated, empty, or in Latin-1; an odd reason; an odd status", async () => {
    const head = (lines: string): string => `HTTP/1.1 ${lines}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok`;
    const answers: Record<string, string> = {
      "/cookies": head(
        "200 OK\r\nSet-Cookie: a=; Path=/\r\nset-cookie: b=; HttpOnly\r\nX-Twice: 1\r\nx-twice: 2\r\nX-Empty:",
      ),
      "/latin1": head("200 OK\r\nx-name: caf\xe9"),
      "/reason": head("299 All is well, mostly"),
      "/none": head("200 "),
      "/999": head("999 Beyond"),
    };
    const server = await rawServer((path) => [answers[path] as string]);
    const { recorded } = await twice(
      async (fetch) => {
        const seen = [];
        for (const path of Object.keys(answers)) seen.push(await observe(() => fetch(server.url + path)));
        return seen;
      },
      { gone: server.close },
    );
    expect(recorded[0]?.headers?.filter(([name]) => name === "set-cookie")).toHaveLength(2);
    expect(recorded[2]).toMatchObject({ status: 299, statusText: "All is well, mostly" });
    expect(recorded[4]).toMatchObject({ status: 999, statusText: "Beyond" });
  });
});

describe("request bodies of every kind", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i);
  const kinds: [string, () => RequestInit][] = [
    ["text", () => ({ body: "zażółć" })],
    ["JSON", () => ({ body: '{"a": 1.0}', headers: { "content-type": "application/json" } })],
    ["bytes", () => ({ body: bytes })],
    ["a view of a larger buffer", () => ({ body: bytes.subarray(10, 20) })],
    ["an ArrayBuffer", () => ({ body: bytes.buffer.slice(0) })],
    ["a Blob with a type", () => ({ body: new Blob(["<p>"], { type: "text/html" }) })],
    ["URLSearchParams", () => ({ body: new URLSearchParams({ q: "a b", r: "é" }) })],
    [
      "FormData with a file",
      () => {
        const form = new FormData();
        form.append("name", "tape");
        form.append("file", new Blob([bytes]), "data.bin");
        return { body: form };
      },
    ],
    ["a stream", () => ({ body: new Blob(["one", "two"]).stream(), duplex: "half" }) as RequestInit],
    ["empty text", () => ({ body: "" })],
  ];

  test.each(kinds)("%s", async (_, init) => {
    const { recorded, text } = await twice(async (fetch) => {
      const response = await fetch(at("/v1/echo"), { method: "POST", ...init() });
      const { sha256, length } = (await response.json()) as { sha256: string; length: number };
      return { sha256, length };
    });
    expect(recorded.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(text).toContain('"method": "POST"');
  });

  test.each(kinds)("%s, in a Request", async (_, init) => {
    await twice(async (fetch) => {
      const response = await fetch(new Request(at("/v1/echo"), { method: "PUT", ...init() }));
      const { sha256, method } = (await response.json()) as { sha256: string; method: string };
      expect(method).toBe("PUT");
      return sha256;
    });
  });

  test("a body that differs is another request", async () => {
    const program = (text: string) => async (fetch: typeof globalThis.fetch) =>
      (await fetch(at("/v1/echo"), { method: "POST", body: text })).status;
    const { store } = await twice(program("one"));
    const { createDeck, tapeFetch } = await import("wiretape");
    const deck = await createDeck({ store, mode: "replay" });
    await expect(program("two")(tapeFetch(deck))).rejects.toMatchObject({ code: "unrecorded-request" });
    deck.expectViolation("unrecorded-request");
    await expect(program("one")(tapeFetch(deck))).resolves.toBe(200);
    await deck.finish();
  });

  test("what fetch refuses is refused alike, and makes no track", async () => {
    const { recorded, text } = await twice(async (fetch) => ({
      relative: await observe(() => fetch("/relative")),
      body: await observe(() => fetch(at("/v1/items"), { body: "x" })),
      method: await observe(() => fetch(at("/v1/items"), { method: "CONNECT" })),
      fine: await observe(() => fetch(at("/v1/items"))),
    }));
    expect(recorded.relative.error).toMatchObject({ name: "TypeError" });
    expect(parseCassette(text).tracks).toHaveLength(1);
  });
});

describe("a program that gives up", () => {
  test("before the head: the wait is recorded, and ends in the replay as the program ends it", async () => {
    const { recorded, text } = await twice((fetch) =>
      observe(() => fetch(at("/v1/hang"), { signal: AbortSignal.timeout(40) })),
    );
    expect(recorded.error).toMatchObject({ name: "TimeoutError" });
    expect(parseCassette(text).tracks[0]).toMatchObject({ end: { by: "client" } });
  });

  test("in the body, by its signal", async () => {
    const { recorded } = await twice(async (fetch) => {
      const controller = new AbortController();
      const response = await fetch(at("/v1/drip?chunks=50&everyMs=5"), { signal: controller.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const { value } = await reader.read();
      controller.abort(new Error("enough"));
      const error = await reader.read().then(
        () => undefined,
        (reason: unknown) => seenError(reason),
      );
      return { first: value?.length, error };
    });
    expect(recorded.error).toMatchObject({ message: "enough" });
  });

  test("by breaking out of the loop, or by never reading at all", async () => {
    await twice(async (fetch) => {
      let seen = 0;
      const response = await fetch(at("/v1/drip?chunks=50&everyMs=5"));
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        seen += chunk.length;
        break;
      }
      const untouched = await fetch(at("/v1/items"));
      return [seen, untouched.status];
    });
  });

  test("with a signal that was aborted before the call: nothing is recorded", async () => {
    const { text } = await twice((fetch) => observe(() => fetch(at("/v1/items"), { signal: AbortSignal.abort() })));
    expect(parseCassette(text).tracks).toHaveLength(0);
  });
});

test("the recorder never reads ahead of the program", async () => {
  const { createDeck, tapeFetch } = await import("wiretape");
  const deck = await createDeck({ mode: "record" });
  const response = await tapeFetch(deck)(at("/v1/large?bytes=64000000"));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const first = await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await reader.cancel();
  await deck.finish();
  const track = deck.cassette?.tracks[0] as HttpTrack;
  expect(first.value?.length).toBeGreaterThan(0);
  expect(track.response?.end).toMatchObject({ by: "client" });
  expect(JSON.stringify(track).length).toBeLessThan(4_000_000);
});

test("a recorded chunk is its own: a program that scribbles on it changes no later play", async () => {
  const { store } = await twice(async (fetch) => {
    const response = await fetch(at("/v1/avatar.png"));
    const copy = [];
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      copy.push(Buffer.from(chunk).toString("hex"));
      chunk.fill(0);
      structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] });
    }
    return copy;
  });
  const { again } = await import("../../support/twice.ts");
  const read = async (fetch: typeof globalThis.fetch): Promise<string> =>
    Buffer.from(await (await fetch(at("/v1/avatar.png"))).arrayBuffer()).toString("hex");
  const { replayed } = await again(store, read);
  expect((await again(store, read)).replayed).toBe(replayed);
});

test("concurrent requests each get their own answer", async () => {
  await twice(async (fetch) =>
    Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        observe(() => fetch(at("/v1/echo"), { method: "POST", body: i % 3 === 0 ? new Blob([`n${i}`]) : `n${i}` })),
      ),
    ),
  );
});

test("clone, text, json, blob and BYOB readers work on a replayed response", async () => {
  await twice(async (fetch) => {
    const response = await fetch(at("/v1/items"));
    const clone = response.clone();
    expect(clone.url).toBe(response.url);
    const [a, b] = await Promise.all([response.text(), clone.json()]);
    expect(JSON.parse(a)).toEqual(b);
    const binary = await fetch(at("/v1/avatar.png"));
    const reader = (binary.body as ReadableStream<Uint8Array>).getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint8Array(8));
    await reader.cancel();
    return [a, Buffer.from(value as Uint8Array).toString("hex"), (await (await fetch(at("/v1/gzip"))).blob()).size];
  });
});
