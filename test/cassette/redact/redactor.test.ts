import { describe, expect, it } from "vitest";
import type { CallDraft, DuplexDraft } from "../../../src/cassette/draft.ts";
import { pseudonymClass } from "../../../src/cassette/redact/pseudonyms.ts";
import { createRedactor } from "../../../src/cassette/redact/redactor.ts";
import { decodeBase64, decodeUtf8, encodeUtf8 } from "../../../src/wire/bytes.ts";
import { answerOf, exchange, textOf } from "./drafts.ts";

const answered = (body: string, media?: string): string =>
  answerOf(createRedactor().track(exchange({ answer: [body], ...(media === undefined ? {} : { media }) })));

describe("headers", () => {
  it.each([
    ["Authorization", "Bearer tok-987654321", "REDACTED-authorization-1"],
    ["proxy-authorization", "Basic dXNlcjpwYXNz", "REDACTED-proxy-authorization-1"],
    ["X-Api-Key", "k", "REDACTED-x-api-key-1"],
    ["x-goog-api-key", "abc", "REDACTED-x-goog-api-key-1"],
    ["x-vault-token", "hvs.1234", "REDACTED-token-1"],
    ["Ocp-Apim-Subscription-Key", "0123", "REDACTED-subscription-key-1"],
    ["x-next-page-token", "abcdef0123456789", "abcdef0123456789"],
    ["x-ratelimit-remaining-tokens", "149984", "149984"],
    ["idempotency-key", "4ad1e3a1-6f0e-4c39-8d38-aaa0b0a4e1c1", "4ad1e3a1-6f0e-4c39-8d38-aaa0b0a4e1c1"],
    ["cookie", "sid=s%3Aabc; theme=dark; empty=", "sid=REDACTED-cookie-1; theme=REDACTED-cookie-2; empty="],
    ["set-cookie", "sid=abc=; Path=/; HttpOnly", "sid=REDACTED-cookie-1; Path=/; HttpOnly"],
    ["set-cookie", 'sid="a b"; Path=/', 'sid="REDACTED-cookie-1"; Path=/'],
    [
      "location",
      "https://app.example.com/cb#access_token=abc&x=1",
      "https://app.example.com/cb#access_token=REDACTED-access-token-1&x=1",
    ],
    [
      "link",
      '<https://a.example/?api_key=abc&page=2>; rel="next"',
      '<https://a.example/?api_key=REDACTED-api-key-1&page=2>; rel="next"',
    ],
  ])("%s: %s", (name, value, expected) => {
    const track = createRedactor().track(exchange({ headers: [[name, value]], answerHeaders: [[name, value]] }));
    expect(track.request.headers).toEqual([[name, expected]]);
    expect(track.response!.headers).toEqual([[name, expected]]);
  });

  it("learns the token behind the scheme, and the password behind Basic", () => {
    const redactor = createRedactor();
    const track = redactor.track(
      exchange({
        headers: [["authorization", `Basic ${btoa("user:open-sesame-1")}`]],
        answer: [`{"you":"user:open-sesame-1","half":"open-sesame-1"}`],
      }),
    );
    expect(answerOf(track)).toBe('{"you":"REDACTED-authorization-1","half":"REDACTED-authorization-2"}');
  });

  it("links a token that comes back: an answer's token is the pseudonym of the next request's header", () => {
    const redactor = createRedactor();
    redactor.track(exchange({ answer: ['{"access_token":"tok-987654321"}'] }));
    const next = exchange({ headers: [["authorization", "Bearer tok-987654321"]] }, "t2");
    expect(redactor.track(next).request.headers).toEqual([["authorization", "REDACTED-access-token-1"]]);
    // In replay the program sends what it was handed.
    const live = exchange({ headers: [["authorization", "Bearer REDACTED-access-token-1"]] }, "t3");
    expect(createRedactor().request(live.request as never)).toMatchObject({
      headers: [["authorization", "REDACTED-access-token-1"]],
    });
  });
});

