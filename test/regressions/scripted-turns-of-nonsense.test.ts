import { expect, test } from "vitest";
import { OptionInvalid } from "wiretape";
import { scriptedModel } from "wiretape/model";

/** What only failed when the model was asked, as a TypeError of ours, or was said as `undefined`. */
test.each([
  [{ text: 5 }, 'has "text", which is no text and no list of texts'],
  [{ text: ["a", 5] }, 'has "text", which is no text and no list of texts'],
  [{ reasoning: null }, 'has "reasoning", which is no text and no list of texts'],
  [{ parts: [null] }, 'has "parts", of which piece 1 has no "type"'],
  [{ content: [{ type: "text", text: "a" }, 5] }, 'has "content", of which piece 2 has no "type"'],
])("a turn of %j is refused where it is scripted", (turn, fault) => {
  const script = (): unknown => scriptedModel([turn as never]);
  expect(script).toThrow(OptionInvalid);
  expect(script).toThrow(fault);
});
