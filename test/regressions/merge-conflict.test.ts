import { expect, test } from "vitest";
import { lintCassette } from "wiretape";

/** A merge conflict was told as five values that are no JSON. */
const text = `{
  "wiretape": 1,
<<<<<<< HEAD
  "note": "ours",
=======
  "note": "theirs",
>>>>>>> branch
  "tracks": []
}
`;

test.each([
  ["\\n", text],
  ["\\r\\n", text.replaceAll("\n", "\r\n")],
])("a merge conflict is called one, at its place (line ends %s)", (_, conflicted) => {
  expect(lintCassette(conflicted)).toMatchObject([
    { line: 3, column: 1, message: "a merge conflict begins here; resolve it, or record again" },
  ]);
});

test("what only looks like one, in a text or a comment, is none", () => {
  const issues = lintCassette('{ "wiretape": 1, /*\n=======\n*/ "note": "<<<<<<< HEAD\\n=======", "tracks": [] }');
  expect(issues.filter(({ severity }) => severity === "error")).toEqual([]);
});
