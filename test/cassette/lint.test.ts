import { expect, test } from "vitest";
import { sealText } from "../../src/cassette/edit.ts";
import { lintCassette } from "../../src/cassette/lint.ts";

const told = (text: string): string[] =>
  lintCassette(text).map(
    ({ severity, line, column, path, message }) => `${severity} ${line}:${column} ${path}: ${message}`,
  );

const text = `{
  "wiretape": 1,
  "match": { "order": "strict" },
  "tracks": [
    {
      "id": "t1", "kind": "http", "after": "t2",
      "request": { "method": "GET", "url": "/" },
      "response": { "status": 200, "headers": [["Content-Length", "3"]], "body": [{ "text": "abc", "cuts": [[3, 1], [4, 2]] }] }
    },
    { "id": "t2", "kind": "http", "request": { "method": "GET", "url": "/" }, "response": { "after": "t2", "status": 200 } }
  ]
}
`;

test("faults are errors, and then nothing else is told", () => {
  expect(told(text.replace('"status": 200, "headers"', '"statu": 200, "headers"'))).toEqual([
    'error 8:19 tracks[0].response: "status" is missing',
    'error 8:21 tracks[0].response.statu: unknown key "statu"; did you mean "status"?',
  ]);
});

test("what is worth a look in a file that can be played", () => {
  expect(told(text)).toMatchInlineSnapshot(`
    [
      "warning 1:1 : is not sealed: edits cannot be told from recordings; seal it once it is as you mean it",
      "warning 6:44 tracks[0].after: may never open: "t2" comes later in the same strict lane, and this holds the whole answer until it is requested",
      "warning 8:117 tracks[0].response.body[0].cuts[1]: is at byte 4, past the end of the frame (3 bytes): it is dropped",
      "warning 10:102 tracks[1].response.after: names its own track, whose request has always been made by then: it holds nothing",
    ]
  `);
});

test("edited and authored tracks, an edited head, a length that no longer fits", () => {
  const clean = text.replace(', "after": "t2"', "").replace(", [4, 2]", "").replace('"after": "t2", ', "");
  const sealed = sealText(clean);
  expect(told(sealed)).toEqual([]);
  const edited = sealed
    .replace('"abc"', '"abcd"')
    .replace('"strict"', '"identity"')
    .replace("\n  ]", ',\n    { "id": "t3", "kind": "mcp" }\n  ]');
  expect(told(edited)).toMatchInlineSnapshot(`
    [
      "warning 5:5 tracks[0]: track "t1" was edited since it was recorded",
      "warning 8:48 tracks[0].response.headers[0]: states 3 bytes, the body has 4; it is stated anew in play",
      "warning 11:5 tracks[2]: track "t3" was not recorded: it has no digest in the seal",
      "warning 14:36 seal.head: match, vars or the list of tracks is not as it was sealed",
    ]
  `);
});
