import fc from "fast-check";
import { expect, test } from "vitest";
import { copyOf } from "../../src/doubles/copy-of.ts";

test("data is copied whole, and shares nothing", () => {
  fc.assert(
    fc.property(fc.object({ withMap: true, withSet: true, withDate: true, withTypedArray: true }), (value) => {
      const copy = copyOf(value);
      expect(copy).toStrictEqual(value);
      expect(copy).not.toBe(value);
    }),
  );
  const nested = { list: [{ bytes: new Uint8Array([1]), at: new Date(0), set: new Set([{ a: 1 }]) }] };
  const copy = copyOf(nested);
  nested.list[0]!.bytes[0] = 2;
  nested.list[0]!.at.setTime(9);
  [...nested.list[0]!.set][0]!.a = 2;
  expect(copy.list[0]?.bytes).toEqual(new Uint8Array([1]));
  expect(copy.list[0]?.at).toEqual(new Date(0));
  expect(copy.list[0]?.set).toEqual(new Set([{ a: 1 }]));
});

test("what is no data is the very same; what refers to itself does so in the copy", () => {
  class Item {}
  const [run, item] = [() => 1, new Item()];
  const loop: Record<string, unknown> = { run, item };
  loop["self"] = loop;
  const copy = copyOf(loop);
  expect([copy["run"], copy["item"]]).toEqual([run, item]);
  expect(copy["item"]).toBe(item);
  expect(copy["self"]).toBe(copy);
  const hostile = JSON.parse('{"__proto__": {"a": 1}}') as object;
  expect(Object.keys(copyOf(hostile))).toEqual(["__proto__"]);
});
