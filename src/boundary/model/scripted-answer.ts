import type { ModelVersion } from "./language-model.ts";
import { copyOf, type ModelContent, type ModelResult } from "./model-answer.ts";
import type { ScriptedAnswer, ScriptedToolCall, ScriptedUsage } from "./scripted-turn.ts";

type Part = { readonly type: string; readonly [key: string]: unknown };

/** What making an answer needs beside its turn. */
export interface AnswerParts {
  readonly version: ModelVersion;
  readonly usage: ScriptedUsage;
  /** The id of a tool call that has none. */
  nextCallId(): string;
}

/** A streamed answer: what comes with the stream, its parts, and what it breaks with. */
export interface ScriptedStream {
  readonly head: object;
  readonly parts: readonly Part[];
  readonly breaks: { readonly error: unknown } | undefined;
}

/** The whole answer of a turn. Throws the turn's error where it has one. */
export function resultOf(answer: ScriptedAnswer, making: AnswerParts): ModelResult<ModelVersion> {
  if ("error" in answer) throw answer.error;
  const { request, response } = answer;
  const about = {
    ...(request === undefined ? {} : { request }),
    ...(response === undefined ? {} : { response }),
  };
  if (answer.parts !== undefined) return folded(answer.parts as readonly Part[], making, about);
  const content = contentOf(answer, making).map(({ deltas: _, ...piece }) => piece);
  return { content, ...endOf(answer, content, making), warnings: answer.warnings ?? [], ...about } as never;
}

/** The turn as a stream. Throws the turn's error where there is nothing to say before it. */
export function streamOf(answer: ScriptedAnswer, making: AnswerParts): ScriptedStream {
  const { request, response, error } = answer;
  const broken = "error" in answer;
  const said = answer.parts ?? answer.content ?? answer.text ?? answer.reasoning ?? answer.toolCalls;
  if (broken && said === undefined) throw error;
  const head = {
    ...(request === undefined ? {} : { request }),
    ...(response?.headers === undefined ? {} : { response: { headers: response.headers } }),
  };
  const parts =
    answer.parts === undefined ? partsOf(answer, making, broken) : (copyOf(answer.parts) as readonly Part[]);
  return { head, parts, breaks: broken ? { error } : undefined };
}

type Piece = Part & { readonly deltas?: readonly string[] };

function contentOf(answer: ScriptedAnswer, making: AnswerParts): Piece[] {
  if (answer.content !== undefined) return copyOf(answer.content) as Piece[];
  const pieces: Piece[] = [];
  for (const type of ["reasoning", "text"] as const) {
    const said = answer[type];
    if (said === undefined) continue;
    const text = typeof said === "string" ? said : said.join("");
    pieces.push({ type, text, ...(typeof said === "string" ? {} : { deltas: said }) });
  }
  // A turn that only calls tools has no text; one that says the empty text has one.
  for (const call of answer.toolCalls ?? []) pieces.push(toolCall(call, making));
  return pieces;
}

function toolCall({ toolName, input = {}, toolCallId }: ScriptedToolCall, making: AnswerParts): Piece {
  return {
    type: "tool-call",
    toolCallId: toolCallId ?? making.nextCallId(),
    toolName,
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}

function endOf(answer: ScriptedAnswer, content: readonly Part[], making: AnswerParts): object {
  const calls = content.some(({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true);
  const reason = answer.finishReason ?? (calls ? "tool-calls" : "stop");
  const { providerMetadata } = answer;
  return {
    finishReason: reasonOf(reason, making.version),
    usage: usageOf(answer.usage ?? making.usage, making.version),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  };
}

function reasonOf(reason: unknown, version: ModelVersion): unknown {
  return typeof reason === "string" && version !== "v2" ? { unified: reason, raw: undefined } : reason;
}

/** Usage in the form of a version. What is in the form of the specification already stays as it is. */
function usageOf(usage: ScriptedUsage, version: ModelVersion): unknown {
  const { inputTokens: input, outputTokens: output, cachedInputTokens: cached, reasoningTokens: reasoning } = usage;
  if (typeof input === "object" || typeof output === "object") return copyOf(usage);
  const less = (all: number | undefined, part: number | undefined): number | undefined =>
    all === undefined || part === undefined ? undefined : all - part;
  if (version === "v2") {
    const totalTokens = usage.totalTokens ?? (input === undefined || output === undefined ? undefined : input + output);
    return { ...usage, inputTokens: input, outputTokens: output, totalTokens };
  }
  return {
    inputTokens: { total: input, noCache: less(input, cached), cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: less(output, reasoning), reasoning },
  };
}

function partsOf(answer: ScriptedAnswer, making: AnswerParts, broken: boolean): Part[] {
  const { warnings = [], response } = answer;
  const parts: Part[] = [{ type: "stream-start", warnings }];
  const { headers: _, body: __, ...told } = response ?? {};
  if (Object.keys(told).length > 0) parts.push({ type: "response-metadata", ...told });
  const content = contentOf(answer, making);
  content.forEach((piece, i) => {
    parts.push(...streamed(piece, `${piece.type}-${i + 1}`));
  });
  if (!broken) parts.push({ type: "finish", ...endOf(answer, content, making) });
  return parts;
}

function* streamed({ deltas, ...piece }: Piece, id: string): Iterable<Part> {
  const { type, text, providerMetadata } = piece;
  const metadata = providerMetadata === undefined ? {} : { providerMetadata };
  if (type === "text" || type === "reasoning") {
    yield { type: `${type}-start`, id, ...metadata };
    for (const delta of deltas ?? wordsOf(String(text))) yield { type: `${type}-delta`, id, delta };
    yield { type: `${type}-end`, id };
    return;
  }
  if (type === "tool-call") {
    const { toolCallId, toolName, input, providerExecuted } = piece;
    const executed = providerExecuted === undefined ? {} : { providerExecuted };
    yield { type: "tool-input-start", id: toolCallId, toolName, ...executed };
    yield { type: "tool-input-delta", id: toolCallId, delta: input };
    yield { type: "tool-input-end", id: toolCallId };
  }
  yield piece;
}

/** A text in the pieces in which a model would say it: nothing is lost. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}

/** The whole answer that the parts of a stream make. */
function folded(parts: readonly Part[], making: AnswerParts, about: object): ModelResult<ModelVersion> {
  const content: Part[] = [];
  const open = new Map<unknown, { text: string }>();
  let warnings: unknown = [];
  let response: object = {};
  let end: object = { finishReason: reasonOf("other", making.version), usage: usageOf(making.usage, making.version) };
  for (const part of copyOf(parts)) {
    const { type, ...rest } = part;
    const [kind, step] = /^(text|reasoning)-(start|delta|end)$/.exec(type)?.slice(1) ?? [];
    if (kind !== undefined) {
      if (step === "start") {
        const { id, ...metadata } = rest;
        const piece = { type: kind, text: "", ...metadata };
        open.set(`${kind} ${id}`, piece);
        content.push(piece);
      } else if (step === "delta") {
        const piece = open.get(`${kind} ${part.id}`);
        if (piece !== undefined) piece.text += String(part.delta);
      }
    } else if (type === "stream-start") warnings = part.warnings;
    else if (type === "response-metadata") response = rest;
    else if (type === "finish") end = rest;
    else if (type === "error") throw part.error;
    else if (!/^(raw|ping|tool-input-(start|delta|end))$/.test(type)) content.push(part);
  }
  const told = Object.keys(response).length === 0 ? {} : { response };
  return { content: content as unknown as ModelContent[], ...end, warnings, ...told, ...about } as never;
}
