import { OptionInvalid } from "../errors.ts";
import { readScriptGate, type ScriptGate } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import { copyOf } from "./copy-of.ts";
import type { ToolCall, Usage } from "./ports.ts";

/** What a scripted reply is made of. */
export interface TurnParts {
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Usage | undefined;
  /** Not before an event that matches has been seen, in the double's trace or where its option `trace` points. */
  readonly after?: ScriptGate | undefined;
}

/** One scripted reply: a final answer, or a turn that asks for tools. Immutable. A text is a turn that says it. */
export class Turn {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | undefined;
  readonly after: ScriptGate | undefined;

  constructor(parts: TurnParts | string = {}) {
    const given = typeof parts === "string" ? { content: parts } : parts;
    if (typeof given !== "object" || given === null)
      throw new OptionInvalid(`A turn is a text, or an object as { content: "hello" }; got ${String(given)}.`);
    checkKeys("Turn", given, ["content", "toolCalls", "usage", "after"]);
    const { content = "", toolCalls = [], usage, after }: TurnParts = given;
    if (typeof content !== "string") throw new OptionInvalid(`Turn: content is a text; got ${typeof content}.`);
    if (!Array.isArray(toolCalls)) throw new OptionInvalid("Turn: toolCalls is a list, as [{ id, name, args }].");
    readScriptGate(after, "Turn");
    this.content = content;
    this.toolCalls = Object.freeze(copyOf([...toolCalls]));
    this.usage = usage && Object.freeze({ ...usage });
    this.after = after;
    Object.freeze(this);
  }
}

/** The turns of a script, as its author may write them. */
export function turnsOf(script: Iterable<Turn | TurnParts | string>, what: string): readonly Turn[] {
  if (typeof script !== "object" || script === null || !(Symbol.iterator in script)) {
    throw new OptionInvalid(`${what} takes a list of turns, as [{ content: "hello" }].`);
  }
  return [...script].map((turn) => (turn instanceof Turn ? turn : new Turn(turn)));
}
