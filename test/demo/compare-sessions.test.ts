import { describe, expect, test } from "vitest";
import { compareSessions } from "../../src/demo/compare-sessions.ts";
import type { ObservedRequest } from "../../src/demo/session.ts";

const bytes = (...chunks: string[]): Uint8Array[] => chunks.map((chunk) => Buffer.from(chunk));
const asked = (more: Partial<ObservedRequest> = {}): ObservedRequest => ({
  name: "log in",
  method: "POST",
  url: "http://127.0.0.1/login",
  status: 200,
  headers: [
    ["content-length", "12"],
    ["set-cookie", "session=s3cret; Path=/"],
  ],
  chunks: bytes('{"t":"', 'abc"}x'),
  ...more,
});
const compare = (one: ObservedRequest[], other: ObservedRequest[]) =>
  compareSessions({ requests: one }, { requests: other });

test("the same is the same, and is counted", () => {
  expect(compare([asked(), asked({ chunks: [] })], [asked(), asked({ chunks: [] })])).toEqual({
    answers: 2,
    bytes: 12,
    chunks: 2,
    redacted: { values: 0, places: 0 },
    differences: [],
  });
});

describe("a difference is found", () => {
  const error = {
    name: "TypeError",
    message: "terminated",
    cause: { name: "SocketError", message: "closed", code: "X" },
  };
  test.each<[string, Partial<ObservedRequest>, string]>([
    ["a byte", { chunks: bytes('{"t":"', 'abd"}x') }, "chunk 2 differs"],
    ["a boundary that moved", { chunks: bytes('{"t":"a', 'bc"}x') }, "chunk 1 differs"],
    ["two chunks that became one", { chunks: bytes('{"t":"abc"}x') }, "the number of chunks was 2 and is 1"],
    ["an empty chunk", { chunks: bytes('{"t":"', "", 'abc"}x') }, "the number of chunks was 2 and is 3"],
    ["the status", { status: 201 }, "status was 200 and is 201"],
    ["the URL", { url: "http://127.0.0.1/" }, "url was"],
    ["an error", { error }, "the error was undefined and is"],
    [
      "a header's value",
      {
        headers: [
          ["content-length", "12"],
          ["set-cookie", "session=s3cret; Path=/x"],
        ],
      },
      "header 2 was",
    ],
    [
      "the order of headers",
      {
        headers: [
          ["set-cookie", "session=s3cret; Path=/"],
          ["content-length", "12"],
        ],
      },
      "header 1 was",
    ],
    ["a header that is gone", { headers: [["content-length", "12"]] }, "the number of headers was 2 and is 1"],
    [
      "a length that fits no body",
      {
        headers: [
          ["content-length", "13"],
          ["set-cookie", "session=s3cret; Path=/"],
        ],
      },
      "header 1 was",
    ],
  ])("%s", (_, change, message) => {
    const { differences } = compare([asked()], [asked(change)]);
    expect(differences[0]).toContain(`request 1 (log in): ${message}`);
  });

  test("in the cause of an error", () => {
    const changed = { ...error, cause: { ...error.cause, code: "Y" } };
    expect(compare([asked({ error })], [asked({ error: changed })]).differences).toHaveLength(1);
  });

  test("in the number of requests", () => {
    expect(compare([asked(), asked()], [asked()]).differences).toEqual(["2 requests were made, and 1 are made now"]);
  });
});

describe("pseudonyms", () => {
  const redacted = (chunks: Uint8Array[], cookie = "session=REDACTED-cookie-1; Path=/"): ObservedRequest =>
    asked({
      chunks,
      headers: [
        ["content-length", String(Buffer.concat(chunks).length)],
        ["set-cookie", cookie],
      ],
    });

  test("stand for values, each counted once, and the length of the body with them", () => {
    const { differences, redacted: found } = compare(
      [asked(), asked()],
      [redacted(bytes('{"t":"', 'REDACTED-token-1"}x')), redacted(bytes('{"t":"', 'REDACTED-token-1"}x'))],
    );
    expect(differences).toEqual([]);
    expect(found).toEqual({ values: 2, places: 4 });
  });

  test.each([
    ["what is around them differs", 'REDACTED-token-1"}y'],
    ["they stand for nothing", 'abcREDACTED-token-1"}x'],
    ["two stand where there is one value", 'REDACTED-token-1REDACTED-token-2"}xREDACTED-token-3'],
  ])("explain nothing where %s", (_, chunk) => {
    expect(compare([asked()], [redacted(bytes('{"t":"', chunk))]).differences).not.toEqual([]);
  });

  test("a value has one pseudonym everywhere", () => {
    const { differences } = compare(
      [asked(), asked()],
      [redacted(bytes('{"t":"', 'REDACTED-token-1"}x')), redacted(bytes('{"t":"', 'REDACTED-token-2"}x'))],
    );
    expect(differences).toEqual(["request 2 (log in): chunk 2 differs"]);
  });
});