describe("URLs", () => {
  it.each([
    ["https://a.example/?access_token=abc&x=1", "https://a.example/?access_token=REDACTED-access-token-1&x=1"],
    [
      "https://a.example/?X-Amz-Signature=0f0f&X-Amz-Date=1",
      "https://a.example/?X-Amz-Signature=REDACTED-signature-1&X-Amz-Date=1",
    ],
    ["https://a.example/?sig=a%2Fb%3D", "https://a.example/?sig=REDACTED-signature-1"],
    ["https://user:pa%40ss@a.example/", "https://user:REDACTED-url-password-1@a.example/"],
    ["https://maps.googleapis.com/x?key=test-key", "https://maps.googleapis.com/x?key=REDACTED-key-1"],
    ["https://a.example/issues?key=ABC-123", "https://a.example/issues?key=ABC-123"],
    ["https://a.example/cb?code=4/0AX4&state=xyz", "https://a.example/cb?code=REDACTED-code-1&state=xyz"],
    ["https://a.example/shop?code=SUMMER", "https://a.example/shop?code=SUMMER"],
    ["https://a.example/?page_token=abcdef&max_tokens=5", "https://a.example/?page_token=abcdef&max_tokens=5"],
    [
      "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Dabc%26x%3D1",
      "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3DREDACTED-token-1%26x%3D1",
    ],
    ["https://a.example/?token=", "https://a.example/?token="],
  ])("%s", (url, expected) => {
    expect(createRedactor().track(exchange({ url })).request.url).toBe(expected);
  });
});

