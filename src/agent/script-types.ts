import type { ActionId, AgentContract, ToolContract } from "./protocol.ts";
import { checkAction, checkError, checkFields, checkText } from "./script-checks.ts";

export type ToolName<T extends AgentContract> = keyof T["tools"] & string;
export type ToolInput<T extends AgentContract, K extends ToolName<T>> = T["tools"][K]["input"];
export type ToolOutput<T extends AgentContract, K extends ToolName<T>> = T["tools"][K]["output"];

type Suspends<Tool> = Tool extends { readonly suspends: infer S }
  ? S
  : ToolContract extends Tool
    ? Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>
    : Record<never, never>;
type InputOf<Suspend> = Suspend extends { readonly input: infer I } ? I : never;

/**
 * What a tool waits for: a suspend that it declares, or, for a tool that the client executes, the implicit `output`,
 * whose input has the shape of the tool's. A declared suspend that is literally named `output` says so.
 */
export type WaitingAction<Tool extends ToolContract> =
  | {
      [N in Exclude<keyof Suspends<Tool> & string, "output">]: {
        readonly name: N;
        readonly input: InputOf<Suspends<Tool>[N]>;
        readonly id?: ActionId;
        readonly declaredSuspend?: true;
      };
    }[Exclude<keyof Suspends<Tool> & string, "output">]
  | ("output" extends keyof Suspends<Tool>
      ? {
          readonly name: "output";
          readonly declaredSuspend: true;
          readonly input: InputOf<Suspends<Tool>["output" & keyof Suspends<Tool>]>;
          readonly id?: ActionId;
        }
      : never)
  | (ToolContract extends Tool
      ? ImplicitOutput<unknown>
      : Tool extends { readonly hasExecute: false }
        ? ImplicitOutput<Tool["input"]>
        : never);

interface ImplicitOutput<Input> {
  readonly name: "output";
  readonly declaredSuspend?: never;
  readonly input: Input;
  readonly id?: ActionId;
}

export interface ToolResult<T extends AgentContract, K extends ToolName<T>> {
  readonly input: ToolInput<T, K>;
  readonly output: ToolOutput<T, K>;
}
export interface ToolWaiting<T extends AgentContract, K extends ToolName<T>> {
  readonly input: ToolInput<T, K>;
  readonly action: WaitingAction<T["tools"][K]>;
}

/** One call of a tool and how it went, on its way into parts or chunks (`Part`). */
export interface ToolScripts<T extends AgentContract, K extends ToolName<T>, Part> {
  result(call: ToolResult<T, K>): Part;
  waiting(call: ToolWaiting<T, K>): Part;
  /** The tool failed; the run goes on. */
  error(error: Error, call?: { readonly input: ToolInput<T, K> }): Part;
}

/** An action without its types. */
export interface ScriptAction {
  readonly name: string;
  readonly input: unknown;
  readonly id?: ActionId | undefined;
  readonly declaredSuspend?: true | undefined;
}

export type ToolOutcome =
  | { readonly type: "output"; readonly output: unknown }
  | { readonly type: "waiting"; readonly action: ScriptAction }
  | { readonly type: "error"; readonly errorText: string };

export interface ScriptedText {
  readonly kind: "text";
  readonly text: string;
}
export interface ScriptedTool {
  readonly kind: "tool";
  readonly name: string;
  readonly input: unknown;
  readonly outcome: ToolOutcome;
}
/** One part of a scripted response. */
export type ScriptPart = ScriptedText | ScriptedTool;

/** Scripts of one tool; `keep` makes of each what its caller needs. */
export function toolScripts<T extends AgentContract, K extends ToolName<T>, Part>(
  name: K,
  keep: (tool: ScriptedTool) => Part,
): ToolScripts<T, K, Part> {
  const label = `tool("${checkText("tool(name)", name)}")`;
  const script = (input: unknown, outcome: ToolOutcome): Part => keep({ kind: "tool", name, input, outcome });
  return {
    result(call) {
      const { input, output } = checkFields(`${label}.result()`, call, ["input", "output"]);
      return script(input, { type: "output", output });
    },
    waiting(call) {
      const { input, action } = checkFields(`${label}.waiting()`, call, ["input", "action"]);
      return script(input, { type: "waiting", action: checkAction(`${label}.waiting()`, action as ScriptAction) });
    },
    error(error, call) {
      return script(call?.input ?? {}, {
        type: "error",
        errorText: checkError(`${label}.error()`, error).message,
      });
    },
  };
}
