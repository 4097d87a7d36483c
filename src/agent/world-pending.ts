import {
  type AgentContract,
  type PaiWireUIMessage,
  type PendingActionRecord,
  SUSPENSION_PART,
  type SuspensionData,
} from "./protocol.ts";

/**
 * The actions that wait for the client, as the suspensions of the messages have them. A record that is known already is
 * kept as the backend stated it; one whose suspension was answered, or whose message is gone, is not.
 */
export function pendingOf<T extends AgentContract>(
  messages: readonly PaiWireUIMessage<T>[],
  known: readonly PendingActionRecord<T>[] = [],
): readonly PendingActionRecord<T>[] {
  const stated = new Map(known.map((record) => [record.actionId, record]));
  return messages.flatMap((message) =>
    suspensionsOf(message)
      .filter(({ status }) => status === "pending")
      .map((suspension) => stated.get(suspension.actionId) ?? recordOf(message, suspension)),
  );
}

/** The reserved parts of a message in which its suspensions are kept. */
export function suspensionsOf<T extends AgentContract>(message: PaiWireUIMessage<T>): readonly SuspensionData[] {
  return message.parts.flatMap((part) =>
    part.type === SUSPENSION_PART ? [(part as { data: unknown }).data as SuspensionData] : [],
  );
}

function recordOf<T extends AgentContract>(
  message: PaiWireUIMessage<T>,
  suspension: SuspensionData,
): PendingActionRecord<T> {
  const { actionId, toolCallId, action, suspendName, input } = suspension;
  const toolName = toolNameOf(message, toolCallId);
  const facts = message.metadata?.pai;
  return {
    actionId,
    name: `${toolName}.${action}`,
    toolName,
    ...(suspendName === undefined ? {} : { suspendName }),
    toolCallId,
    messageId: message.id,
    runId: facts?.runId ?? "",
    input,
    createdAt: facts?.createdAt ?? "",
  };
}

/** The name of the tool that a call of this message is for; empty where the message has no such call. */
function toolNameOf<T extends AgentContract>(message: PaiWireUIMessage<T>, toolCallId: string): string {
  for (const part of message.parts as readonly { type: string; toolCallId?: string; toolName?: string }[]) {
    if (part.toolCallId !== toolCallId) continue;
    return part.type === "dynamic-tool" ? (part.toolName ?? "") : part.type.replace(/^tool-/, "");
  }
  return "";
}
