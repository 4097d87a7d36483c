import { describe, expect, it } from "vitest";
import { CONTENT_KEYS, contentText, encodeContent } from "../../src/cassette/content.ts";
import type { Frame, Style } from "../../src/cassette/schema.ts";
import { CassetteInvalid, OptionInvalid } from "../../src/errors.ts";
import { decodeUtf8 } from "../../src/wire/bytes.ts";

const style: Style = { json: { colon: ": " }, sse: { space: false } };
const text = (frame: Frame): string | undefined => decodeUtf8(encodeContent(frame, style));

describe("encodeContent", () => {
  it.each<[Frame, string]>([
    [{ json: { a: 1 } }, '{"a": 1}'],
    [{ json: { a: 1 }, pad: 2 }, '{"a": 1  }'],
    [{ json: { a: 1 }, style: {} }, '{"a":1}'],
    [{ json: 0 }, "0"],
    [{ json: null }, "null"],
    [{ line: { a: 1 } }, '{"a": 1}\n'],
    [{ sse: { event: "x", json: { a: 1 } } }, 'event:x\ndata:{"a": 1}\n\n'],
    [{ sse: { json: { a: 1 } }, style: { json: {} } }, 'data: {"a":1}\n\n'],
    [{ sse: { json: { a: 1 } }, pad: 1, style: { sse: { newline: "\r" } } }, 'data: {"a":1 }\r\r'],
    [{ sse: { data: "a", ended: "" } }, "data:a"],
    [{ text: "\ufeffé" }, "\ufeffé"],
    [{ text: "" }, ""],
    [{ base64: "YQ==" }, "a"],
  ])("%j", (frame, expected) => {
    expect(text(frame)).toBe(expected);
  });

  it("gives memory of its own", () => {
    const kept = new Uint8Array([1, 2]);
    const file = { path: "x", sha256: "0".repeat(64), size: 2 };
    encodeContent({ file }, undefined, () => kept)[0] = 9;
    expect(kept[0]).toBe(1);
    const frame: Frame = { text: "ab" };
    encodeContent(frame, undefined)[0] = 9;
    expect(text(frame)).toBe("ab");
  });

  it("refuses what stands for no bytes", () => {
    expect(() => encodeContent({ value: 1 }, undefined)).toThrow(CassetteInvalid);
    expect(() => encodeContent({}, undefined)).toThrow(/holds no content\. It has to hold one of json, line, sse/);
    expect(() => encodeContent({ base64: "Y" }, undefined)).toThrow(/padded with `=`/);
    expect(() => encodeContent({ file: { path: "x", sha256: "", size: 0 } }, undefined)).toThrow(OptionInvalid);
  });
});

it("contentText tells texts from the rest", () => {
  expect(contentText({ text: "" }, undefined)).toBe("");
  expect(contentText({ base64: "YQ==" }, undefined)).toBeUndefined();
  expect(contentText({ value: "a" }, undefined)).toBeUndefined();
});

it("the content keys are those of the format", () => {
  expect(CONTENT_KEYS).toEqual(["json", "line", "sse", "text", "base64", "file", "value"]);
});
