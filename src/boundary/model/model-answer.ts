import type { ModelVersion } from "./language-model.ts";

/** What models answer with, by the version of the specification: as far as a script makes it. */

type JsonValue = null | string | number | boolean | { [key: string]: JsonValue } | JsonValue[];
type Metadata = { [provider: string]: { [key: string]: JsonValue } };

interface WithMetadata {
  providerMetadata?: Metadata;
}

interface ToolCallContent extends WithMetadata {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
  providerExecuted?: boolean;
}

interface ToolResultContent extends WithMetadata {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  result: NonNullable<JsonValue>;
  isError?: boolean;
  providerExecuted?: boolean;
}

type SourceContent = WithMetadata & { type: "source"; id: string } & (
    | { sourceType: "url"; url: string; title?: string }
    | { sourceType: "document"; mediaType: string; title: string; filename?: string }
  );

/** A piece of an answer. */
export type ModelContent =
  | (WithMetadata & { type: "text" | "reasoning"; text: string })
  | (WithMetadata & { type: "file"; mediaType: string; data: string | Uint8Array })
  | SourceContent
  | ToolCallContent
  | ToolResultContent;

/** Why an answer ended. */
export type FinishWord = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

export type FinishReason<V extends ModelVersion> = V extends "v2"
  ? FinishWord
  : { unified: FinishWord; raw: string | undefined };

/** Tokens that an answer cost; `undefined`: not told. */
export type ModelUsage<V extends ModelVersion> = V extends "v2"
  ? {
      inputTokens: number | undefined;
      outputTokens: number | undefined;
      totalTokens: number | undefined;
      reasoningTokens?: number;
      cachedInputTokens?: number;
    }
  : {
      inputTokens: {
        total: number | undefined;
        noCache: number | undefined;
        cacheRead: number | undefined;
        cacheWrite: number | undefined;
      };
      outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined };
    };

export interface ModelWarning {
  type: "other";
  message: string;
}

export interface ResponseFacts {
  id?: string;
  timestamp?: Date;
  modelId?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A whole answer. */
export interface ModelResult<V extends ModelVersion> extends WithMetadata {
  content: ModelContent[];
  finishReason: FinishReason<V>;
  usage: ModelUsage<V>;
  warnings: ModelWarning[];
  request?: { body?: unknown };
  response?: ResponseFacts;
}

/** A part of a streamed answer. */
export type ModelStreamPart<V extends ModelVersion> =
  | { type: "stream-start"; warnings: ModelWarning[] }
  | { type: "response-metadata"; id?: string; timestamp?: Date; modelId?: string }
  | (WithMetadata & { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string })
  | (WithMetadata & { type: "text-delta" | "reasoning-delta" | "tool-input-delta"; id: string; delta: string })
  | (WithMetadata & { type: "tool-input-start"; id: string; toolName: string; providerExecuted?: boolean })
  | (WithMetadata & { type: "tool-input-end"; id: string })
  | Exclude<ModelContent, { type: "text" | "reasoning" }>
  | (WithMetadata & { type: "finish"; usage: ModelUsage<V>; finishReason: FinishReason<V> })
  | { type: "raw"; rawValue: unknown }
  | { type: "error"; error: unknown };

/** A streamed answer. */
export interface ModelStream<V extends ModelVersion> {
  stream: ReadableStream<ModelStreamPart<V>>;
  request?: { body?: unknown };
  response?: { headers?: Record<string, string> };
}

/** Plain data made anew, so that who changes it changes nothing of ours. What is no plain data (errors, URLs) is shared. */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return new Uint8Array(value) as T;
  if (value instanceof Date) return new Date(value) as T;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)])) as T;
}
