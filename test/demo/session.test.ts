import { expect, test } from "vitest";
import { type ObservedRequest, runStagingSession, type SessionStep } from "../../src/demo/session.ts";
import { startStagingServer } from "../../src/demo/staging-server.ts";
import { textOf, useStaging } from "./staging-fixture.ts";

const staging = useStaging({ paceMs: 10 });

function body(request: ObservedRequest): string {
  return textOf(Buffer.concat(request.chunks));
}

test("a session sees what the server does", async () => {
  const steps: SessionStep[] = [];
  const { requests } = await runStagingSession(fetch, `${staging.server.url}/`, (step) => steps.push(step));
  expect(requests.map(({ name, status }) => [name, status])).toEqual([
    ["log in", 200],
    ["create a thread", 201],
    ["watch the thread", 200],
    ["send a message", 202],
    ["export the orders", 200],
    ["fetch the avatar", 200],
    ["fetch the numbers", 200],
    ["fetch a greeting", 200],
    ["fetch a torn answer", 200],
    ["try a flaky route", 500],
    ["try it again", 200],
    ["delete the thread", 204],
  ]);
  expect(steps.map((step) => step.name)).toEqual(requests.map((request) => request.name));
  const sent = staging.server.requests;
  expect(sent.map(({ method, url }) => [method, staging.server.url + url])).toEqual(
    requests.map(({ method, url }) => [method, url]),
  );

  const [login, , watch, send, exported, avatar, , greeting, torn] = requests as Required<ObservedRequest>[];
  expect(login!.headers?.filter(([name]) => name === "set-cookie").length).toBe(2);
  expect(body(watch!)).toContain(JSON.parse(body(send!)).runId);
  expect(textOf(watch!.chunks.at(-1)!)).toContain("run.completed");
  expect(watch!.chunks.length).toBeGreaterThan(8);
  expect(exported!.chunks.length).toBeGreaterThan(1);
  expect(body(greeting!)).toContain("你好");
  expect(avatar!.chunks[0]?.[0]).toBe(0x89);
  expect(body(torn!)).toBe("The rest of this sentenc");
  expect(torn!.error).toMatchObject({ name: "TypeError", message: "terminated", cause: { code: "UND_ERR_SOCKET" } });
  expect(steps[8]!.detail).toBe("200, 1 chunk, 24 bytes, then TypeError: terminated (UND_ERR_SOCKET)");
  expect(requests.filter((request) => request.error !== undefined)).toEqual([torn]);
});

test("against servers that do the same it is the same, but for addresses, chunks and the date", async () => {
  const run = async (): Promise<unknown> => {
    const server = await startStagingServer({ paceMs: 1 });
    const { requests } = await runStagingSession(fetch, server.url);
    await server.close();
    return requests.map((request) => ({
      ...request,
      url: request.url.slice(server.url.length),
      headers: request.headers?.filter(([name]) => name !== "date"),
      chunks: body(request), // how a body falls into chunks is up to the network
    }));
  };
  expect(await run()).toEqual(await run());
});

test("it runs twice on one server", async () => {
  const { requests } = await runStagingSession(fetch, staging.server.url);
  expect(requests.map((request) => request.status).slice(-3)).toEqual([500, 200, 204]);
});

test("a login that gives nothing ends it with a reason", async () => {
  const down: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));
  await expect(runStagingSession(down, "http://staging.invalid")).rejects.toThrow(
    'The session needs "access_token" from "log in", which gave TypeError: fetch failed.',
  );
  const refused: typeof fetch = () => Promise.resolve(new Response("no", { status: 503 }));
  await expect(runStagingSession(refused, "http://staging.invalid")).rejects.toThrow("gave 503, 1 chunk, 2 bytes.");
});

test("a message that is not taken does not leave it waiting", async () => {
  const failing: typeof fetch = (input, init) =>
    String(input).endsWith("/send") ? Promise.reject(new Error("spent")) : fetch(input, init);
  const { requests } = await runStagingSession(failing, staging.server.url);
  expect(requests[2]!.error?.name).toBe("AbortError");
  expect(requests[3]!.error).toEqual({ name: "Error", message: "spent" });
  expect(requests.length).toBe(12);
});
