import { describe, expect, test } from "vitest";
import { OptionInvalid } from "wiretape";
import {
  createMockAgentClient,
  createMockAgentTransport,
  type MockAgentTransport,
  type PaiThreadTransportEvent,
} from "wiretape/agent";

const tick = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Until no run is running, and the watchers have read what it did. */
async function idle(mock: MockAgentTransport): Promise<void> {
  do await tick();
  while (mock.inspect.thread(THREAD)?.activeRunId != null);
  await tick(1);
}
const THREAD = "thread-1";

async function watched(mock: MockAgentTransport): Promise<PaiThreadTransportEvent[]> {
  const events: PaiThreadTransportEvent[] = [];
  void (async () => {
    for await (const event of mock.watchThread(THREAD)) events.push(event);
  })();
  await tick(0);
  return events;
}
const send = (mock: MockAgentTransport, text = "Say.") => mock.send({ threadId: THREAD, text });

describe("the life of a run", () => {
  test("a failure drains the queue: what waited never runs", async () => {
    const mock = createMockAgentTransport();
    const events = await watched(mock);
    await send(mock);
    const queued = await send(mock, "Later.");
    expect(queued).toMatchObject({ status: "queued", queueItemId: "queue_1" });
    mock.responses.queue((r) => r.error(new Error("No.")));
    await idle(mock);
    expect(events.filter(({ type }) => type === "queue-item-removed")).toMatchObject([
      { runId: queued.runId, reason: "drained" },
    ]);
    expect(mock.inspect.thread(THREAD)).toMatchObject({
      queue: { items: [] },
      runs: [{ status: "failed" }, { runId: queued.runId, status: "aborted" }],
    });
  });

  test("the order in which a failure is told", async () => {
    const mock = createMockAgentTransport();
    const events = await watched(mock);
    mock.responses.queue((r) => r.error(new Error("No.")));
    await send(mock);
    await idle(mock);
    expect(events.map(({ type }) => type)).toEqual([
      "snapshot",
      "thread.head.changed",
      "message.appended",
      "run.admitted",
      "generation.started",
      "thread.head.changed",
      "generation.failed",
      "run.updated",
      "thread.head.changed",
    ]);
  });

  test("the events of one turn are a revision each, and chunks bear that of their generation", async () => {
    const mock = createMockAgentTransport();
    const events = await watched(mock);
    mock.responses.queue((r) => r.assistant([r.text("Yes.")]));
    await send(mock);
    await idle(mock);
    const revisions = (type: string): number[] => [
      ...new Set(
        events.flatMap((event) => (event.type === type && "version" in event ? [event.version.revision] : [])),
      ),
    ];
    expect([revisions("message.appended"), revisions("run.admitted"), revisions("generation.message.chunk")]).toEqual([
      [1],
      [2],
      [2],
    ]);
    expect(revisions("generation.completed")).toEqual([3]);
  });

  test("two actions of one run: it goes on when both were submitted", async () => {
    const mock = createMockAgentTransport();
    mock.responses.queue((r) =>
      r.assistant([
        r.tool("a").waiting({ input: 1, action: { name: "one", input: 1, id: "first" } }),
        r.tool("b").waiting({ input: 1, action: { name: "two", input: 2, id: "second" } }),
      ]),
    );
    const { runId } = await send(mock);
    await idle(mock);
    expect(await mock.submitAction({ threadId: THREAD, actionId: "first", output: 1 })).toEqual({});
    expect(mock.inspect.thread(THREAD)).toMatchObject({
      thread: { status: "waiting" },
      pending: [{ actionId: "second" }],
    });
    const { run } = await mock.submitAction({ threadId: THREAD, actionId: "second", output: 2 });
    expect(run).toMatchObject({ runId, status: "running" });
    await expect(mock.submitAction({ threadId: THREAD, actionId: "second", output: 2 })).rejects.toThrow(
      'Thread "thread-1" has no pending action "second".',
    );
  });

  test("an action that was submitted does not wait any more, whoever watches", async () => {
    const mock = createMockAgentClient();
    const thread = mock.client.thread(THREAD);
    mock.responses.queue((r) =>
      r.assistant([r.tool("a").waiting({ input: 1, action: { name: "one", input: 1, id: "x" } })]),
    );
    const run = await thread.send("Ask.");
    const states = thread.watch();
    await states.next();
    await run.waitUntilBlocked();
    expect(thread.getState().pending).toHaveLength(1);
    // Without a response, the run that goes on stays running.
    await mock.transport.submitAction({ threadId: THREAD, actionId: "x", output: 1 });
    await tick(20);
    expect(thread.getState()).toMatchObject({ pending: [], thread: { status: "running" } });
    await states.return?.();
  });

  test("regenerate cuts the history at the turn that is written anew", async () => {
    const mock = createMockAgentTransport();
    for (const answer of ["One.", "Two.", "One again."]) mock.responses.queue((r) => r.assistant([r.text(answer)]));
    const first = await send(mock, "First?");
    await idle(mock);
    await send(mock, "Second?");
    await idle(mock);
    const model = mock.inspect.thread(THREAD)?.messages.find(({ role }) => role === "assistant");
    const again = await mock.regenerate({ threadId: THREAD, messageId: model?.id ?? "" });
    await idle(mock);
    expect(again.messageId).toBe(first.messageId);
    expect(mock.inspect.thread(THREAD)?.messages.map(({ parts }) => (parts.at(-1) as { text?: string }).text)).toEqual([
      "First?",
      "One again.",
    ]);
  });

  test("what cannot be done is refused, and changes nothing", async () => {
    const mock = createMockAgentTransport();
    await expect(mock.retry({ threadId: THREAD })).rejects.toThrow('There is no thread "thread-1"');
    await expect(mock.renameThread({ threadId: THREAD, title: "x" })).rejects.toThrow('There is no thread "thread-1".');
    await expect(mock.send({ threadId: THREAD, text: "x", fileIds: ["f"] })).rejects.toThrow('There is no file "f"');
    expect(mock.inspect.thread(THREAD)).toBeUndefined();
    await send(mock);
    const before = mock.inspect.thread(THREAD);
    await expect(mock.regenerate({ threadId: THREAD })).rejects.toThrow(/while run "run_1" is running/);
    await expect(mock.retry({ threadId: THREAD })).rejects.toThrow(/while run "run_1" is running/);
    expect(mock.inspect.thread(THREAD)).toEqual(before);
  });

  test("files go with a message", async () => {
    const mock = createMockAgentTransport();
    const { fileId } = await mock.uploadFile({ filename: "a.txt", mediaType: "text/plain", body: new Blob(["a"]) });
    await mock.send({ threadId: THREAD, text: "Read it.", fileIds: [fileId] });
    expect(mock.inspect.thread(THREAD)?.messages[0]?.parts).toEqual([
      { type: "text", text: "Read it." },
      { type: "file", mediaType: "text/plain", filename: "a.txt", url: "mock://files/file_1" },
    ]);
  });
});

