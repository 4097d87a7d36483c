import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { tapeFetch } from "../../src/boundary/http/fetch.ts";
import { httpTarget } from "../../src/boundary/http/target.ts";
import type { Cassette } from "../../src/cassette/schema.ts";
import { startStagingServer } from "../../src/demo/staging-server.ts";
import { drift } from "../../src/drive/drift.ts";
import { drive } from "../../src/drive/drive.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { OptionInvalid } from "../../src/errors.ts";

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A shop whose ids differ from run to run, and what may be changed about it. */
interface Change {
  readonly order?: (order: Record<string, unknown>) => object;
  readonly events?: (events: object[]) => object[];
  readonly status?: number;
}

async function shop(
  first: number,
  change: Change = {},
): Promise<{ url: string; requests: string[]; handler: (request: Request) => Promise<Response> }> {
  const { order = (made) => made, events = (all) => all, status = 201 } = change;
  const requests: string[] = [];
  const orders = new Map<string, Record<string, unknown>>();
  let next = first;
  const handler = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const body = await request.text();
    requests.push(`${request.method} ${pathname} ${body} ${request.headers.get("authorization") ?? ""}`);
    const [, , id = "", what] = pathname.split("/");
    if (request.method === "POST" && pathname === "/login") {
      return Response.json({ token: `tok-${next}${next}abcdef`, user: { name: "Ada" } });
    }
    if (request.method === "POST" && id === "") {
      const made = {
        id: `order_${next++}`,
        at: new Date(next * 1e9).toISOString(),
        item: "pen",
        price: 3,
        paid: false,
      };
      orders.set(made.id, made);
      return Response.json(order(made), { status, headers: { location: `/orders/${made.id}` } });
    }
    const found = orders.get(id);
    if (found === undefined) return Response.json({ error: `no order ${id}` }, { status: 404 });
    if (request.method === "POST") {
      found["paid"] = (JSON.parse(body) as { order: string }).order === id;
      return Response.json(order({ ...found }));
    }
    if (what === "events") {
      const all = [
        { type: "created", order: id },
        { type: "paid", order: id, by: "card" },
        { type: "sent", order: id, parcels: 1 },
      ];
      const text = events(all).map((event) => `data: ${JSON.stringify(event)}\n\n`);
      return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
    }
    return Response.json(order({ ...found }));
  };
  const server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = "GET", url = "/", headers } = request;
    const init = {
      method,
      headers: headers as Record<string, string>,
      ...(pieces.length > 0 && { body: Buffer.concat(pieces) }),
    };
    const answer = await handler(new Request(`http://shop.test${url}`, init));
    response.writeHead(answer.status, [...answer.headers].flat());
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, handler };
}

async function record(url: string): Promise<Cassette> {
  const deck = await createDeck({ mode: "record" });
  const fetch = tapeFetch(deck);
  const post = async (path: string, body: object, headers = {}): Promise<Record<string, unknown>> =>
    (
      await fetch(url + path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...headers },
      })
    ).json() as never;
  const { token } = await post("/login", { user: "ada", password: "hunter2hunter2" });
  const authorization = `Bearer ${token}`;
  const { id } = await post("/orders", { item: "pen" }, { authorization });
  await post(`/orders/${id}/pay`, { order: id, note: `for ${id}` }, { authorization });
  await (await fetch(`${url}/orders/${id}/events`, { headers: { authorization } })).text();
  await (await fetch(`${url}/orders/${id}`, { headers: { authorization } })).json();
  await deck.finish();
  return deck.cassette as Cassette;
}

describe("a cassette driven into a fresh server whose ids differ", () => {
  test("is green: ids and tokens go from answers into later requests", async () => {
    const cassette = await record((await shop(1)).url);
    expect(JSON.stringify(cassette)).not.toContain("tok-1");
    const fresh = await shop(70);
    const report = await drive(cassette, httpTarget(fresh.url));
    expect(report.differences).toEqual([]);
    expect([report.ok, report.tracks.map(({ outcome }) => outcome)]).toEqual([
      true,
      ["same", "same", "same", "same", "same"],
    ]);
    expect(report.links).toEqual({ order_1: "order_70" });
    expect(fresh.requests[2]).toBe(
      'POST /orders/order_70/pay {"order":"order_70","note":"for order_70"} Bearer tok-7070abcdef',
    );
    expect(JSON.stringify(report)).not.toContain("tok-7070");
  });

  test("the same into a handler in this process", async () => {
    const cassette = await record((await shop(1)).url);
    const { handler } = await shop(300);
    expect(await drive(cassette, httpTarget(handler))).toMatchObject({
      ok: true,
      target: "the handler",
      differences: [],
    });
  });
});

test("a renamed field, a dropped event and a changed type are each named with their tier", async () => {
  const cassette = await record((await shop(1)).url);
  const changed = await shop(9, {
    order: ({ item, price, ...rest }) => ({ ...rest, article: item, price: String(price) }),
    events: (all) => all.filter((_, i) => i !== 1),
  });
  const report = await drift(cassette, httpTarget(changed.url), { tracks: ["t1", "t2", "t4"] });
  expect(report.ok).toBe(false);
  expect(report.differences.map(({ track, tier, path }) => `${track} ${tier} ${path}`)).toEqual([
    "t2 removed /body/item",
    "t2 type /body/price",
    "t2 added /body/article",
    "t4 events /events/1",
  ]);
  expect(report.text).toContain("/body/price was a number, now a string");
  expect(report.text).toContain("event 2 (paid) does not come any more");
});

