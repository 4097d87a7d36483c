import { expect, test } from "vitest";
import { chunksOf, textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging({ paceMs: 15 });

test("the export comes in four writes, one of which ends within a line", async () => {
  const response = await staging.fetch("/v1/export.ndjson");
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const { chunks } = await chunksOf(response);
  expect(chunks.length).toBe(4);
  expect(textOf(chunks[1]!)).toMatch(/^\{[^\n]*[^\n}]$/);
  const rows = textOf(Buffer.concat(chunks)).trimEnd().split("\n");
  expect(rows.map((row) => JSON.parse(row).id)).toEqual([1, 2, 3, 4]);
});

test("unicode is torn within a character", async () => {
  const { chunks } = await chunksOf(await staging.fetch("/v1/unicode"));
  expect(chunks.length).toBe(2);
  expect(textOf(chunks[0]!)).toContain("\ufffd");
  expect(textOf(Buffer.concat(chunks))).toBe("Grüße aus Köln, 你好, Здравствуйте, 👩🏽‍🚀!\n");
});

test("drip drops", async () => {
  const start = performance.now();
  const { chunks } = await chunksOf(await staging.fetch("/v1/drip?chunks=3&everyMs=30"));
  expect(chunks.map(textOf)).toEqual(["drop 1 of 3\n", "drop 2 of 3\n", "drop 3 of 3\n"]);
  expect(performance.now() - start).toBeGreaterThan(85);
  expect((await chunksOf(await staging.fetch("/v1/drip?chunks=0"))).chunks).toEqual([]);
});

test.each([0, 1, 2, 65_535, 65_536, 65_537, 3_000_000])("large sends %i bytes, always the same", async (size) => {
  const response = await staging.fetch(`/v1/large?bytes=${size}`);
  expect(response.headers.get("content-length")).toBe(String(size));
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.length).toBe(size);
  const again = Buffer.from(await (await staging.fetch(`/v1/large?bytes=${size}`)).arrayBuffer());
  expect(again.equals(bytes)).toBe(true);
  if (size > 65_540) expect(bytes.readUInt32BE(65_536)).toBe(65_536);
});

test("large is a mebibyte when nothing is said, and has a limit", async () => {
  expect((await (await staging.fetch("/v1/large")).arrayBuffer()).byteLength).toBe(1 << 20);
  expect((await staging.fetch("/v1/large?bytes=999999999")).status).toBe(400);
});
