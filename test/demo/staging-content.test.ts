import { createHash } from "node:crypto";
import { gunzipSync, inflateSync } from "node:zlib";
import { Agent, request } from "undici";
import { expect, test } from "vitest";
import { useStaging } from "./staging-fixture.ts";

const staging = useStaging();

test("items are paged, late when asked, and have a HEAD", async () => {
  const pages = [];
  for (let page: number | null = 1; page !== null; ) {
    const body: { items: { id: number }[]; next: number | null; total: number } = await (
      await staging.fetch(`/v1/items?page=${page}`)
    ).json();
    pages.push(body.items.map((item) => item.id));
    page = body.next;
  }
  expect(pages).toEqual([
    [1, 2, 3],
    [4, 5, 6],
    [7, 8],
  ]);
  expect((await (await staging.fetch("/v1/items?page=9")).json()).items).toEqual([]);
  const start = performance.now();
  await staging.fetch("/v1/items?page=1&delay=80");
  expect(performance.now() - start).toBeGreaterThan(75);
  const head = await staging.fetch("/v1/items?page=1", { method: "HEAD" });
  const whole = await (await staging.fetch("/v1/items?page=1")).text();
  expect([head.headers.get("content-length"), await head.text()]).toEqual([String(whole.length), ""]);
  for (const bad of ["x", "-1", "1.5", "", "1e3"]) {
    expect((await staging.fetch(`/v1/items?page=${bad}`)).status).toBe(400);
  }
});

test("numbers are printed as Python prints them", async () => {
  expect(await (await staging.fetch("/v1/numbers")).text()).toBe(
    '{"ratio": 1.0, "tolerance": 1e-05, "account": 12345678901234567890, "offset": -0.0, "mean": 0.1, "city": "Z\\u00fcrich"}',
  );
});

test("the avatar is a PNG that decodes, the same bytes on every platform", async () => {
  const response = await staging.fetch("/v1/avatar.png");
  expect(response.headers.get("content-type")).toBe("image/png");
  const png = Buffer.from(await response.arrayBuffer());
  expect(png.subarray(0, 8)).toEqual(Buffer.from("89504e470d0a1a0a", "hex"));
  const data = png.indexOf("IDAT");
  const lines = inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4)));
  const rows = Array.from({ length: 16 }, (_, y) => lines.subarray(y * 3, y * 3 + 3));
  expect(rows.every((row) => row[0] === 0)).toBe(true);
  const row = (y: number): string => rows[y]!.readUInt16BE(1).toString(2).padStart(16, "0");
  expect([row(1), row(5)]).toEqual(["0000011111100000", "0111100110011110"]);
  expect(png.length).toBe(134);
  expect(createHash("sha256").update(png).digest("hex").slice(0, 16)).toBe("72e91b3f3d14446c");
});

test("gzip is decoded by fetch and is gzip on the wire", async () => {
  const response = await staging.fetch("/v1/gzip");
  expect(response.headers.get("content-encoding")).toBe("gzip");
  const { title } = await response.json();
  const dispatcher = new Agent();
  const wire = await request(`${staging.server.url}/v1/gzip`, { dispatcher });
  const bytes = Buffer.from(await wire.body.arrayBuffer());
  expect(bytes.length).toBe(Number(wire.headers["content-length"]));
  expect(JSON.parse(gunzipSync(bytes).toString()).title).toBe(title);
  await dispatcher.close();
});

test("redirects go where they are told, as often as they are told", async () => {
  const before = staging.server.requests.length;
  const response = await staging.fetch("/v1/redirect?to=/v1/items%3Fpage%3D2&times=3");
  expect([response.redirected, response.url]).toEqual([true, `${staging.server.url}/v1/items?page=2`]);
  expect((await response.json()).page).toBe(2);
  expect(staging.server.requests.length - before).toBe(4);
  const manual = await staging.fetch("/v1/redirect", { redirect: "manual" });
  expect([manual.status, manual.headers.get("location")]).toEqual([302, "/v1/items"]);
  const escaped = await staging.fetch("/v1/redirect?to=/a%20%C3%BC%0D%0Ab", { redirect: "manual" });
  expect(escaped.headers.get("location")).toBe("/a%20%C3%BC%0D%0Ab");
  const kept = await staging.fetch("/v1/redirect?to=/v1/echo&status=307", { method: "POST", body: "again" });
  expect(await kept.json()).toMatchObject({ method: "POST", text: "again" });
  expect((await staging.fetch("/v1/redirect?status=200")).status).toBe(400);
  await expect(staging.fetch("/v1/redirect?times=30")).rejects.toThrow("fetch failed");
});

test("cached answers 304 to its own tag", async () => {
  const first = await staging.fetch("/v1/cached");
  const etag = first.headers.get("etag")!;
  expect(first.status).toBe(200);
  const second = await staging.fetch("/v1/cached", { headers: { "if-none-match": etag } });
  expect([second.status, await second.text(), second.headers.get("etag")]).toEqual([304, "", etag]);
  expect((await staging.fetch("/v1/cached", { headers: { "if-none-match": '"old"' } })).status).toBe(200);
});

test("empty has no body", async () => {
  const response = await staging.fetch("/v1/empty");
  expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "0", ""]);
});

test("echo tells what it was sent, whatever kind of body", async () => {
  const echo = async (
    body: NonNullable<RequestInit["body"]> | null,
    init: RequestInit = {},
  ): Promise<Record<string, unknown>> => (await staging.fetch("/v1/echo", { method: "POST", body, ...init })).json();
  const form = new FormData();
  form.set("file", new Blob(["hi"]), "hi.txt");
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from("in "));
      controller.enqueue(Buffer.from("pieces"));
      controller.close();
    },
  });
  expect(await echo("grüß")).toMatchObject({ contentType: "text/plain;charset=UTF-8", length: 6, text: "grüß" });
  expect(await echo(new URLSearchParams({ a: "1 2" }))).toMatchObject({ text: "a=1+2" });
  expect(await echo(new Blob([new Uint8Array([255, 0])]))).toMatchObject({ length: 2, text: null, contentType: null });
  expect((await echo(form)).text).toContain('filename="hi.txt"');
  expect(await echo(stream, { duplex: "half" } as RequestInit)).toMatchObject({ text: "in pieces" });
  expect(await echo(null)).toMatchObject({ length: 0, text: "" });
  expect(await echo("x", { method: "DELETE" })).toMatchObject({
    method: "DELETE",
    sha256: createHash("sha256").update("x").digest("hex"),
  });
});

test("upload says what it took", async () => {
  const bytes = new Uint8Array(3 << 20).fill(7);
  const response = await staging.fetch("/v1/upload", { method: "PUT", body: bytes });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  expect(response.status).toBe(201);
  const file = await response.json();
  expect(file).toEqual({ id: expect.stringMatching(/^file_/), size: bytes.length, sha256 });
  expect(response.headers.get("location")).toBe(`/v1/upload/${file.id}`);
});
