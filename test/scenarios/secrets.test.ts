import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Deck, type DeckOptions, openDeck, SecretFound, tapeFetch, withDeck } from "wiretape";
import { filesBelow, useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

const scratch = useScratch();

// Values as they come in life, and none that a rule knows by its looks unless it is there for that.
const planted = {
  header: "hdr-7c1f0a9b3e5d4c2a8f60",
  apiKey: "key-91b2c3d4e5f60718293a",
  cookie: "ck-5f4e3d2c1b0a99887766",
  setCookie: "sc-0f1e2d3c4b5a69788796",
  query: "qry-aa11bb22cc33dd44ee55",
  json: "jsn-1234abcd5678ef90aa00",
  form: "frm-zz99yy88xx77ww66vv55",
  answer: "ans-0011223344556677aabb",
  sse: "sk-proj-Zk3v9Q2m7X5t1B8n4C6w0R",
  environment: "env-6b5a4c3d2e1f00998877",
  announced: "ann-plain-words-but-mine",
  function: "fun-4433221100ffeeddccbb",
};

let url = "";
const server = createServer((request, response) => void answer(request, response));
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request) body += piece;
  const path = request.url as string;
  if (path.startsWith("/login")) {
    response.setHeader("set-cookie", [`session=${planted.setCookie}; Path=/; HttpOnly`, "theme=dark"]);
    response.end(JSON.stringify({ access_token: planted.answer, user: "ada" }));
    return;
  }
  if (path.startsWith("/stream")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // The key is torn over three writes, in the middle of an event.
    const text = `data: {"note":"use ${planted.sse} today"}\n\ndata: ${planted.environment}\n\n`;
    for (const piece of [text.slice(0, 25), text.slice(25, 34), text.slice(34)]) {
      response.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    response.end();
    return;
  }
  // Everything comes back, as servers that echo do: in plain, percent-encoded, base64 and escaped.
  const seen = `${body} ${request.headers.authorization ?? ""} ${decodeURIComponent(path)}`;
  response.setHeader("x-echo", encodeURIComponent(seen));
  response.end(JSON.stringify({ seen, base64: Buffer.from(seen).toString("base64"), escaped: JSON.stringify(seen) }));
}
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
afterEach(() => vi.unstubAllEnvs());

/** Every way in which a value could still be read. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), ...base64.filter((text) => text.length > 12)];
}

function leaks(text: string): string[] {
  return Object.entries(planted).flatMap(([name, secret]) =>
    forms(secret).some((form) => text.includes(form)) ? [name] : [],
  );
}

/** A program that puts every secret where such secrets go. `token`: what the login gave, now or when it was recorded. */
async function session(deck: Deck, secrets = planted): Promise<unknown[]> {
  const fetch = tapeFetch(deck);
  const form = new URLSearchParams({ grant_type: "password", password: secrets.form });
  const login = await fetch(`${url}/login?api_key=${secrets.query}`, { method: "POST", body: form });
  const { access_token } = (await login.json()) as { access_token: string };
  const json = {
    client_secret: secrets.json,
    about: `it is ${secrets.announced}`,
    nested: [{ apiKey: secrets.apiKey }],
  };
  const answers = [];
  for (const authorization of [`Bearer ${access_token}`, `Bearer ${secrets.header}`]) {
    const response = await fetch(`${url}/echo?access_token=${access_token}`, {
      method: "POST",
      headers: {
        authorization,
        cookie: `session=${secrets.cookie}; theme=dark`,
        "x-api-key": secrets.apiKey,
        "content-type": "application/json",
      },
      body: JSON.stringify(json),
    });
    answers.push(response.status, response.headers.get("x-echo"), await response.text());
  }
  const stream = await fetch(`${url}/stream`);
  answers.push(await stream.text());
  return answers;
}

const options: DeckOptions = { redact: { values: [planted.announced] } };

