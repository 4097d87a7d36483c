import type { PaiThreadHeadEvent } from "../agent/protocol.ts";
import type { Scenario } from "./scenario.ts";

function changed(threadId: string, reason: string) {
  return (event: PaiThreadHeadEvent): boolean =>
    event.type === "thread.head.changed" && event.reason === reason && event.head.id === threadId;
}

/** What a watcher of the list of threads sees. */
export const listScenarios: readonly Scenario[] = [
  {
    name: "the life of a thread reaches the watchers of the list",
    cites: ["heads.snapshot", "heads.created", "heads.status", "heads.attributes", "heads.deleted"],
    run: async ({ expect, script, send, settled, watchHeads, transport, threadId }) => {
      const watcher = await watchHeads();
      await script.reply("Hello.");
      await settled(await send("Hello?"));
      await watcher.until("the new thread", changed(threadId, "created"));
      const statuses = () =>
        watcher.events.flatMap((event) =>
          event.type === "thread.head.changed" && event.head.id === threadId ? [event.head.status] : [],
        );
      await watcher.until(
        "the thread at rest",
        (event) =>
          changed(threadId, "status")(event) && event.type === "thread.head.changed" && event.head.status === "idle",
      );
      expect(statuses().includes("running")).toEqual(true);
      const head = await transport.renameThread({ threadId, title: "Greetings" });
      const renamed = await watcher.until("the renamed thread", changed(threadId, "attributes"));
      expect(renamed).toEqual({ type: "thread.head.changed", reason: "attributes", head });

      const late = await watchHeads();
      const [first] = late.events;
      const listed = first?.type === "snapshot" ? first.heads.filter((one) => one.id === threadId) : [];
      expect(listed).toEqual([head]);
      await transport.deleteThread(threadId);
      await watcher.until("the deleted thread", changed(threadId, "deleted"));
    },
  },
  {
    name: "a watch of the list whose signal aborts ends",
    cites: ["heads.abort"],
    run: async ({ expect, watchHeads }) => {
      const watcher = await watchHeads();
      await watcher.close();
      expect(watcher.events.map((event) => event.type)).toEqual(["snapshot"]);
    },
  },
];
