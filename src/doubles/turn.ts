import { checkKeys } from "./check-keys.ts";
import type { ToolCall, Usage } from "./ports.ts";

/** What a scripted reply is made of. */
export interface TurnParts {
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Usage | undefined;
}

/** One scripted reply: a final answer, or a turn that asks for tools. Immutable. */
export class Turn {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | undefined;

  constructor(parts: TurnParts = {}) {
    checkKeys("Turn", parts, ["content", "toolCalls", "usage"]);
    const { content = "", toolCalls = [], usage } = parts;
    this.content = content;
    this.toolCalls = structuredClone(toolCalls);
    this.usage = usage && { ...usage };
    Object.freeze(this);
  }
}
