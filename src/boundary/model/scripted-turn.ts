import { isError } from "../../cassette/stored-error.ts";
import { OptionInvalid } from "../../errors.ts";
import { readScriptGate, type ScriptGate } from "../../trace-gate.ts";
import type { ModelVersion } from "./language-model.ts";
import {
  copyOf,
  type FinishWord,
  type ModelContent,
  type ModelStreamPart,
  type ModelWarning,
  type ResponseFacts,
} from "./model-answer.ts";

/** A call of a tool that a scripted model asks for. */
export interface ScriptedToolCall {
  readonly toolName: string;
  /** The arguments, as a value (written as JSON) or as the very text that the model gives. Default: none (`{}`). */
  readonly input?: unknown;
  /** Default: `call-1`, `call-2`, … over the life of the model. */
  readonly toolCallId?: string;
}

/** What an answer costs, in tokens; what is left out is not told. Or the specification's own object, as it is. */
export interface ScriptedUsage {
  readonly inputTokens?: number | object | undefined;
  readonly outputTokens?: number | object | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly [key: string]: unknown;
}

/** What another version of the specification has. */
interface OtherPiece {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * One answer of a scripted model. What it says is `text`, `reasoning` and `toolCalls`, or `content`, the pieces of the
 * specification, or `parts`, those of a stream, given as they are. `error` is thrown instead; beside something to say, a
 * stream breaks with it after that.
 */
export interface ScriptedAnswer {
  /** A list: the deltas in which it streams. Otherwise it streams word by word. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly content?: readonly (ModelContent | OtherPiece)[];
  readonly parts?: readonly (ModelStreamPart<ModelVersion> | OtherPiece)[];
  readonly error?: unknown;
  /** Default: `tool-calls` where the program has a tool to call, else `stop`. */
  readonly finishReason?: FinishWord | object;
  /** Default: that of the model. */
  readonly usage?: ScriptedUsage;
  readonly warnings?: readonly (ModelWarning | OtherPiece)[];
  readonly providerMetadata?: object;
  readonly request?: { readonly body?: unknown };
  readonly response?: ResponseFacts;
  /** Seconds before it answers. Default: that of the model. */
  readonly delay?: number;
  /** Not before an event that matches has been seen, in the model's trace or where its option `trace` points. */
  readonly after?: ScriptGate;
}

/** One turn: an answer, a text, or an error that is thrown. */
export type ScriptedTurn = string | Error | ScriptedAnswer;

const SAYING = ["text", "reasoning", "toolCalls"] as const;
const ABOUT = ["finishReason", "usage", "warnings", "providerMetadata"] as const;
const KEYS = [...SAYING, "content", "parts", "error", ...ABOUT, "request", "response", "delay", "after"] as const;

/** Whether an object looks like an answer, by its keys. */
export function looksLikeAnswer(value: object): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => (KEYS as readonly string[]).includes(key));
}

/** The answer that a turn stands for, a copy. `OptionInvalid`, with `where`, for what is none. */
export function answerOf(turn: ScriptedTurn, where: string): ScriptedAnswer {
  if (typeof turn === "string") return { text: turn };
  if (isError(turn)) return { error: turn };
  const wrong = (fault: string): never => {
    throw new OptionInvalid(
      `${where} of the scripted model ${fault}.\n  next      a turn is a text, an Error, or an object of ${KEYS.join(", ")}`,
      { turn: where },
    );
  };
  if (typeof turn !== "object" || turn === null || Array.isArray(turn))
    return wrong(`is ${turn === null ? "null" : Array.isArray(turn) ? "a list" : typeof turn}`);
  const given = Object.keys(turn).filter((key) => turn[key as keyof ScriptedAnswer] !== undefined);
  const unknown = given.filter((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown.length > 0) return wrong(`has the unknown key ${unknown.map((key) => `"${key}"`).join(", ")}`);
  const has = (...keys: readonly string[]): boolean => keys.some((key) => given.includes(key));
  const forms = [has(...SAYING), has("content"), has("parts")].filter(Boolean).length;
  if (forms > 1) return wrong("says it twice: by text, reasoning and toolCalls, by content, or by parts");
  if (forms === 0 && !has("error")) return wrong('says nothing: an empty answer is { text: "" }');
  if (has("parts") && has(...ABOUT)) return wrong(`has parts, which tell ${ABOUT.join(", ")} themselves`);
  for (const key of ["toolCalls", "content", "parts", "warnings"] as const) {
    if (has(key) && !Array.isArray(turn[key])) return wrong(`has "${key}", which is no list`);
  }
  for (const key of ["text", "reasoning"] as const) {
    const said: unknown = turn[key];
    const pieces = Array.isArray(said) ? said : [said];
    if (has(key) && !pieces.every((piece) => typeof piece === "string"))
      return wrong(`has "${key}", which is no text and no list of texts`);
  }
  for (const key of ["content", "parts"] as const) {
    const place =
      turn[key]?.findIndex((piece: unknown) => typeof (Object(piece) as OtherPiece).type !== "string") ?? -1;
    if (place >= 0) return wrong(`has "${key}", of which piece ${place + 1} has no "type"`);
  }
  if (has("delay") && !(Number.isFinite(turn.delay) && (turn.delay as number) >= 0))
    return wrong('has a "delay" that is no number of seconds from 0');
  readScriptGate(turn.after, where);
  for (const [i, call] of (turn.toolCalls ?? []).entries()) checkToolCall(call, i, wrong);
  return copyOf(turn);
}

const CALL_KEYS = ["toolName", "input", "toolCallId"];

function checkToolCall(call: ScriptedToolCall, place: number, wrong: (fault: string) => never): void {
  const unknown = Object.keys(Object(call)).filter((key) => !CALL_KEYS.includes(key));
  if (unknown.length > 0)
    wrong(`has a tool call (${place + 1}) with the unknown key "${unknown[0]}"; its keys are ${CALL_KEYS.join(", ")}`);
  if (typeof Object(call).toolName !== "string") wrong(`has a tool call (${place + 1}) without a toolName`);
}
