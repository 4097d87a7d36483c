import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../src/wire/bytes.ts";
import { encodeEvent, recogniseEvent, splitEvents } from "../../src/wire/sse.ts";

const split = (text: string): string[] => {
  const bytes = encodeUtf8(text);
  let start = 0;
  return splitEvents(bytes).map((end) => {
    const event = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, end));
    start = end;
    return event;
  });
};

describe("splitEvents", () => {
  it.each([
    ["data: a\n\ndata: b\n\n", ["data: a\n\n", "data: b\n\n"]],
    ["data: a\r\n\r\ndata: b\r\n", ["data: a\r\n\r\n", "data: b\r\n"]],
    ["data: a\r\rdata: b\r\r", ["data: a\r\r", "data: b\r\r"]],
    ["data: a\n\r\ndata: b\r\r\n", ["data: a\n\r\n", "data: b\r\r\n"]],
    ["\n\ndata: a\n\n\ndata: b", ["\n", "\n", "data: a\n\n", "\n", "data: b"]],
    ["", []],
  ])("cuts %j after each blank line", (text, events) => {
    expect(split(text)).toEqual(events);
  });
});

describe("recogniseEvent", () => {
  it.each<[string, ReturnType<typeof recogniseEvent>]>([
    ['data: {"a":1}\n\n', { event: { json: { a: 1 } } }],
    ["data: [DONE]\n\n", { event: { data: "[DONE]" } }],
    ["data: 1\n\n", { event: { data: "1" } }],
    [": OPENROUTER PROCESSING\n\n", { event: { comment: "OPENROUTER PROCESSING" } }],
    [":\n\n", { event: { comment: "" }, style: { sse: { space: false } } }],
    [
      'event: ping\ndata: {"type": "ping"}\n\n',
      { event: { event: "ping", json: { type: "ping" } }, style: { json: { colon: ": " } } },
    ],
    ['id: 7\nretry: 100\ndata: {"a":1   }\n\n', { event: { id: "7", retry: 100, json: { a: 1 } }, pad: 3 }],
    ["data: a\ndata: b\nid: 1\n\n", { event: { data: "a\nb", id: "1" } }],
    ["data:a\r\n\r\n", { event: { data: "a" }, style: { sse: { newline: "\r\n", space: false } } }],
    ["data: a\r\r", { event: { data: "a" }, style: { sse: { newline: "\r" } } }],
    ["data: a", { event: { data: "a", ended: "" } }],
    ["data: a\n", { event: { data: "a", ended: "\n" } }],
    ["event: x\r\ndata: a\r", { event: { event: "x", data: "a", ended: "\r" }, style: { sse: { newline: "\r\n" } } }],
    ["data:  a\n\n", { event: { data: " a" } }],
  ])("reads %j", (text, expected) => {
    expect(recogniseEvent(text)).toEqual(expected);
    expect(encodeEvent(expected!.event, expected!.style, expected!.pad)).toBe(text);
  });

  it("keeps the order of the fields", () => {
    expect(Object.keys(recogniseEvent("data: {}\nevent: a\n\n")!.event)).toEqual(["json", "event"]);
    expect(Object.keys(recogniseEvent("event: a\ndata: {}\n\n")!.event)).toEqual(["event", "json"]);
  });

  it.each([
    "\n",
    "data\n\n",
    "foo: bar\n\n",
    "comment: a\n\n",
    "json: {}\n\n",
    "ended: a\n\n",
    "data: a\nid:1\n\n",
    "data: a\r\ndata: b\n\n",
    "data: a\nid: 1\ndata: b\n\n",
    "id: 1\nid: 2\n\n",
    "retry: 01\n\n",
    "retry: soon\n\n",
    "\ufeffdata: a\n\n",
    "data: a\n\n\n",
    "",
  ])("leaves %j alone", (text) => {
    expect(recogniseEvent(text)).toBeUndefined();
  });

  it("never claims a text that it would not print again", () => {
    const bit = fc.constantFrom(
      ...'\n|\r\n|\r|:|: | |data|event|id|retry|comment|data: |data:|{}|[1]|12|{"a": 1.0}|x|é|\ufeff|ended'.split("|"),
    );
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 14 }), (bits) => {
        const text = bits.join("");
        const found = recogniseEvent(text);
        if (found !== undefined) expect(encodeEvent(found.event, found.style, found.pad)).toBe(text);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("encodeEvent", () => {
  it("never lets a value break out of its field", () => {
    expect(encodeEvent({ event: "a\ndata: b", data: "1\r\n2\r3" })).toBe(
      "event: a\nevent: data: b\ndata: 1\ndata: 2\ndata: 3\n\n",
    );
  });

  it("keeps a leading space that a reader would drop", () => {
    expect(encodeEvent({ data: " a" }, { sse: { space: false } })).toBe("data:  a\n\n");
  });
});
