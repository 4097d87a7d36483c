import { expect, expectTypeOf, test } from "vitest";
import {
  type AgentManifest,
  createAgentClient,
  createMockAgentClient,
  createMockAgentTransport,
  isPaiToolPart,
  type MockAgentClient,
  type MockAgentTransport,
} from "wiretape/agent";
import type { EngineeringSourceContract, RatedContract } from "./samples-contract.ts";

// Each test is a sample of the mock transport's page, and is named after the sentence beside it.

const mocked = () => createMockAgentClient<EngineeringSourceContract>();

test("It plugs into the real client", async () => {
  const transport = createMockAgentTransport<EngineeringSourceContract>();

  const client = createAgentClient(transport);

  expect((await client.thread("thread-1").refresh()).messages).toEqual([]);
});

test("creates both the transport and the real client facade", async () => {
  const mock = mocked();

  mock.responses.queue((r) => r.assistant([r.text("Done.")]));

  const run = await mock.client.thread("thread-1").send("Hello");
  const state = await run.waitUntilIdle();

  expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(state.messages[1]?.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "Done." }]);
});

test("The mock client fixture exposes those controls next to the real client", () => {
  const mock = mocked();
  for (const control of ["seed", "reset", "responses", "events", "commands", "files", "inspect"] as const) {
    expect(mock[control]).toBe(mock.transport[control]);
  }
  expectTypeOf(mock).toEqualTypeOf<MockAgentClient<EngineeringSourceContract>>();
  expectTypeOf(mock.transport).toEqualTypeOf<MockAgentTransport<EngineeringSourceContract>>();
  expectTypeOf(mock.seed).toEqualTypeOf<MockAgentTransport<EngineeringSourceContract>["seed"]>();
});

test("manifest is optional", async () => {
  const myGeneratedContractManifest: AgentManifest = {
    name: "engineering",
    tools: { compareProposals: { executor: "server", toolId: "compareProposals" } },
    commands: ["refreshJobBrief"],
  };
  const mock = createMockAgentClient<EngineeringSourceContract>({
    manifest: myGeneratedContractManifest,
  });

  expect(await mock.client.getManifest()).toEqual(myGeneratedContractManifest);
  expect(await mocked().client.getManifest()).toEqual({ name: "mock", tools: {}, commands: [] });
});

test("provide the canonical initial value once for every dynamically created run", async () => {
  const mock = createMockAgentClient<RatedContract>({
    initialMetadata: { rating: null },
  });
  // @ts-expect-error the metadata has a required field
  expect(() => createMockAgentClient<RatedContract>()).not.toThrow();
  // @ts-expect-error and without it the options are not complete
  expect(() => createMockAgentClient<RatedContract>({})).not.toThrow();

  mock.seed((s) => {
    const seeded = s.run({ threadId: "t", metadata: { rating: 4 }, messages: [s.input("Earlier.")] });
    return { threads: [s.thread("t", { messages: seeded.messages, runs: [seeded.run] })] };
  });
  await mock.client.thread("t").send("Now.");
  expect(mock.inspect.thread("t")?.runs.map(({ metadata }) => metadata)).toEqual([{ rating: 4 }, { rating: null }]);
});

test("A stable server definition produces a typed part; a registration without one a dynamic-tool part", async () => {
  const mock = createMockAgentClient<EngineeringSourceContract>({
    registeredToolMetadata: new Map([
      ["lookup_order", { executor: "server", toolId: "lookupOrder" } as const],
      ["browser_upload", { executor: "client" } as const],
    ]),
  });

  mock.responses.queue((r) =>
    r.assistant([
      r.tool("lookup_order").result({ input: { orderId: "1" }, output: { status: "sent" } }),
      r.tool("browser_upload").result({ input: { fileName: "a" }, output: { fileId: "f" } }),
    ]),
  );
  await (await mock.client.thread("t").send("Go.")).waitUntilIdle();
  expect(mock.inspect.thread("t")?.messages[1]?.parts).toMatchObject([
    { type: "step-start" },
    { type: "tool-lookup_order", toolMetadata: { pai: { executor: "server", toolId: "lookupOrder" } } },
    { type: "dynamic-tool", toolName: "browser_upload", toolMetadata: { pai: { executor: "client" } } },
  ]);
});

