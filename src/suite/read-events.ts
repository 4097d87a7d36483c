import type { PaiWireUIMessage, RunId, ThreadVersion } from "../agent/protocol.ts";
import { SUSPENSION_PART, type SuspensionData } from "../agent/protocol.ts";
import type { SuiteContract } from "./fixture.ts";
import type { SuiteEvent, SuiteState } from "./session.ts";

type Message = PaiWireUIMessage<SuiteContract>;
type Frame = Extract<SuiteEvent, { type: "generation.message.chunk" }>;

/** The text of a message, its parts joined. */
export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The messages that the model wrote. */
export function modelMessages(state: SuiteState): Message[] {
  return state.messages.filter((message) => message.role === "assistant");
}

export function userMessages(state: SuiteState): Message[] {
  return state.messages.filter((message) => message.role === "user");
}

/** The tool parts of a state, of whichever message, read loosely: static and dynamic ones alike. */
export function toolParts(state: SuiteState): { name: string; part: Readonly<Record<string, unknown>> }[] {
  const parts = state.messages.flatMap((message) => message.parts as readonly ({ type: string } & object)[]);
  return parts.flatMap((part) => {
    if (part.type === "dynamic-tool")
      return [{ name: (part as { toolName?: string }).toolName ?? "", part: { ...part } }];
    return part.type.startsWith("tool-") ? [{ name: part.type.slice("tool-".length), part: { ...part } }] : [];
  });
}

/** The reserved suspension parts of a state. */
export function suspensions(state: SuiteState): SuspensionData[] {
  return state.messages.flatMap((message) =>
    message.parts
      .filter((part) => (part.type as string) === SUSPENSION_PART)
      .map((part) => (part as unknown as { data: SuspensionData }).data),
  );
}

/** The retained frames of a run: chunks beyond seq 0. */
export function frames(events: readonly SuiteEvent[], runId: RunId): Frame[] {
  return events.filter(
    (event): event is Frame => event.type === "generation.message.chunk" && event.runId === runId && event.seq > 0,
  );
}

/** What an event says of its thread's version; nothing where it bears no state. */
export function versionOf(event: SuiteEvent): ThreadVersion | undefined {
  if (event.type === "snapshot") return event.state.thread.version;
  if (event.type === "thread.head.changed") return event.head.version;
  return "version" in event ? event.version : undefined;
}

/** Durable facts outside of a generation, whose order of revisions is law. */
export function isSparse(event: SuiteEvent): boolean {
  return versionOf(event) !== undefined && event.type !== "snapshot" && !event.type.startsWith("generation.");
}
