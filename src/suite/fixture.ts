import type { AgentContract, PaiThreadTransportEvent, ThreadId } from "../agent/protocol.ts";
import type { AgentClientTransport } from "../agent/transport.ts";

/** The agent that the suite talks to. A backend under test needs no more of it than answers that are told beforehand. */
export interface SuiteContract extends AgentContract {
  readonly metadata: { readonly rating?: number };
  readonly tools: {
    readonly lookup: { readonly input: { query: string }; readonly output: { found: string[] } };
    readonly approve: {
      readonly input: { subject: string };
      readonly output: { approved: boolean };
      readonly suspends: {
        readonly approval: { readonly input: { question: string }; readonly output: { approved: boolean } };
        readonly output: { readonly input: { question: string }; readonly output: { approved: boolean } };
      };
    };
    readonly pick: {
      readonly input: { fileName: string };
      readonly output: { fileId: string };
      readonly hasExecute: false;
    };
  };
  readonly data: Readonly<Record<never, never>>;
  readonly commands: {
    readonly echo: { readonly input: { text: string }; readonly output: { text: string } };
    readonly refuse: { readonly input: { text: string }; readonly output: never };
    readonly unheard: { readonly input: { text: string }; readonly output: never };
  };
}

/** One part of an answer, in order. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "result";
      readonly toolName: "lookup";
      readonly input: { query: string };
      readonly output: { found: string[] };
    }
  | {
      readonly type: "error";
      readonly toolName: "lookup";
      readonly input: { query: string };
      readonly errorText: string;
    }
  | {
      readonly type: "waiting";
      readonly toolName: "approve";
      readonly input: { subject: string };
      /** `declaredSuspend`: the suspend is declared although it is called `output`. */
      readonly action:
        | { readonly name: "approval"; readonly input: { question: string } }
        | { readonly name: "output"; readonly declaredSuspend: true; readonly input: { question: string } };
    }
  | {
      readonly type: "waiting";
      readonly toolName: "pick";
      readonly input: { fileName: string };
      readonly action: { readonly name: "output"; readonly input: { fileName: string } };
    };

/** An answer that is given bit by bit. Each promise settles when the backend has taken the step. */
export interface HeldAnswer {
  /** Settles when the answer is attached to a run. */
  started(): Promise<void>;
  /** Begins a text, or goes on with the open one, by one delta. */
  text(delta: string): Promise<void>;
  /** Ends the open text, and the answer. */
  complete(): Promise<void>;
  fail(message: string): Promise<void>;
  abort(reason: string): Promise<void>;
}

/**
 * How the suite tells a backend what its agent will answer. Answers stand in one line, first in, first out; each
 * generation that runs takes the next, and one that finds the line empty stays running until there is one.
 *
 * Over a recording that is replayed every function may do nothing: the tape knows the answers.
 */
export interface SuiteScript {
  reply(answer: string | readonly AnswerPart[]): void | Promise<void>;
  /** The next generation fails, with this message. */
  fail(message: string): void | Promise<void>;
  hold(): HeldAnswer | Promise<HeldAnswer>;
  /** What a command answers. `echo: true`: its input. */
  command(name: "echo" | "refuse", result: { readonly echo: true } | { readonly error: string }): void | Promise<void>;
  /** Sends an event to the watchers of a thread, as something outside of the agent would. */
  push(threadId: ThreadId, event: PaiThreadTransportEvent<SuiteContract>): void | Promise<void>;
}

/** A transport over a backend of its own, how to tell that backend what to answer, and how to end both. */
export interface SuiteFixture {
  readonly transport: AgentClientTransport<SuiteContract>;
  readonly script: SuiteScript;
  dispose(): void | Promise<void>;
}