test("Seed the mock, queue a response, then interact with the client normally", async () => {
  const mock = createMockAgentClient<EngineeringSourceContract>();

  mock.seed((s) => {
    const seeded = s.run({
      threadId: "thread-telemetry",
      messages: [
        s.input("Find observability agencies in North America."),
        s.output([s.text("I found Northstar Engineering and Orbit Labs.")]),
      ],
    });

    return {
      threads: [
        s.thread("thread-telemetry", {
          title: "Warehouse telemetry platform",
          messages: seeded.messages,
          runs: [seeded.run],
        }),
      ],
    };
  });

  mock.responses.queue((r) =>
    r.assistant([
      r.text("Northstar is ranked first for observability work."),
      r.tool("compareProposals").result({
        input: { jobBriefId: "job-telemetry-platform" },
        output: {
          rankings: [{ agencyId: "agency-northstar", totalScore: 94 }],
        },
      }),
    ]),
  );

  const thread = mock.client.thread("thread-telemetry");
  const run = await thread.send("Compare the proposals.");
  const state = await run.waitUntilIdle();

  expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(state.messages.at(-1)?.parts).toMatchObject([
    { type: "step-start" },
    { type: "text", text: "Northstar is ranked first for observability work.", state: "done" },
    { type: "tool-compareProposals", state: "output-available", input: { jobBriefId: "job-telemetry-platform" } },
  ]);
  expect(state.runs.map(({ status, operation }) => [status, operation])).toEqual([
    ["completed", "send"],
    ["completed", "send"],
  ]);
  expect(state.thread).toMatchObject({ title: "Warehouse telemetry platform", status: "idle" });
  expect(mock.responses.size()).toBe(0);
});

function seedApproval(mock: MockAgentClient<EngineeringSourceContract>): void {
  mock.seed((s) => {
    const seeded = s.run({
      threadId: "thread-1",
      runId: "run-award",
      status: "waiting",
      messages: [
        s.input("Draft the recommendation."),
        s.output([
          s.text("I need approval before finalizing."),
          s.tool("approveAwardRecommendation").waiting({
            input: {
              jobBriefId: "job-1",
              recommendedAgencyId: "agency-1",
            },
            action: {
              name: "approval",
              input: { message: "Approve the award recommendation?" },
              id: "action-1",
            },
          }),
        ]),
      ],
    });

    return {
      threads: [
        s.thread("thread-1", {
          title: "Award memo",
          metadata: { projectId: "project-1" },
          messages: seeded.messages,
          runs: [seeded.run],
        }),
      ],
      files: [
        s.file("file-brief", {
          filename: "brief.pdf",
          mediaType: "application/pdf",
          body: new Blob(["brief contents"]),
        }),
      ],
    };
  });
}

test("seed() creates exact native transport state", async () => {
  const mock = mocked();
  seedApproval(mock);

  const raw = mock.inspect.thread("thread-1");
  expect(raw).toMatchObject({
    thread: { title: "Award memo", metadata: { projectId: "project-1" }, status: "waiting" },
    runs: [{ runId: "run-award", status: "waiting", initiator: "send" }],
    pending: [
      {
        actionId: "action-1",
        name: "approveAwardRecommendation.approval",
        toolName: "approveAwardRecommendation",
        suspendName: "approval",
        runId: "run-award",
        input: { message: "Approve the award recommendation?" },
      },
    ],
  });
  expect(raw?.messages.map(({ metadata }) => [metadata?.pai.producer, metadata?.pai.runId])).toEqual([
    ["user", "run-award"],
    ["model", "run-award"],
  ]);
  expect(raw?.messages[1]?.parts).toMatchObject([
    { type: "text" },
    { type: "tool-approveAwardRecommendation", state: "input-available" },
    { type: "data-pai-suspension", data: { actionId: "action-1", status: "pending" } },
  ]);
  const { file, body } = await mock.client.files.read("file-brief");
  expect([file.filename, await body.text()]).toEqual(["brief.pdf", "brief contents"]);
});

test("fixtures can represent lifecycle context exactly where it entered a run", () => {
  const mock = mocked();
  mock.seed((s) => {
    const { run, messages } = s.run({
      threadId: "thread-1",
      messages: [
        s.input("Draft the recommendation."),
        s.output([s.text("I am checking the award constraints.")]),
        s.context("The approval threshold is now $50,000.", { role: "system" }),
        s.output([s.text("This recommendation requires approval.")]),
      ],
    });
    return { threads: [s.thread("thread-1", { messages, runs: [run] })] };
  });
  const messages = mock.inspect.thread("thread-1")?.messages ?? [];
  expect(messages.map(({ role, metadata }) => [role, metadata?.pai.producer])).toEqual([
    ["user", "user"],
    ["assistant", "model"],
    ["system", "lifecycle"],
    ["assistant", "model"],
  ]);
  expect(new Set(messages.map(({ metadata }) => metadata?.pai.runId)).size).toBe(1);
});

