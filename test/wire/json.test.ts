import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeJson,
  type Json,
  type JsonStyle,
  numberLiteral,
  parseJsonTree,
  recogniseJson,
} from "../../src/wire/json.ts";

const styles = fc.record<JsonStyle>({
  colon: fc.constantFrom(":", ": "),
  comma: fc.constantFrom(",", ", "),
  indent: fc.constantFrom(0, 0, 1, 2, 4, 11, 16),
  escape: fc.constantFrom("none", "ascii", "html", "slash", "ascii-slash", "html-quote"),
  tail: fc.constantFrom("", "\n"),
});

// Texts with what the escapes touch, keys that JavaScript or the markers treat specially.
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "é</a>&='\u2028\u007f\u0080😀\\/",
    '\\"',
    "\\",
    "",
    "__proto__",
    "$number",
    "$literal",
    "toString",
    "a",
  ),
);
const numbers = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom("-0", "1.0", "1e-05", "1E5", "0.10", "123456789012345678901234567890", "1e400", "-0.0"),
  )
  .map(numberLiteral);
const trees = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    words,
    numbers,
    fc.constantFrom<Json>(true, false, null),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.array(fc.tuple(words, tie("tree")), { maxLength: 4 }).map((entries): Json => {
      const object = Object.fromEntries(entries);
      return Object.hasOwn(object, "$number") || Object.hasOwn(object, "$literal") ? { $literal: object } : object;
    }),
  ),
})).tree;

const encode = (found: ReturnType<typeof recogniseJson>): string => encodeJson(found!.tree, found!.style, found!.pad);

