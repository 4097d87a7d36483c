import { modelMessages, textOf, userMessages } from "./read-events.ts";
import type { Scenario } from "./scenario.ts";

/** Every byte, twice, so that nothing passes that reads files as text. */
const BYTES = Uint8Array.from({ length: 512 }, (_, index) => index % 256);

/** Files, commands, and generations that write anew. */
export const sideScenarios: readonly Scenario[] = [
  {
    name: "a file is uploaded and read back byte for byte",
    cites: ["files.upload", "files.bytes", "files.url"],
    run: async ({ expect, transport }) => {
      const uploaded = await transport.uploadFile({
        filename: "brief – ü.bin",
        mediaType: "application/octet-stream",
        body: new Blob([BYTES]),
        metadata: { project: "north" },
      });
      expect(uploaded).toMatchObject({
        filename: "brief – ü.bin",
        mediaType: "application/octet-stream",
        size: 512,
        metadata: { project: "north" },
      });
      expect(uploaded.fileId === "").toEqual(false);
      const { file, body } = await transport.readFile(uploaded.fileId);
      expect(file).toEqual(uploaded);
      expect([...new Uint8Array(await body.arrayBuffer())]).toEqual([...BYTES]);
      const url = await transport.createFileUrl(uploaded.fileId);
      expect(url === null || (typeof url === "string" && url !== "")).toEqual(true);
      const empty = await transport.uploadFile({ filename: "empty", mediaType: "text/plain", body: new Blob([]) });
      expect([empty.size, empty.fileId === uploaded.fileId]).toEqual([0, false]);
      expect((await (await transport.readFile(empty.fileId)).body.arrayBuffer()).byteLength).toEqual(0);
    },
  },
  {
    name: "a file that is not there",
    cites: ["files.unknown"],
    run: async ({ transport, rejection }) => {
      await rejection("an unknown file", transport.readFile("no-such-file"));
    },
  },
  {
    name: "a command answers, and starts no run",
    cites: ["commands.result", "commands.input", "commands.no-run"],
    run: async ({ expect, script, send, settled, state, transport, threadId }) => {
      await script.command("echo", { echo: true });
      await script.reply("Kept for the send.");
      const input = { text: 'ü "quoted"\n😀', deep: [{ a: null }, 1.5, true] };
      expect(await transport.executeCommand({ threadId, name: "echo", input })).toEqual(input);
      expect((await state()).runs).toEqual([]);
      const after = await settled(await send("Hello?"));
      expect(modelMessages(after).map(textOf)).toEqual(["Kept for the send."]);
    },
  },
  {
    name: "a command that fails, and one that nobody knows",
    cites: ["commands.error", "commands.unknown"],
    run: async ({ expect, script, transport, threadId, rejection }) => {
      await script.command("refuse", { error: "Not on a Sunday" });
      const refused = await rejection(
        "a failing command",
        transport.executeCommand({ threadId, name: "refuse", input: { text: "" } }),
      );
      expect(refused.message.includes("Not on a Sunday")).toEqual(true);
      await rejection(
        "an unknown command",
        transport.executeCommand({ threadId, name: "unheard", input: { text: "" } }),
      );
    },
  },
  {
    name: "a failed turn is tried again",
    cites: ["regeneration.retry", "regeneration.retry-input", "regeneration.retry-nothing"],
    run: async ({ expect, script, send, settled, transport, threadId, rejection }) => {
      await script.fail("The provider is away");
      const failed = await send("Draft the memo.");
      await settled(failed);
      await script.reply("The memo.");
      const again = await transport.retry({ threadId });
      expect([again.messageId, again.status]).toEqual([failed.messageId, "running"]);
      const after = await settled(again);
      expect([after.error, after.thread.status]).toEqual([null, "idle"]);
      expect(userMessages(after).map((message) => message.id)).toEqual([failed.messageId]);
      expect(modelMessages(after).map(textOf)).toEqual(["The memo."]);
      expect(after.runs.find((run) => run.runId === again.runId)).toMatchObject({
        operation: "retry",
        status: "completed",
      });
      await rejection("a retry of nothing", transport.retry({ threadId }));
    },
  },
  {
    name: "an answer is written anew",
    cites: ["regeneration.regenerate"],
    run: async ({ expect, script, send, settled, transport, threadId }) => {
      await script.reply("The first draft.");
      const first = await send("Draft the memo.");
      await settled(first);
      await script.reply("The second draft.");
      const again = await transport.regenerate({ threadId });
      expect([again.messageId, again.runId === first.runId]).toEqual([first.messageId, false]);
      const after = await settled(again);
      expect(userMessages(after).map((message) => message.id)).toEqual([first.messageId]);
      expect(modelMessages(after).map(textOf)).toEqual(["The second draft."]);
      expect(after.runs.at(-1)).toMatchObject({ runId: again.runId, operation: "regenerate", status: "completed" });
    },
  },
  {
    name: "a regeneration that fails",
    cites: ["regeneration.fails"],
    run: async ({ expect, script, send, settled, transport, threadId }) => {
      await script.reply("The first draft.");
      const first = await send("Draft the memo.");
      await settled(first);
      await script.fail("The provider is away");
      const again = await transport.regenerate({ threadId });
      const after = await settled(again);
      expect(after.error).toMatchObject({
        message: "The provider is away",
        runId: again.runId,
        operation: "regenerate",
        messageId: first.messageId,
      });
    },
  },
];