test("trigger-created runs, and lifecycle-authored output", () => {
  const mock = mocked();
  mock.seed((s) => {
    const { run, messages } = s.run({
      threadId: "thread-1",
      initiator: "trigger",
      messages: [
        s.input("Refresh the recommendation", { producer: "trigger" }),
        s.output([s.text("Visible result")], { producer: "lifecycle" }),
      ],
    });
    return { threads: [s.thread("thread-1", { messages, runs: [run] })] };
  });
  const state = mock.inspect.thread("thread-1");
  expect(state?.runs).toMatchObject([{ initiator: "trigger", status: "completed" }]);
  expect(state?.messages.map(({ metadata }) => metadata?.pai.producer)).toEqual(["trigger", "lifecycle"]);
});

test("the reserved chunk is projected onto part.suspensions and part.pendingSuspension", async () => {
  const mock = mocked();
  seedApproval(mock);

  const thread = mock.client.thread("thread-1");
  const state = await thread.refresh();
  const message = state.messages.find((item) => item.role === "assistant");
  const part = message?.parts.find(isPaiToolPart);

  if (!message || !part) throw new Error("Expected a waiting tool");
  expect(part).toMatchObject({
    suspensions: [{ name: "approval", status: "pending" }],
    pendingSuspension: { name: "approval" },
  });

  const action = thread.getPendingAction(message, part);
  if (!action) throw new Error("Expected a pending action");

  mock.responses.queue((r) => r.assistant([r.text("Approval recorded.")]));
  const resumed = await action.submit({ approved: true });
  const after = await resumed.run?.waitUntilIdle();

  expect(after?.pending).toEqual([]);
  expect(after?.runs).toMatchObject([{ runId: "run-award", status: "completed", operation: "submitAction" }]);
  expect(after?.messages.at(-1)?.parts).toMatchObject([{ type: "step-start" }, { text: "Approval recorded." }]);
  const raw = mock.inspect.thread("thread-1");
  expect(raw?.messages[1]?.parts.at(-1)).toMatchObject({
    type: "data-pai-suspension",
    data: { status: "submitted", output: { approved: true } },
  });
});

test("mock.inspect.thread(...) intentionally returns the raw transport snapshot", async () => {
  const mock = mocked();
  seedApproval(mock);
  const raw = mock.inspect.thread("thread-1");
  expect(JSON.stringify(raw)).toContain("data-pai-suspension");
  expect(JSON.stringify(await mock.client.thread("thread-1").refresh())).not.toContain("data-pai-");
});

test("Use mock.responses.size() to inspect the number of unclaimed scripts and mock.responses.clear() to discard them", async () => {
  const mock = mocked();
  mock.responses.queue((r) => r.assistant([r.text("One")]));
  mock.responses.queue((r) => r.assistant([r.text("Two")]));
  expect(mock.responses.size()).toBe(2);
  mock.responses.clear();
  expect(mock.responses.size()).toBe(0);
  const run = await mock.client.thread("t").send("Hello");
  expect(mock.inspect.thread("t")?.activeRunId).toBe(run.runId);
});

test("the mock transport derives the full pending action name", async () => {
  const mock = mocked();
  mock.responses.queue((r) =>
    r.assistant([
      r.text("The award memo is ready for approval."),
      r.tool("approveAwardRecommendation").waiting({
        input: {
          jobBriefId: "job-telemetry-platform",
          recommendedAgencyId: "agency-northstar",
        },
        action: {
          name: "approval",
          input: { message: "Approve the award recommendation?" },
        },
      }),
    ]),
  );
  const state = await (await mock.client.thread("t").send("Draft.")).waitUntilBlocked();
  expect(state.pending).toMatchObject([{ name: "approveAwardRecommendation.approval", suspendName: "approval" }]);
  expect(state.thread.status).toBe("waiting");
});