describe("reset", () => {
  test("clears the store, the responses, the watches, the request log and the names; then seeds", async () => {
    const mock = createMockAgentTransport();
    const iterator = mock.watchThread(THREAD)[Symbol.asyncIterator]();
    await iterator.next();
    await send(mock);
    const response = mock.responses.stream();
    await response.waitUntilStarted();
    const unclaimed = mock.responses.stream();
    mock.reset((s) => ({ threads: [s.thread("other", { messages: [s.standalone(s.assistant([s.text("Kept.")]))] })] }));
    for (let ended = false; !ended; ) ended = (await iterator.next()).done === true;
    expect([mock.responses.size(), mock.inspect.requests.send(), mock.inspect.thread(THREAD)]).toEqual([
      0,
      [],
      undefined,
    ]);
    expect(mock.inspect.thread("other")?.messages).toMatchObject([
      { id: "msg_1", metadata: { pai: { producer: "standalone" } } },
    ]);
    expect(mock.inspect.thread("other")?.messages[0]?.metadata?.pai).not.toHaveProperty("runId");
    await expect(response.text("Late")).rejects.toThrow(/the mock was reset/);
    await expect(unclaimed.waitUntilStarted()).rejects.toThrow(/the mock was reset/);
    expect((await send(mock)).runId).toBe("run_1");
  });

  test("a client that holds a thread of before sees another incarnation", async () => {
    const mock = createMockAgentClient();
    mock.responses.queue((r) => r.assistant([r.text("Before.")]));
    const thread = mock.client.thread(THREAD);
    await (await thread.send("Hello")).waitUntilIdle();
    mock.reset();
    mock.responses.queue((r) => r.assistant([r.text("After.")]));
    const state = await (await thread.send("Hello again")).waitUntilIdle();
    expect(state.messages.map(({ parts }) => (parts.at(-1) as { text?: string }).text)).toEqual([
      "Hello again",
      "After.",
    ]);
  });
});

