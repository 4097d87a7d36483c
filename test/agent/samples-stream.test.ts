import { expect, test } from "vitest";
import { createMockAgentClient, isPaiToolPart, type PaiThreadHead } from "wiretape/agent";
import type { EngineeringSourceContract } from "./samples-contract.ts";

// As in samples-mock.test.ts: each test is a sample of the mock transport's page, from "Streamed Responses" on.

const mocked = () => createMockAgentClient<EngineeringSourceContract>();

test("The stream controller is consumed by the next send, retry, or regenerate run", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const thread = mock.client.thread("thread-1");
  const run = await thread.send("Compare proposals.");

  expect(await response.waitUntilStarted()).toEqual({
    threadId: "thread-1",
    runId: run.runId,
  });

  const text = response.text();
  await text.delta("Northstar");
  expect(mock.inspect.thread("thread-1")?.messages[1]?.parts).toMatchObject([
    { type: "step-start" },
    { text: "Northstar", state: "streaming" },
  ]);
  await text.delta(" is ranked first.");
  await text.end();

  await response.complete();
  const state = await run.waitUntilIdle();
  expect(state.messages[1]?.parts).toMatchObject([
    { type: "step-start" },
    { text: "Northstar is ranked first.", state: "done" },
  ]);
});

test("If a run is already waiting for a mock response, it attaches immediately", async () => {
  const mock = mocked();
  const run = await mock.client.thread("thread-1").send("Compare proposals.");
  const response = mock.responses.stream();
  expect(await response.waitUntilStarted()).toEqual({ threadId: "thread-1", runId: run.runId });
});

test("Callback forms add lifecycle checks around the same controls", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Compare.");
  await response.text(async (text) => {
    await text.delta("Northstar");
    await text.delta(" is ranked first.");
    await text.end();
  });

  // "Text callbacks must call end()"
  await expect(response.text(async (text) => await text.delta("Open"))).rejects.toThrow(
    /text part returned and left it open: call end\(\)/,
  );
  // "Tool callbacks must call output(...), waiting(...), error(...), or cancelled(...)"
  await expect(response.tool("searchAgencies", async (t) => await t.input.available({ query: "x" }))).rejects.toThrow(
    /call output\(\.\.\.\), waiting\(\.\.\.\), error\(\.\.\.\) or cancelled\(\.\.\.\) in it/,
  );
  // "Starting another part inside an active scoped callback throws"
  await expect(
    response.text(async (text) => {
      await text.delta("Outer");
      await response.tool("searchAgencies", { input: { query: "x" }, output: [] });
    }),
  ).rejects.toThrow(/cannot start inside the callback of the text part/);
  await response.abort();
  expect((await run.waitUntilIdle()).runs).toMatchObject([{ status: "aborted" }]);
});

test("Tool input streaming models raw JSON argument chunks from a model provider", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Approve the award.");
  const part = () => mock.inspect.thread("thread-1")?.messages[1]?.parts[1];

  await response.tool("approveAwardRecommendation", async (t) => {
    await t.input.delta('{"jobBriefId":"job-telemetry-platform",');
    expect(part()).toMatchObject({ state: "input-streaming", input: { jobBriefId: "job-telemetry-platform" } });
    await t.input.delta('"recommendedAgencyId":"agency-northstar"}');
    await t.input.available({
      jobBriefId: "job-telemetry-platform",
      recommendedAgencyId: "agency-northstar",
    });

    const before = mock.inspect.thread("thread-1");
    await t.running();
    // "does not write a custom running state or emit a chunk"
    expect(mock.inspect.thread("thread-1")).toEqual(before);
    expect(part()).toMatchObject({ state: "input-available" });
    await t.data("progress", { percent: 50 }, { id: "current" });
    await t.output({ approved: true, memoId: "memo-1" });
  });

  await response.complete();
  const state = await run.waitUntilIdle();
  expect(state.messages[1]?.parts.find(isPaiToolPart)).toMatchObject({
    state: "output-available",
    input: { jobBriefId: "job-telemetry-platform", recommendedAgencyId: "agency-northstar" },
    output: { approved: true, memoId: "memo-1" },
    toolData: { progress: { percent: 50 } },
  });
});

