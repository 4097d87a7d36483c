import { misuse } from "./mock-refusal.ts";
import type { MockRun } from "./mock-run.ts";
import type { AgentContract, RunId, ThreadId, ToolContract } from "./protocol.ts";
import { checkError, checkText } from "./script-checks.ts";
import type { Chunk, ScriptContext } from "./script-chunks.ts";
import type { ToolInput, ToolName, ToolOutput, WaitingAction } from "./script-types.ts";
import { createStreamParts } from "./stream-parts.ts";
import { createToolStream, type ToolStream } from "./stream-tool.ts";

/** A text while it is written. */
export interface TextStream {
  delta(text: string): Promise<void>;
  end(): Promise<void>;
}

/** A call in one go. */
export type ToolShorthand<T extends AgentContract, K extends ToolName<T>> =
  | { readonly input: ToolInput<T, K>; readonly output: ToolOutput<T, K> }
  | {
      readonly input: ToolInput<T, K>;
      readonly waiting: { readonly action: WaitingAction<T["tools"][K] & ToolContract> };
    }
  | { readonly input: ToolInput<T, K>; readonly error: Error };

/**
 * A response that the test plays, in order. Each promise settles when the step is with the watchers; steps that are
 * taken before a run has taken the response wait for one.
 */
export interface StreamedResponse<T extends AgentContract = AgentContract> {
  /** The run that took this response, once one has. */
  waitUntilStarted(): Promise<{ readonly threadId: ThreadId; readonly runId: RunId }>;
  text(): TextStream;
  /** A whole text, or one that the callback writes and ends. */
  text(content: string | ((text: TextStream) => void | Promise<void>)): Promise<void>;
  tool<K extends ToolName<T>>(name: K): ToolStream<T, K>;
  /** A whole call, or one that the callback plays and settles. */
  tool<K extends ToolName<T>>(
    name: K,
    call: ToolShorthand<T, K> | ((tool: ToolStream<T, K>) => void | Promise<void>),
  ): Promise<void>;
  /** Ends the message and the generation. The run is completed, or waits where a call waits. */
  complete(): Promise<void>;
  /** Fails the generation. */
  fail(error: Error): Promise<void>;
  /** Cancels the run. */
  abort(reason?: string): Promise<void>;
}

/** A streamed response, and the two ends of the line that it stands in. */
export interface StreamedScript<T extends AgentContract> {
  readonly response: StreamedResponse<T>;
  attach(run: MockRun): void;
  discard(why: string): void;
}

/** What parts are written by. */
export interface StreamWriter {
  write(chunk: Chunk): Promise<void>;
  show(chunk: Chunk): Promise<void>;
}

/** A response that no run has taken yet. */
export function createStreamedResponse<T extends AgentContract>(context: ScriptContext): StreamedScript<T> {
  let started: (run: MockRun) => void = () => undefined;
  let refuse: (error: Error) => void = () => undefined;
  const taken = new Promise<MockRun>((resolve, reject) => {
    started = resolve;
    refuse = reject;
  });
  // A response that is discarded may have nobody who waits for it.
  taken.catch(() => undefined);
  let discarded: string | undefined;
  const run = async (): Promise<MockRun> => {
    const attached = await taken;
    if (discarded !== undefined) throw gone(discarded);
    return attached;
  };
  const writer: StreamWriter = {
    write: async (chunk) => (await run()).write(chunk),
    show: async (chunk) => (await run()).show(chunk),
  };
  const parts = createStreamParts();

  function text(): TextStream;
  function text(content: string | ((text: TextStream) => void | Promise<void>)): Promise<void>;
  function text(content?: string | ((text: TextStream) => void | Promise<void>)): TextStream | Promise<void> {
    if (content === undefined) return parts.imperative("text", "end()", (part) => textStream(context, writer, part));
    return parts.scoped("text", "end()", async (part) => {
      const stream = textStream(context, writer, part);
      if (typeof content === "function") return content(stream);
      await stream.delta(checkText("response.text()", content));
      await stream.end();
    });
  }
  function tool<K extends ToolName<T>>(name: K): ToolStream<T, K>;
  function tool<K extends ToolName<T>>(
    name: K,
    call: ToolShorthand<T, K> | ((tool: ToolStream<T, K>) => void | Promise<void>),
  ): Promise<void>;
  function tool<K extends ToolName<T>>(
    name: K,
    call?: ToolShorthand<T, K> | ((tool: ToolStream<T, K>) => void | Promise<void>),
  ): ToolStream<T, K> | Promise<void> {
    const label = `tool "${checkText("response.tool(name)", name)}"`;
    const ends = "output(...), waiting(...), error(...) or cancelled(...)";
    if (call === undefined) {
      return parts.imperative(label, ends, (part) => createToolStream<T, K>(context, writer, part, name));
    }
    return parts.scoped(label, ends, async (part) => {
      const stream = createToolStream<T, K>(context, writer, part, name);
      if (typeof call === "function") return call(stream);
      const outcomes = ["output", "waiting", "error"].filter((outcome) => outcome in call);
      if (outcomes.length !== 1) {
        throw misuse(`response.tool("${name}", {...}) needs exactly one of output, waiting and error beside input.`, {
          outcomes,
        });
      }
      // Which outcome it is says which executor the call has, and that is said with its input.
      stream.expects("waiting" in call ? call.waiting.action : undefined);
      await stream.input.available(call.input as ToolInput<T, K>);
      if ("waiting" in call) await stream.waiting(call.waiting);
      else if ("error" in call) await stream.error(call.error);
      else await stream.output(call.output);
    });
  }

  return {
    response: {
      async waitUntilStarted() {
        const { threadId, runId } = await run();
        return { threadId, runId };
      },
      text,
      tool,
      async complete() {
        parts.close("complete()");
        await (await run()).end({ type: "completed" });
      },
      async fail(error) {
        checkError("response.fail()", error);
        await (await run()).end({ type: "failed", error });
      },
      async abort(reason) {
        await (await run()).end({ type: "aborted", reason });
      },
    },
    attach: (attached) => started(attached),
    discard(why) {
      discarded = why;
      refuse(gone(why));
    },
  };
}

function gone(why: string): Error {
  return misuse(`The streamed response is gone: ${why}. Call responses.stream() for another one.`);
}

function textStream(context: ScriptContext, writer: StreamWriter, part: { settle(): void; check(): void }): TextStream {
  const id = context.ids.next("text");
  let opened: Promise<void> | undefined;
  const open = (): Promise<void> => (opened ??= writer.write({ type: "text-start", id }));
  return {
    async delta(delta) {
      part.check();
      checkText("text.delta()", delta);
      await open();
      await writer.write({ type: "text-delta", id, delta });
    },
    async end() {
      part.check();
      part.settle();
      await open();
      await writer.write({ type: "text-end", id });
    },
  };
}
