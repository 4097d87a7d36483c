import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HttpDraft } from "../../../src/cassette/draft.ts";
import { createRedactor } from "../../../src/cassette/redact/redactor.ts";
import { scanForSecrets } from "../../../src/cassette/redact/scan.ts";
import { decodeLatin1, encodeBase64, encodeUtf8 } from "../../../src/wire/bytes.ts";
import { exchange, textOf } from "./drafts.ts";

/** A secret with a beginning that no other text has, so that finding it means that it survived. */
const secrets = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9]{2,4}$/),
    fc.string({ unit: fc.constantFrom(..."aZ09+/=&%\"\\ é<>~!'()_-.:;,#?@🎉"), minLength: 8, maxLength: 40 }),
  )
  .map(([head, tail]) => `${head}q7${tail}9z`);

const bytesText = (text: string): string => decodeLatin1(encodeUtf8(text));
const everyPercent = (text: string): string =>
  [...encodeUtf8(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const everyEscape = (text: string): string =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Ways to write a secret into a text. */
const encoders: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  percent: encodeURIComponent,
  "lower percent": (secret) => encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  "every byte percent": everyPercent,
  form: (secret) => new URLSearchParams({ x: secret }).toString().slice(2),
  "twice percent": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  json: (secret) => JSON.stringify(secret),
  "ascii json": (secret) => JSON.stringify(secret).replace(/[^\x00-\x7f]/g, everyEscape),
  "slash json": (secret) => JSON.stringify(secret).replaceAll("/", "\\/"),
  "every unit escaped": everyEscape,
  "json in json": (secret) => JSON.stringify(JSON.stringify({ x: secret })),
  "percent in json": (secret) => JSON.stringify(encodeURIComponent(secret)),
  base64: (secret) => encodeBase64(encodeUtf8(secret)),
  "base64 behind one": (secret) => encodeBase64(encodeUtf8(`a${secret}bc`)),
  "base64 behind two": (secret) => encodeBase64(encodeUtf8(`ab${secret}c`)),
  base64url: (secret) => encodeBase64(encodeUtf8(secret)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  "base64 in a query": (secret) => encodeURIComponent(encodeBase64(encodeUtf8(secret))),
};

function decodedForms(text: string): string[] {
  const forms = [text];
  for (let i = 0; i < forms.length && forms.length < 30; i++) {
    const form = forms[i]!;
    const percent = form.replace(/%([\da-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    const escapes = form.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_, unit: string | undefined, short: string) =>
      unit === undefined ? short : String.fromCharCode(Number.parseInt(unit, 16)),
    );
    for (const next of [percent, escapes, percent.replaceAll("+", " ")]) if (!forms.includes(next)) forms.push(next);
    for (const run of form.match(/[A-Za-z\d+/_-]{12,}={0,2}/g) ?? []) {
      const bytes = Buffer.from(run, "base64").toString("latin1");
      if (forms.length < 25) forms.push(bytes);
    }
  }
  return forms;
}

/** Whether the secret can still be read in the text, under the encodings above. */
function survives(text: string, secret: string): boolean {
  const wanted = [secret, bytesText(secret)];
  return decodedForms(text).some((form) =>
    wanted.some((each) => form.includes(each) || bytesText(form).includes(each)),
  );
}

function torn(text: string, cuts: readonly number[]): string[] {
  const at = [0, ...[...cuts].map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return at.slice(1).map((end, i) => text.slice(at[i], end));
}

const latin = (pieces: readonly string[]) => pieces.map((piece, i) => ({ at: i, bytes: Buffer.from(piece, "latin1") }));

const filler = fc.string({ unit: fc.constantFrom(..." abc\n{}[],xy"), maxLength: 20 });

describe("no secret survives", () => {
  const places: Readonly<Record<string, (secret: string) => Partial<Parameters<typeof exchange>[0]>>> = {
    "a JSON key": (secret) => ({ sent: [JSON.stringify({ user: "ann", password: secret })] }),
    "a query parameter": (secret) => ({
      url: `https://a.example/?x=1&${new URLSearchParams({ access_token: secret })}`,
    }),
    "a form": (secret) => ({ sent: [new URLSearchParams({ a: "1", client_secret: secret, b: "2" }).toString()] }),
    "a key of JSON in JSON": (secret) => ({ sent: [JSON.stringify({ text: JSON.stringify({ token: secret }) })] }),
    "nowhere but in the options": () => ({}),
  };

  it.each(Object.keys(places))("that was learned from %s", (place) => {
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...Object.keys(encoders)),
        filler,
        filler,
        fc.array(fc.nat(), { maxLength: 6 }),
        (secret, encoder, before, after, cuts) => {
          const answer = `${before}|${encoders[encoder]!(secret)}|${after}`;
          const options = place === "nowhere but in the options" ? { values: [secret] } : {};
          const redactor = createRedactor(options);
          const draft = exchange(places[place]!(secret));
          const pieces = torn(bytesText(answer), cuts);
          const planted: HttpDraft = { ...draft, response: { ...draft.response!, body: { chunks: latin(pieces) } } };
          const track = redactor.track(planted);
          const body = track.response!.body!.chunks;
          expect(body.length).toBe(pieces.length);
          expect(body.map(({ at }) => at)).toEqual(pieces.map((_, i) => i));
          const text = body.map(({ bytes }) => decodeLatin1(bytes)).join("");
          expect(survives(text, secret), text).toBe(false);
          expect(survives(decodeLatin1(track.request.body?.chunks[0]?.bytes ?? new Uint8Array()), secret)).toBe(false);
          expect(survives(track.request.url, secret)).toBe(false);
          // What is outside stays, and a second look finds nothing to do.
          expect(text.startsWith(`${bytesText(before)}|`) && text.endsWith(`|${bytesText(after)}`), text).toBe(true);
          expect(redactor.track(track)).toBe(track);
          expect(createRedactor(options).track(track)).toBe(track);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("that was learned from a header", () => {
    const printable = secrets.filter((secret) => /^[\x21-\x7e]+$/.test(secret));
    fc.assert(
      fc.property(
        printable,
        fc.constantFrom("x-api-key", "authorization", "cookie"),
        fc.constantFrom(...Object.keys(encoders)),
        (secret, name, encoder) => {
          fc.pre(name !== "cookie" || !/[;",]/.test(secret));
          const values: Record<string, string> = { authorization: `Bearer ${secret}`, cookie: `a=b; sid=${secret}` };
          const value = values[name] ?? secret;
          const track = createRedactor().track(
            exchange({ headers: [[name, value]], answer: [`x ${encoders[encoder]!(secret)} y`] }),
          );
          expect(survives(decodeLatin1(track.response!.body!.chunks[0]!.bytes), secret)).toBe(false);
          expect(survives(JSON.stringify(track.request.headers), secret)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("nothing else changes", () => {
  it("where there is no secret: the very same object", () => {
    const names = fc.constantFrom(
      "id",
      "name",
      "max_tokens",
      "tokens",
      "url",
      "content",
      "usage",
      "key",
      "code",
      "created",
    );
    const leaf = fc.oneof(
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.uuid(),
      fc.lorem({ maxCount: 5 }),
      fc.string(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(names, tie("tree"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const draft = exchange({
          answer: [JSON.stringify(value)],
          url: "https://a.example/v1?limit=5",
          headers: [["accept", "*/*"]],
        });
        expect(createRedactor().track(draft)).toBe(draft);
        expect(createRedactor().json(value as never)).toBe(value);
      }),
      { numRuns: 300 },
    );
  });

  it("any bytes, redacted twice, are what they were redacted once; the scan has nothing to say", () => {
    const words = fc.constantFrom(
      ...[
        '"password":',
        '"token":"',
        "abc12345xyz",
        '"',
        "'",
        "\\",
        "\\u0041",
        "%41",
        "&sig=",
        "?token=",
        "Authorization: Bearer ",
        "://u:p@h/",
        "REDACTED-token-1",
        "eyJ",
        "=",
        "&",
        ":",
        "\n",
        "é",
        "<token>",
        "</token>",
        "12345678",
        "[",
        "]",
        ",",
        "{",
        "}",
        " ",
      ],
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 25 }), fc.array(fc.nat(), { maxLength: 4 }), (parts, cuts) => {
        const text = bytesText(parts.join(""));
        const draft = exchange({});
        const planted: HttpDraft = {
          ...draft,
          response: { ...draft.response!, body: { chunks: latin(torn(text, cuts)) } },
        };
        const redactor = createRedactor();
        const once = redactor.track(planted);
        const again = redactor.track(once);
        expect(textOf(again)).toBe(textOf(once));
        expect(
          scanForSecrets(
            JSON.stringify({
              text: decodeLatin1(Buffer.concat(once.response!.body!.chunks.map(({ bytes }) => bytes))),
            }),
          ),
        ).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
