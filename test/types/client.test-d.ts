/** What a contract makes of the client's types. Checked by the compiler alone; a line that should not compile says so. */
import { expectTypeOf } from "vitest";
import type { AgentClient } from "../../src/agent/client.ts";
import type { PaiMessage, ThreadState } from "../../src/agent/project.ts";
import type { AgentContract, PaiThreadTransportEvent } from "../../src/agent/protocol.ts";
import type { Thread } from "../../src/agent/thread.ts";
import { isPaiToolPart, type PaiToolPart } from "../../src/agent/tool-part.ts";
import type { AgentClientTransport } from "../../src/agent/transport.ts";
import type { SupportContract } from "../agent/support-contract.ts";

declare const client: AgentClient<SupportContract>;
declare const thread: Thread<SupportContract>;
declare const message: PaiMessage<SupportContract>;
declare const compare: Extract<PaiToolPart<SupportContract>, { type: "tool-compareProposals" }>;
declare const approve: Extract<PaiToolPart<SupportContract>, { type: "tool-approveAward" }>;
declare const upload: Extract<PaiToolPart<SupportContract>, { type: "tool-browserUpload" }>;

// Threads and states
expectTypeOf(client.thread("thread-1")).toEqualTypeOf<Thread<SupportContract>>();
expectTypeOf(thread.getState()).toEqualTypeOf<ThreadState<SupportContract>>();
expectTypeOf(thread.refresh()).resolves.toEqualTypeOf<ThreadState<SupportContract>>();
expectTypeOf(thread.send("text").then((run) => run.waitUntilIdle())).resolves.toEqualTypeOf<
  ThreadState<SupportContract>
>();
expectTypeOf(thread.getState().thread.metadata.projectId).toEqualTypeOf<string | undefined>();
expectTypeOf(thread.getState().runs[0]?.metadata.rating).toEqualTypeOf<number | null | undefined>();
// @ts-expect-error the contract's thread metadata has no such key
thread.getState().thread.metadata.projectID;
// @ts-expect-error states are read-only
thread.getState().activeRunId = null;
// @ts-expect-error a text, or an object with one
thread.send({ message: "text" });
// @ts-expect-error the metadata of the contract is a number or null
thread.send({ text: "text", metadata: { rating: "good" } });
thread.send({ text: "text", metadata: { rating: 5 } });

// Tool inputs and outputs
if (compare.state === "output-available") {
  expectTypeOf(compare.input).toEqualTypeOf<{ jobBriefId: string }>();
  expectTypeOf(compare.output).toEqualTypeOf<{ rankings: { agencyId: string; totalScore: number }[] }>();
  // @ts-expect-error no such key in the tool's output
  compare.output.ranking;
}
// @ts-expect-error an output is there only once it is available
compare.output.rankings;
expectTypeOf(compare.toolData.progress).toEqualTypeOf<{ percent: number } | undefined>();
// @ts-expect-error the tool names no such data
compare.toolData.speed;

// Suspensions and their actions
expectTypeOf(approve.pendingSuspension?.name).toEqualTypeOf<"approval" | undefined>();
expectTypeOf(approve.pendingSuspension?.input).toEqualTypeOf<{ message: string } | undefined>();
const approval = thread.getPendingAction(message, approve);
expectTypeOf(approval?.input).toEqualTypeOf<{ message: string } | undefined>();
approval?.submit({ approved: true });
// @ts-expect-error what is submitted has the suspend's output
approval?.submit({ approved: "yes" });
// @ts-expect-error nothing is left out of it
approval?.submit({});
const output = thread.getPendingAction(message, upload);
expectTypeOf(output?.name).toEqualTypeOf<"output" | undefined>();
expectTypeOf(output?.input).toEqualTypeOf<{ fileName: string } | undefined>();
output?.submit({ fileId: "file-1" });
// @ts-expect-error the tool's output, not its input
output?.submit({ fileName: "receipt.pdf" });
// @ts-expect-error the tool declares no suspends and is not the client's: nothing waits
compare.pendingSuspension?.input.message;

// Commands
expectTypeOf(thread.commands.refreshJobBrief).parameters.toEqualTypeOf<[input: { jobBriefId: string }]>();
expectTypeOf(thread.commands.refreshJobBrief).returns.resolves.toEqualTypeOf<{
  jobBriefId: string;
  status: "evaluating" | "ready";
}>();
// @ts-expect-error the input has another key
thread.commands.refreshJobBrief({ jobId: "job-1" });
// @ts-expect-error there is no such command
thread.commands.refresh({});

// Parts of messages
for (const part of message.parts) {
  if (part.type === "data-notice") {
    expectTypeOf(part.data).toEqualTypeOf<{ readonly level: "info" | "warning"; readonly text: string }>();
  }
  // @ts-expect-error the contract has no such data part
  if (part.type === "data-weather") break;
  // @ts-expect-error the contract has no such tool
  if (part.type === "tool-weather") break;
  // @ts-expect-error reserved parts are not for applications
  if (part.type === "data-pai-suspension") break;
}
const found = message.parts.find(isPaiToolPart);
expectTypeOf(found).toEqualTypeOf<PaiToolPart<SupportContract> | undefined>();
if (found !== undefined) expectTypeOf(thread.getPendingAction(message, found)).not.toBeAny();

// The transport's events carry the contract too
declare const event: PaiThreadTransportEvent<SupportContract>;
if (event.type === "run.admitted") {
  expectTypeOf(event.run.status).toEqualTypeOf<"running">();
  expectTypeOf(event.run.metadata.rating).toEqualTypeOf<number | null>();
}
if (event.type === "generation.started") expectTypeOf(event.seq).toEqualTypeOf<0>();
// @ts-expect-error no event is called that
if (event.type === "generation.text.delta") throw event;

// Contracts themselves
type Wrong = { metadata: Record<never, never>; tools: { lookup: { input: string } }; data: never; commands: never };
// @ts-expect-error a tool has an output
type Refused = AgentClient<Wrong>;
declare const anyTransport: AgentClientTransport<AgentContract>;
expectTypeOf(anyTransport.supports.watch).toEqualTypeOf<boolean>();

export type { Refused };
