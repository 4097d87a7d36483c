import type { PaiThreadHead } from "../agent/protocol.ts";
import { frames, isSparse, modelMessages, textOf, toolParts, versionOf } from "./read-events.ts";
import type { Scenario } from "./scenario.ts";
import { closes, type SuiteEvent } from "./session.ts";

const has =
  (type: SuiteEvent["type"]) =>
  (event: SuiteEvent): boolean =>
    event.type === type;

/** What a watcher of a thread sees of it, outside of generations. */
export const watchScenarios: readonly Scenario[] = [
  {
    name: "a watch starts with the state that a read gives",
    cites: ["watch.snapshot-first", "watch.raw-snapshot", "watch.reconnect"],
    run: async ({ expect, script, send, settled, watch }) => {
      await script.reply([
        {
          type: "waiting",
          toolName: "approve",
          input: { subject: "the award" },
          action: { name: "approval", input: { question: "Approve?" } },
        },
      ]);
      const before = await watch();
      expect(before.events[0]?.type).toEqual("snapshot");
      const state = await settled(await send("Award it."));
      await before.close();
      const again = await watch();
      expect(again.events[0]).toEqual({ type: "snapshot", state });
      const [snapshot] = again.events;
      if (snapshot?.type !== "snapshot") throw new Error("The first event should be a snapshot.");
      expect(snapshot.state.pending.map((one) => one.name)).toEqual(["approve.approval"]);
      const types = snapshot.state.messages.flatMap((message) => message.parts.map((part) => part.type as string));
      expect(types.filter((type) => type.startsWith("data-pai-"))).toEqual(["data-pai-suspension"]);
    },
  },
  {
    name: "a watch without the initial state",
    cites: ["watch.include-initial"],
    run: async ({ expect, script, send, watch }) => {
      const held = await script.hold();
      const run = await send("Slowly.");
      await held.started();
      await held.text("Sl");
      const late = await watch(run.threadId, { includeInitial: false });
      await late.until("the announced generation", has("generation.started"));
      await held.text("ow.");
      await held.complete();
      await late.until("the end of the run", (event) => closes(event, run.runId));
      expect(late.events.filter(has("snapshot"))).toEqual([]);
    },
  },
  {
    name: "the events of a turn bear versions that do not go back",
    cites: ["watch.versions", "watch.revision", "watch.appended", "watch.run-updated"],
    run: async ({ expect, script, send, settled, watch }) => {
      const watcher = await watch();
      await script.reply("Yes.");
      const run = await send("Is it so?");
      await settled(run);
      await watcher.until(
        "the run's last state",
        (event) => event.type === "run.updated" && event.run.status === "completed",
      );

      const without = watcher.events.filter(
        (event) => event.type !== "state.changed" && versionOf(event) === undefined,
      );
      expect(without.map((event) => event.type)).toEqual([]);
      const revisions = watcher.events.filter(isSparse).map((event) => versionOf(event)?.revision ?? -1);
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));

      const appended = watcher.events.flatMap((event) => (event.type === "message.appended" ? [event.message] : []));
      expect(appended.map((message) => [message.id, message.role, textOf(message)])).toEqual([
        [run.messageId, "user", "Is it so?"],
      ]);
      const updates = watcher.events.flatMap((event) => (event.type === "run.updated" ? [event.run] : []));
      expect(updates.at(-1)).toMatchObject({ runId: run.runId, status: "completed", operation: "send" });
    },
  },
  {
    name: "a rename reaches the watchers of the thread",
    cites: ["watch.head-changed"],
    run: async ({ expect, script, send, settled, watch, transport, threadId }) => {
      const watcher = await watch();
      await script.reply("Hello.");
      await settled(await send("Hello?"));
      const head = await transport.renameThread({ threadId, title: "Greetings" });
      const changed = await watcher.until(
        "the renamed head",
        (event) => event.type === "thread.head.changed" && event.head.title === "Greetings",
      );
      expect(changed).toEqual({ type: "thread.head.changed", reason: "attributes", head });
    },
  },
  {
    name: "a queued item is added, and removed when it runs",
    cites: ["watch.queue-added", "watch.queue-removed", "watch.admitted-first"],
    run: async ({ expect, script, send, settled, watch }) => {
      const watcher = await watch();
      const held = await script.hold();
      await send("First.");
      await held.started();
      await script.reply("Two.");
      const second = await send("Second.");
      const added = await watcher.until("the queued item", has("queue-item-added"));
      expect(added).toMatchObject({ item: { queueItemId: second.queueItemId, runId: second.runId } });
      expect(added.type === "queue-item-added" && textOf(added.item.message)).toEqual("Second.");
      await held.text("One.");
      await held.complete();
      await settled(second);
      const { queueItemId, runId } = second;
      expect(watcher.events.find(has("queue-item-removed"))).toMatchObject({ queueItemId, runId, reason: "admitted" });
      const ofSecond = watcher.events.filter(
        (event) =>
          (event.type === "run.admitted" && event.run.runId === runId) ||
          (event.type === "generation.started" && event.runId === runId),
      );
      expect(ofSecond.map((event) => event.type)).toEqual(["run.admitted", "generation.started"]);
    },
  },
  {
    name: "each life of a thread has one incarnation",
    cites: ["watch.one-incarnation"],
    run: async ({ expect, script, send, settled, watch, transport, threadId }) => {
      const first = await watch();
      await script.reply("The first life.");
      await settled(await send("Who are you?"));
      await first.close();
      const ofFirst = new Set(first.events.flatMap((event) => versionOf(event)?.threadInstanceId ?? []));
      await transport.deleteThread(threadId);
      const second = await watch();
      await script.reply("The second life.");
      const run = await send("And now?");
      await second.until("the end of the second life's run", (event) => closes(event, run.runId));
      const ofSecond = new Set(second.events.flatMap((event) => versionOf(event)?.threadInstanceId ?? []));
      expect([ofFirst.size, ofSecond.size, new Set([...ofFirst, ...ofSecond]).size]).toEqual([1, 1, 2]);
    },
  },
  {
    name: "a watch whose signal aborts ends",
    cites: ["watch.abort"],
    run: async ({ expect, watch, transport, threadId }) => {
      const watcher = await watch();
      await watcher.close();
      expect(watcher.events.length).toEqual(1);
      const never: SuiteEvent[] = [];
      for await (const event of transport.watchThread(threadId, { signal: AbortSignal.abort() })) never.push(event);
      expect(never).toEqual([]);
    },
  },
  {
    name: "two watchers see the same, and only of their own thread",
    cites: ["watch.two-watchers", "watch.own-thread"],
    run: async ({ expect, script, send, settled, watch, threadId }) => {
      const [one, two, other] = [await watch(), await watch(), await watch(`${threadId}-other`)];
      await script.reply("To both.");
      const run = await send("Who hears it?");
      await settled(run);
      await two.until("the end of the run", (event) => closes(event, run.runId));
      await script.reply("To the other.");
      const apart = await send("And there?", `${threadId}-other`);
      await settled(apart);
      const upTo = (events: readonly SuiteEvent[]): SuiteEvent[] =>
        events.slice(0, events.findIndex((event) => closes(event, run.runId)) + 1);
      expect(upTo(two.events)).toEqual(upTo(one.events));
      const mentions = (events: readonly SuiteEvent[], id: string): boolean =>
        events.some((event) => "runId" in event && event.runId === id);
      expect([mentions(other.events, run.runId), mentions(one.events, apart.runId)]).toEqual([false, false]);
    },
  },
  {
    name: "events arrive as they were sent",
    cites: ["watch.values"],
    run: async ({ expect, script, send, settled, state, watch, threadId }) => {
      const watcher = await watch();
      await script.reply("Hello.");
      await settled(await send("Hello?"));
      const { thread } = await state();
      const title = 'quote " backslash \\ line\nfeed\r\u2028 null \u0000 emoji 😀 \ud83d lone';
      const head = { ...thread, title: title.replace("\ud83d lone", ""), future: { nested: [1, null, "x"] } };
      const odd = { type: "thread.head.changed", reason: "attributes", head: head as PaiThreadHead, later: 1 } as const;
      const unknown = { type: "weather.changed", sky: "blue" } as unknown as SuiteEvent;
      await script.push(threadId, odd as unknown as SuiteEvent);
      await script.push(threadId, unknown);
      const arrived = await watcher.until(
        "an event of an unknown type",
        (event) => (event.type as string) === "weather.changed",
      );
      expect(arrived).toEqual(unknown);
      const before = watcher.events[watcher.events.indexOf(arrived) - 1];
      expect(before).toEqual(odd);
    },
  },
  {
    name: "transient tool data is shown and not kept",
    cites: ["watch.live-only"],
    run: async ({ expect, script, send, settled, state, watch, transport, threadId }) => {
      const watcher = await watch();
      await script.reply([{ type: "result", toolName: "lookup", input: { query: "a" }, output: { found: [] } }]);
      const run = await send("Look.");
      const after = await settled(run);
      const [message] = modelMessages(after);
      const toolCallId = String(toolParts(after)[0]?.part.toolCallId);
      const where = { threadId, runId: run.runId, messageId: message?.id ?? "", toolCallId };
      await transport.writeToolData({ ...where, name: "progress", data: { percent: 50 }, id: "p", transient: true });
      const live = await watcher.until(
        "the live data",
        (event) => event.type === "generation.message.chunk" && event.seq === 0,
      );
      expect(live).toMatchObject({
        runId: run.runId,
        messageId: message?.id,
        chunk: {
          type: "data-pai-tool-data",
          transient: true,
          data: { toolCallId, name: "progress", data: { percent: 50 } },
        },
      });
      expect(modelMessages(await state())).toEqual([message]);
      expect(
        frames(watcher.events, run.runId).filter((event) => (event.chunk.type as string) === "data-pai-tool-data"),
      ).toEqual([]);
    },
  },
];
