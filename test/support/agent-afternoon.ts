import { type AgentClient, createAgentClient } from "../../src/agent/client.ts";
import type { MockAgentTransport } from "../../src/agent/mock.ts";
import type { RunHandle } from "../../src/agent/run-handle.ts";
import { rawEventText } from "../../src/agent/sse-events.ts";
import type { Thread } from "../../src/agent/thread.ts";
import { isPaiToolPart } from "../../src/agent/tool-part.ts";
import type { AgentClientTransport } from "../../src/agent/transport.ts";
import type { SupportContract } from "../agent/support-contract.ts";

type Transport = AgentClientTransport<SupportContract>;

/** The texts of all events that a transport's watches hand out, in the order of the watches. */
export function listening(transport: Transport): { transport: Transport; streams: string[][] } {
  const streams: string[][] = [];
  const watchThread: Transport["watchThread"] = (threadId, options) => {
    const texts: string[] = [];
    streams.push(texts);
    const events = transport.watchThread(threadId, options);
    return {
      [Symbol.asyncIterator]() {
        const items = events[Symbol.asyncIterator]();
        return {
          async next() {
            const step = await items.next();
            if (step.done !== true) texts.push(rawEventText(step.value) ?? `printed: ${JSON.stringify(step.value)}`);
            return step;
          },
          return: async () => (await items.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  };
  return { transport: { ...transport, supports: transport.supports, watchThread }, streams };
}

/** What the backend does in the afternoon: the script of the mock, one answer a run. */
export async function backendOfTheAfternoon(mock: MockAgentTransport<SupportContract>): Promise<void> {
  const { responses } = mock;
  mock.commands.set("refreshJobBrief", ({ input }) => ({ jobBriefId: input.jobBriefId, status: "evaluating" }));
  responses.queue((r) =>
    r.assistant([
      r.text("Northstar is ranked first."),
      r.tool("compareProposals").result({
        input: { jobBriefId: "job-1" },
        output: { rankings: [{ agencyId: "northstar", totalScore: 94 }] },
      }),
    ]),
  );
  responses.queue((r) =>
    r.assistant([
      r.text("I need your approval."),
      r.tool("approveAward").waiting({
        input: { jobBriefId: "job-1" },
        action: { name: "approval", input: { message: "Approve Northstar?" } },
      }),
    ]),
  );
  responses.queue((r) => r.assistant([r.text("Approval recorded.")]));
  responses.queue((r) => r.error(Object.assign(new Error("Provider failed"), { code: "overloaded" })));
  responses.queue((r) => r.assistant([r.text("Second attempt.")]));
  responses.queue((r) => r.assistant([r.text("Written anew.")]));
  // The answer to the first of two sends goes on until the second has come, so that that one waits in the queue.
  const slow = responses.stream();
  responses.queue((r) => r.assistant([r.text("And the second.")]));
  await slow.waitUntilStarted();
  const text = slow.text();
  await text.delta("The first ");
  while (mock.inspect.thread("desk")?.queue.items.length !== 1) await new Promise((resolve) => setTimeout(resolve, 2));
  await text.delta("takes its time.");
  await text.end();
  await slow.complete();
}

/**
 * The program: a session with tools, a suspension that is resumed, a failure that is retried, a regeneration, a queue,
 * files and commands. It knows nothing of tapes, and says all that it saw.
 */
export async function afternoon(
  transport: Transport,
): Promise<{ results: unknown[]; states: unknown[]; streams: string[][] }> {
  const ears = listening(transport);
  const client: AgentClient<SupportContract> = createAgentClient<SupportContract>(ears.transport);
  const thread: Thread<SupportContract> = client.thread("desk");
  const results: unknown[] = [];
  const states: unknown[] = [];
  const leaving = new AbortController();
  const watching = (async () => {
    for await (const state of thread.watch({ signal: leaving.signal })) states.push(structuredClone(state));
  })();
  const idle = async (run: RunHandle<SupportContract>) => {
    const state = await run.waitUntilIdle();
    results.push(run.runId, structuredClone(state));
    return state;
  };

  await idle(await thread.send("Compare the proposals."));

  const asking = await thread.send("Award the job.");
  const blocked = await asking.waitUntilBlocked();
  results.push(structuredClone(blocked));
  const message = blocked.messages.findLast(({ role }) => role === "assistant");
  const part = message?.parts.find((one) => isPaiToolPart(one) && one.pendingSuspension !== undefined);
  if (message === undefined || part === undefined || !isPaiToolPart(part)) throw new Error("Expected a waiting tool");
  const action = thread.getPendingAction(message, part);
  const resumed = await action?.submit({ approved: true } as never);
  if (resumed?.run === undefined) throw new Error("Expected a run that goes on");
  await idle(resumed.run as never);

  const failed = await idle(await thread.send("Draft the memo."));
  results.push({ error: failed.error });
  await idle(await thread.retry());
  await idle(await thread.regenerate());

  const first = await thread.send("One.");
  const second = await thread.send({ text: "Two.", id: `client-${Math.random()}` });
  await idle(first);
  await idle(second);

  const file = await client.files.upload({
    filename: "notes.bin",
    mediaType: "application/octet-stream",
    body: new Blob([Uint8Array.of(0, 1, 254, 255)]),
  });
  const back = await client.files.read(file.fileId);
  results.push(file, back.file, back.body.type, [...new Uint8Array(await back.body.arrayBuffer())]);
  results.push(await client.files.createUrl(file.fileId));
  results.push(await thread.commands.refreshJobBrief({ jobBriefId: "job-1" }));
  const refused = transport.executeCommand({ threadId: "desk", name: "nobody", input: {} });
  results.push(await refused.catch(({ name, message }: Error) => ({ name, message })));
  results.push(await thread.rename("An award"), await client.threads(), await client.getManifest());
  results.push(structuredClone(await thread.refresh()));
  leaving.abort();
  await watching;
  return { results, states, streams: ears.streams };
}