describe("no secret stays on a disk, or reaches a message", () => {
  test("the cassette and the journal, wherever the secrets were", async () => {
    vi.stubEnv("STAGING_API_TOKEN", planted.environment);
    const path = scratch.cassette();
    let journal = "";
    const report = await (async () => {
      const deck = await openDeck(path, { mode: "record", ...options });
      await session(deck);
      const files = await filesBelow(dirname(path));
      journal = [...files].find(([name]) => name.endsWith(".jsonl"))?.[1] as string;
      for (const text of files.values()) expect(leaks(text)).toEqual([]);
      return deck.finish();
    })();
    expect(journal.split("\n").length).toBeGreaterThan(4);
    const text = await readFile(path, "utf8");
    expect(leaks(text)).toEqual([]);
    expect(text).toContain("REDACTED-authorization-");
    expect(text).toContain("session=REDACTED-cookie-1; Path=/; HttpOnly"); // what is no secret stays readable
    expect(text).toContain('"user": "ada"');
    expect(Object.values(report.replacements).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(15);
  });

  test("the token of a login that comes back in later requests replays, also with other secrets", async () => {
    vi.stubEnv("STAGING_API_TOKEN", planted.environment);
    const path = scratch.cassette();
    await withDeck(path, { mode: "record", ...options }, session);
    const text = await readFile(path, "utf8");
    const [pseudonym] = /REDACTED-access-token-1/.exec(text) as unknown as [string];
    expect(text.split(pseudonym).length).toBeGreaterThan(3); // where it was given, and where it is used

    const first = await withDeck(path, { mode: "replay", ...options }, session);
    // Another developer, with keys of his own; what he announces is his.
    vi.stubEnv("STAGING_API_TOKEN", "env-other-00112233445566");
    const others = {
      ...planted,
      header: "hdr-other-0123456789abcdef",
      apiKey: "key-other-0123456789abcdef",
      cookie: "ck-other-9876543210fedcba",
      query: "qry-other-1122334455667788",
      json: "jsn-other-99aa88bb77cc66dd",
      form: "frm-other-0f0f0f0f0f0f0f0f",
    };
    const second = await withDeck(path, { mode: "replay", ...options }, (deck) => session(deck, others));
    expect(second).toEqual(first);
  });

  test("a parked recording, the text of a miss, and its details", async () => {
    vi.stubEnv("STAGING_API_TOKEN", planted.environment);
    const path = scratch.cassette();
    const failing = withDeck(path, { mode: "record", ...options }, async (deck) => {
      await session(deck);
      throw new Error("boom");
    });
    await expect(failing).rejects.toThrow("boom");
    const files = await filesBelow(dirname(path));
    expect([...files.keys()]).toEqual(["tape.failed.cassette.json"]);
    for (const text of files.values()) expect(leaks(text)).toEqual([]);

    const parked = path.replace(".cassette.json", ".failed.cassette.json");
    const deck = await openDeck(parked, { mode: "replay", ...options });
    const error = await tapeFetch(deck)(`${url}/echo?access_token=${planted.query}&x=1`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${planted.header}` },
      body: JSON.stringify({
        client_secret: planted.json,
        about: `it was ${planted.announced}`,
        extra: planted.environment,
      }),
    }).catch((reason: Error) => reason);
    const ended = await deck.finish().catch((reason: Error) => reason);
    for (const one of [error, ended] as unknown as { message: string; details: unknown }[]) {
      expect(one.message).toContain("was never recorded");
      expect(leaks(one.message + JSON.stringify(one.details))).toEqual([]);
    }
  });

  test("names, notes, variables and functions", async () => {
    const path = scratch.cassette();
    const { tapeFunction } = await import("wiretape");
    const note = `with ${planted.announced}`;
    await withDeck(
      path,
      { mode: "record", note, redact: { values: [planted.announced, planted.function] } },
      async (deck) => {
        await deck.var("config", () => ({ password: planted.json, plain: `see ${planted.announced}` }));
        const look = tapeFunction(deck, "look", async (input: { token: string }) => ({
          got: input.token,
          deep: [planted.function],
        }));
        await look({ token: planted.query });
        const fail = tapeFunction(deck, "fail", async () => {
          throw new Error(`no such key: ${planted.function}`);
        });
        await fail().catch(() => undefined);
      },
    );
    expect(leaks(await readFile(path, "utf8"))).toEqual([]);
  });
});

describe("the final scan refuses what redaction was told to leave", () => {
  test("SecretFound says where and of which kind, never what; no file, no journal, no lock", async () => {
    const path = scratch.cassette();
    const key = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b1D3f5H7j"}`;
    const deck = await openDeck(path, { mode: "record" });
    const lane = deck.lane(key.slice(0, 40)); // the name of a lane is ours, and is not redacted
    await (await tapeFetch(lane)(`${url}/echo`)).text();
    const error = await deck.finish().catch((reason: Error) => reason);
    const files = await filesBelow(dirname(path));
    expect(error).toBeInstanceOf(SecretFound);
    expect((error as SecretFound).message).toMatch(/line \d+, column \d+: looks like github-token/);
    expect((error as SecretFound).message + JSON.stringify((error as SecretFound).details)).not.toContain(
      key.slice(0, 40),
    );
    expect([...files.keys()]).toEqual([]);
    // It can be recorded again: nothing holds the name.
    await withDeck(path, { mode: "record" }, async () => undefined);
  });
});
