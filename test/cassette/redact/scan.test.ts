import { describe, expect, it } from "vitest";
import { builtInRules } from "../../../src/cassette/redact/rules.ts";
import { scanForSecrets } from "../../../src/cassette/redact/scan.ts";

const rules = (value: unknown, options?: Parameters<typeof scanForSecrets>[1]): string[] =>
  scanForSecrets(JSON.stringify(value), options).map(({ rule }) => rule);

describe("what the scan sees", () => {
  it.each([
    [
      "authorization",
      {
        headers: [
          ["accept", "*/*"],
          ["Authorization", "Bearer abc"],
        ],
      },
    ],
    ["x-api-key", { headers: [["x-api-key", "abc"]] }],
    ["cookie", { headers: [["cookie", "a=REDACTED-cookie-1; b=c"]] }],
    ["cookie", { headers: [["set-cookie", "a=b; Path=/"]] }],
    ["password", { json: { password: "hunter2" } }],
    ["client-secret", { text: JSON.stringify({ clientSecret: "abc" }) }],
    ["access-token", { text: JSON.stringify({ text: JSON.stringify({ access_token: "abc" }) }) }],
    ["api-key", { url: "https://a.example/?api_key=abc" }],
    ["signature", { url: "https://a.example/?x=1&X-Amz-Signature=0f0f" }],
    ["github-token", { text: `line\nghp_${"aB3d".repeat(9)}` }],
    ["anthropic-key", { text: `sk-ant-${"api03-aB3_".repeat(4)}` }],
    ["aws-access-key", { text: `id AKIA${"ABCD".repeat(4)}.` }],
    [
      "jwt",
      {
        text: `${btoa('{"alg":"HS256"}').replace(/=/g, "")}.${btoa('{"sub":"12345678"}')}.c2lnbmF0dXJlMTIz`.replace(
          /=/g,
          "",
        ),
      },
    ],
    ["pem", { text: `-----BEGIN PRIVATE KEY-----\n${"MIIEow+/".repeat(8)}\n-----END PRIVATE KEY-----` }],
    ["url-password", { text: "postgres://ann:secret@db/x" }],
    ["github-token", { base64: btoa(`\0\x01ghp_${"aB3d".repeat(9)}\xff`) }],
  ])("%s", (rule, value) => {
    expect(rules(value)).toEqual([rule]);
    expect(rules(value, { waive: [rule] })).toEqual([]);
    expect(builtInRules, "a rule of the redactor").toContain(rule);
  });

  it("secret values of the environment, however they are written", () => {
    const secret = 'env/val"ue 123+';
    const environment = { MY_TOKEN: secret };
    const spellings = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret),
      btoa(secret),
      btoa(`a${secret}`),
      btoa(`ab${secret}c`),
    ];
    for (const text of spellings) expect(rules({ text }, { environment })).toContain("environment");
    expect(rules({ base64: btoa(`\0\0\0${secret}`) }, { environment })).toContain("environment");
    expect(rules({ text: secret }, { environment, waive: ["environment"] })).toEqual([]);
    expect(rules({ text: "nothing" }, { environment })).toEqual([]);
  });

  it("says where, in lines and code points, and not what", () => {
    const text = '{\n  "a": "🎉", "password": "hunter2"\n}';
    expect(scanForSecrets(text)).toEqual([{ rule: "password", line: 2, column: 13 }]);
  });

  it("values that the caller named, in each spelling, by the rules that named them", () => {
    const value = 'tü/n"t 1234+';
    const values = [
      { rule: "tenant", value },
      { rule: "value", value: "p@ss" },
    ];
    const bytes = Buffer.from(value);
    for (const text of [
      value,
      bytes.toString("latin1"),
      encodeURIComponent(value),
      encodeURIComponent(value).replace(/%../g, (byte) => byte.toLowerCase()),
      JSON.stringify(value),
      ...["", "a", "ab"].flatMap((before) => {
        const padded = Buffer.concat([Buffer.from(before), bytes, Buffer.from("c")]);
        return [padded.toString("base64"), padded.toString("base64url")];
      }),
    ]) {
      expect(new Set(rules({ text }, { values })), text).toEqual(new Set(["tenant"]));
      expect(rules({ text }, { values, waive: ["tenant"] })).toEqual([]);
    }
    expect(rules({ base64: Buffer.concat([Buffer.from([0xff, 0]), bytes]).toString("base64") }, { values })).toContain(
      "tenant",
    );
    expect(rules({ text: "the p@ss." }, { values })).toEqual(["value"]);
    expect(rules({ text: "the p@ssage, and REDACTED-value-1" }, { values })).toEqual([]);
  });

  it("no short word or number in the keys, times and digests of the file", () => {
    const values = ["text", "4711", "a1B2"].map((value) => ({ rule: "value", value }));
    expect(rules({ at: 4711, text: "", seal: { t1: "q3Zxa1B2Q3Zx" } }, { values })).toEqual([]);
  });
});

it("has nothing to say about ordinary recordings", () => {
  const ordinary = [
    { usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }, max_tokens: 4096 },
    {
      content: [{ token: "Hello", logprob: -0.31 }],
      next_page_token: "CAUQAA",
      signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrz",
    },
    {
      id: "4ad1e3a1-6f0e-4c39-8d38-aaa0b0a4e1c1",
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
    {
      seal: {
        algorithm: "sha256",
        head: "hY0aQ3Zx-b01kHUi_7ZtQ3Zx-b01kHUi_7ZtQ3Zxb01",
        tracks: { t1: "q3ZxhY0aQ3Zx-b01kHUi_7ZtQ3Zx-b01kHUi_7ZtQ3Z" },
      },
    },
    {
      properties: { password: { type: "string" } },
      required: ["password", "token"],
      allow: ["authorization", "content-type"],
    },
    {
      headers: [
        ["authorization", "REDACTED-authorization-1"],
        ["cookie", "a=REDACTED-cookie-1; empty="],
        ["x-request-id", "abc"],
      ],
    },
    {
      url: "https://a.example/?api_key=REDACTED-api-key-1&page_token=x",
      text: "use ?token=<your token> or password: x",
      api_key: "",
    },
    {
      text: "disk-encryption-of-all-the-things task-1234567890123456789012",
      base64: btoa("plain text, nothing in it"),
    },
  ];
  for (const value of ordinary) {
    expect(scanForSecrets(JSON.stringify(value, null, 2)), JSON.stringify(value)).toEqual([]);
    expect(scanForSecrets(JSON.stringify({ text: JSON.stringify(value) })), JSON.stringify(value)).toEqual([]);
  }
});
