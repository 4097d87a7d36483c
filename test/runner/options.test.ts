import { expect, test } from "vitest";
import { OptionInvalid } from "wiretape";
import { splitOptions } from "../../src/runner/options.ts";

test("splits what is the runner's from what is the deck's", () => {
  expect(splitOptions({ folder: "tapes", mode: "replay", timing: 2 })).toEqual({
    place: { folder: "tapes" },
    deck: { mode: "replay", timing: 2 },
  });
  expect(splitOptions({ path: "one.cassette.json" })).toEqual({ place: { path: "one.cassette.json" }, deck: {} });
});

test("refuses what is unknown or cannot be", () => {
  const refused = (options: unknown, text: RegExp): void => {
    expect(() => splitOptions(options as never)).toThrow(OptionInvalid);
    expect(() => splitOptions(options as never)).toThrow(text);
  };
  refused({ foldr: "tapes" }, /no option foldr; the nearest is folder/);
  refused({ folder: "" }, /folder is ""/);
  refused({ path: 7 }, /path is 7/);
  refused({ folder: "a", path: "b.cassette.json" }, /contradict/);
  refused(null, /an object/);
  refused("tapes", /an object/);
});
