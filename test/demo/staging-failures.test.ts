import { expect, test } from "vitest";
import { chunksOf, codeOf, textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging({ paceMs: 10 });

test("flaky fails twice, then answers; each key for itself", async () => {
  const statuses = async (path: string, times: number): Promise<number[]> => {
    const seen: number[] = [];
    for (let i = 0; i < times; i++) seen.push((await staging.fetch(path)).status);
    return seen;
  };
  expect(await statuses("/v1/flaky", 4)).toEqual([500, 500, 200, 200]);
  expect(await statuses("/v1/flaky?key=a&fail=1", 2)).toEqual([500, 200]);
  expect(await statuses("/v1/flaky?key=b&fail=0", 1)).toEqual([200]);
  expect(await (await staging.fetch("/v1/flaky?key=a&fail=1")).json()).toEqual({ ok: true, attempt: 3 });
});

test("error answers with the status that is asked for", async () => {
  const response = await staging.fetch("/v1/error/503");
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    error: { code: "service_unavailable", message: "This route always answers 503 Service Unavailable." },
  });
  expect((await staging.fetch("/v1/error/429")).headers.get("retry-after")).toBe("1");
  for (const bad of ["200", "600", "x", "499"]) expect((await staging.fetch(`/v1/error/${bad}`)).status).toBe(400);
});

test("slow keeps its head back", async () => {
  const start = performance.now();
  const response = await staging.fetch("/v1/slow?ms=60");
  expect(performance.now() - start).toBeGreaterThan(55);
  expect(await response.json()).toEqual({ waitedMs: 60 });
});

test.each([0, 1, 24, 67, 5000])("torn breaks after %i bytes", async (after) => {
  const response = await staging.fetch(`/v1/torn?after=${after}`);
  expect(Number(response.headers.get("content-length"))).toBeGreaterThan(after);
  const { chunks, code } = await chunksOf(response);
  expect(Buffer.concat(chunks).length).toBe(after);
  expect(code).toBe("UND_ERR_SOCKET");
});

test("reset breaks before the head", async () => {
  const before = staging.server.requests.length;
  expect(await staging.fetch("/v1/reset").catch(codeOf)).toBe("ECONNRESET");
  expect(staging.server.requests.length - before).toBe(1);
});

test("sse-torn breaks within an event", async () => {
  const { chunks, code } = await chunksOf(await staging.fetch("/v1/sse-torn"));
  expect(chunks.map(textOf)).toEqual(['data: {"step":1}\n\n', 'data: {"step":2}\n\n', 'data: {"st']);
  expect(code).toBe("UND_ERR_SOCKET");
});

test("hang never answers", async () => {
  const controller = new AbortController();
  const outcome = staging.fetch("/v1/hang", { signal: controller.signal }).catch((error) => error.name);
  const first = await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 100, "nothing"))]);
  expect(first).toBe("nothing");
  controller.abort();
  expect(await outcome).toBe("AbortError");
});