test("t.running() validates that complete input is available; t.cancelled() emits the native tool-output-error", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Search.");
  const tool = response.tool("searchAgencies");
  await tool.input.delta('{"query":');
  await expect(tool.running()).rejects.toThrow(/before its input is complete/);
  await tool.input.delta('"x"}');
  await tool.input.available({ query: "x" });
  await tool.running();
  await tool.cancelled();
  await response.complete();
  const state = await run.waitUntilIdle();
  expect(state.messages[1]?.parts.find(isPaiToolPart)).toMatchObject({
    state: "output-error",
    errorText: "The tool call was cancelled.",
  });
});

test("For parts where intermediate states do not matter, use shorthands", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Compare.");
  await response.text("I will compare the proposals.");

  await response.tool("compareProposals", {
    input: { jobBriefId: "job-telemetry-platform" },
    output: {
      rankings: [{ agencyId: "agency-northstar", totalScore: 94 }],
    },
  });
  await response.complete();
  expect((await run.waitUntilIdle()).messages[1]?.parts).toMatchObject([
    { type: "step-start" },
    { type: "text", text: "I will compare the proposals." },
    { type: "tool-compareProposals", state: "output-available" },
  ]);
});

test("Waiting tools expose pending actions through the real client facade", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const thread = mock.client.thread("thread-1");
  const run = await thread.send("Award it.");
  await response.tool("approveAwardRecommendation", {
    input: { jobBriefId: "job-telemetry-platform" },
    waiting: {
      action: {
        name: "approval",
        input: { message: "Approve Northstar for the pilot?" },
      },
    },
  });
  await response.complete();

  const waiting = await run.waitUntilBlocked();
  const message = waiting.messages.find((item) => item.role === "assistant");
  const part = message?.parts.find(isPaiToolPart);

  if (!message || !part) throw new Error("Expected a waiting tool");

  const action = thread.getPendingAction(message, part);
  if (!action) throw new Error("Expected a pending action");

  mock.responses.queue((r) => r.assistant([r.text("Approval recorded.")]));
  const resumed = await action.submit({ approved: true });
  const state = await resumed.run?.waitUntilIdle();
  expect(resumed.run?.runId).toBe(run.runId);
  expect(state?.messages.at(-1)?.parts).toMatchObject([{ type: "step-start" }, { text: "Approval recorded." }]);
});

test("use the object helper inside a scoped tool callback", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Make a brief.");
  const largeInput = {
    title: "Telemetry",
    requirements: Array.from({ length: 20 }, (_, index) => `Requirement ${index}`),
  };
  const stop = new AbortController();
  const deltas: string[] = [];
  const reading = (async () => {
    for await (const event of mock.transport.watchThread("thread-1", { signal: stop.signal })) {
      if (event.type !== "generation.message.chunk") continue;
      if (event.chunk.type === "tool-input-delta") deltas.push(event.chunk.inputTextDelta);
    }
  })();

  await response.tool("createJobBrief", async (t) => {
    await t.input.stream(largeInput, {
      chunkSize: 80,
      delayMs: 10,
    });
    await t.output({ jobBriefId: "job-telemetry-platform" });
  });
  await response.complete();
  await run.waitUntilIdle();
  stop.abort();
  await reading;
  expect(deltas.join("")).toBe(JSON.stringify(largeInput));
  expect(deltas.map(({ length }) => length).slice(0, -1)).toEqual(deltas.slice(0, -1).map(() => 80));
});

test("response.complete() is always explicit; response.fail(error) for a generation failure", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("thread-1").send("Go.");
  await response.tool("searchAgencies", { input: { query: "x" }, output: ["a"] });
  expect(mock.inspect.thread("thread-1")?.thread.status).toBe("running");
  await response.fail(new Error("The line went dead"));
  const state = await run.waitUntilIdle();
  expect(state.error).toMatchObject({ message: "The line went dead", runId: run.runId });
});

test("events is the escape hatch for transport-level behavior", async () => {
  const mock = mocked();
  mock.seed((s) => ({ threads: [s.thread("thread-1", { title: "Before" })] }));
  const thread = mock.client.thread("thread-1");
  const watcher = thread.watch();
  expect((await watcher.next()).value?.thread.title).toBe("Before");
  const heads = mock.client.heads();
  expect((await heads.next()).value?.map(({ title }: PaiThreadHead) => title)).toEqual(["Before"]);

  mock.events.pushThread("thread-1", {
    type: "state.changed",
  });

  const { thread: head } = await thread.refresh();
  const renamedThreadHead = { ...head, title: "After" };
  mock.events.pushThreadHead({
    type: "thread.head.changed",
    reason: "attributes",
    head: renamedThreadHead,
  });
  expect((await heads.next()).value?.map(({ title }: PaiThreadHead) => title)).toEqual(["After"]);
  expect((await thread.refresh()).thread.title).toBe("After");
  await watcher.return?.();
  await heads.return?.();
});

