import type { UIMessageChunk, UIMessagePart } from "ai";
import { SUSPENSION_PART, type SuspensionData, type ToolProvenance } from "./protocol.ts";
import type { ScriptAction, ScriptedTool, ScriptPart } from "./script-types.ts";
import type { Ids } from "./world-ids.ts";

/** What turning a script into native chunks needs: names for what is made, and where each tool runs. */
export interface ScriptContext {
  readonly ids: Ids;
  /** `undefined`: nothing is registered under this name. */
  provenance(toolName: string): ToolProvenance | undefined;
}

export type Chunk = UIMessageChunk;
type Part = UIMessagePart<Record<string, unknown>, Record<string, { input: unknown; output: unknown }>>;

/** The fields by which the SDK knows a call: typed by name where its definition is stable, dynamic where it is not. */
export function toolFields(
  context: ScriptContext,
  toolName: string,
  executor: ToolProvenance["executor"] = "server",
): { toolName: string; dynamic?: true; toolMetadata: { pai: ToolProvenance } } {
  // A tool about which nothing is known is taken for one of the contract, defined under its own name.
  const pai = context.provenance(toolName) ?? { executor, toolId: toolName };
  const known: ToolProvenance =
    pai.toolId === undefined ? { executor: pai.executor } : { executor: pai.executor, toolId: pai.toolId };
  return { toolName, ...(known.toolId === undefined ? { dynamic: true } : {}), toolMetadata: { pai: known } };
}

/** Who executes a call that waits: for the implicit `output` it is the client. */
export function executorOf(action: ScriptAction | undefined): ToolProvenance["executor"] {
  return action !== undefined && isImplicit(action) ? "client" : "server";
}

function isImplicit(action: ScriptAction): boolean {
  return action.name === "output" && action.declaredSuspend !== true;
}

/** The reserved part of a call that waits. */
export function suspensionOf(context: ScriptContext, toolCallId: string, action: ScriptAction): SuspensionData {
  const actionId = action.id ?? context.ids.next("action");
  context.ids.claim(actionId);
  return {
    actionId,
    toolCallId,
    action: action.name,
    ...(isImplicit(action) ? {} : { suspendName: action.name }),
    input: action.input,
    status: "pending",
  };
}

/** A suspension as the chunk that carries it. */
export function suspensionChunk(data: SuspensionData): Chunk {
  return { type: SUSPENSION_PART, id: data.actionId, data };
}

/** The native chunks of one part of a response, as a model would have streamed it. */
export function chunksOf(context: ScriptContext, part: ScriptPart): Chunk[] {
  if (part.kind === "text") {
    const id = context.ids.next("text");
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: part.text },
      { type: "text-end", id },
    ];
  }
  const toolCallId = context.ids.next("call");
  const { name, input, outcome } = part;
  const action = outcome.type === "waiting" ? outcome.action : undefined;
  const call = toolFields(context, name, executorOf(action));
  const available: Chunk = { type: "tool-input-available", toolCallId, input, ...call } as Chunk;
  switch (outcome.type) {
    case "output":
      return [available, { type: "tool-output-available", toolCallId, output: outcome.output }];
    case "error":
      return [available, { type: "tool-output-error", toolCallId, errorText: outcome.errorText }];
    case "waiting":
      return [available, suspensionChunk(suspensionOf(context, toolCallId, outcome.action))];
  }
}

/** The native parts of a call, as the chunks of it would have been reduced. */
export function partsOf(context: ScriptContext, tool: ScriptedTool): Part[] {
  const toolCallId = context.ids.next("call");
  const { name, input, outcome } = tool;
  const action = outcome.type === "waiting" ? outcome.action : undefined;
  const { dynamic, toolMetadata } = toolFields(context, name, executorOf(action));
  const call = {
    ...(dynamic ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` }),
    toolCallId,
    toolMetadata,
    input,
  };
  switch (outcome.type) {
    case "output":
      return [{ ...call, state: "output-available", output: outcome.output } as unknown as Part];
    case "error":
      return [{ ...call, state: "output-error", errorText: outcome.errorText } as unknown as Part];
    case "waiting": {
      const data = suspensionOf(context, toolCallId, outcome.action);
      return [
        { ...call, state: "input-available" } as unknown as Part,
        { type: SUSPENSION_PART, id: data.actionId, data } as Part,
      ];
    }
  }
}
