import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import { startStagingServer } from "../../src/demo/staging-server.ts";
import { OptionInvalid } from "../../src/errors.ts";
import { codeOf, postJson, readUntil, textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging({ paceMs: 1 });
const bearer = { authorization: "Bearer t" };

test("an unknown route is a 404 that names the routes, and the docstring names the same ones", async () => {
  const response = await staging.fetch("/v1/nothing?x=1");
  expect(response.status).toBe(404);
  const { error } = await response.json();
  expect(error).toMatchObject({ code: "not_found", message: "There is no route GET /v1/nothing." });
  expect(error.routes).toContain("GET|HEAD /v1/items");

  const source = await readFile(new URL("../../src/demo/staging-server.ts", import.meta.url), "utf8");
  const documented = new Set<string>();
  for (const row of source.matchAll(/^ \* \| (`(?:GET|POST|PUT|PATCH|DELETE)\b[^|]*) \|/gm)) {
    for (const path of row[1]!.matchAll(/\/[^`?]+/g)) documented.add(path[0]);
  }
  const served = new Set((error.routes as string[]).map((route) => route.split(" ")[1]!));
  expect([...documented].sort()).toEqual([...served].sort());
});

test("a wrong method is a 405 that names the right ones", async () => {
  const response = await staging.fetch("/v1/items", { method: "PATCH" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
  expect((await response.json()).error.message).toBe("/v1/items does not take PATCH, but GET, HEAD.");
});

test("every answer has a request id, counted", async () => {
  const ids = [await staging.fetch("/v1/empty"), await staging.fetch("/v1/empty")].map((r) =>
    Number(r.headers.get("x-request-id")!.split("_")[2]),
  );
  expect(ids[1]! - ids[0]!).toBe(1);
});

test("requests are kept as they arrived", async () => {
  const before = staging.server.requests.length;
  await staging.fetch("/v1/echo?a=1", { method: "PUT", headers: { "X-Tag": "ü" }, body: new Uint8Array([0, 255]) });
  const request = staging.server.requests[before]!;
  expect(request).toMatchObject({ method: "PUT", url: "/v1/echo?a=1", body: Buffer.from([0, 255]) });
  expect(request.headers).toContainEqual(["X-Tag", "ü"]);
  expect(staging.server.requests.length).toBe(before + 1);
});

test("two servers at once: other ids with another seed, the same bytes with the same", async () => {
  const servers = await Promise.all([1, 1, 2].map((seed) => startStagingServer({ seed, paceMs: 0 })));
  const bodies = await Promise.all(
    servers.map(async ({ url }) => {
      const login = await fetch(`${url}/v1/login`, postJson({ user: "ada", password: "x" }));
      const thread = await fetch(`${url}/v1/threads`, postJson({ title: "T" }, bearer));
      return [await login.text(), login.headers.getSetCookie().join(), await thread.text()];
    }),
  );
  expect(new Set(servers.map((server) => server.url)).size).toBe(3);
  expect(bodies[0]).toEqual(bodies[1]);
  for (const [i, body] of bodies[0]!.entries()) expect(bodies[2]![i]).not.toBe(body);
  await Promise.all(servers.map((server) => server.close()));
});

test("close ends open streams, waiting requests and idle connections, and may be called twice", async () => {
  const server = await startStagingServer();
  const thread = await (await fetch(`${server.url}/v1/threads`, postJson({}, bearer))).json();
  const watch = await fetch(`${server.url}/v1/threads/${thread.id}/watch`, { headers: bearer });
  const reader = watch.body!.getReader();
  await readUntil(reader, "snapshot");
  await fetch(`${server.url}/v1/threads/${thread.id}/send`, postJson({ text: "hello" }, bearer));
  const hanging = fetch(`${server.url}/v1/hang`).catch(codeOf);
  const slow = fetch(`${server.url}/v1/slow?ms=60000`).catch(codeOf);
  const idle = connect(Number(new URL(server.url).port), "127.0.0.1");
  const idleClosed = new Promise((resolve) => idle.on("close", resolve));
  await vi.waitFor(() => expect(server.requests.length).toBe(5));

  const start = performance.now();
  await server.close();
  await server.close();
  expect(performance.now() - start).toBeLessThan(1000);
  expect(await hanging).toBe("UND_ERR_SOCKET");
  expect(await slow).toBe("UND_ERR_SOCKET");
  await idleClosed;
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow("terminated");
  await expect(fetch(`${server.url}/v1/empty`)).rejects.toThrow("fetch failed");
});

test.each([
  "/v1/hang",
  "/v1/slow?ms=60000",
  "/v1/drip?everyMs=60000",
  "/v1/items?delay=60000",
  "/v1/large?bytes=99999999",
])("a client that gives up on %s leaves nothing behind", async (path) => {
  const server = await startStagingServer();
  const controller = new AbortController();
  const head = fetch(server.url + path, { signal: controller.signal });
  await vi.waitFor(() => expect(server.requests.length).toBe(1));
  if (/drip|large/.test(path)) await head;
  controller.abort();
  await head.then((response) => response.text()).catch((error) => expect(error.name).toBe("AbortError"));
  expect((await fetch(`${server.url}/v1/empty`)).status).toBe(200);
  await server.close();
});

test("an upload that breaks off is listed, without a body, and harms nothing", async () => {
  const server = await startStagingServer();
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("PUT /v1/upload HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf");
  await vi.waitFor(() => expect(server.requests.length).toBe(1));
  socket.destroy();
  expect((await fetch(`${server.url}/v1/empty`)).status).toBe(200);
  expect(server.requests[0]!.body.length).toBe(0);
  await server.close();
});

test("a target that is no URL is a 400", async () => {
  const socket = connect(Number(new URL(staging.server.url).port), "127.0.0.1");
  socket.write("GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  expect(textOf(Buffer.concat(pieces))).toMatch(/^HTTP\/1\.1 400 /);
});

test("two hundred connections at once", async () => {
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async () => (await staging.fetch("/v1/slow?ms=20")).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("fake timers do not stop it", async () => {
  vi.useFakeTimers();
  try {
    expect(await (await staging.fetch("/v1/drip?chunks=2")).text()).toBe("drop 1 of 2\ndrop 2 of 2\n");
  } finally {
    vi.useRealTimers();
  }
});

test("options are checked", async () => {
  const start = (options: object): Promise<unknown> => startStagingServer(options);
  await expect(start({ prot: 1 })).rejects.toThrow('has no option "prot". It has port, host, seed, paceMs.');
  await expect(start({ toString: 1 })).rejects.toThrow(OptionInvalid);
  await expect(start({ paceMs: -1 })).rejects.toThrow('"paceMs" must be a whole number from 0.');
  await expect(start({ seed: "1" })).rejects.toThrow(OptionInvalid);
  await expect(start({ host: "" })).rejects.toThrow(OptionInvalid);
  const port = Number(new URL(staging.server.url).port);
  await expect(start({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await (await startStagingServer({ port: undefined })).close();
});