test("a status, a value, a new event, a failure", async () => {
  const cassette = await record((await shop(1)).url);
  const changed = await shop(5, {
    status: 200,
    order: (made) => ({ ...made, price: 4 }),
    events: (all) => [...all, { type: "lost" }],
  });
  const report = await drift(cassette, httpTarget(changed.url));
  const told = report.differences.map(({ tier, path }) => `${tier} ${path}`);
  expect(told).toEqual(expect.arrayContaining(["status /status", "value /body/price", "events /events/3"]));
  expect(report.tracks.map(({ outcome }) => outcome)).toEqual(["same", "differs", "same", "differs", "same"]);
  const gone = await drift(cassette, httpTarget("http://127.0.0.1:1"));
  expect(gone.tracks.every(({ outcome }) => outcome === "failed")).toBe(true);
});

test("what may differ is told by JSON Pointers, and what counts by tiers", async () => {
  const cassette = await record((await shop(1)).url);
  const changed = await shop(5, { order: (made) => ({ ...made, price: "4" }), events: (all) => all.slice(1) });
  const target = httpTarget(changed.url);
  expect((await drive(cassette, target, { ignore: ["/body/price", "/events"] })).differences).toEqual([]);
  expect((await drive(cassette, target, { failOn: ["status"] })).ok).toBe(true);
  expect((await drive(cassette, target)).ok).toBe(false);
});

test("values that no answer gave are linked by hand, in paths, bodies and answers", async () => {
  const cassette = await record((await shop(1)).url);
  const pay = cassette.tracks.filter(({ id }) => id === "t3" || id === "t5");
  const fresh = await shop(500);
  for (let i = 0; i < 3; i++)
    await fresh.handler(new Request("http://shop.test/orders/", { method: "POST", body: "{}" }));
  const report = await drive({ ...cassette, tracks: pay }, httpTarget(fresh.handler), {
    links: { order_1: "order_502" },
    ignore: ["/body/item"],
  });
  expect(report.differences).toEqual([]);
  expect(fresh.requests.slice(3).map((request) => request.split(" ")[1])).toEqual([
    "/orders/order_502/pay",
    "/orders/order_502",
  ]);
});

test("a stream that does not come is not waited for without end: the report says what was odd", async () => {
  const cassette = await record((await shop(1)).url);
  const deaf = async (request: Request): Promise<Response> =>
    request.url.endsWith("/login")
      ? new Promise<Response>((resolve) => setTimeout(resolve, 300, Response.json({})))
      : Response.json({});
  const report = await drive(cassette, httpTarget(deaf), { patienceMs: 30, tracks: ["t1", "t2"] });
  expect(report.tracks[1]?.reason).toMatch(/although delivery 1 of t1 had not come for 0.03 seconds/);
  expect(report.ok).toBe(false);
});

test("wrong options are told all at once; what cannot be driven is skipped with a reason", async () => {
  const cassette = await record((await shop(1)).url);
  const wrong = drive(cassette, httpTarget("http://x.test"), {
    tracks: ["t99"],
    failOn: ["stats"],
    ignore: ["body"],
    patienceMs: 0,
    track: [],
  } as never);
  await expect(wrong).rejects.toThrow(OptionInvalid);
  await expect(wrong).rejects.toThrow(
    /no option track.*"t99".*nearest is "status".*"body" is no JSON Pointer.*patienceMs is 0/,
  );
  expect(() => httpTarget("shop")).toThrow(/no URL of a server/);
  const call = { id: "f", kind: "function", call: { name: "f" }, result: { value: 1 } } as const;
  const report = await drive({ ...cassette, tracks: [call] }, httpTarget("http://x.test"));
  expect(report).toMatchObject({ ok: true, tracks: [{ outcome: "skipped", reason: "it is of kind function" }] });
});

test("the staging server's threads: a watch stream and the requests that drive it, with other ids and tokens", async () => {
  const staging = await startStagingServer({ seed: 1, paceMs: 1 });
  closing.push(staging.close);
  const deck = await createDeck({ mode: "record" });
  const fetch = tapeFetch(deck);
  const json = async (path: string, init?: RequestInit): Promise<Record<string, string>> =>
    (await fetch(staging.url + path, init)).json() as never;
  const send = (body: object, headers = {}): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const login = await json("/v1/login", send({ user: "ada", password: "correct horse" }));
  const headers = { authorization: `Bearer ${login["token"] ?? login["access_token"]}` };
  const thread = await json("/v1/threads", send({ title: "Trains" }, headers));
  const id = thread["id"] as string;
  const watch = (await fetch(`${staging.url}/v1/threads/${id}/watch`, { headers })).body?.getReader();
  let seen = "";
  const until = async (text: string): Promise<void> => {
    while (!seen.includes(text)) {
      const next = await watch?.read();
      if (next?.done !== false) break;
      seen += Buffer.from(next.value).toString();
    }
  };
  await until("snapshot");
  await json(`/v1/threads/${id}/send`, send({ text: "When does the night train leave?" }, headers));
  await until("run.completed");
  await watch?.cancel();
  await deck.finish();
  const cassette = deck.cassette as Cassette;
  expect(cassette.tracks.length).toBe(4);

  const fresh = await startStagingServer({ seed: 99, paceMs: 1 });
  closing.push(fresh.close);
  const report = await drive(cassette, httpTarget(fresh.url));
  expect(report.differences).toEqual([]);
  expect(report.ok).toBe(true);
  expect(report.tracks.every(({ reason }) => reason === undefined)).toBe(true);
  expect(fresh.requests.map(({ url }) => url)).not.toContain(`/v1/threads/${id}/watch`);
});
