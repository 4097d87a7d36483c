import { describe, expect, it } from "vitest";
import { createRedactor, type RedactOptions } from "../../../src/cassette/redact/redactor.ts";
import { OptionInvalid } from "../../../src/errors.ts";
import { answerOf, exchange } from "./drafts.ts";

describe("rules of the caller's own", () => {
  it.each<[string, RedactOptions, Parameters<typeof exchange>[0], string]>([
    [
      "a header",
      { add: [{ name: "tenant", header: "X-Tenant" }] },
      { answerHeaders: [["x-tenant", "acme"]] },
      "REDACTED-tenant-1",
    ],
    [
      "a parameter",
      { add: [{ name: "tenant", query: "tenant" }] },
      { url: "https://a.example/?Tenant=acme&b=c" },
      "?Tenant=REDACTED-tenant-1&b=c",
    ],
    [
      "a key",
      { add: [{ name: "tenant", key: "tenantId" }] },
      { answer: ['{"tenantId":"acme"}'] },
      '{\\"tenantId\\":\\"REDACTED-tenant-1\\"}',
    ],
    [
      "a cookie",
      { add: [{ name: "tenant", cookie: "tn" }] },
      { headers: [["cookie", "a=b; tn=acme"]] },
      "a=REDACTED-cookie-1; tn=REDACTED-tenant-1",
    ],
    [
      "a cookie alone",
      { add: [{ name: "tenant", cookie: "tn" }], waive: ["cookie"] },
      { headers: [["cookie", "a=b; tn=acme"]] },
      "a=b; tn=REDACTED-tenant-1",
    ],
    [
      "a pattern",
      { add: [{ name: "tenant", pattern: /tnt_[a-zü]+/ }] },
      { answer: ["é tnt_abü 12"] },
      "é REDACTED-tenant-1 12",
    ],
    [
      "a group of a pattern",
      { add: [{ name: "tenant", pattern: /for (\w+)!/gi }] },
      { answer: ["FOR acme!"] },
      "FOR REDACTED-tenant-1!",
    ],
    ["a value", { add: [{ name: "tenant", value: "acme" }] }, { answer: ["x-acme-y"] }, "x-REDACTED-tenant-1-y"],
    ["values", { values: ["acme co"] }, { answer: ["acme%20co"] }, "REDACTED-value-1"],
  ])("%s", (_, options, parts, expected) => {
    const track = createRedactor(options).track(exchange(parts));
    expect(JSON.stringify({ ...track, answer: answerOf(track) })).toContain(expected);
  });

  it("are waived by name, as the built-in ones are", () => {
    const draft = exchange({
      headers: [
        ["authorization", "Bearer abc"],
        ["x-tenant", "acme"],
      ],
    });
    const options = { add: [{ name: "tenant", header: "x-tenant" }], waive: ["tenant", "authorization"] };
    expect(createRedactor(options).track(draft)).toBe(draft);
  });
});

describe("options that are refused", () => {
  it.each<[string, unknown, RegExp]>([
    ["an unknown option", { enabled: false }, /unknown option "enabled".*\n.*"add", "values", "waive"/],
    ["an unknown rule", { waive: ["autorization"] }, /waive names no rule: "autorization".*\n.*authorization/],
    ["a rule with two places", { add: [{ name: "x", header: "a-b", query: "a" }] }, /add\[0\] \("x"\) has 2 places/],
    ["a rule without a place", { add: [{ name: "x" }] }, /no place/],
    ["an unknown key of a rule", { add: [{ name: "x", headers: "y" }] }, /unknown key "headers"/],
    ["a name that no pseudonym can have", { add: [{ name: "My Rule", header: "x-y" }] }, /no usable name/],
    ["an expression that matches nothing at all", { add: [{ name: "x", pattern: /a*/ }] }, /empty text/],
    ["a value that is too short", { values: ["abc"] }, /values\[0\] has fewer than 4 characters/],
    ["something that is no list", { values: "abcdefgh" }, /values is not a list/],
    ["something that is no rule", { add: ["authorization"] }, /add\[0\] is not an object/],
    ["a name of a place that could not be found", { add: [{ name: "x", key: "a key" }] }, /unusable key/],
  ])("%s", (_, options, message) => {
    expect(() => createRedactor(options as RedactOptions)).toThrow(OptionInvalid);
    expect(() => createRedactor(options as RedactOptions)).toThrow(message);
  });

  it("never shows a value in the error", () => {
    const attempt = (): unknown => createRedactor({ values: ["tok-987654321", "s3c"] });
    expect(attempt).toThrow(/^(?!.*(s3c|tok-9))/s);
  });
});
