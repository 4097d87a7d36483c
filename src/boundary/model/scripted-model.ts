import type { Clock } from "../../engine/clock.ts";
import { type Double, openDoubleLedger, scriptExhausted } from "../../engine/double.ts";
import { platform } from "../../engine/platform.ts";
import { OptionInvalid } from "../../errors.ts";
import type { FlatEvent } from "../../pattern.ts";
import { createTraceLog, readScriptGate, type TraceSource } from "../../trace-gate.ts";
import {
  lastUserText,
  type ModelCallOptions,
  type ModelMessage,
  type ModelOperation,
  type ModelVersion,
  type SupportedUrls,
} from "./language-model.ts";
import { copyOf, type ModelResult, type ModelStream } from "./model-answer.ts";
import { restoreProviderError } from "./provider-errors.ts";
import { type AnswerParts, resultOf, streamOf } from "./scripted-answer.ts";
import {
  answerOf,
  looksLikeAnswer,
  type ScriptedAnswer,
  type ScriptedTurn,
  type ScriptedUsage,
} from "./scripted-turn.ts";

/** How a scripted model behaves. Unknown options are refused. */
export interface ScriptedModelOptions<V extends ModelVersion = "v3"> {
  /** The last turn is given for ever, instead of running out. Default `false`. */
  readonly repeatLast?: boolean;
  /** How many calls fail before anything is answered. They consume no turn. Default 0. */
  readonly failTimes?: number;
  /** What they fail with. Default: a call error with status 503, which the AI SDK retries at once. */
  readonly failWith?: unknown;
  /** Seconds before each answer. Default 0. */
  readonly delay?: number;
  /** Where gates of turns look beside the model's own trace. `false`: nowhere, and they are open, with a warning. */
  readonly trace?: TraceSource;
  /** The clock of the delays. Default: the real one. */
  readonly clock?: Clock;
  /** What each answer costs that does not say it. Default: not told. */
  readonly usage?: ScriptedUsage;
  /** Version of the AI SDK's specification. Default `v3`, that of `ai` 6. */
  readonly version?: V;
  readonly provider?: string;
  readonly modelId?: string;
  readonly supportedUrls?: SupportedUrls;
}

/** A list runs out. The others are a rule, and do not: one turn, turns by what the user's last text contains, or a function. */
export type ModelScript =
  | readonly ScriptedTurn[]
  | string
  | Readonly<Record<string, ScriptedTurn>>
  | ((prompt: readonly ModelMessage[], options: ModelCallOptions) => ScriptedTurn | Promise<ScriptedTurn>);

/** A call of a scripted model, as it was made: copies, without the signal. */
export interface ScriptedModelCall {
  readonly method: ModelOperation;
  readonly prompt: readonly ModelMessage[];
  /** Everything that it was asked with, the prompt included. */
  readonly options: ModelCallOptions & Readonly<Record<string, unknown>>;
}

/** A scripted model: a language model, and what a test asks it. */
export interface ScriptedModel<V extends ModelVersion = "v3"> extends Double {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  supportedUrls: SupportedUrls;
  doGenerate(options: ModelCallOptions): Promise<ModelResult<V>>;
  doStream(options: ModelCallOptions): Promise<ModelStream<V>>;
  /** The calls so far, failed ones and those past the end included. */
  readonly calls: readonly ScriptedModelCall[];
  /** The calls as events, for gates: `{ kind: "call", boundary: "model", op: "doGenerate" | "doStream" }`. */
  readonly trace: readonly FlatEvent[];
  /** Turns that were not given yet; without end (`Infinity`) for a rule. Turns that are left are no fault. */
  readonly remaining: number;
}

const OPTIONS = "repeatLast failTimes failWith delay trace clock usage version provider modelId supportedUrls".split(
  " ",
);

/**
 * A language model of the AI SDK that answers from a script, for `generateText`, `streamText` and whatever else takes a
 * model. Each call consumes a turn, whether it streams or not; a call more than there are turns rejects with
 * `ScriptExhausted`, which is on the ledger as well, so that nothing that swallows it (as `streamText` does) hides it.
 *
 * A text, a function or a dictionary is a rule for answering and never runs out. A dictionary answers with the first of
 * its keys that the user's last text contains, and with `{}` where none is. Parts are delivered one a turn of the event
 * loop, as they are read, and an abort ends what it interrupts.
 */
