import { answerTo, asksForWeather, cityOf } from "./staging-answers.ts";

/** What the imitations of the model providers have in common: how they read a prompt and what they reply. */

export interface OfferedTool {
  readonly name: string;
  /** JSON Schema of its arguments. */
  readonly schema: unknown;
}

export interface ModelPrompt {
  readonly model: string;
  /** The last thing that the user wrote. */
  readonly text: string;
  /** What a tool answered, where that is what the conversation ends with. */
  readonly toolResult: string | undefined;
  readonly tools: readonly OfferedTool[];
}

export interface ModelReply {
  readonly text: string;
  /** `arguments` is JSON text. */
  readonly call: { readonly name: string; readonly arguments: string } | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** An object's fields; of anything else, none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** A list as it is; of anything else, none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a message's content, which providers take as a text or as a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => contentText(fieldsOf(part).text ?? fieldsOf(part).content ?? ""))
    .join("");
}

/** The text of the last message of the user's that has one. */
export function lastUserText(messages: readonly unknown[]): string {
  for (const message of [...messages].reverse()) {
    const { role, content } = fieldsOf(message);
    if (role !== "user") continue;
    // A turn that only hands in the results of tools is the user's to the provider alone.
    const own = Array.isArray(content) ? content.filter((part) => fieldsOf(part).type !== "tool_result") : content;
    const text = contentText(own);
    if (text !== "") return text;
  }
  return "";
}

/** Roughly what a tokenizer would count. */
function tokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

/** The reply to a prompt: a tool call where one is due, else an answer. It depends on the prompt alone. */
export function replyTo(prompt: ModelPrompt): ModelReply {
  const inputTokens = tokens(prompt.text) + tokens(prompt.toolResult ?? "");
  if (prompt.toolResult !== undefined) {
    const text = `The tool says: ${prompt.toolResult}`;
    return { text, call: undefined, inputTokens, outputTokens: tokens(text) };
  }
  const tool = prompt.tools.find(({ name }) => /weather/i.test(name)) ?? prompt.tools[0];
  if (tool !== undefined && asksForWeather(prompt.text)) {
    const argument = Object.keys(fieldsOf(fieldsOf(tool.schema).properties))[0] ?? "city";
    const call = { name: tool.name, arguments: JSON.stringify({ [argument]: cityOf(prompt.text) }) };
    return { text: "", call, inputTokens, outputTokens: tokens(call.name + call.arguments) };
  }
  const text = answerTo(prompt.text);
  return { text, call: undefined, inputTokens, outputTokens: tokens(text) };
}

/** Cuts the JSON text of a call's arguments into the pieces in which it streams. */
export function argumentDeltas(text: string): string[] {
  return text.match(/[\s\S]{1,6}/gu) ?? [];
}

/** `true` the first time that a prompt speaks of a rate limit, `false` ever after. */
export function createRateLimit(): (prompt: string) => boolean {
  const refused = new Set<string>();
  return (prompt) => {
    if (!/rate limit/i.test(prompt) || refused.has(prompt)) return false;
    refused.add(prompt);
    return true;
  };
}

/** What both providers send with a 429: the SDKs read the milliseconds, people the seconds. */
export const rateLimitHeaders: Readonly<Record<string, string>> = { "retry-after": "1", "retry-after-ms": "20" };
