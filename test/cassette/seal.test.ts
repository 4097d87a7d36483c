import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeContent } from "../../src/cassette/content.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Body, Cassette, Frame, Style, Track } from "../../src/cassette/schema.ts";
import {
  formatSealed,
  headDigest,
  sealCassette,
  trackDigest,
  trackState,
  trackStates,
} from "../../src/cassette/seal.ts";
import { CassetteInvalid } from "../../src/errors.ts";
import { encodeBase64 } from "../../src/wire/bytes.ts";
import { crc32 } from "../../src/wire/digest.ts";
import { cassettes } from "./arbitrary-cassette.ts";

// biome-ignore lint/suspicious/noExplicitAny: tracks of all kinds are changed by name
type Loose = Record<string, any>;
type Mapped = (frame: Frame, style: Style | undefined) => Frame;

/** The track with every frame of bytes replaced. */
function mapFrames(track: Track, map: Mapped): Track {
  const body = (body: Body | undefined, style: Style | undefined): Body | undefined =>
    body === undefined
      ? undefined
      : Array.isArray(body)
        ? body.map((f: Frame) => map(f, style))
        : map(body as Frame, style);
  const copy = structuredClone(track) as Loose;
  for (const side of ["request", "response"])
    if (copy[side]?.body) copy[side].body = body(copy[side].body, copy[side].style);
  for (const key of ["frames", "events"]) if (copy[key]) copy[key] = body(copy[key], copy.style);
  return copy as Track;
}

const bare = ({ json, line, sse, text, base64, file, value, style, pad, ...rest }: Frame): Frame => rest;

test("another form, style, note or white space changes no digest", () => {
  fc.assert(
    fc.property(cassettes, (cassette) => {
      for (const track of cassette.tracks) {
        const asBase64 = mapFrames(track, (frame, style) =>
          frame.value !== undefined || frame.file !== undefined
            ? frame
            : { ...bare(frame), base64: encodeBase64(encodeContent(frame, style)) },
        ) as Loose;
        for (const place of [
          asBase64,
          asBase64.request,
          asBase64.response,
          asBase64.call,
          asBase64.fault,
          asBase64.response?.end,
        ])
          if (place) place.note = "a remark";
        for (const message of [asBase64.request, asBase64.response]) if (message) message.decoded = { text: "a view" };
        asBase64.style = undefined;
        expect(trackDigest(asBase64 as Track)).toBe(trackDigest(track));
      }
    }),
    { numRuns: 150 },
  );
});

test("a byte, a header, a status, a gate, a boundary of chunks do change it", () => {
  const track = (change: object = {}, frame: object = {}): Track => ({
    id: "t1",
    kind: "http",
    request: { method: "GET", url: "/" },
    response: { status: 200, headers: [["a", "b"]], body: [{ at: 1, text: "ab", ...frame }], ...change },
  });
  const original = trackDigest(track());
  const changes: [object, object?][] = [
    [{ status: 201 }],
    [{ headers: [["a", "B"]] }],
    [
      {
        headers: [
          ["a", "b"],
          ["a", "b"],
        ],
      },
    ],
    [{ after: "start" }],
    [{ end: { by: "client" } }],
    [{}, { text: "aB" }],
    [{}, { at: 2 }],
    [{}, { cuts: [[1, 1]] }],
    [{}, { after: "start" }],
  ];
  for (const [change, frame] of changes)
    expect(trackDigest(track(change, frame)), JSON.stringify([change, frame])).not.toBe(original);
});

test("the digest of a sidecar is that of its bytes", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const track = (body: Body): Track => ({
    id: "t1",
    kind: "http",
    request: { method: "PUT", url: "/", body },
    end: { at: 1 },
  });
  expect(trackDigest(track({ file: { path: "a.files/x", sha256, size: 3 } }))).toBe(
    trackDigest(track({ base64: "AQID" })),
  );
});

test("keys of an environment or of a pattern that look like ours count", () => {
  const spawn = (env: Record<string, string>): Track => ({
    id: "t1",
    kind: "process",
    open: { command: "x", env },
    close: { code: 0 },
  });
  expect(trackDigest(spawn({ note: "a" }))).not.toBe(trackDigest(spawn({ note: "b" })));
  const gated = (note: string): Track => ({ ...spawn({}), after: { note } });
  expect(trackDigest(gated("a"))).not.toBe(trackDigest(gated("b")));
});

test("recorded, edited, authored", () => {
  const call = (id: string, value: number): Track => ({ id, kind: "function", call: { name: "f" }, result: { value } });
  const sealed = sealCassette({ wiretape: 1, tracks: [call("t1", 1), call("t2", 1)] });
  const edited: Cassette = { ...sealed, tracks: [call("t1", 1), call("t2", 2), call("constructor", 3)] };
  expect([...trackStates(edited)]).toEqual([
    ["t1", "recorded"],
    ["t2", "edited"],
    ["constructor", "authored"],
  ]);
  expect(trackState(call("t1", 1), undefined)).toBe("authored");
});

test("the head covers match, vars and the order of the tracks, not notes", () => {
  const cassette: Cassette = { wiretape: 1, match: { order: "strict" }, vars: { a: 1 }, tracks: [] };
  const digest = headDigest(cassette);
  expect(headDigest({ ...cassette, note: "x", match: { order: "strict", note: "y" } })).toBe(digest);
  expect(headDigest({ ...cassette, match: { order: "identity" } })).not.toBe(digest);
  expect(headDigest({ ...cassette, vars: { a: 2 } })).not.toBe(digest);
  expect(headDigest({ ...cassette, tracks: [{ id: "t1", kind: "mcp" }] })).not.toBe(digest);
});

test("a sealed text is what formatCassette prints of it, with the checksum of all before the line of the seal", () => {
  fc.assert(
    fc.property(cassettes, (cassette) => {
      const text = formatSealed(cassette);
      const parsed = parseCassette(text);
      expect(formatCassette(parsed)).toBe(text);
      const before = text.slice(0, text.indexOf('\n  "seal": ') + 1);
      expect(parsed.seal?.crc32).toBe(crc32(before).toString(16).padStart(8, "0"));
      expect([...trackStates(parsed).values()].every((state) => state === "recorded")).toBe(true);
      expect(formatSealed(parsed)).toBe(text);
    }),
    { numRuns: 100 },
  );
});

test("no checksum vouches for a cassette that breaks the rules", () => {
  const broken: Cassette = { wiretape: 1, tracks: [{ id: "t1", kind: "http", request: { method: "GET", url: "/" } }] };
  expect(() => formatSealed(broken)).toThrow(CassetteInvalid);
  expect(broken).toEqual({ wiretape: 1, tracks: [{ id: "t1", kind: "http", request: { method: "GET", url: "/" } }] });
});
