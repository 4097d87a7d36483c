import { modelMessages, suspensions, textOf, toolParts, userMessages } from "./read-events.ts";
import type { Scenario } from "./scenario.ts";

const STATE_FIELDS = [
  "thread",
  "messages",
  "runs",
  "pending",
  "activeRunId",
  "queue",
  "usage",
  "capabilities",
  "error",
];
const STORAGE_FIELDS = /"(scopeKey|visibility|privateMetadata)":/;

/** Threads, messages, runs and their errors. */
export const coreScenarios: readonly Scenario[] = [
  {
    name: "a thread that was never written to can be read",
    cites: ["core.empty-thread", "core.state-whole"],
    run: async ({ expect, state, threadId }) => {
      const empty = await state();
      expect(STATE_FIELDS.filter((field) => !(field in empty))).toEqual([]);
      expect([empty.thread.id, empty.thread.status, empty.activeRunId, empty.error]).toEqual([
        threadId,
        "idle",
        null,
        null,
      ]);
      expect([empty.messages, empty.runs, empty.pending, empty.queue.items]).toEqual([[], [], [], []]);
    },
  },
  {
    name: "a text is sent, answered, and the thread is idle again",
    cites: ["core.send-settles", "core.send-owns-input", "core.message-facts", "core.safe-fields", "core.revision"],
    run: async ({ expect, script, send, settled, state, threadId }) => {
      const before = await state();
      await script.reply("It is blue.");
      const run = await send("Which colour is the sky?");
      expect([run.threadId, run.status]).toEqual([threadId, "running"]);
      const after = await settled(run);

      expect(userMessages(after).map((message) => [message.id, textOf(message)])).toEqual([
        [run.messageId, "Which colour is the sky?"],
      ]);
      expect(modelMessages(after).map(textOf)).toEqual(["It is blue."]);
      expect([after.thread.status, after.activeRunId, after.error]).toEqual(["idle", null, null]);
      expect(after.runs.map((one) => [one.runId, one.status, one.operation, one.messageId])).toEqual([
        [run.runId, "completed", "send", run.messageId],
      ]);

      const facts = after.messages.map((message) => message.metadata?.pai);
      expect(facts.map((one) => [one?.producer, one?.runId])).toEqual([
        ["user", run.runId],
        ["model", run.runId],
      ]);
      expect(facts.filter((one) => Number.isNaN(Date.parse(one?.createdAt ?? "")))).toEqual([]);
      expect(STORAGE_FIELDS.test(JSON.stringify(after))).toEqual(false);
      expect(after.thread.version.revision >= before.thread.version.revision).toEqual(true);
    },
  },
  {
    name: "a run without an answer stays running until there is one",
    cites: ["core.runs-until-answered"],
    run: async ({ expect, script, send, settled, state }) => {
      const run = await send("Are you there?");
      const running = await state();
      expect([running.thread.status, running.activeRunId]).toEqual(["running", run.runId]);
      await script.reply("Now I am.");
      const after = await settled(run);
      expect([after.thread.status, modelMessages(after).map(textOf)]).toEqual(["idle", ["Now I am."]]);
    },
  },
  {
    name: "a tool that fails does not fail its run",
    cites: ["core.tool-result", "core.tool-error", "core.tool-provenance"],
    run: async ({ expect, script, send, settled }) => {
      const input = { query: "north" };
      await script.reply([
        { type: "text", text: "Looking." },
        { type: "result", toolName: "lookup", input, output: { found: ["Orbit"] } },
        { type: "error", toolName: "lookup", input, errorText: "The index is closed" },
      ]);
      const after = await settled(await send("Find it."));
      expect([after.thread.status, after.error, after.runs.map((run) => run.status)]).toEqual([
        "idle",
        null,
        ["completed"],
      ]);
      const parts = toolParts(after);
      expect(parts.map(({ name }) => name)).toEqual(["lookup", "lookup"]);
      const [result, error] = parts.map(({ part }) => part) as [object, object];
      expect(result).toMatchObject({ state: "output-available", input, output: { found: ["Orbit"] } });
      expect(error).toMatchObject({ state: "output-error", errorText: "The index is closed" });
      // A provenance that is stated names an executor; a tool of which nothing is known may state none.
      const stated = parts.map(
        ({ part }) => (part as { toolMetadata?: { pai?: { executor?: unknown } } }).toolMetadata?.pai,
      );
      expect(stated.filter((one) => one !== undefined && !["server", "client"].includes(String(one.executor)))).toEqual(
        [],
      );
    },
  },
  {
    name: "a run that fails says what failed",
    cites: ["core.run-error", "core.error-context"],
    run: async ({ expect, script, send, settled }) => {
      await script.fail("The provider is away");
      const run = await send("Draft the memo.");
      const after = await settled(run);
      expect([after.thread.status, after.activeRunId, after.runs.map((one) => one.status)]).toEqual([
        "failed",
        null,
        ["failed"],
      ]);
      expect(after.error).toMatchObject({
        message: "The provider is away",
        runId: run.runId,
        operation: "send",
        messageId: run.messageId,
      });
    },
  },
  {
    name: "a tool waits for the client, which lets it go on",
    cites: ["core.waiting", "core.submit", "core.submit-unknown"],
    run: async ({ expect, script, send, settled, transport, threadId, rejection }) => {
      await script.reply([
        { type: "text", text: "May I?" },
        {
          type: "waiting",
          toolName: "approve",
          input: { subject: "the award" },
          action: { name: "approval", input: { question: "Approve?" } },
        },
      ]);
      const run = await send("Award it.");
      const waiting = await settled(run);
      expect([waiting.thread.status, waiting.runs.map((one) => one.status)]).toEqual(["waiting", ["waiting"]]);
      const [action, ...others] = waiting.pending;
      expect(others).toEqual([]);
      expect(action).toMatchObject({
        name: "approve.approval",
        toolName: "approve",
        suspendName: "approval",
        runId: run.runId,
        input: { question: "Approve?" },
      });
      expect(toolParts(waiting).map(({ part }) => part)).toMatchObject([
        { state: "input-available", toolCallId: action?.toolCallId, input: { subject: "the award" } },
      ]);
      expect(suspensions(waiting)).toMatchObject([
        { actionId: action?.actionId, action: "approval", status: "pending" },
      ]);

      await rejection(
        "an unknown action",
        transport.submitAction({ threadId, actionId: "no-such-action", output: { approved: true } }),
      );
      await script.reply("Recorded.");
      const submitted = await transport.submitAction({
        threadId,
        actionId: action?.actionId ?? "",
        output: { approved: true },
      });
      if (submitted.run === undefined) throw new Error("A submitted action whose run goes on should give that run.");
      const after = await settled(submitted.run);
      expect([after.pending, after.thread.status]).toEqual([[], "idle"]);
      expect(suspensions(after).map((one) => one.status)).toEqual(["submitted"]);
      expect(modelMessages(after).map(textOf).join("")).toEqual("May I?Recorded.");
    },
  },
  {
    name: "a tool of the client waits for its output",
    cites: ["core.implicit-output"],
    run: async ({ expect, script, send, settled }) => {
      await script.reply([
        {
          type: "waiting",
          toolName: "pick",
          input: { fileName: "receipt.pdf" },
          action: { name: "output", input: { fileName: "receipt.pdf" } },
        },
      ]);
      const implicit = await settled(await send("Pick a file."));
      expect(implicit.pending.map((one) => [one.name, "suspendName" in one])).toEqual([["pick.output", false]]);
      expect(suspensions(implicit).map((one) => [one.action, "suspendName" in one])).toEqual([["output", false]]);
    },
  },
  {
    name: "a declared suspend that is called output",
    cites: ["core.declared-output"],
    run: async ({ expect, script, send, settled }) => {
      await script.reply([
        {
          type: "waiting",
          toolName: "approve",
          input: { subject: "the job" },
          action: { name: "output", declaredSuspend: true, input: { question: "Approve this job?" } },
        },
      ]);
      const declared = await settled(await send("Review it."));
      expect(declared.pending.map((one) => [one.name, one.suspendName])).toEqual([["approve.output", "output"]]);
    },
  },
  {
    name: "what is sent during a run waits its turn",
    cites: ["core.queue"],
    run: async ({ expect, script, send, settled, state }) => {
      const held = await script.hold();
      const first = await send("First.");
      await held.started();
      await script.reply("Two.");
      const second = await send("Second.");
      expect([second.status, typeof second.queueItemId]).toEqual(["queued", "string"]);
      const queued = await state();
      expect(queued.activeRunId).toEqual(first.runId);
      expect(queued.queue.items.map((item) => [item.queueItemId, item.runId, textOf(item.message)])).toEqual([
        [second.queueItemId, second.runId, "Second."],
      ]);
      await held.text("One.");
      await held.complete();
      const after = await settled(second);
      expect([after.queue.items, after.thread.status]).toEqual([[], "idle"]);
      expect(after.runs.map((run) => run.status)).toEqual(["completed", "completed"]);
      expect(modelMessages(after).map(textOf)).toEqual(["One.", "Two."]);
    },
  },
];
