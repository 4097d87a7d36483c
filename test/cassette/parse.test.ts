import { expect, test } from "vitest";
import { openCassette } from "../../src/cassette/open.ts";
import { parseCassette } from "../../src/cassette/parse.ts";
import { formatCassette } from "../../src/cassette/print.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { formatSealed } from "../../src/cassette/seal.ts";
import { CassetteInvalid, OptionInvalid } from "../../src/errors.ts";

type Issues = readonly { line: number; column: number; path: string; message: string }[];

function refusal(text: string | Uint8Array, options?: Parameters<typeof parseCassette>[1]): CassetteInvalid {
  try {
    if (typeof text === "string") parseCassette(text, options);
    else openCassette(text, options);
  } catch (error) {
    if (error instanceof CassetteInvalid) return error;
    throw error;
  }
  throw new Error("the text was accepted");
}

const faults = (text: string | Uint8Array): string[] =>
  (refusal(text).details.issues as Issues).map((i) => `${i.line}:${i.column} ${i.path}: ${i.message}`);

const exchange = (rest: string, id = "t1"): string =>
  `{ "id": "${id}", "kind": "http", "request": { "method": "GET", "url": "/" }, ${rest} }`;
const file = (...tracks: string[]): string => `{ "wiretape": 1, "tracks": [\n${tracks.join(",\n")}\n] }`;

test("six kinds of mistakes are told in one run, each with its line and column", () => {
  const text = `{
  "wiretape": 1,
  "tracks": [
    // a comment, and an emoji 😀
    {
      "id": "t1", "kind": "http", "at": 0, "at": 1,
      "request": { "method": "GET", "url": "/", "headrs": [] },
      "response": { "status": "200" "headers": [["😀", "x"]], "body": { "json": 1, "text": "1" } },
    },
    {
      "id": "t1", "kind": "http", "after": "t7",
      "request": { "method": "GET", "url": "/", "body": { "base64": "QQ=" } },
      "fault": { "name": "E", "message": "m" },
    },
  ],
}
trailing`;
  const error = refusal(text, { path: "cassettes/a.cassette.json" });
  expect(error.message).toMatchInlineSnapshot(`
    "cassettes/a.cassette.json is not a valid cassette (10 faults):
      cassettes/a.cassette.json:6:44  tracks[0].at: duplicate key "at"; the first is on line 6
      cassettes/a.cassette.json:7:49  tracks[0].request.headrs: unknown key "headrs"; did you mean "headers"?
      cassettes/a.cassette.json:8:31  tracks[0].response.status: must be a whole number from 100 to 999, not the text "200"
      cassettes/a.cassette.json:8:37  a comma is missing before "headers"
      cassettes/a.cassette.json:8:50  tracks[0].response.headers[0][0]: must be Latin-1 (no character above U+00FF): headers go over the wire one byte a character
      cassettes/a.cassette.json:8:70  tracks[0].response.body: has "json" and "text"; a frame has exactly one content key
      cassettes/a.cassette.json:11:13  tracks[1].id: duplicate track id "t1"; the first is on line 5
      cassettes/a.cassette.json:11:44  tracks[1].after: waits for track "t7", which does not exist; did you mean "t1"?
      cassettes/a.cassette.json:12:69  tracks[1].request.body.base64: must be base64 of the standard alphabet, padded with =, without white space
      cassettes/a.cassette.json:17:1  the cassette ends before this; nothing but comments may follow, not "trailing""
  `);
});

test("what is no cassette at all has a sentence of its own", () => {
  expect(faults("")).toEqual(['1:1 : the file is empty; the least cassette is { "wiretape": 1, "tracks": [] }']);
  expect(faults(" \n\n ")[0]).toContain("the file is empty");
  expect(faults("hello: world\n")).toEqual(['1:1 : the file is not JSON: it begins with "hello: world"']);
  expect(faults("\ufeffhello")).toHaveLength(2);
  expect(faults('\ufeff{ "wiretape": 1, "tracks": [] }')).toEqual([
    "1:1 : the file begins with a byte order mark; save it as UTF-8 without one",
  ]);
  expect(faults("[1]")).toEqual(["1:1 : must be a cassette, an object, not a list"]);
});

