import { createParser, type EventSourceMessage } from "eventsource-parser";
import { expect, test } from "vitest";
import { postJson, readUntil, useStaging } from "./staging-fixture.ts";

const staging = useStaging();
const bearer = { authorization: "Bearer any" };

async function newThread(title?: string): Promise<string> {
  const response = await staging.fetch("/v1/threads", postJson(title === undefined ? {} : { title }, bearer));
  return `/v1/threads/${(await response.json()).id}`;
}

function parse(text: string): { events: EventSourceMessage[]; comments: string[] } {
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  createParser({ onEvent: (event) => events.push(event), onComment: (comment) => comments.push(comment) }).feed(text);
  return { events, comments };
}

test("login gives a token and two cookies, and refuses a wrong password", async () => {
  const login = await staging.fetch("/v1/login", postJson({ user: "ada", password: "lovelace" }));
  expect(login.status).toBe(200);
  expect(await login.json()).toEqual({
    access_token: expect.stringMatching(/^stg_[0-9a-f]{40}$/),
    token_type: "Bearer",
    expires_in: 3600,
  });
  const cookies = login.headers.getSetCookie();
  expect(cookies[0]).toMatch(/^session=[0-9a-f]{40}; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(cookies.slice(1)).toEqual(["locale=en-GB; Path=/; Max-Age=31536000"]);
  expect((await staging.fetch("/v1/login", postJson({ user: "ada", password: "wrong" }))).status).toBe(401);
  const bad = await staging.fetch("/v1/login", postJson({ user: "ada" }));
  expect(bad.status).toBe(400);
  expect((await bad.json()).error.message).toBe('"password" must be a text that is not empty.');
  expect((await staging.fetch("/v1/login", { method: "POST", body: "user=ada" })).status).toBe(400);
});

test.each([
  ["GET", "/v1/threads"],
  ["POST", "/v1/threads"],
  ["GET", "/v1/threads/x"],
  ["DELETE", "/v1/threads/x"],
  ["POST", "/v1/threads/x/send"],
  ["GET", "/v1/threads/x/watch"],
])("%s %s wants a token", async (method, path) => {
  const response = await staging.fetch(path, { method });
  expect(response.status).toBe(401);
  expect((await response.json()).error.code).toBe("unauthorized");
});

test("a thread is made, listed, shown and deleted", async () => {
  const created = await staging.fetch("/v1/threads", postJson({ title: "Trip" }, bearer));
  expect(created.status).toBe(201);
  const thread = await created.json();
  expect(created.headers.get("location")).toBe(`/v1/threads/${thread.id}`);
  expect(thread).toEqual({
    id: expect.stringMatching(/^thread_[0-9a-f]{4}_\d+$/),
    title: "Trip",
    createdAt: expect.stringMatching(/^2026-03-02T09:00:\d\d\.000Z$/),
    status: "idle",
    messageCount: 0,
  });
  const path = `/v1/threads/${thread.id}`;
  expect((await (await staging.fetch("/v1/threads", { headers: bearer })).json()).threads).toContainEqual(thread);
  expect(await (await staging.fetch(path, { headers: bearer })).json()).toEqual({
    ...thread,
    messages: [],
    active: null,
  });
  const deleted = await staging.fetch(path, { method: "DELETE", headers: bearer });
  expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
  const gone = await staging.fetch(path, { headers: bearer });
  expect(gone.status).toBe(404);
  expect((await gone.json()).error).toEqual({
    code: "thread_not_found",
    message: `There is no thread "${thread.id}".`,
  });
});

test("a thread needs no body", async () => {
  const response = await staging.fetch("/v1/threads", { method: "POST", headers: bearer });
  expect((await response.json()).title).toBe("Untitled");
});

test("the watch stream shows a snapshot, and each run that a send starts", async () => {
  const path = await newThread("Watched");
  const watch = await staging.fetch(`${path}/watch`, { headers: bearer });
  expect(watch.headers.get("content-type")).toBe("text/event-stream");
  const reader = watch.body!.getReader();
  const first = await readUntil(reader, "\n\n");
  expect(parse(first).events[0]).toMatchObject({ id: "1", event: "snapshot" });

  const sent = await staging.fetch(`${path}/send`, postJson({ text: "When is the train to Graz?" }, bearer));
  expect(sent.status).toBe(202);
  const { runId } = await sent.json();
  const { events, comments } = parse(await readUntil(reader, "run.completed"));
  const data = events.map((event) => JSON.parse(event.data));
  expect(comments).toEqual(["keep-alive"]);
  expect(events[0]).toMatchObject({ id: "2", event: "run" });
  expect(data[0]).toEqual({ type: "run.admitted", runId });
  const chunks = data.slice(1, -1);
  expect(chunks.length).toBeGreaterThan(4);
  expect(chunks.map((chunk) => chunk.seq)).toEqual(chunks.map((_, i) => i + 1));
  expect(new Set(chunks.map((chunk) => chunk.type))).toEqual(new Set(["generation.message.chunk"]));
  const text = chunks.map((chunk) => chunk.delta).join("");
  expect(text).toMatch(/^The night train to Graz leaves at 2\d:\d\d from platform \d\. Shall I reserve a bed\?$/);
  expect(data.at(-1)).toMatchObject({ type: "run.completed", runId, chunks: chunks.length, message: { text } });

  await staging.fetch(`${path}/send`, postJson({ text: "hello" }, bearer));
  expect(await readUntil(reader, "run.completed")).toContain("Hello!");
  const { messages } = await (await staging.fetch(path, { headers: bearer })).json();
  expect(messages.map((message: { role: string }) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
  await reader.cancel();
});

test("until=idle ends the stream after the first run, and two sends run one after the other", async () => {
  const path = await newThread();
  const [once, twice] = await Promise.all([
    staging.fetch(`${path}/watch?until=idle`, { headers: bearer }),
    staging.fetch(`${path}/watch`, { headers: bearer }),
  ]);
  for (const text of ["order 7", "order 8"]) await staging.fetch(`${path}/send`, postJson({ text }, bearer));
  const whole = parse(await once.text()).events.map((event) => JSON.parse(event.data));
  expect(whole.at(-1)).toMatchObject({ type: "run.completed", message: { text: expect.stringContaining("Order 7") } });
  const reader = twice.body!.getReader();
  const both = parse(
    `${await readUntil(reader, "run.completed")}${await readUntil(reader, "run.completed")}\n\n`,
  ).events;
  const runs = both.slice(1).map((event) => JSON.parse(event.data).runId);
  expect([...runs].sort()).toEqual(runs);
  expect(new Set(runs).size).toBe(2);
  await reader.cancel();
});

test("a watcher that comes in the middle of a run is told how far it is", async () => {
  const path = await newThread();
  const early = await staging.fetch(`${path}/watch?until=idle`, { headers: bearer });
  const reader = early.body!.getReader();
  await staging.fetch(`${path}/send`, postJson({ text: "Any news of my orders, please?" }, bearer));
  await readUntil(reader, '"seq":2');
  const late = parse(await (await staging.fetch(`${path}/watch?until=idle`, { headers: bearer })).text());
  const [snapshot, ...rest] = late.events.map((event) => JSON.parse(event.data));
  const { active, status } = snapshot.thread;
  expect(status).toBe("running");
  const deltas = rest.filter((event) => event.type === "generation.message.chunk");
  expect(deltas[0].seq).toBe(active.seq + 1);
  const { text } = rest.at(-1).message;
  expect(active.text + deltas.map((event) => event.delta).join("")).toBe(text);
  await reader.cancel();
});

test("deleting a thread ends its watch streams", async () => {
  const path = await newThread();
  const watch = await staging.fetch(`${path}/watch`, { headers: bearer });
  await staging.fetch(path, { method: "DELETE", headers: bearer });
  expect(await watch.text()).toContain('"type":"thread.deleted"');
});

test("a watcher that leaves during a run disturbs nobody", async () => {
  const path = await newThread();
  const controller = new AbortController();
  const leaver = await staging.fetch(`${path}/watch`, { headers: bearer, signal: controller.signal });
  const reader = leaver.body!.getReader();
  await readUntil(reader, "snapshot");
  const stayer = await staging.fetch(`${path}/watch?until=idle`, { headers: bearer });
  await staging.fetch(`${path}/send`, postJson({ text: "hello there" }, bearer));
  await readUntil(reader, "run.admitted");
  controller.abort();
  expect(await stayer.text()).toContain("run.completed");
});

test("many threads at once, and no warning of a leak", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on("warning", listen);
  await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const path = await newThread();
      const watch = await staging.fetch(`${path}/watch?until=idle`, { headers: bearer });
      await staging.fetch(`${path}/send`, postJson({ text: `order ${i}` }, bearer));
      expect(await watch.text()).toContain(`{"type":"run.completed"`);
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(warnings).toEqual([]);
});

test("what is not a message is refused", async () => {
  const path = await newThread();
  for (const body of [{}, { text: "" }, { text: 1 }, [], null]) {
    expect((await staging.fetch(`${path}/send`, postJson(body, bearer))).status).toBe(400);
  }
  const { messages } = await (await staging.fetch(path, { headers: bearer })).json();
  expect(messages).toEqual([]);
});
