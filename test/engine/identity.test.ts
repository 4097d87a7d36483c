import { expect, test } from "vitest";
import { type Cassette, createDeck, type MatchOptions, tapeFetch } from "wiretape";
import "../support/settled.ts";

type Request = { url?: string; method?: string; headers?: [string, string][]; body?: string };

/** Whether a program's request is the same as a recorded one. */
async function same(recorded: Request, asked: Request, match?: MatchOptions): Promise<boolean> {
  const { url = "https://a.example/", method = "POST", headers = [], body } = recorded;
  const request = { method, url, headers, ...(body === undefined ? {} : { body: { text: body } }) };
  const { normalize, ...stored } = match ?? {};
  const cassette = {
    wiretape: 1,
    match: { ...stored, ...(normalize === undefined ? {} : { normalize: normalize.name }) },
    tracks: [{ id: "t1", kind: "http", request, response: { status: 204 } }],
  } as Cassette;
  const deck = await createDeck({ cassette, mode: "replay", ...(match === undefined ? {} : { match }) });
  const { url: to = url, ...init } = { method, headers, ...asked };
  const answer = await tapeFetch(deck)(to, init).then(
    () => true,
    (error: { code: string }) => {
      expect(error.code).toBe("unrecorded-request");
      return false;
    },
  );
  if (!answer) deck.expectViolation("unrecorded-request");
  await deck.finish("failed");
  return answer;
}

const json: [string, string][] = [["content-type", "application/json"]];
const form: [string, string][] = [["content-type", "application/x-www-form-urlencoded"]];
const multipart = (boundary: string, value: string): Request => ({
  headers: [["content-type", `multipart/form-data; boundary=${boundary}`]],
  body: `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n--${boundary}--\r\n`,
});

test.each<[string, Request, Request, boolean, MatchOptions?]>([
  ["the same", { body: "x" }, { body: "x" }, true],
  ["another body", { body: "x" }, { body: "y" }, false],
  ["no body and an empty one", {}, { body: "" }, true],
  ["a method in small letters", { method: "GET" }, { method: "get" }, true],
  ["another method", { method: "GET" }, { method: "DELETE" }, false],
  ["the order of keys, and spaces", { body: '{"a": 1, "b": [2]}', headers: json }, { body: '{"b":[2],"a":1}' }, true],
  ["JSON that no header announces", { body: '{"a": 1, "b": 2}' }, { body: '{"b":2,"a":1}' }, true],
  ["the order of a list", { body: "[1,2]", headers: json }, { body: "[2,1]" }, false],
  ["numbers as written", { body: '{"n":1.0}', headers: json }, { body: '{"n":1}' }, false],
  [
    "numbers that JavaScript would round",
    { body: '{"n":12345678901234567890}', headers: json },
    { body: '{"n":12345678901234567891}' },
    false,
  ],
  ["null and absent", { body: '{"a":null}', headers: json }, { body: "{}" }, false],
  ["escapes", { body: '{"a":"\\u00e9"}', headers: json }, { body: '{"a":"é"}' }, true],
  ["the order of query names", { url: "https://a.example/?a=1&b=2" }, { url: "https://a.example/?b=2&a=1" }, true],
  [
    "the order of one name's values",
    { url: "https://a.example/?a=1&a=2" },
    { url: "https://a.example/?a=2&a=1" },
    false,
  ],
  ["percent-encoding", { url: "https://a.example/?a=%7E%20b" }, { url: "https://a.example/?a=~+b" }, true],
  ["a fragment", { url: "https://a.example/x" }, { url: "https://a.example/x#top" }, true],
  ["the default port, the case of the host", { url: "https://a.example/x" }, { url: "HTTPS://A.example:443/x" }, true],
  ["another port", { url: "https://a.example/x" }, { url: "https://a.example:8443/x" }, false],
  ["dots in a path", { url: "https://a.example/x" }, { url: "https://a.example/y/../x" }, true],
  ["a path with an encoded slash", { url: "https://a.example/a%2Fb" }, { url: "https://a.example/a/b" }, false],
  ["headers do not count", { headers: [["x-a", "1"]] }, { headers: [["x-a", "2"]] }, true],
  [
    "named headers do, whatever their case",
    { headers: [["x-a", "1"]] },
    { headers: [["X-A", "2"]] },
    false,
    { include: ["/headers/x-a"] },
  ],
  [
    "and are equal when they are",
    { headers: [["X-A", "1"]] },
    { headers: [["x-a", "1"]] },
    true,
    { include: ["/headers/X-a"] },
  ],
  [
    "a named header that is absent now",
    { headers: [["x-a", "1"]] },
    { headers: [] },
    false,
    { include: ["/headers/x-a"] },
  ],
  ["form fields in another order", { body: "a=1&b=2", headers: form }, { body: "b=2&a=1" }, true],
  ["form fields that differ", { body: "a=1&b=2", headers: form }, { body: "a=1&b=3" }, false],
  ["the boundary of a multipart body", multipart("one", "v"), multipart("two", "v"), true],
  ["a part of it", multipart("one", "v"), multipart("two", "w"), false],
  [
    "ignored: a key",
    { body: '{"a":1,"id":1}', headers: json },
    { body: '{"a":1,"id":2}' },
    true,
    { ignore: ["/body/id"] },
  ],
  [
    "ignored: absent on one side",
    { body: '{"a":1,"id":1}', headers: json },
    { body: '{"a":1}' },
    true,
    { ignore: ["/body/id"] },
  ],
  [
    "ignored: any index",
    { body: '[{"id":1},{"id":2}]', headers: json },
    { body: '[{"id":3},{"id":4}]' },
    true,
    { ignore: ["/body/*/id"] },
  ],
  [
    "ignored: a key with a slash and a tilde",
    { body: '{"a/~b":1}', headers: json },
    { body: '{"a/~b":2}' },
    true,
    { ignore: ["/body/a~1~0b"] },
  ],
  [
    "ignored: a query name",
    { url: "https://a.example/?ts=1&a=1" },
    { url: "https://a.example/?ts=2&a=1" },
    true,
    { ignore: ["/query/ts"] },
  ],
  ["ignored: the whole body", { body: "x" }, { body: "y" }, true, { ignore: ["/body"] }],
  [
    "ignored: the origin",
    { url: "https://a.example/x" },
    { url: "http://localhost:1/x" },
    true,
    { ignore: ["/origin"] },
  ],
  ["ignored: the path", { url: "https://a.example/x" }, { url: "https://a.example/y" }, true, { ignore: ["/path"] }],
  ["ignored: the method", { method: "POST" }, { method: "PUT" }, true, { ignore: ["/method"] }],
  [
    "normalized on both sides",
    { url: "https://a.example/v1/x" },
    { url: "https://a.example/v2/x" },
    true,
    {
      normalize: { name: "versions", fn: (facets) => ({ ...facets, path: String(facets.path).replace(/^\/v\d/, "") }) },
    },
  ],
  ["a key that is no key of ours", { body: '{"__proto__":1}', headers: json }, { body: '{"__proto__":2}' }, false],
])("%s", async (_, recorded, asked, expected, match) => {
  expect(await same(recorded, asked, match)).toBe(expected);
});