test("a file that was cut off is told as such, wherever it was cut", () => {
  const text = formatCassette(parseCassette(file(exchange('"fault": { "name": "E", "message": "é" }'))));
  for (let length = 1; length < text.trimEnd().length; length++) {
    const told = faults(text.slice(0, length));
    expect(told.join("\n"), text.slice(0, length)).toMatch(/cut off/);
    expect(told.length, told.join("\n")).toBeLessThanOrEqual(3);
  }
});

test("a sentence for each fault of syntax", () => {
  const inside = (json: string): string =>
    faults(`{ "wiretape": 1, "vars": { "a": ${json} }, "tracks": [] }`).join("\n");
  expect(inside("undefined")).toContain('"undefined" is no JSON value');
  expect(inside("'x'")).toContain("is no JSON value");
  expect(inside("01")).toContain("a comma is missing before");
  expect(inside("1.")).toContain('"1." is no JSON number');
  expect(inside('"\\x"')).toContain("an escape that JSON does not have");
  expect(inside('"\\u12"')).toContain("four hexadecimal digits");
  expect(inside('"a\tb"')).toContain("control character");
  expect(inside('"a\nb"')).toContain("is not closed");
  expect(inside("/* x")).toContain("not closed with */");
  expect(inside("")).toContain("a value must stand here");
  expect(inside('{ "b" 1 }')).toContain('":" must stand between');
  expect(inside("{ 1: 1 }")).toContain("a key in double quotes");
});

test("the rules that a schema cannot say", () => {
  const frame = (json: string): string =>
    faults(file(exchange(`"response": { "status": 200, "body": [${json}] }`))).join("\n");
  expect(frame("{}")).toContain("has no content: give it one of");
  expect(frame('{ "text": "a", "joined": true }')).toContain("nothing to join");
  expect(frame('{ "text": "a" }, { "text": "b", "joined": true, "at": 1 }')).toContain('has no "at" of its own');
  expect(frame('{ "text": "abc", "cuts": [[2, 1], [1, 1]] }')).toContain("offsets never decrease");
  expect(frame('{ "text": "abc", "cuts": [[2, 1, "t9"]] }')).toContain('waits for track "t9"');
  expect(frame('{ "value": 1 }')).toContain('"value" belongs to call tracks');
  expect(frame('{ "text": "\\ud800" }')).toContain("half of a surrogate pair");
  expect(frame('{ "text": "a", "from": "client" }')).toContain('"from" belongs to');
  expect(frame('{ "sse": { "event": "a\\nb" } }')).toContain("cannot hold a line break");
  expect(frame('{ "sse": { "data": "a", "json": 1 } }')).toContain('has "data" and "json"');
  expect(frame('{ "json": { "a": [{ "$number": "1,0" }] } }')).toContain(
    "response.body[0].json.a[0].$number: must be a number as it is written",
  );
  for (const path of ["/etc/passwd", "../x", "a/../../x", "a\\\\b", "C:/x", "", "a//b", "./x"])
    expect(frame(`{ "file": { "path": "${path}", "sha256": "${"0".repeat(64)}", "size": 1 } }`), path).toContain(
      "a sidecar stands beside",
    );
  expect(faults(file(exchange('"note": "x"')))[0]).toContain("has no outcome");
  expect(faults(file(exchange('"end": {}, "fault": { "name": "E", "message": "" }')))[0]).toContain(
    'has "fault" and "end"',
  );
  expect(faults(file(exchange('"end": {}', "start")))[0]).toContain('"start" is reserved');
  expect(faults(file('{ "id": "t1", "kind": "function", "call": { "name": "f" } }'))[0]).toContain("has no outcome");
  expect(faults(file('{ "id": "t1", "kind": "mcp", "frames": [{ "text": "a" }] }'))[0]).toContain('"from" is missing');
  expect(
    faults(
      file(
        '{ "id": "t1", "kind": "process", "open": { "command": "x" }, "frames": [{ "from": "server", "text": "a" }] }',
      ),
    )[0],
  ).toContain('must be "stdin" or "stdout" or "stderr"');
});

