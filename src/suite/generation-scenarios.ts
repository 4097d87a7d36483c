import { frames, modelMessages, suspensions, textOf } from "./read-events.ts";
import type { Scenario } from "./scenario.ts";
import { closes, type SuiteEvent } from "./session.ts";

function ofRun(events: readonly SuiteEvent[], runId: string): SuiteEvent[] {
  return events.filter((event) => ("runId" in event ? event.runId : "run" in event ? event.run.runId : "") === runId);
}

/** What a watcher sees of a generation. */
export const generationScenarios: readonly Scenario[] = [
  {
    name: "a generation is admitted, started, streamed and completed",
    cites: [
      "watch.admitted-first",
      "watch.started",
      "watch.sequence",
      "watch.start-chunk",
      "watch.completed",
      "watch.native-chunks",
      "watch.no-checkpoints",
    ],
    run: async ({ expect, script, send, settled, watch }) => {
      const watcher = await watch();
      await script.reply([
        { type: "text", text: "Looking. " },
        { type: "result", toolName: "lookup", input: { query: "a" }, output: { found: ["b"] } },
        { type: "text", text: "Found." },
      ]);
      const run = await send("Look.");
      const state = await settled(run);
      const [message] = modelMessages(state);

      const events = ofRun(watcher.events, run.runId);
      const admitted = events.find((event) => event.type === "run.admitted");
      expect(admitted).toMatchObject({ run: { runId: run.runId, status: "running", messageId: run.messageId } });
      const started = events.find((event) => event.type === "generation.started");
      expect(started).toMatchObject({ seq: 0, baseMessages: [] });
      const order = ["run.admitted", "generation.started", "generation.message.chunk", "generation.completed"];
      const places = order.map((type) => events.findIndex((event) => event.type === type));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places.includes(-1)).toEqual(false);

      const chunks = frames(watcher.events, run.runId);
      expect(chunks.map((frame) => frame.seq)).toEqual(chunks.map((_, index) => index + 1));
      expect([...new Set(chunks.map((frame) => frame.messageId))]).toEqual([message?.id]);
      expect(chunks[0]?.chunk).toMatchObject({
        type: "start",
        messageId: message?.id,
        messageMetadata: { pai: { runId: run.runId, producer: "model" } },
      });
      const text = chunks.map(({ chunk }) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
      expect([text, textOf(message)]).toEqual(["Looking. Found.", "Looking. Found."]);
      const outputs = chunks.flatMap(({ chunk }) => (chunk.type === "tool-output-available" ? [chunk.output] : []));
      expect(outputs).toEqual([{ found: ["b"] }]);
      const appended = watcher.events.filter(
        (event) => event.type === "message.appended" && event.message.id === message?.id,
      );
      expect(appended).toEqual([]);
    },
  },
  {
    name: "a generation that fails",
    cites: ["watch.failed", "watch.sequence"],
    run: async ({ expect, script, send, settled, watch }) => {
      const watcher = await watch();
      const held = await script.hold();
      const run = await send("Try.");
      await held.started();
      await held.text("I will");
      await held.fail("The line went dead");
      const state = await settled(run);
      const closing = watcher.events.filter((event) => closes(event, run.runId));
      expect(closing).toMatchObject([{ type: "generation.failed", error: state.error ?? {} }]);
      expect(state.error).toMatchObject({ message: "The line went dead", runId: run.runId, operation: "send" });
      const sequence = watcher.events.flatMap((event) =>
        (event.type === "generation.message.chunk" || event.type === "generation.error") && event.runId === run.runId
          ? [event.seq]
          : [],
      );
      expect(sequence).toEqual(sequence.map((_, index) => index + 1));
    },
  },
  {
    name: "a generation that is aborted",
    cites: ["watch.aborted"],
    run: async ({ expect, script, send, state, watch }) => {
      const watcher = await watch();
      const held = await script.hold();
      const run = await send("Go on.");
      await held.started();
      await held.text("On and");
      await held.abort("It took too long");
      const aborted = await watcher.until("the abort", (event) => event.type === "generation.aborted");
      const last = frames(watcher.events, run.runId).at(-1)?.seq ?? 0;
      expect(aborted).toMatchObject({ runId: run.runId, seq: last + 1, reason: "It took too long" });
      await watcher.until("the run's end", (event) => event.type === "run.updated" && event.run.status === "aborted");
      const after = await state();
      expect([after.activeRunId, after.runs.map((one) => one.status)]).toEqual([null, ["aborted"]]);
    },
  },
  {
    name: "a watch that opens during a generation misses nothing of it",
    cites: ["watch.late-replay", "watch.two-watchers"],
    run: async ({ expect, script, send, settled, watch }) => {
      const early = await watch();
      const held = await script.hold();
      const run = await send("Slowly.");
      await held.started();
      await held.text("One, ");
      await held.text("two, ");
      const late = await watch();
      await held.text("three.");
      await held.complete();
      const state = await settled(run);
      await late.until("the end of the run", (event) => closes(event, run.runId));
      expect(textOf(modelMessages(state)[0])).toEqual("One, two, three.");
      const generation = (events: readonly SuiteEvent[]): SuiteEvent[] =>
        events.filter((event) => event.type.startsWith("generation.") && "runId" in event && event.runId === run.runId);
      expect(generation(late.events)).toEqual(generation(early.events));
    },
  },
  {
    name: "a resumed generation starts from what the run had written",
    cites: ["watch.base-messages", "core.submit"],
    run: async ({ expect, script, send, settled, watch, transport, threadId }) => {
      const watcher = await watch();
      await script.reply([
        { type: "text", text: "May I?" },
        {
          type: "waiting",
          toolName: "approve",
          input: { subject: "the award" },
          action: { name: "approval", input: { question: "Approve?" } },
        },
      ]);
      const waiting = await settled(await send("Award it."));
      await script.reply("Recorded.");
      const actionId = waiting.pending[0]?.actionId ?? "";
      const { run } = await transport.submitAction({ threadId, actionId, output: { approved: true } });
      if (run === undefined) throw new Error("A submitted action whose run goes on should give that run.");
      const after = await settled(run);
      const started = watcher.events.filter((event) => event.type === "generation.started");
      expect(started.map((event) => event.seq)).toEqual([0, 0]);
      const base = started[1]?.type === "generation.started" ? started[1].baseMessages : [];
      // Only what the announced run owns is under the replay's authority: a new run starts from nothing.
      const owned = waiting.messages.filter(
        (message) => message.role === "assistant" && message.metadata?.pai.runId === run.runId,
      );
      expect(base.map((message) => message.id)).toEqual(owned.map((message) => message.id));
      expect(suspensions(after).map((one) => one.status)).toEqual(["submitted"]);
    },
  },
];
