import { modelMessages, textOf, toolParts } from "./read-events.ts";
import type { Scenario } from "./scenario.ts";

/** What becomes of a thread as a whole, and what is known of its agent. */
export const threadScenarios: readonly Scenario[] = [
  {
    name: "a thread is renamed",
    cites: ["core.rename"],
    run: async ({ expect, script, send, settled, state, transport, threadId }) => {
      await script.reply("Hello.");
      await settled(await send("Hello?"));
      const head = await transport.renameThread({ threadId, title: "Greetings" });
      expect([head.id, head.title]).toEqual([threadId, "Greetings"]);
      const after = await state();
      expect([after.thread.title, after.runs.length, after.messages.length]).toEqual(["Greetings", 1, 2]);
      const listed = await transport.listThreads();
      expect(listed.filter((one) => one.id === threadId).map((one) => one.title)).toEqual(["Greetings"]);
    },
  },
  {
    name: "a thread is deleted and made again",
    cites: ["core.delete", "core.incarnation", "core.revision"],
    run: async ({ expect, script, send, settled, state, transport, threadId }) => {
      await script.reply("The first life.");
      const first = await settled(await send("Who are you?"));
      await transport.deleteThread(threadId);
      expect((await transport.listThreads()).filter((one) => one.id === threadId)).toEqual([]);
      const gone = await state();
      expect([gone.messages, gone.runs, gone.thread.status]).toEqual([[], [], "idle"]);
      await script.reply("The second life.");
      const second = await settled(await send("And now?"));
      expect(modelMessages(second).map(textOf)).toEqual(["The second life."]);
      const [before, after] = [first.thread.version, second.thread.version];
      expect(before.threadInstanceId === after.threadInstanceId).toEqual(false);
    },
  },
  {
    name: "data that is written for a tool stays on its message",
    cites: ["core.tool-data"],
    run: async ({ expect, script, send, settled, state, transport, threadId }) => {
      await script.reply([{ type: "result", toolName: "lookup", input: { query: "a" }, output: { found: [] } }]);
      const run = await send("Look.");
      const after = await settled(run);
      const toolCallId = String(toolParts(after)[0]?.part.toolCallId);
      const messageId = modelMessages(after)[0]?.id ?? "";
      await transport.writeToolData({
        threadId,
        runId: run.runId,
        messageId,
        toolCallId,
        name: "note",
        data: { seen: true },
        id: "note-1",
      });
      const written = modelMessages(await state()).flatMap((message) =>
        message.parts.filter((part) => (part.type as string) === "data-pai-tool-data"),
      );
      expect(written).toMatchObject([{ data: { toolCallId, name: "note", data: { seen: true } } }]);
    },
  },
  {
    name: "an agent is described",
    cites: ["core.manifest"],
    run: async ({ expect, transport }) => {
      const manifest = await transport.getManifest();
      expect([typeof manifest.name, typeof manifest.tools, Array.isArray(manifest.commands)]).toEqual([
        "string",
        "object",
        true,
      ]);
      expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest);
    },
  },
];