test("a mistake is told once: what only seems to be absent because of it is not", () => {
  expect(faults(file(exchange('"respnse": { "status": 200 }')))).toEqual([
    '2:75 tracks[0].respnse: unknown key "respnse"; did you mean "response"?',
  ]);
});

test("comments and trailing commas are accepted, numbers in payloads are kept as they are written", () => {
  const text = `// first
{ /* block */ "wiretape": 1.0,
  "vars": { "a": [1.0, 1e2, -0, 0.1, 12345678901234567890, 100000000000000000000, 1e21,], },
  "tracks": [{ "id": "t1", "kind": "function", "at": 1e1, "call": { "name": "f", "input": 1.50 }, "result": { "value": -0 }, }, ],
} // last`;
  const { vars, tracks } = parseCassette(text);
  expect(vars?.a).toEqual(
    [
      { $number: "1.0" },
      { $number: "1e2" },
      { $number: "-0" },
      0.1,
      { $number: "12345678901234567890" },
      { $number: "100000000000000000000" },
      { $number: "1e21" },
    ].map((n) => (typeof n === "object" && String(Number(n.$number)) === n.$number ? Number(n.$number) : n)),
  );
  expect(tracks[0]).toMatchObject({
    at: 10,
    call: { input: { $number: "1.50" } },
    result: { value: { $number: "-0" } },
  });
});

test("__proto__ and the like are plain keys on both paths", () => {
  const text = file(
    '{ "id": "constructor", "kind": "function", "call": { "name": "f", "input": { "__proto__": { "a": 1.0 }, "toString": 1 } }, "result": { "value": { "__proto__": 2 } } }',
  );
  const careful = parseCassette(text);
  const fast = parseCassette(formatSealed(careful));
  for (const cassette of [careful, fast]) {
    const { call, result } = cassette.tracks[0] as Extract<Cassette["tracks"][0], { kind: "function" }>;
    expect(Object.keys(call.input as object)).toEqual(["__proto__", "toString"]);
    expect(Object.getPrototypeOf(call.input)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(result?.value, "__proto__")?.value).toBe(2);
  }
  expect(({} as { a?: unknown }).a).toBeUndefined();
});

test("hostile nesting is a fault and not a crash", () => {
  for (const open of ["[", '{"a":', '{ "wiretape": 1, "vars": { "a": ' + "["]) {
    expect(faults(open.repeat(200_000))[0]).toContain("nest deeper than the limit of 1200");
    expect(faults(`${open.repeat(200_000)}`)).toHaveLength(1);
  }
  const nested = (depth: number): string =>
    `{ "wiretape": 1, "vars": { "a": ${"[".repeat(depth)}${"]".repeat(depth)} }, "tracks": [] }`;
  expect(() => parseCassette(nested(1198))).not.toThrow();
  expect(formatCassette(parseCassette(nested(1198)))).toContain("[");
  expect(() => parseCassette(nested(1199))).toThrow(CassetteInvalid);
  const cause = (depth: number): string =>
    `${'{ "name": "E", "message": "", "cause": '.repeat(depth)}1${"}".repeat(depth)}`;
  expect(faults(file(exchange(`"fault": ${cause(100_000)}`)))[0]).toContain("nest deeper");
});

test("a forged checksum over hostile nesting gives CassetteInvalid, too", async () => {
  const { attachSeal } = await import("../../src/cassette/sealed-text.ts");
  const seal = { algorithm: "sha256", head: "x", tracks: {} } as const;
  const deep = attachSeal(
    `{\n  "wiretape": 1,\n  "vars": { "a": ${"[".repeat(50_000)}${"]".repeat(50_000)} },\n  "tracks": []\n}\n`,
    seal,
  );
  expect(() => parseCassette(deep)).toThrow(CassetteInvalid);
  expect(() => openCassette(deep)).toThrow(CassetteInvalid);
  const track = `    {\n      "id": "t1", "kind": "function",\n      "call": { "name": "f", "input": ${"[".repeat(50_000)}${"]".repeat(50_000)} }\n    }`;
  const index = openCassette(attachSeal(`{\n  "wiretape": 1,\n  "tracks": [\n${track}\n  ]\n}\n`, seal), {
    path: "a.cassette.json",
  });
  expect(() => index.track(0)).toThrow(/a\.cassette\.json:4:5 {2}tracks\[0\]: .*nest deeper/);
});

