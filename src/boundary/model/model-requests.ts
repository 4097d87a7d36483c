import type { CallTrack, Json } from "../../cassette/schema.ts";
import { tagValue } from "../../cassette/values.ts";
import type { RequestKind } from "../../engine/request-kind.ts";
import type { TraceEvent } from "../../engine/trace.ts";
import { lastUserText } from "./language-model.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** A call of a model. */
export interface ModelRequest {
  /** `<provider>/<model>.<operation>`. */
  readonly name: string;
  /** The prompt and the options, tagged. */
  readonly input: Json;
}

/** The requests of the model boundary. Which model, which operation, the prompt and the options count. */
export const modelRequests: RequestKind<ModelRequest> = {
  kind: "model",
  boundary: "model",
  redact: (redactor, { name, input }) => ({ name: redactor.text(name), input: redactor.json(input) }),
  facets: ({ name, input }) => {
    const { prompt = [], ...options } = membersOf(input);
    return { name, prompt, options };
  },
  recorded: (track) => {
    const { name, input = {} } = (track as CallTrack).call;
    return { name, input };
  },
  parts: ({ name }) => ({ name }),
  bucket: ({ name = "" }) => name,
  alike: () => false,
  describe: ({ name, input }) => `${name}(${brief(lastUserText(membersOf(input).prompt))})`,
  event: ({ name }) => modelEvent("call", name),
};

/** An event of the trace; a fresh object. `type`: that of a part of a stream. */
export function modelEvent(kind: TraceEvent["kind"], name: string, type?: string): TraceEvent {
  return { kind, boundary: "model", name, ...(type === undefined ? {} : { type }) };
}

/**
 * What a model is asked with, as it is stored: without the signal, which is how a program gives up and not what it
 * asks for, and without headers, which are the transport's. What is `undefined` is not there, as on the wire. Throws
 * `OptionInvalid` for what cannot be stored.
 */
export function storedOptions(options: object): Json {
  const { abortSignal: _, headers: __, ...asked } = options as Readonly<Record<string, unknown>>;
  return withoutUndefined(tagValue(asked));
}

function membersOf(input: Json): { readonly [key: string]: Json } {
  const plain = typeof input === "object" && input !== null && !Array.isArray(input);
  return plain ? (input as { readonly [key: string]: Json }) : { input };
}

function brief(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 80)}…`);
}
