import { expect, it } from "vitest";
import { encodeUtf8 } from "../../src/wire/bytes.ts";
import { splitLines } from "../../src/wire/lines.ts";

it.each([
  ["", []],
  ["a", [1]],
  ["a\n", [2]],
  ["\n\na\r\nb", [1, 2, 5, 6]],
])("cuts %j after each newline", (text, ends) => {
  expect(splitLines(encodeUtf8(text))).toEqual(ends);
});
