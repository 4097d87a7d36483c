import type { AgentClientTransport, UploadInput } from "../../agent/transport.ts";
import type { CallTrack, Json } from "../../cassette/schema.ts";
import { tagValue, untagValue } from "../../cassette/values.ts";
import { callAnswer, callDeliveries, failedAnswer } from "../../engine/call-target.ts";
import type { Answer, Target, TrackDrive } from "../../engine/target.ts";
import { agentErrorToStored } from "./agent-error.ts";
import type { AgentOperation } from "./agent-requests.ts";
import { fileFrom, storedFile } from "./stored-file.ts";

/** An agent's backend as the target of a drive: each recorded request is made of the transport, watches included. */
export function agentTarget(transport: AgentClientTransport): Target {
  return {
    name: "the agent",
    refuses: (track) => (track.kind === "agent" ? undefined : `it is of kind ${track.kind}`),
    recorded: (track) => callAnswer(track as CallTrack),
    deliveries: (track) => callDeliveries(track as CallTrack),
    async play(track, drive) {
      const { name, thread, input } = (track as CallTrack).call;
      const operation = name as AgentOperation;
      const asked = drive.live({ thread: thread ?? null, input: input ?? null }) as {
        thread: string | null;
        input: Json;
      };
      try {
        if (operation === "watchThread" || operation === "watchThreadHeads") {
          return await watch(transport, operation, asked.thread as string, asked.input, drive);
        }
        const value = await call(transport, operation, asked.thread, asked.input);
        const result = { result: value };
        drive.arrived(result);
        return value === undefined ? {} : (result as Answer);
      } catch (error) {
        return failedAnswer(agentErrorToStored(error));
      }
    },
  };
}

async function watch(
  transport: AgentClientTransport,
  operation: "watchThread" | "watchThreadHeads",
  thread: string,
  input: Json,
  { signal, arrived }: TrackDrive,
): Promise<Answer> {
  const options = { ...(input === null ? {} : (untagValue(input) as object)), signal };
  const source =
    operation === "watchThread" ? transport.watchThread(thread, options) : transport.watchThreadHeads(options);
  const events: Json[] = [];
  try {
    for await (const event of source) {
      events.push(JSON.parse(JSON.stringify(event)) as Json);
      arrived({ events: { [events.length - 1]: events.at(-1) } });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { events };
}

async function call(
  transport: AgentClientTransport,
  name: AgentOperation,
  threadId: string | null,
  input: Json,
): Promise<Json | undefined> {
  const given = input === null ? {} : (untagValue(input) as Record<string, unknown>);
  const file = given.fileId as string;
  switch (name) {
    case "deleteThread":
    case "getThreadState":
      return stored(await transport[name](threadId as string));
    case "listThreads":
    case "getManifest":
      return stored(await transport[name]());
    case "createFileUrl":
      return stored(await transport.createFileUrl(file));
    case "readFile": {
      const { file: record, body } = await transport.readFile(file);
      return { file: tagValue(record), body: await storedFile(body) };
    }
    case "uploadFile": {
      const { body } = input as { readonly body: Json };
      return stored(await transport.uploadFile({ ...given, body: fileFrom(body) } as unknown as UploadInput));
    }
    default: {
      const whole = threadId === null ? given : { ...given, threadId };
      return stored(await (transport[name] as (input: never) => Promise<unknown>)(whole as never));
    }
  }
}

const stored = (value: unknown): Json | undefined => (value === undefined ? undefined : tagValue(value));
