import type { DynamicToolUIPart, UIToolInvocation } from "ai";
import type { AgentContract, ToolContract } from "./protocol.ts";

/** What a tool's contract lets it wait on: its declared suspends, and `output` where the client executes it. */
type ActionsOf<C extends ToolContract> = (C["suspends"] extends object ? C["suspends"] : unknown) &
  (C["hasExecute"] extends false
    ? { readonly output: { readonly input: C["input"]; readonly output: C["output"] } }
    : unknown);

/** One wait of a tool for the client, as the application sees it. `name` is the action's, without the tool's. */
export interface Suspension<Name extends string = string, Input = unknown, Output = unknown> {
  readonly name: Name;
  /** The suspend that the tool declares; absent for the implicit action `output` of a tool that the client executes. */
  readonly suspendName?: string;
  readonly input: Input;
  readonly status: "pending" | "submitted";
  /** What the client submitted. */
  readonly output?: Output;
}

type SuspensionOf<C extends ToolContract> = {
  [K in keyof ActionsOf<C> & string]: ActionsOf<C>[K] extends { readonly input: infer I; readonly output: infer O }
    ? Suspension<K, I, O>
    : never;
}[keyof ActionsOf<C> & string];

/** What the projection puts on every tool part. */
export interface ToolPartExtras<S = Suspension, D = Readonly<Record<string, unknown>>> {
  /** In the order in which the tool waited. */
  readonly suspensions: readonly S[];
  /** The one that waits now; absent where none does. */
  readonly pendingSuspension?: S;
  /** The tool's named data, the latest of each name. */
  readonly toolData: D;
}

type ToolDataOf<C extends ToolContract> = C["data"] extends object
  ? Partial<C["data"]>
  : Readonly<Record<string, unknown>>;

type StaticToolPart<T extends AgentContract> = {
  [K in keyof T["tools"] & string]: { type: `tool-${K}` } & UIToolInvocation<{
    input: T["tools"][K]["input"];
    output: T["tools"][K]["output"];
  }> &
    ToolPartExtras<SuspensionOf<T["tools"][K]>, ToolDataOf<T["tools"][K]>>;
}[keyof T["tools"] & string];

/** A tool's part of a projected message: the AI SDK's, with what its reserved parts said. */
export type PaiToolPart<T extends AgentContract = AgentContract> =
  | StaticToolPart<T>
  | (DynamicToolUIPart & ToolPartExtras);

/** Whether a part of a message is a tool's: the static `tool-<name>` or the SDK's `dynamic-tool`. */
export function isPaiToolPart<P extends { readonly type: string }>(
  part: P,
): part is Extract<P, { readonly toolCallId: string }> {
  return part.type === "dynamic-tool" || part.type.startsWith("tool-");
}