export function scriptedModel(script: ModelScript, options?: ScriptedModelOptions): ScriptedModel;
export function scriptedModel<V extends ModelVersion>(
  script: ModelScript,
  options: ScriptedModelOptions<V> & { readonly version: V },
): ScriptedModel<V>;
export function scriptedModel(
  script: ModelScript,
  options: ScriptedModelOptions<ModelVersion> = {},
): ScriptedModel<ModelVersion> {
  checkOptions(options);
  const { version = "v3", usage = {}, clock = platform.clock, repeatLast = false } = options;
  const { next, remaining } = readScript(script, repeatLast);
  const calls: ScriptedModelCall[] = [];
  const trace = createTraceLog(options.trace, "scriptedModel");
  let failures = options.failTimes ?? 0;
  let callIds = 0;
  const making: AnswerParts = { version, usage, nextCallId: () => `call-${++callIds}` };

  const answer = async (method: ModelOperation, asked: ModelCallOptions): Promise<ScriptedAnswer> => {
    const { abortSignal: signal, ...told } = asked;
    const copy = copyOf(told) as ScriptedModelCall["options"];
    calls.push({ method, prompt: copy.prompt, options: copy });
    trace.log({ kind: "call", boundary: "model", op: method });
    signal?.throwIfAborted();
    // Which turn it is, is decided when the call is made, and not when its delay is over.
    const failing = failures > 0 && failures-- > 0;
    const turn = failing ? { error: options.failWith ?? unavailable() } : next(copy, exhausted);
    const given = turn instanceof Promise ? await turn : turn;
    await trace.opened(readScriptGate(given.after, "A turn of the scripted model"), signal);
    const delay = given.delay ?? options.delay ?? 0;
    if (delay > 0) await clock.sleep(delay * 1000, signal);
    return given;
  };
  const exhausted = (have: number, asked: number, text: string): never => {
    const request = text === "" ? undefined : JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 80)}…`);
    throw ledger.fail(
      scriptExhausted({
        double: "scriptedModel",
        unit: "turn",
        have,
        asked,
        ...(request === undefined ? {} : { request }),
        repeat: "pass repeatLast: true",
      }),
    );
  };
  const model = {
    specificationVersion: version,
    provider: options.provider ?? "wiretape",
    modelId: options.modelId ?? "scripted",
    supportedUrls: options.supportedUrls ?? {},
    doGenerate: async (asked: ModelCallOptions) => resultOf(await answer("doGenerate", asked), making),
    async doStream(asked: ModelCallOptions) {
      const { head, parts, breaks } = streamOf(await answer("doStream", asked), making);
      return { ...head, stream: deliver(parts, breaks, asked.abortSignal) };
    },
    calls,
    trace: trace.events,
    get remaining() {
      return remaining();
    },
    get violations() {
      return ledger.violations;
    },
    expectViolation: (code: Parameters<Double["expectViolation"]>[0]) => ledger.expectViolation(code),
  } as unknown as ScriptedModel<ModelVersion>;
  const ledger = openDoubleLedger(model);
  return model;
}

interface Reader {
  /** The turn that a call gets; `exhausted` throws. */
  next(
    call: ScriptedModelCall["options"],
    exhausted: (have: number, asked: number, text: string) => never,
  ): ScriptedAnswer | Promise<ScriptedAnswer>;
  remaining(): number;
}

function readScript(script: ModelScript, repeatLast: boolean): Reader {
  if (Array.isArray(script)) {
    const turns = script.map((turn: ScriptedTurn, i) => answerOf(turn, `Turn ${i + 1}`));
    let asked = 0;
    return {
      next({ prompt }, exhausted) {
        const turn = turns[asked++] ?? (repeatLast ? turns.at(-1) : undefined);
        return copyOf(turn ?? exhausted(turns.length, asked, lastUserText(prompt)));
      },
      remaining: () => Math.max(0, turns.length - asked),
    };
  }
  const endless = (next: Reader["next"]): Reader => ({ next, remaining: () => Number.POSITIVE_INFINITY });
  if (typeof script === "function")
    return endless(async (call) => answerOf(await script(call.prompt, call), "What the function returned"));
  if (typeof script === "string") return endless(() => ({ text: script }));
  if (typeof script !== "object" || script === null)
    throw new OptionInvalid(
      `scriptedModel takes a list of turns, a text, a function or a dictionary; got ${script === null ? "null" : typeof script}.`,
    );
  if (looksLikeAnswer(script))
    throw new OptionInvalid(
      `scriptedModel takes a list of turns, and got an object that looks like one turn (${Object.keys(script).join(", ")}).\n  next      write [{ … }] for one turn, () => ({ … }) for the same turn for ever; a dictionary's keys are what the user's text contains`,
    );
  const entries = Object.entries(script as Readonly<Record<string, ScriptedTurn>>).map(
    ([key, turn]) => [key, answerOf(turn, `The answer to ${JSON.stringify(key)}`)] as const,
  );
  return endless(({ prompt }) => {
    const text = lastUserText(prompt);
    const found = entries.find(([key]) => text.includes(key));
    return found === undefined ? { text: "{}" } : copyOf(found[1]);
  });
}

function deliver(
  parts: readonly object[],
  breaks: { readonly error: unknown } | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<object> {
  let next = 0;
  const pull = async (controller: ReadableStreamDefaultController<object>): Promise<void> => {
    await new Promise<void>((resolve) => platform.turn(resolve));
    signal?.throwIfAborted();
    const part = parts[next++];
    if (part !== undefined) controller.enqueue(part);
    else if (breaks !== undefined) throw breaks.error;
    else controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function unavailable(): Error {
  return restoreProviderError(
    { name: "AI_APICallError", message: "The scripted model fails this call, as failTimes says.", code: 503 },
    { url: "scripted:model", responseHeaders: { "retry-after-ms": "0" } },
  );
}

function checkOptions(options: object): void {
  if (typeof options !== "object" || options === null)
    throw new OptionInvalid(
      `The options of scriptedModel are an object; got ${options === null ? "null" : typeof options}.`,
    );
  const { failTimes, delay, version } = options as ScriptedModelOptions<ModelVersion>;
  const faults = Object.keys(options)
    .filter((key) => !OPTIONS.includes(key))
    .map((key) => `there is no option ${key}: they are ${OPTIONS.join(", ")}`);
  if (failTimes !== undefined && !(Number.isInteger(failTimes) && failTimes >= 0))
    faults.push("failTimes is a whole number from 0");
  if (delay !== undefined && !(Number.isFinite(delay) && delay >= 0))
    faults.push("delay is a number of seconds from 0");
  if (version !== undefined && !["v2", "v3", "v4"].includes(version)) faults.push('version is "v2", "v3" or "v4"');
  if (faults.length > 0) throw new OptionInvalid(`The options of scriptedModel are wrong: ${faults.join("; ")}.`);
}
