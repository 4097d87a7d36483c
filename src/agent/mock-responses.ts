import type { CompiledPattern } from "../pattern.ts";
import { readScriptGate, type ScriptGate, type TraceLog } from "../trace-gate.ts";
import { checkOptions, misuse } from "./mock-refusal.ts";
import type { MockRun } from "./mock-run.ts";
import type { AgentContract } from "./protocol.ts";
import { checkError, checkScriptParts, checkText, copyOfScript } from "./script-checks.ts";
import { chunksOf, type ScriptContext } from "./script-chunks.ts";
import {
  type ScriptedText,
  type ScriptedTool,
  type ScriptPart,
  type ToolName,
  type ToolScripts,
  toolScripts,
} from "./script-types.ts";
import { createStreamedResponse, type StreamedResponse } from "./stream-response.ts";

/** What a generation will do. Made by the builder of `responses.queue`. */
export type MockResponse =
  | { readonly type: "assistant"; readonly parts: readonly ScriptPart[] }
  | { readonly type: "error"; readonly error: Error };

/** Builders of a response: a script, not another format of stored messages. */
export interface ResponseBuilder<T extends AgentContract = AgentContract> {
  /** The model writes one message, and the run completes, or waits where a part waits. */
  assistant(parts: readonly ScriptPart[]): MockResponse;
  /** The generation fails. */
  error(error: Error): MockResponse;
  text(text: string): ScriptedText;
  tool<K extends ToolName<T>>(name: K): ToolScripts<T, K, ScriptedTool>;
}

/** When a response may be taken. */
export interface ResponseOptions {
  /**
   * Not before an event that matches has been seen, in the mock's trace or where its option `trace` points. The run stays
   * running until then, and what stands behind the response waits with it.
   */
  readonly after?: ScriptGate;
}

/** One line of responses, first in, first out. Each run that is admitted takes the next, or waits for one. */
export interface MockResponseController<T extends AgentContract = AgentContract> {
  queue(build: (r: ResponseBuilder<T>) => MockResponse, options?: ResponseOptions): void;
  /** A response that the test plays bit by bit, in the same line. */
  stream(options?: ResponseOptions): StreamedResponse<T>;
  /** How many responses no run has taken yet. */
  size(): number;
  /** Discards the responses that no run has taken yet. */
  clear(): void;
}

/** A script in the line. */
interface Script {
  readonly gate: CompiledPattern | undefined;
  attach(run: MockRun): void;
  discard(why: string): void;
}

export interface ResponseLine<T extends AgentContract> {
  readonly controller: MockResponseController<T>;
  /** A run was admitted. */
  admit(run: MockRun): void;
  /** Empties both lines: nothing that was queued or begun goes on. */
  reset(): void;
}

/** An empty line. */
export function createResponseLine<T extends AgentContract>(context: ScriptContext, trace: TraceLog): ResponseLine<T> {
  let scripts: Script[] = [];
  let starving: MockRun[] = [];
  const attached = new Map<Script, MockRun>();

  let held: (() => void) | undefined;

  const match = (): void => {
    held?.();
    held = undefined;
    starving = starving.filter((run) => !run.over);
    for (const [script, run] of attached) if (run.over) attached.delete(script);
    while (scripts.length > 0 && starving.length > 0) {
      const gate = scripts[0]?.gate;
      if (gate !== undefined && !trace.isOpen(gate)) {
        held = trace.whenOpen(gate, match);
        return;
      }
      const script = scripts.shift() as Script;
      const run = starving.shift() as MockRun;
      attached.set(script, run);
      script.attach(run);
    }
  };
  const put = (script: Script): void => {
    scripts.push(script);
    match();
  };
  const discardAll = (why: string): void => {
    for (const script of scripts.splice(0)) script.discard(why);
  };
  const builder: ResponseBuilder<T> = {
    assistant: (parts) => ({ type: "assistant", parts: checkScriptParts(parts) }),
    error: (error) => ({ type: "error", error: checkError("r.error()", error) }),
    text: (text) => ({ kind: "text", text: checkText("r.text()", text) }),
    tool: (name) => toolScripts(name, (tool) => tool),
  };

  return {
    controller: {
      queue(build, options = {}) {
        const gate = gateOf(options, "responses.queue()");
        const response = build(builder);
        if (response?.type !== "assistant" && response?.type !== "error") {
          throw misuse("responses.queue() takes a function that returns r.assistant([...]) or r.error(error).");
        }
        const own = copy(response);
        put({ gate, attach: (run) => void play(context, run, own), discard: () => undefined });
      },
      stream(options = {}) {
        const gate = gateOf(options, "responses.stream()");
        const { response, attach, discard } = createStreamedResponse<T>(context);
        put({ gate, attach, discard });
        return response;
      },
      size: () => scripts.length,
      clear: () => discardAll("responses.clear() discarded it before a run took it"),
    },
    admit(run) {
      starving.push(run);
      match();
    },
    reset() {
      discardAll("the mock was reset");
      for (const script of attached.keys()) script.discard("the mock was reset");
      attached.clear();
      starving = [];
      scripts = [];
    },
  };
}

function gateOf(options: ResponseOptions, what: string): CompiledPattern | undefined {
  checkOptions(what, options, ["after"]);
  return readScriptGate(options.after, what);
}

/** Plays a response. What ends the run from outside ends it. */
async function play(context: ScriptContext, run: MockRun, response: MockResponse): Promise<void> {
  try {
    if (response.type === "error") {
      await run.end({ type: "failed", error: response.error });
      return;
    }
    for (const part of response.parts) {
      for (const chunk of chunksOf(context, part)) {
        if (run.over) return;
        await run.write(chunk);
      }
    }
    if (!run.over) await run.end({ type: "completed" });
  } catch (error) {
    // Nobody awaits this script: the run is where its failure can be seen.
    if (!run.over) await run.end({ type: "failed", error: error instanceof Error ? error : new Error(String(error)) });
  }
}

function copy(response: MockResponse): MockResponse {
  return response.type === "error"
    ? response
    : { type: "assistant", parts: copyOfScript("r.assistant([…])", response.parts) };
}
