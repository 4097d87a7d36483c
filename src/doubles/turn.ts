import { readScriptGate, type ScriptGate } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import type { ToolCall, Usage } from "./ports.ts";

/** What a scripted reply is made of. */
export interface TurnParts {
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Usage | undefined;
  /** Not before an event that matches has been seen, in the double's trace or where its option `trace` points. */
  readonly after?: ScriptGate | undefined;
}

/** One scripted reply: a final answer, or a turn that asks for tools. Immutable. */
export class Turn {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | undefined;
  readonly after: ScriptGate | undefined;

  constructor(parts: TurnParts = {}) {
    checkKeys("Turn", parts, ["content", "toolCalls", "usage", "after"]);
    const { content = "", toolCalls = [], usage, after } = parts;
    readScriptGate(after, "Turn");
    this.content = content;
    this.toolCalls = structuredClone(toolCalls);
    this.usage = usage && { ...usage };
    this.after = after;
    Object.freeze(this);
  }
}
