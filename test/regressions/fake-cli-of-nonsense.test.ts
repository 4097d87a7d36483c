import { expect, test } from "vitest";
import { OptionInvalid } from "wiretape";
import { CliRun, codexTurn, writeCliShim } from "wiretape/process";

/** What was a TypeError of ours, or an item without a type. */
test.each([[5], [[5]], ["text"]])("interleaved stderr of %j is refused", (interleavedStderr) => {
  expect(() => new CliRun({ interleavedStderr: interleavedStderr as never })).toThrow(OptionInvalid);
});

test.each([[5], ["text"], [[null]], [null]])("items of %j are refused", (items) => {
  expect(() => codexTurn({ items: items as never })).toThrow(OptionInvalid);
});

test("items may be any iterable", () => {
  expect(codexTurn({ items: new Set([{ type: "file_change" }]) })).toContainEqual({
    type: "item.completed",
    item: { id: "item_0", type: "file_change" },
  });
});

test.each([[null], [{}], [5]])("a shim of %j is refused", async (source) => {
  await expect(writeCliShim(source as never)).rejects.toThrow(OptionInvalid);
});
