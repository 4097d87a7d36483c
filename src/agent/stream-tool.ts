import { misuse } from "./mock-refusal.ts";
import { type AgentContract, TOOL_DATA_PART, type ToolContract, type ToolProvenance } from "./protocol.ts";
import { checkAction, checkError, checkFields, checkText, copyOfScript } from "./script-checks.ts";
import {
  type Chunk,
  executorOf,
  type ScriptContext,
  suspensionChunk,
  suspensionOf,
  toolFields,
} from "./script-chunks.ts";
import type { ScriptAction, ToolInput, ToolName, ToolOutput, WaitingAction } from "./script-types.ts";
import type { StreamPart } from "./stream-parts.ts";

type ToolData<T extends AgentContract, K extends ToolName<T>> = T["tools"][K] extends { readonly data: infer D }
  ? D
  : Readonly<Record<string, unknown>>;

/** A call while it is made: its input as the model writes it, what it shows, and how it ends. */
export interface ToolStream<T extends AgentContract, K extends ToolName<T>> {
  readonly input: {
    /** Raw JSON as the model writes it. */
    delta(text: string): Promise<void>;
    /** The input is complete. */
    available(input: ToolInput<T, K>): Promise<void>;
    /** The input as raw JSON of `chunkSize` characters at a time, `delayMs` apart; then it is complete. */
    stream(input: ToolInput<T, K>, options?: { readonly chunkSize?: number; readonly delayMs?: number }): Promise<void>;
  };
  /** Checks that the input is complete. Emits nothing: a native part stays `input-available` while its tool runs. */
  running(): Promise<void>;
  /** Named data of the tool. The same `id` replaces what was shown under it; `transient` data is not kept. */
  data<N extends keyof ToolData<T, K> & string>(
    name: N,
    data: ToolData<T, K>[N],
    options?: { readonly id?: string; readonly transient?: boolean },
  ): Promise<void>;
  output(output: ToolOutput<T, K>): Promise<void>;
  waiting(waiting: { readonly action: WaitingAction<T["tools"][K] & ToolContract> }): Promise<void>;
  error(error: Error): Promise<void>;
  /** A native tool error: no state of its own is stored for a cancellation. */
  cancelled(reason?: string): Promise<void>;
}

interface Writer {
  write(chunk: Chunk): Promise<void>;
  show(chunk: Chunk): Promise<void>;
}

/** The chunk of a tool's named data. */
export function toolDataChunk(
  toolCallId: string,
  name: string,
  data: unknown,
  { id, transient }: { readonly id?: string | undefined; readonly transient?: boolean | undefined } = {},
): Chunk {
  return {
    type: TOOL_DATA_PART,
    ...(id === undefined ? {} : { id: `${toolCallId}:${name}:${id}` }),
    data: { toolCallId, name, data },
    ...(transient === true ? { transient: true } : {}),
  };
}

/** The controls of one call. `expects` says beforehand what it will wait for, which decides where it is executed. */
export function createToolStream<T extends AgentContract, K extends ToolName<T>>(
  context: ScriptContext,
  writer: Writer,
  part: StreamPart,
  name: K,
): ToolStream<T, K> & { expects(action: ScriptAction | undefined): void } {
  const toolCallId = context.ids.next("call");
  let executor: ToolProvenance["executor"] = "server";
  let started = false;
  let complete = false;

  const start = async (): Promise<void> => {
    if (started) return;
    started = true;
    await writer.write({ type: "tool-input-start", toolCallId, ...toolFields(context, name, executor) } as Chunk);
  };
  const needsInput = (what: string): void => {
    part.check();
    if (complete) return;
    throw misuse(
      `${what} of tool "${name}" before its input is complete: call input.available(input) or input.stream(input) first.`,
      { toolName: name },
    );
  };
  const incomplete = (): void => {
    part.check();
    if (!complete) return;
    throw misuse(`The input of tool "${name}" is complete already: nothing can be added to it.`, { toolName: name });
  };
  const own = <V>(what: string, value: V): V => copyOfScript(`The ${what} of tool "${name}"`, value);
  const available = async (input: unknown): Promise<void> => {
    incomplete();
    complete = true;
    started = true;
    const fields = toolFields(context, name, executor);
    await writer.write({ type: "tool-input-available", toolCallId, input: own("input", input), ...fields } as Chunk);
  };
  const fail = async (errorText: string): Promise<void> => {
    part.check();
    part.settle();
    await start();
    await writer.write({ type: "tool-output-error", toolCallId, errorText });
  };
  const delta = async (text: string): Promise<void> => {
    incomplete();
    checkText(`input.delta() of tool "${name}"`, text);
    await start();
    await writer.write({ type: "tool-input-delta", toolCallId, inputTextDelta: text });
  };

  return {
    expects(action) {
      executor = executorOf(action);
    },
    input: {
      delta,
      available,
      async stream(input, { chunkSize = 32, delayMs = 0 } = {}) {
        if (!Number.isInteger(chunkSize) || chunkSize < 1) {
          throw misuse(`input.stream() needs a chunkSize of at least 1 character, and got ${chunkSize}.`, {
            chunkSize,
          });
        }
        const json = JSON.stringify(input) as string | undefined;
        if (json === undefined)
          throw misuse(`input.stream() of tool "${name}" takes what JSON can say, not ${typeof input}.`);
        for (let at = 0; at < json.length; at += chunkSize) {
          if (at > 0 && delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
          await delta(json.slice(at, at + chunkSize));
        }
        await available(input);
      },
    },
    async running() {
      needsInput("running()");
    },
    async data(dataName, data, options = {}) {
      part.check();
      await start();
      const chunk = toolDataChunk(toolCallId, dataName, own("data", data), options);
      await (options.transient === true ? writer.show(chunk) : writer.write(chunk));
    },
    async output(output) {
      needsInput("output()");
      const kept = own("output", output);
      part.settle();
      await writer.write({ type: "tool-output-available", toolCallId, output: kept });
    },
    async waiting(waiting) {
      needsInput("waiting()");
      const what = `waiting() of tool "${name}"`;
      const { action } = checkFields(what, waiting, ["action"]);
      const kept = own("action", checkAction(what, action as ScriptAction));
      part.settle();
      await writer.write(suspensionChunk(suspensionOf(context, toolCallId, kept)));
    },
    error: async (error) => fail(checkError(`error() of tool "${name}"`, error).message),
    cancelled: (reason = "The tool call was cancelled.") => fail(reason),
  };
}
