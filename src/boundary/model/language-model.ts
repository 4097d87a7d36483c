/**
 * The shape of the AI SDK's language models, versions 2, 3 and 4 of its specification, as far as a tape and a script
 * need it. Structural on purpose: the package is not imported, and a model of any of its releases fits.
 */

/** The versions of the specification that are known. */
export type ModelVersion = "v2" | "v3" | "v4";

/** By media type, which URLs a model reads by itself. */
export type SupportedUrls = Record<string, RegExp[]>;

/** A language model of any version. */
export interface AnyLanguageModel {
  readonly specificationVersion: ModelVersion;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: SupportedUrls | PromiseLike<SupportedUrls>;
  doGenerate(options: never): PromiseLike<object>;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** The two ways in which a model is asked. */
export type ModelOperation = "doGenerate" | "doStream";

/** A model on tape: what the specification says of it, and nothing else. */
export type TapedModel<M extends AnyLanguageModel> = Pick<M, keyof AnyLanguageModel>;

/** A message of a prompt. Parts have more than is told here, by their type. */
export interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

/** What a model is asked with. There is more, by version. */
export interface ModelCallOptions {
  readonly prompt: readonly ModelMessage[];
  readonly abortSignal?: AbortSignal;
}

/** The text of the last message of the user's that has one; empty where there is none. */
export function lastUserText(prompt: unknown): string {
  const messages = Array.isArray(prompt) ? (prompt as readonly ModelMessage[]) : [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const { role, content } = messages[i] as ModelMessage;
    if (role !== "user") continue;
    if (typeof content === "string") return content;
    const texts = content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
    if (texts.length > 0) return texts.join("\n");
  }
  return "";
}