test("limits are options, and unknown ones are refused", () => {
  const text = file(exchange('"end": {}'), exchange('"end": {}', "t2"));
  for (const read of [text, formatSealed(parseCassette(text))]) {
    expect(() => parseCassette(read, { limits: { tracks: 2 } })).not.toThrow();
    expect(() => parseCassette(read, { limits: { tracks: 1 } })).toThrow(/2 tracks are more than the limit of 1/);
    expect(() => openCassette(read, { limits: { tracks: 1 } })).toThrow(/2 tracks are more than the limit of 1/);
    expect(() => openCassette(read, { limits: { size: 10 } })).toThrow(/larger than the limit of 10/);
    expect(() => parseCassette(read, { limits: { size: 10 } })).toThrow(CassetteInvalid);
  }
  expect(() => parseCassette(text, { limits: { deep: 1 } as never })).toThrow(OptionInvalid);
  expect(() => parseCassette(text, { limits: { depth: 1e6 } })).toThrow(OptionInvalid);
  expect(() => parseCassette(text, { file: "x" } as never)).toThrow(OptionInvalid);
});

test("bytes that are not UTF-8 are named by line and offset", () => {
  const bytes = new Uint8Array([...new TextEncoder().encode('{\n "é": "a'), 0xff, 0x22]);
  expect(faults(bytes)).toEqual(["2:9 : byte 0xff at offset 11 is not UTF-8; a cassette is a UTF-8 text"]);
  expect(faults(new Uint8Array([0x7b, 0xe2, 0x82]))).toEqual([
    "1:2 : byte 0xe2 at offset 1 is not UTF-8; a cassette is a UTF-8 text",
  ]);
});

test("a long list of faults is capped in the message and whole in the details", () => {
  const text = file(...Array.from({ length: 80 }, (_, i) => exchange('"end": {}, "x": 1', `t${i}`)));
  const error = refusal(text);
  expect(error.message.split("\n")).toHaveLength(52);
  expect(error.message).toContain("… and 30 more");
  expect(error.details.issues).toHaveLength(80);
});

test("an edit of a sealed text is read: the checksum only chooses the path", () => {
  const text = formatSealed(parseCassette(file(exchange('"end": {}'))));
  const edited = text.replace('"GET"', '"PUT"');
  expect(parseCassette(edited).tracks[0]).toMatchObject({ request: { method: "PUT" } });
  expect(openCassette(edited).canonical).toBe(false);
  expect(openCassette(edited).method(0)).toBe("PUT");
  expect(openCassette(text).canonical).toBe(true);
});

test("twenty thousand faults in one line take hardly longer than reading the file", () => {
  const many = (item: (i: number) => string): string => Array.from({ length: 20_000 }, (_, i) => item(i)).join(", ");
  const inOneLine = (body: string): string =>
    file(exchange(`"response": { "status": 200, "body": [${body}] }`)).replaceAll("\n", " ");
  const hostile = [
    `{ "wiretape": 1, "tracks": [], ${many((i) => `"😀${i}": 1`)} }`,
    `{ "wiretape": 1, "tracks": [], "vars": { ${many((i) => `"a${i}": 1`)}, ${many((i) => `"a${i}": 1`)} } }`,
    inOneLine(many((i) => `{ "after": "x${i}" }`)),
    inOneLine(many(() => '{ "after": [1], "tex": "a" }')),
    inOneLine(many(() => "{ @ }")),
    file(many((i) => exchange('"x": 1', `t${i}`))),
  ];
  for (const text of hostile) {
    const begun = performance.now();
    expect((refusal(text).details.issues as Issues).length).toBeGreaterThanOrEqual(20_000);
    expect(performance.now() - begun, text.slice(0, 120)).toBeLessThan(20_000);
  }
}, 120_000);