test("Client-executed tools (hasExecute: false) wait on an implicit action named output", async () => {
  const mock = mocked();
  mock.responses.queue((r) =>
    r.assistant([
      r.tool("browserUpload").waiting({
        input: { fileName: "receipt.pdf" },
        action: {
          name: "output",
          input: { fileName: "receipt.pdf" },
        },
      }),
    ]),
  );
  const thread = mock.client.thread("t");
  const state = await (await thread.send("Upload.")).waitUntilBlocked();
  expect(state.pending).toMatchObject([{ name: "browserUpload.output", input: { fileName: "receipt.pdf" } }]);
  expect(state.pending[0]).not.toHaveProperty("suspendName");
  expect(mock.inspect.thread("t")?.messages[1]?.parts[1]).toMatchObject({
    toolMetadata: { pai: { executor: "client" } },
  });

  const message = state.messages.at(-1);
  const part = message?.parts.find(isPaiToolPart);
  if (!message || !part) throw new Error("Expected a waiting tool");
  mock.responses.queue((r) => r.assistant([r.text("Thanks.")]));
  const resumed = await thread.getPendingAction(message, part)?.submit({ fileId: "file-9" });
  const after = await resumed?.run?.waitUntilIdle();
  expect(after?.messages[1]?.parts.find(isPaiToolPart)).toMatchObject({
    state: "output-available",
    output: { fileId: "file-9" },
  });
});

test("preserves output as the raw suspend discriminator", async () => {
  const mock = mocked();
  const response = mock.responses.stream();
  const run = await mock.client.thread("t").send("Review.");
  await response.tool("reviewJob", {
    input: { jobId: "job-1" },
    waiting: {
      action: {
        name: "output",
        declaredSuspend: true,
        input: { prompt: "Approve this job?" },
      },
    },
  });
  await response.complete();
  const state = await run.waitUntilBlocked();
  expect(state.pending).toMatchObject([{ name: "reviewJob.output", suspendName: "output" }]);

  mock.seed((s) => {
    const seeded = s.run({
      threadId: "seeded",
      messages: [
        s.input("Review."),
        s.output([
          s.tool("reviewJob").waiting({
            input: { jobId: "job-1" },
            action: { name: "output", declaredSuspend: true, input: { prompt: "Approve this job?" } },
          }),
        ]),
      ],
    });
    return { threads: [s.thread("seeded", { messages: seeded.messages, runs: [seeded.run] })] };
  });
  expect(mock.inspect.thread("seeded")).toMatchObject({
    thread: { status: "waiting" },
    runs: [{ status: "waiting" }],
    pending: [{ name: "reviewJob.output", suspendName: "output" }],
  });
});

test("Queue run errors for accepted generations that should fail", async () => {
  const mock = mocked();
  const thread = mock.client.thread("thread-1");
  mock.responses.queue((r) => r.error(new Error("Provider failed")));

  const run = await thread.send("Draft the memo.");
  const state = await run.waitUntilIdle();

  expect(state.error).toMatchObject({
    message: "Provider failed",
    runId: run.runId,
    operation: "send",
    messageId: expect.any(String),
  });
  expect(state).toMatchObject({ activeRunId: null, thread: { status: "failed" }, runs: [{ status: "failed" }] });

  // "leaves enough error context for thread.retry() to regenerate the failed user turn"
  mock.responses.queue((r) => r.assistant([r.text("The memo.")]));
  const retried = await (await thread.retry()).waitUntilIdle();
  expect(retried.error).toBeNull();
  expect(retried.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("A tool error is part of an assistant message", async () => {
  const mock = mocked();
  mock.responses.queue((r) => r.assistant([r.tool("searchAgencies").error(new Error("Search service failed"))]));
  const state = await (await mock.client.thread("t").send("Search.")).waitUntilIdle();
  expect(state).toMatchObject({ error: null, runs: [{ status: "completed" }] });
  expect(state.messages[1]?.parts.find(isPaiToolPart)).toMatchObject({
    state: "output-error",
    errorText: "Search service failed",
  });
});

test("If a generation action runs without a queued response, the run stays running until a response is queued", async () => {
  const mock = mocked();
  const thread = mock.client.thread("thread-1");
  const run = await thread.send("Draft the memo.");

  expect(thread.getState().thread.status).toBe("running");

  mock.responses.queue((r) => r.assistant([r.text("Draft complete.")]));

  const state = await run.waitUntilIdle();
  expect(state.messages[1]?.parts).toMatchObject([{ type: "step-start" }, { text: "Draft complete." }]);
});