describe("seeding", () => {
  test("adds or replaces by id, and tells the watchers", async () => {
    const mock = createMockAgentTransport();
    mock.seed((s) => ({ threads: [s.thread(THREAD, { title: "One" }), s.thread("other")] }));
    const events = await watched(mock);
    mock.seed((s) => ({ threads: [s.thread(THREAD, { title: "Two" })] }));
    await idle(mock);
    expect(events.map((event) => event.type === "snapshot" && event.state.thread.title)).toEqual(["One", "Two"]);
    expect((await mock.listThreads()).map(({ id, title, version }) => [id, title, version.revision])).toEqual([
      [THREAD, "Two", 2],
      ["other", null, 1],
    ]);
  });

  test("a value that was built before can be seeded, and a snapshot of another mock too", async () => {
    const one = createMockAgentTransport();
    one.responses.queue((r) => r.assistant([r.text("Yes.")]));
    await send(one);
    await idle(one);
    const thread = one.inspect.thread(THREAD);
    if (thread === undefined) throw new Error("Expected a thread");
    const other = createMockAgentTransport();
    other.seed({ threads: [thread] });
    expect(other.inspect.thread(THREAD)).toEqual(thread);
    // Names that were seeded are not given again.
    expect(await send(other)).toMatchObject({ runId: "run_2", messageId: "msg_3" });
  });

  test("a running thread waits for a response", async () => {
    const mock = createMockAgentTransport();
    mock.seed((s) => {
      const { run, messages } = s.run({ threadId: THREAD, status: "running", messages: [s.input("Go.")] });
      return { threads: [s.thread(THREAD, { runs: [run], messages })] };
    });
    expect(mock.inspect.thread(THREAD)).toMatchObject({ activeRunId: "run_1", thread: { status: "running" } });
    mock.responses.queue((r) => r.assistant([r.text("Gone.")]));
    await idle(mock);
    expect(mock.inspect.thread(THREAD)).toMatchObject({ activeRunId: null, runs: [{ status: "completed" }] });
  });

  test("a failed run leaves an error that can be retried", async () => {
    const mock = createMockAgentTransport();
    mock.seed((s) => {
      const { run, messages } = s.run({
        threadId: THREAD,
        status: "failed",
        error: new Error("Gone"),
        messages: [s.input("Go.")],
      });
      return { threads: [s.thread(THREAD, { runs: [run], messages })] };
    });
    expect(mock.inspect.thread(THREAD)).toMatchObject({ thread: { status: "failed" }, error: { message: "Gone" } });
    expect(await mock.retry({ threadId: THREAD })).toMatchObject({ messageId: "msg_1", status: "running" });
  });

  test("mistakes", () => {
    const mock = createMockAgentTransport();
    expect(() =>
      mock.seed((s) => ({
        threads: [s.thread("t", { runs: [s.run({ threadId: "t", messages: [s.output([s.text("x")])] }).run] })],
      })),
    ).toThrow(/has no input message/);
    expect(() =>
      mock.seed((s) => {
        const runs = [1, 2].map(() => s.run({ threadId: "t", status: "running", messages: [s.input("x")] }).run);
        return { threads: [s.thread("t", { runs })] };
      }),
    ).toThrow(/has 2 running runs/);
  });
});

describe("mistakes of the test's author", () => {
  test("an unknown option", () => {
    const misspelt = { fileURLs: "none" } as object;
    expect(() => createMockAgentTransport(misspelt)).toThrow(OptionInvalid);
    expect(() => createMockAgentTransport(misspelt)).toThrow(/has no option "fileURLs"; it has manifest/);
    expect(() => createMockAgentTransport({ fileUrls: "some" as "none" })).toThrow(/"mock" or "none"/);
  });

  test("a queue callback that returns nothing", () => {
    const mock = createMockAgentTransport();
    expect(() => mock.responses.queue((() => undefined) as never)).toThrow(/returns r\.assistant/);
  });

  test("a streamed response that goes on after its end, or ends while a part is open", async () => {
    const mock = createMockAgentTransport();
    const response = mock.responses.stream();
    await send(mock);
    const text = response.text();
    await text.delta("Open");
    await expect(response.complete()).rejects.toThrow(/complete\(\) while the text part is open: call end\(\) first/);
    await text.end();
    await expect(text.delta("More")).rejects.toThrow(/text part is over/);
    await response.complete();
    await expect(response.text("More")).rejects.toThrow(/is over, and a script still writes to it/);
    await expect(response.complete()).rejects.toThrow(/is over/);
  });

  test("an output before its input, an input after it is complete, a shorthand with no outcome", async () => {
    const mock = createMockAgentTransport();
    const response = mock.responses.stream();
    await send(mock);
    const tool = response.tool("x");
    await expect(tool.output(1)).rejects.toThrow(/output\(\) of tool "x" before its input is complete/);
    await tool.input.available({});
    await expect(tool.input.delta("{")).rejects.toThrow(/complete already/);
    await tool.error(new Error("No."));
    await expect(response.tool("x", { input: {} } as never)).rejects.toThrow(
      /exactly one of output, waiting and error/,
    );
    await expect(response.tool("x", (t) => t.input.stream({}, { chunkSize: 0 }))).rejects.toThrow(/chunkSize/);
  });

  test("a callback that throws says so itself, and leaves the response usable", async () => {
    const mock = createMockAgentTransport();
    const response = mock.responses.stream();
    await send(mock);
    await expect(response.text(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    await response.text("On.");
    await response.complete();
  });
});

test("transient tool data of a stream is shown and not kept", async () => {
  const mock = createMockAgentTransport();
  const events = await watched(mock);
  const response = mock.responses.stream();
  await send(mock);
  await response.tool("x", async (t) => {
    await t.input.available({});
    await t.data("progress", 1, { id: "p" });
    await t.data("progress", 2, { id: "p" });
    await t.data("heat", 3, { transient: true });
    await t.output({});
  });
  await response.complete();
  const parts = mock.inspect.thread(THREAD)?.messages[1]?.parts.filter(({ type }) => type === "data-pai-tool-data");
  expect(parts).toMatchObject([{ data: { name: "progress", data: 2 } }]);
  expect(
    events.filter((event) => "seq" in event && event.seq === 0 && event.type === "generation.message.chunk"),
  ).toMatchObject([{ chunk: { data: { name: "heat", data: 3 }, transient: true } }]);
});