test("completeRun and failRun throw a clear test-author error if no run is active", async () => {
  const mock = mocked();
  const thread = mock.client.thread("thread-1");
  expect(() => mock.events.completeRun("thread-1")).toThrow(/no run is active in this thread/);
  expect(() => mock.events.failRun("thread-1", new Error("x"))).toThrow(/no run is active in this thread/);

  const run = await thread.send("One.");
  expect(() => mock.events.completeRun("thread-1", "run_9")).toThrow(/the active run of this thread is "run_1"/);
  void mock.events.completeRun("thread-1", run.runId);
  expect((await run.waitUntilIdle()).runs).toMatchObject([{ status: "completed" }]);

  const second = await thread.send("Two.");
  void mock.events.failRun("thread-1", new Error("Lost"));
  expect((await second.waitUntilIdle()).error).toMatchObject({ message: "Lost", runId: second.runId });
});

test("Commands are client-visible functions, not generation responses", async () => {
  const mock = mocked();
  mock.commands.set("refreshJobBrief", async ({ input }) => {
    return {
      jobBriefId: input.jobBriefId,
      status: "evaluating",
    };
  });
  mock.responses.queue((r) => r.assistant([r.text("Unclaimed")]));

  const result = await mock.client.thread("thread-1").commands.refreshJobBrief({ jobBriefId: "job-1" });

  expect(result).toEqual({ jobBriefId: "job-1", status: "evaluating" });
  expect(mock.responses.size()).toBe(1);
  expect(mock.inspect.thread("thread-1")).toBeUndefined();
});

test("Files should live in the mock's in-memory file store", async () => {
  const mock = mocked();
  mock.files.add({
    fileId: "file-proposal",
    filename: "proposal.pdf",
    mediaType: "application/pdf",
    body: new Blob(["proposal contents"]),
  });

  const uploaded = await mock.client.files.upload({
    filename: "notes.txt",
    mediaType: "text/plain",
    body: new Blob(["notes"]),
  });

  expect(uploaded).toEqual({ fileId: "file_1", filename: "notes.txt", mediaType: "text/plain", size: 5 });
  expect(await (await mock.client.files.read("file_1")).body.text()).toBe("notes");
  // "return either mock URLs or null from createFileUrl() according to its configuration"
  expect(await mock.client.files.createUrl("file_1")).toBe("mock://files/file_1");
  const without = createMockAgentClient<EngineeringSourceContract>({ fileUrls: "none" });
  without.files.add({ fileId: "f", filename: "f", mediaType: "text/plain", body: new Blob([]) });
  expect(await without.client.files.createUrl("f")).toBeNull();
});

test("Assertions should inspect backend state through a dedicated inspection API", async () => {
  const mock = mocked();
  mock.files.add({ fileId: "file-proposal", filename: "p", mediaType: "text/plain", body: new Blob(["p"]) });
  mock.responses.queue((r) => r.assistant([r.text("Done.")]));
  await (await mock.client.thread("thread-1").send("Hello")).waitUntilIdle();

  expect(mock.inspect.requests.send()).toHaveLength(1);
  expect(mock.inspect.thread("thread-1")?.thread.status).toBe("idle");
  expect(mock.inspect.thread("thread-1")?.messages).toEqual(
    expect.arrayContaining([expect.objectContaining({ role: "assistant" })]),
  );
  expect(mock.inspect.files()).toContainEqual(expect.objectContaining({ fileId: "file-proposal" }));

  // "Inspection should be read-only"
  const state = mock.inspect.thread("thread-1") as unknown as { messages: unknown[]; thread: { title: string } };
  state.messages.length = 0;
  state.thread.title = "changed";
  (mock.inspect.requests.send() as unknown[]).length = 0;
  expect(mock.inspect.thread("thread-1")).toMatchObject({ thread: { title: null }, messages: [{}, {}] });
  expect(mock.inspect.requests.send()).toEqual([{ threadId: "thread-1", text: "Hello" }]);
});