describe("bodies by key", () => {
  it.each([
    ["JSON", '{"password":"hunter2","user":"ann"}', '{"password":"REDACTED-password-1","user":"ann"}'],
    [
      "camel case",
      '{"clientSecret": "abc", "apiKey":"def"}',
      '{"clientSecret": "REDACTED-client-secret-1", "apiKey":"REDACTED-api-key-1"}',
    ],
    ["a number", '{"password": 1234567, "n": 1}', '{"password": "REDACTED-password-1", "n": 1}'],
    [
      "a list",
      '{"api_key": ["abc", "def"], "n": 1}',
      '{"api_key": ["REDACTED-api-key-1", "REDACTED-api-key-2"], "n": 1}',
    ],
    ["escapes", '{"password":"a\\"b\\u00e9","x":1}', '{"password":"REDACTED-password-1","x":1}'],
    ["SSE", 'data: {"token":"abc"}\n\n', 'data: {"token":"REDACTED-token-1"}\n\n'],
    ["NDJSON", '{"a":1}\n{"secret":"s"}\n', '{"a":1}\n{"secret":"REDACTED-secret-1"}\n'],
    [
      "JSON in JSON",
      '{"s":"{\\"password\\":\\"hun\\\\\\"ter\\"}"}',
      '{"s":"{\\"password\\":\\"REDACTED-password-1\\"}"}',
    ],
    [
      "a number in JSON in JSON",
      '{"s":"{\\"password\\":1234567}"}',
      '{"s":"{\\"password\\":\\"REDACTED-password-1\\"}"}',
    ],
    [
      "XML",
      "<a><SecretAccessKey>ab/c=</SecretAccessKey></a>",
      "<a><SecretAccessKey>REDACTED-secret-access-key-1</SecretAccessKey></a>",
    ],
    ["HTML", '<input name="csrf_token" value="abc">', '<input name="csrf_token" value="REDACTED-csrf-token-1">'],
    [
      "pairs",
      '{"headers":[["accept","x"], ["authorization", "Bearer abc"]]}',
      '{"headers":[["accept","x"], ["authorization", "REDACTED-authorization-1"]]}',
    ],
    [
      "named values",
      '[{"name": "X-Api-Key", "value": "abc"}]',
      '[{"name": "X-Api-Key", "value": "REDACTED-x-api-key-1"}]',
    ],
    ["a printed dict", "{'api_key': 'abc'}", "{'api_key': 'REDACTED-api-key-1'}"],
    [
      "a URL in JSON",
      '{"url":"https://a.example/?x=1\\u0026sig=abc\\u0026y=2"}',
      '{"url":"https://a.example/?x=1\\u0026sig=REDACTED-signature-1\\u0026y=2"}',
    ],
    [
      "a connection string",
      "AccountName=x;AccountKey=abc==;Suffix=y",
      "AccountName=x;AccountKey=REDACTED-account-key-1;Suffix=y",
    ],
    [
      "a header dump",
      "GET /\r\nAuthorization: Bearer abc123def456\r\n",
      "GET /\r\nAuthorization: REDACTED-authorization-1\r\n",
    ],
    ["cut off", '{"password":"hunter2hun', '{"password":"REDACTED-password-1'],
  ])("%s", (_, body, expected) => {
    expect(answered(body)).toBe(expected);
  });

  it("redacts forms whole, whatever the value holds", () => {
    const form = "application/x-www-form-urlencoded";
    expect(answered("a=1&password=x'y)z;w&b=2", form)).toBe("a=1&password=REDACTED-password-1&b=2");
    expect(answered("user[password]=abc&b=2", form)).toBe("user[password]=REDACTED-password-1&b=2");
    expect(answered("grant_type=authorization_code&code=abc", form)).toBe(
      "grant_type=authorization_code&code=REDACTED-code-1",
    );
  });

  it("redacts the fields of a multipart body", () => {
    const part = (name: string, value: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    expect(answered(`${part("password", "a\r\nb")}${part("x", "y")}--b--`, "multipart/form-data; boundary=b")).toBe(
      `${part("password", "REDACTED-password-1")}${part("x", "y")}--b--`,
    );
  });

  it.each([
    '{"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15},"max_tokens":4096,"tokens":"many"}',
    '{"next_page_token":"CAUQAA","pageToken":"abc","nextToken":"x","continuation_token":"y","cursor":"z"}',
    '{"content":[{"token":"Hello","logprob":-0.31,"bytes":[72]},{"token":" the","bytes":null,"logprob":-1}]}',
    '{"token":{"id":15043,"text":"Hello"},"token_count":3,"token":1234,"eos_token":"</s>","progressToken":"abc"}',
    '{"password":"","secret":null,"token":true,"api_key":"***","credentials":"include"}',
    '{"key":"value-of-some-key-1","code":"ENOENT","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrzLoky3dl1pki"}',
    '{"secret_id":"abc","password_hint":"x","key_id":"y","public_key":"z","tokenizer":"w"}',
    '{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string"}},"required":["password"]}',
    '{"id":"4ad1e3a1-6f0e-4c39-8d38-aaa0b0a4e1c1","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}',
    "Put <API_KEY> where your key goes; the disk-encryption task-runner reads token: identifier, password=x?",
    "const sk-loading = 'foo'; see https://example.com/a@b and mailto:x@y.z, key=value",
  ])("leaves %s alone", (body) => {
    const draft = exchange({ answer: [body], headers: [["accept", "*/*"]] });
    expect(createRedactor().track(draft)).toBe(draft);
  });
});

describe("shapes", () => {
  const jwt = `${btoa('{"alg":"HS256"}').replace(/=+$/, "")}.${btoa('{"sub":"12345"}').replace(/=+$/, "")}.c2lnbmF0dXJlMTIz`;
  // Put together at run time: no scanner of repositories is to take them for real ones.
  const tokens: readonly (readonly [string, string])[] = [
    ["openai-key", `sk-${"proj-"}${"aB3_".repeat(10)}`],
    ["openai-key", `sk-${"aB3d".repeat(12)}`],
    ["anthropic-key", `sk-ant-${"api03-aB3_".repeat(4)}`],
    ["github-token", `ghp_${"aB3d".repeat(9)}`],
    ["github-token", `github_pat_${"aB3_".repeat(12)}`],
    ["gitlab-token", `glpat-${"aB3d".repeat(5)}`],
    ["slack-token", `xoxb-${"123456789012-"}${"aB3d".repeat(6)}`],
    ["aws-access-key", `AKIA${"ABCD".repeat(4)}`],
    ["google-api-key", `AIza${"aB3d5".repeat(7)}`],
    ["stripe-key", `sk_live_${"aB3d".repeat(6)}`],
    ["npm-token", `npm_${"aB3d".repeat(9)}`],
    ["hugging-face-token", `hf_${"aBcd".repeat(8)}ab`],
    ["sendgrid-key", `SG.${"aB3d".repeat(5)}ab.${"aB3d".repeat(10)}abc`],
    ["twilio-key", `SK${"0af3".repeat(8)}`],
    ["jwt", jwt],
    ["pem", `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEow+/".repeat(8)}\n-----END RSA PRIVATE KEY-----`],
  ];

  it.each(tokens)("%s", (rule, token) => {
    expect(answered(`say ${token}, please`)).toBe(`say REDACTED-${rule}-1, please`);
    expect(answered(JSON.stringify({ text: `line\n${token}` }))).toBe(`{"text":"line\\nREDACTED-${rule}-1"}`);
    expect(createRedactor({ waive: [rule] }).text(`say ${token}`)).toBe(`say ${token}`);
  });

  it("knows passwords in addresses, and bearer tokens and basic credentials in prose", () => {
    expect(answered("dial postgres://app:s3cr@t@db/x now")).toBe(
      "dial postgres://app:REDACTED-url-password-1@db/x now",
    );
    expect(answered("curl -H 'X: Bearer abcdef0123456789' a")).toBe("curl -H 'X: Bearer REDACTED-bearer-1' a");
    expect(answered(`use Basic ${btoa("ann:open sesame")} here`)).toBe("use Basic REDACTED-basic-1 here");
    expect(answered("Basic authentication and a bearer certificate-of-deposit")).toContain("certificate-of-deposit");
  });

  it("does not take what only looks like a token", () => {
    for (const text of [
      "eyJhbGciOi.eyJub3Q.abc",
      `${btoa('{"typ":"x"}')}.aaaaaaaaaaaa.bbbbbbbbbb`,
      "xsk-aB3daB3daB3daB3daB3daB3d",
    ]) {
      expect(answered(text)).toBe(text);
    }
  });
});

describe("values", () => {
  it("replaces what was learned by place everywhere in the track, in every encoding", () => {
    const secret = 'p&ss/w"ord é1';
    const track = createRedactor().track(
      exchange({
        url: `https://a.example/${encodeURIComponent(secret)}`,
        sent: [JSON.stringify({ password: secret })],
        answer: [
          `${secret}|${encodeURIComponent(secret)}|${JSON.stringify(secret)}|${JSON.stringify(JSON.stringify(secret))}`,
        ],
      }),
    );
    expect(track.request.url).toBe("https://a.example/REDACTED-password-1");
    expect(answerOf(track)).toBe(
      'REDACTED-password-1|REDACTED-password-1|"REDACTED-password-1"|"\\"REDACTED-password-1\\""',
    );
  });

  it("replaces in the request what only the answer says is secret", () => {
    const track = createRedactor().track(
      exchange({
        url: "https://a.example/tok-987654321",
        headers: [["x-note", "tok-987654321"]],
        sent: ["tok-987", "654321"],
        answer: ['{"token":"tok-987654321"}'],
      }),
    );
    expect(textOf(track)).not.toContain("987");
    expect(track.request.headers).toEqual([["x-note", "REDACTED-token-1"]]);
  });

  it("keeps base64 decodable, with the pseudonym inside", () => {
    for (const around of [
      ["", ""],
      ["a", "bc"],
      ["ab", ""],
      ["abc", "d"],
    ]) {
      const encoded = btoa(around.join("tok-987654321"));
      const track = createRedactor({ values: ["tok-987654321"] }).track(exchange({ answer: [`{"x":"${encoded}"}`] }));
      const { x } = JSON.parse(answerOf(track)) as { x: string };
      expect(decodeUtf8(decodeBase64(x)!)).toBe(around.join("REDACTED-value-1"));
    }
  });

  it("does not shred texts by short or common values, and words count as words", () => {
    const redactor = createRedactor();
    const text =
      '{"password":"postgres","x":"postgres","secret":"abc","y":"abcabc","token":"swordfish","z":"swordfishes swordfish"}';
    expect(answerOf(redactor.track(exchange({ answer: [text] })))).toBe(
      '{"password":"REDACTED-password-1","x":"postgres","secret":"REDACTED-secret-1","y":"abcabc",' +
        '"token":"REDACTED-token-1","z":"swordfishes REDACTED-token-1"}',
    );
  });

  it("takes secrets from the environment by the names of the variables", () => {
    const environment = {
      MY_SERVICE_TOKEN: "env-value-12345",
      SSH_AUTH_SOCK: "/tmp/ssh-agent-123",
      npm_config_auth_token: "npm-value-12345",
      API_KEY_PATH: "some-value-12345",
      SHORT_TOKEN: "abc",
      HOME: "/home/ann-12345678",
      DATABASE_URL: "postgres://ann:db-pass-123@db/x",
    };
    const text = Object.values(environment).join(" ");
    expect(createRedactor({}, environment).text(text)).toBe(
      text.replace("env-value-12345", "REDACTED-environment-1").replace("db-pass-123", "REDACTED-url-password-1"),
    );
    expect(createRedactor({ waive: ["environment"] }, environment).text("env-value-12345")).toBe("env-value-12345");
  });

  it("names the pseudonym of an announced value after the place it is seen in", () => {
    const redactor = createRedactor({}, { MY_API_TOKEN: "env-value-12345" });
    const track = redactor.track(
      exchange({ url: "https://a.example/env-value-12345", headers: [["x-api-key", "env-value-12345"]] }),
    );
    expect(track.request.url).toBe("https://a.example/REDACTED-x-api-key-1");
  });

  it("tells what was redacted before and may hold a secret that was learned behind it, once", () => {
    const redactor = createRedactor({ values: ["val-123456789"] });
    const first = redactor.track(exchange({ answer: ["tok-987654321"] }), "first");
    redactor.json({ note: "nothing" }, "second");
    redactor.json({ encoded: "x=dG9rLTk4NzY1NDMyMQ" }, "third");
    redactor.json({ text: "tok-987654321" });
    expect([...redactor.outdated()]).toEqual([]);
    const teacher = exchange({ headers: [["x-api-key", "tok-987654321"]] }, "t2");
    redactor.track(teacher, "teacher");
    expect([...redactor.outdated()]).toEqual(expect.arrayContaining(["first", "third"]));
    expect([...redactor.outdated()]).toEqual([]);
    redactor.track(teacher);
    expect([...redactor.outdated()]).toEqual([]);
    expect(answerOf(redactor.track(first))).toBe("REDACTED-x-api-key-1");
    expect(redactor.counts()).toEqual({ "x-api-key": 3 });
  });

  it.each([
    // A pseudonym makes a token of what stands beside it, and takes the place of the quote that ended a value.
    ["&sig=Authorization: Bearer %41Authorization: Bearer "],
    ['"token":"<token>"password":</token>'],
  ])("leaves nothing that a second look would find: %s", (text) => {
    const redactor = createRedactor();
    const once = redactor.track(exchange({ answer: [text] }));
    expect(textOf(redactor.track(once))).toBe(textOf(once));
    expect(redactor.track(once)).toBe(once);
  });
});

describe("chunks", () => {
  it("finds a secret that is torn over chunks and keeps every boundary", () => {
    const draft = exchange({
      answer: ['{"x":"to', "", "k-98765", '4321","y":1}'],
      headers: [["x-api-key", "tok-987654321"]],
    });
    const { chunks } = createRedactor().track(draft).response!.body!;
    expect(chunks.map(({ bytes }) => new TextDecoder().decode(bytes))).toEqual([
      '{"x":"RE',
      "",
      "DACTED-",
      'x-api-key-1","y":1}',
    ]);
  });

  it("restates content-length where it was right", () => {
    const body = '{"password":"x"}';
    const track = createRedactor().track(
      exchange({
        answer: [body],
        answerHeaders: [["Content-Length", String(body.length)]],
        sent: [body],
        headers: [["content-length", "99"]],
      }),
    );
    expect(track.response!.headers).toEqual([["Content-Length", String(answerOf(track).length)]]);
    expect(track.request.headers).toEqual([["content-length", "99"]]);
  });

  it("does not touch its argument, nor copy what holds no secret", () => {
    const draft = exchange({ answer: ["plain"], sent: ['{"password":"x"}'] });
    const before = textOf(draft);
    const track = createRedactor().track(draft);
    expect(textOf(draft)).toBe(before);
    expect(track.response).toBe(draft.response);
    expect(track.request).not.toBe(draft.request);
  });
});

describe("other kinds of tracks", () => {
  it("redacts calls: names, trees, events, errors", () => {
    const draft: CallDraft = {
      id: "t1",
      kind: "function",
      at: 0,
      call: { name: "login", input: { password: "hunter2-hunter2", pin: { password: 12345 }, n: 1, list: ["a"] } },
      result: { at: 1, value: { token: "tok-987654321", logprobs: [{ token: "Hello", logprob: -1 }] } },
      events: [
        { at: 1, value: "saw tok-987654321" },
        { at: 2, text: '{"secret":"abc"}' },
      ],
      error: { name: "Error", message: "bad hunter2-hunter2", cause: { name: "E", message: "api_key=zzz refused" } },
    };
    expect(createRedactor().track(draft)).toEqual({
      ...draft,
      call: {
        name: "login",
        input: { password: "REDACTED-password-1", pin: { password: "REDACTED-password-2" }, n: 1, list: ["a"] },
      },
      result: { at: 1, value: { token: "REDACTED-token-1", logprobs: [{ token: "Hello", logprob: -1 }] } },
      events: [
        { at: 1, value: "saw REDACTED-token-1" },
        { at: 2, text: '{"secret":"REDACTED-secret-1"}' },
      ],
      error: {
        name: "Error",
        message: "bad REDACTED-password-1",
        cause: { name: "E", message: "api_key=REDACTED-api-key-1 refused" },
      },
    });
  });

  it("redacts trees by key, in pairs and in named values, numbers of any kind too", () => {
    const tree = {
      big: { password: { $bigint: "123456789012" } },
      map: {
        $map: [
          ["token", "abc"],
          ["x", "y"],
        ],
      },
      headers: [{ name: "authorization", value: "Bearer abc" }],
      allowed: ["authorization", "content-type"],
      secrets: { token: ["a", "b"], max_tokens: 5, token_type: "bearer" },
    };
    expect(createRedactor().json(tree)).toEqual({
      big: { password: "REDACTED-password-1" },
      map: {
        $map: [
          ["token", "REDACTED-token-1"],
          ["x", "y"],
        ],
      },
      headers: [{ name: "authorization", value: "REDACTED-token-1" }],
      allowed: ["authorization", "content-type"],
      secrets: { token: ["REDACTED-token-2", "REDACTED-token-3"], max_tokens: 5, token_type: "bearer" },
    });
  });

  it("redacts processes: arguments, environment, and each stream as a whole", () => {
    const frame = (from: "stdout" | "stderr", text: string, at: number) => ({ at, from, bytes: encodeUtf8(text) });
    const draft: DuplexDraft = {
      id: "t1",
      kind: "process",
      at: 0,
      open: {
        command: "tool",
        argv: ["--api-key", "abc", "--token=def", "--verbose", "--max-tokens", "5"],
        env: { MY_TOKEN: "tok-987654321", LANG: "C" },
      },
      frames: [frame("stdout", "tok-98", 1), frame("stderr", "noise", 2), frame("stdout", "7654321 done", 3)],
    };
    const track = createRedactor().track(draft);
    expect(track.open).toEqual({
      command: "tool",
      argv: ["--api-key", "REDACTED-api-key-1", "--token=REDACTED-token-2", "--verbose", "--max-tokens", "5"],
      env: { MY_TOKEN: "REDACTED-token-1", LANG: "C" },
    });
    expect(track.frames.map(({ from, bytes }) => [from, new TextDecoder().decode(bytes)])).toEqual([
      ["stdout", "REDACT"],
      ["stderr", "noise"],
      ["stdout", "ED-token-1 done"],
    ]);
  });

  it("redacts failures and the address of a WebSocket", () => {
    const draft: DuplexDraft = {
      id: "t1",
      kind: "websocket",
      at: 0,
      open: {
        url: "wss://a.example/?token=abc",
        protocols: ["realtime", `openai-insecure-api-key.sk-${"aB3d".repeat(12)}`],
      },
      frames: [],
      fault: { name: "TypeError", message: "connect wss://a.example/?token=abc failed" },
    };
    expect(createRedactor().track(draft)).toMatchObject({
      open: {
        url: "wss://a.example/?token=REDACTED-token-1",
        protocols: ["realtime", "openai-insecure-api-key.REDACTED-openai-key-1"],
      },
      fault: { message: "connect wss://a.example/?token=REDACTED-token-1 failed" },
    });
  });
});

describe("requests, texts and pseudonyms", () => {
  it("gives live requests the shape of recorded ones", () => {
    const request = {
      method: "POST",
      url: "https://a.example/?api_key=dummy",
      headers: [["content-length", "16"] as const],
      body: encodeUtf8('{"password":"x"}'),
    };
    const redacted = createRedactor().request(request);
    expect(redacted.url).toBe("https://a.example/?api_key=REDACTED-api-key-1");
    expect(new TextDecoder().decode(redacted.body)).toBe('{"password":"REDACTED-password-1"}');
    expect(redacted.headers).toEqual([["content-length", String(redacted.body.length)]]);
    const plain = { method: "GET", url: "https://a.example/", headers: [["accept", "*/*"] as const] };
    expect(createRedactor({ values: ["tok-987654321"] }).request(plain)).toBe(plain);
  });

  it("keeps lone surrogates and other characters as they are", () => {
    const redactor = createRedactor({ values: ["geheim-tür"] });
    expect(redactor.text("\ud800 geheim-tür 🎉 \udfff")).toBe("\ud800 REDACTED-value-1 🎉 \udfff");
    expect(redactor.json({ "geheim-tür": ["🎉geheim-tür"] })).toEqual({ "REDACTED-value-1": ["🎉REDACTED-value-1"] });
  });

  it("cuts pseudonyms to their class", () => {
    expect(pseudonymClass("a=REDACTED-x-api-key-12&b=REDACTED-oauth-2-1.")).toBe(
      "a=REDACTED-x-api-key&b=REDACTED-oauth-2.",
    );
    expect(pseudonymClass("REDACTED-a-1-REDACTED-b-2")).toBe("REDACTED-a-REDACTED-b");
    expect(pseudonymClass("REDACTED- nothing")).toBe("REDACTED- nothing");
  });

  it("is linear on texts made to be slow", () => {
    const hostile = [
      '"token":',
      "?token=",
      "eyJhbGciOi.",
      "://a:",
      '{"token":\'',
      "-----BEGIN PRIVATE KEY-----",
      "\\\\u",
      "%25",
      "sk-proj-",
      "&code=1",
    ];
    for (const part of hostile) {
      const start = performance.now();
      createRedactor({ values: ["tok-987654321"] }).track(exchange({ answer: [part.repeat(500_000 / part.length)] }));
      expect(performance.now() - start, part).toBeLessThan(5000);
    }
  });
});
