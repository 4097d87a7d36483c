/** What a contract makes of the mock's types. Checked by the compiler alone; a line that should not compile says so. */
import { expectTypeOf } from "vitest";
import { createMockAgentClient, createMockAgentTransport } from "../../src/agent/mock.ts";
import type { AgentContract } from "../../src/agent/protocol.ts";
import { createPaiReact, createReactTestUtils } from "../../src/react.ts";
import type { SupportContract } from "../agent/support-contract.ts";

/** Metadata without a required key. */
interface FreeContract extends AgentContract {
  readonly metadata: { readonly rating?: number };
  readonly tools: Readonly<Record<never, never>>;
  readonly data: Readonly<Record<never, never>>;
  readonly commands: Readonly<Record<never, never>>;
}

// `initialMetadata` is required exactly where the metadata has a required key
createMockAgentTransport<FreeContract>();
createMockAgentTransport<FreeContract>({});
createMockAgentTransport<FreeContract>({ initialMetadata: { rating: 1 } });
createMockAgentTransport();
createMockAgentTransport<SupportContract>({ initialMetadata: { rating: null } });
// @ts-expect-error the contract's metadata has a required key
createMockAgentTransport<SupportContract>();
// @ts-expect-error the same, with options
createMockAgentTransport<SupportContract>({});
// @ts-expect-error the metadata's value is a number or null
createMockAgentTransport<SupportContract>({ initialMetadata: { rating: "good" } });
// @ts-expect-error nothing but the contract's metadata
createMockAgentTransport<SupportContract>({ initialMetadata: { rating: null, other: 1 } });
// @ts-expect-error a client's mock needs it too
createMockAgentClient<SupportContract>();
// @ts-expect-error there is no such option
createMockAgentTransport<FreeContract>({ latency: 5 });

const mock = createMockAgentClient<SupportContract>({ initialMetadata: { rating: null } });
const input = { jobBriefId: "job-1" };

// Responses
mock.responses.queue((r) =>
  r.assistant([
    r.text("Done."),
    r.tool("compareProposals").result({ input, output: { rankings: [{ agencyId: "a", totalScore: 1 }] } }),
    r.tool("compareProposals").error(new Error("closed")),
    r.tool("approveAward").waiting({ input, action: { name: "approval", input: { message: "May I?" } } }),
    r.tool("browserUpload").waiting({
      input: { fileName: "a.pdf" },
      action: { name: "output", input: { fileName: "a.pdf" } },
    }),
  ]),
);
mock.responses.queue((r) => {
  // @ts-expect-error the contract has no such tool
  r.tool("weather");
  // @ts-expect-error the tool's input has another key
  r.tool("compareProposals").result({ input: { jobId: "job-1" }, output: { rankings: [] } });
  // @ts-expect-error the tool's output has another shape
  r.tool("compareProposals").result({ input, output: [] });
  // @ts-expect-error the tool waits for nothing
  r.tool("compareProposals").waiting({ input, action: { name: "approval", input: {} } });
  // @ts-expect-error the tool declares no such suspend
  r.tool("approveAward").waiting({ input, action: { name: "review", input: { message: "" } } });
  // @ts-expect-error the suspend's input has another key
  r.tool("approveAward").waiting({ input, action: { name: "approval", input: { text: "" } } });
  // @ts-expect-error only a tool of the client has the implicit output
  r.tool("approveAward").waiting({ input, action: { name: "output", input } });
  const file = { fileName: "a.pdf" };
  // @ts-expect-error a tool of the client declares no suspend
  r.tool("browserUpload").waiting({ input: file, action: { name: "output", declaredSuspend: true, input: file } });
  // @ts-expect-error a failure is an Error
  return r.error("Provider failed");
});

// Streamed responses
const response = mock.responses.stream();
response.tool("approveAward", async (t) => {
  await t.input.available(input);
  // @ts-expect-error the tool's input has another key
  await t.input.available({ jobId: "job-1" });
  // @ts-expect-error the tool's output lacks a key
  await t.output({ approved: true });
  await t.output({ approved: true, memoId: "memo-1" });
});
response.tool("compareProposals", async (t) => {
  await t.data("progress", { percent: 50 }, { id: "current" });
  // @ts-expect-error the data has another shape
  await t.data("progress", { done: true });
  // @ts-expect-error the tool names no such data
  await t.data("speed", { percent: 50 });
});

// Commands
mock.commands.set("refreshJobBrief", ({ input: given }) => {
  expectTypeOf(given).toEqualTypeOf<{ jobBriefId: string }>();
  return { jobBriefId: given.jobBriefId, status: "evaluating" };
});
// @ts-expect-error a handler answers with the command's output
mock.commands.set("refreshJobBrief", () => ({ status: "done" }));
// @ts-expect-error there is no such command
mock.commands.set("refresh", () => undefined);

// Seeds
mock.seed((s) => {
  // @ts-expect-error the tool's output has another shape
  s.output([s.tool("compareProposals").result({ input, output: {} })]);
  // @ts-expect-error the run's metadata is the contract's
  s.run({ threadId: "t", messages: [s.input("Hello")], metadata: { rating: "good" } });
  const run = s.run({ threadId: "t", messages: [s.input("Hello")], metadata: { rating: 5 } });
  // @ts-expect-error the thread's metadata is the contract's
  s.thread("t", { metadata: { projectID: "p" } });
  return { threads: [s.thread("t", { metadata: { projectId: "p" }, messages: run.messages, runs: [run.run] })] };
});

// React
const Pai = createPaiReact<SupportContract>();
const AI = Pai.agent("support");
const utils = createReactTestUtils({ Pai, AI });
utils.createClientHarness({ initialMetadata: { rating: null } });
// @ts-expect-error the contract's metadata has a required key
utils.createClientHarness();
const Free = createPaiReact<FreeContract>();
createReactTestUtils({ Pai: Free, AI: Free.agent("free") }).createClientHarness();
// @ts-expect-error the hooks of another contract
createReactTestUtils<SupportContract>({ Pai, AI: Free.agent("free") });

type Pending = ReturnType<typeof AI.useThread>["pending"][number];
declare const pending: Pending;
if (pending.toolName === "approveAward") {
  expectTypeOf(pending.name).toEqualTypeOf<"approval">();
  expectTypeOf(pending.input).toEqualTypeOf<{ message: string }>();
  expectTypeOf(pending.submit).parameters.toEqualTypeOf<[output: { approved: boolean }]>();
}
if (pending.toolName === "browserUpload") expectTypeOf(pending.input).toEqualTypeOf<{ fileName: string }>();
// @ts-expect-error a tool that never waits has no action
if (pending.toolName === "compareProposals") throw pending;
type Run = ReturnType<typeof AI.useCommand<"refreshJobBrief">>;
expectTypeOf<Awaited<ReturnType<Run>>["status"]>().toEqualTypeOf<"evaluating" | "ready">();