describe("recogniseJson", () => {
  it("gives back every text that a style prints, exactly", () => {
    fc.assert(
      fc.property(trees, styles, fc.nat(5), (tree, style, pad) => {
        const text = encodeJson(tree, style, pad);
        const found = recogniseJson(text);
        expect(found).toBeDefined();
        expect(encode(found)).toBe(text);
        expect(found!.tree).toEqual(tree);
      }),
      { numRuns: 2000 },
    );
  });

  it("never claims a text that it would not print again, whatever JSON-like text it is given", () => {
    const token = fc.constantFrom(
      ...'{}[]:,"\\/ \n\t01-.eE'.split(""),
      ...[
        '"a"',
        '"$number"',
        '"$literal"',
        "true",
        "null",
        ": ",
        ", ",
        "\\u00e9",
        "\\u00E9",
        '"1"',
        "1.0",
        "é",
        "\ud83d",
      ],
    );
    const torn = fc.tuple(trees, styles, fc.nat(), token).map(([tree, style, at, bit]) => {
      const text = encodeJson(tree, style);
      return text.slice(0, at % (text.length + 1)) + bit + text.slice(at % (text.length + 1));
    });
    fc.assert(
      fc.property(
        fc.oneof(
          torn,
          fc.array(token, { maxLength: 12 }).map((bits) => bits.join("")),
        ),
        (text) => {
          const found = recogniseJson(text);
          if (found !== undefined) expect(encode(found)).toBe(text);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it.each<[string, string, ReturnType<typeof recogniseJson>]>([
    ["JSON.stringify", '{"a":1,"b":[]}', { tree: { a: 1, b: [] } }],
    [
      "json.dumps of Python",
      '{"model": "é", "p": [1.0, 2], "x": 1e-05}'.replace("é", "\\u00e9"),
      {
        tree: { model: "é", p: [{ $number: "1.0" }, 2], x: { $number: "1e-05" } },
        style: { colon: ": ", comma: ", ", escape: "ascii" },
      },
    ],
    ["Python's escape of DEL", '["\\u007f\\ud83d\\ude00"]', { tree: ["\u007f😀"], style: { escape: "ascii" } }],
    ["json.Marshal of Go", '{"h":"\\u003cb\\u003e"}\n', { tree: { h: "<b>" }, style: { escape: "html", tail: "\n" } }],
    [
      "json_encode of PHP",
      '{"u":"https:\\/\\/a\\/\\u00e9\u007f"}',
      { tree: { u: "https://a/é\u007f" }, style: { escape: "ascii-slash" } },
    ],
    ["slashes only", '{"u":"a\\/é"}', { tree: { u: "a/é" }, style: { escape: "slash" } }],
    ["Gson", '{"q":"a\\u003d\\u0027b\\u0027"}', { tree: { q: "a='b'" }, style: { escape: "html-quote" } }],
    ["protobuf of Google", '{"a": 1,"b": 2}', { tree: { a: 1, b: 2 }, style: { colon: ": " } }],
    [
      "an indented text",
      '{\n  "a": [\n    1,\n    {}\n  ]\n}\n',
      { tree: { a: [1, {}] }, style: { colon: ": ", indent: 2, tail: "\n" } },
    ],
    [
      "old Python, indented",
      '{\n "a": 1, \n "b": 2\n}',
      { tree: { a: 1, b: 2 }, style: { colon: ": ", comma: ", ", indent: 1 } },
    ],
    ["padding", '{"type":"ping"   }', { tree: { type: "ping" }, pad: 3 }],
    ["a real marker", '{"$number":"1.0"}', { tree: { $literal: { $number: "1.0" } } }],
    [
      "markers inside markers",
      '{"$literal":{"$number":1.0}}',
      { tree: { $literal: { $literal: { $literal: { $number: { $number: "1.0" } } } } } },
    ],
    ["a scalar", "-0", { tree: { $number: "-0" } }],
  ])("knows %s", (_, text, expected) => {
    expect(recogniseJson(text)).toEqual(expected);
    expect(encode(expected)).toBe(text);
  });

  it.each([
    ["duplicate keys", '{"a":1,"a":1}'],
    ["irregular spacing", '{"a":1, "b":2,"c":3}'],
    ["a space before the colon", '{"a" :1}'],
    ["keys that JavaScript puts first", '{"b":1,"1":2}'],
    ["upper-case escapes", '{"a":"\\u00E9"}'],
    ["escapes that need not be", '{"a":"\\u0041"}'],
    ["tabs", '{\n\t"a": 1\n}'],
    ["two final newlines", "{}\n\n"],
    ["space in front", ' {"a":1}'],
    ["what is not JSON", "{a:1}"],
    ["nothing", ""],
  ])("leaves alone: %s", (_, text) => {
    expect(recogniseJson(text)).toBeUndefined();
  });

  it("keeps __proto__ as a plain key and pollutes nothing", () => {
    const text = '{"__proto__": {"x": 1.0}}';
    const found = recogniseJson(text)!;
    expect(Object.keys(found.tree as object)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(found.tree)).toBe(Object.prototype);
    expect(encode(found)).toBe(text);
  });

  it("gives up on hostile depth instead of the stack", () => {
    const deep = (levels: number): string => `${"[".repeat(levels)}1.0${"]".repeat(levels)}`;
    expect(encode(recogniseJson(deep(500)))).toBe(deep(500));
    expect(recogniseJson(deep(501))).toBeUndefined();
    expect(recogniseJson(deep(200_000))).toBeUndefined();
    expect(parseJsonTree(deep(200_000))).toBeUndefined();
    expect(recogniseJson("[".repeat(200_000))).toBeUndefined();
  });

  it("reads ten megabytes of one string in every escape", () => {
    for (const escaping of ["none", "ascii", "html", "slash"] as const) {
      const text = encodeJson(
        { a: 'é/<"\\'.repeat(600_000) + "x".repeat(10_000_000) },
        { colon: ": ", escape: escaping },
      );
      expect(encode(recogniseJson(text)) === text).toBe(true);
    }
  });
});

describe("encodeJson", () => {
  it("prints a marker only where it is one, so that no text can be smuggled in", () => {
    expect(encodeJson({ $number: "1,2" })).toBe('{"$number":"1,2"}');
    expect(encodeJson({ $number: "01" })).toBe('{"$number":"01"}');
    expect(encodeJson({ $number: "1", b: 1 })).toBe('{"$number":"1","b":1}');
    expect(encodeJson([{ $number: "-1.50E+3" }])).toBe("[-1.50E+3]");
  });
});

describe("parseJsonTree", () => {
  it("reads any style, numbers as they are written; the last of equal keys wins", () => {
    expect(parseJsonTree('\t{"a" : 1.0 ,\r\n"a":[ ], "b":{ } , "n":-1e5}\n')).toEqual({
      a: [],
      b: {},
      n: { $number: "-1e5" },
    });
    expect(parseJsonTree("nope")).toBeUndefined();
  });

  it("agrees with JSON.parse wherever JavaScript prints numbers as they are", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 3, "\t"), (value, space) => {
        expect(parseJsonTree(JSON.stringify(value, null, space))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
