import { type Double, openDoubleLedger, scriptExhausted } from "../engine/double.ts";
import { platform } from "../engine/platform.ts";
import { OptionInvalid, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import type { FlatEvent } from "../pattern.ts";
import { createTraceLog, readScriptGate, type TraceLog, type TraceSource } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import type { ChatRequest, ChatResult, ClockPort, Delta, LLMPort, Usage } from "./ports.ts";
import { Turn, type TurnParts } from "./turn.ts";

/** A rule for answering: a text, texts by what the user's last message contains, or a function of the request. */
export type LLMRule = string | Readonly<Record<string, string>> | ((request: ChatRequest) => string | Promise<string>);

export interface FakeLLMOptions {
  /** What each answer costs that does not say it. Default: nothing. */
  readonly usage?: Usage;
  /** How many calls fail before anything is answered. They consume no turn. Default 0. */
  readonly failTimes?: number;
  /** What they fail with. Default: an Error. */
  readonly failExc?: unknown;
  /** Seconds before each answer. Default 0. */
  readonly delay?: number;
  /** The clock of the delay. Default: the real one. */
  readonly clock?: ClockPort;
  /** Where gates of turns look beside the double's own trace. `false`: nowhere, and they are open, with a warning. */
  readonly trace?: TraceSource;
  /** The turns of a script, in place of a rule. */
  readonly turns?: readonly (Turn | TurnParts)[];
  /** The last turn is given for ever, instead of running out. Default false. */
  readonly repeatLast?: boolean;
}

const KEYS = ["usage", "failTimes", "failExc", "delay", "clock", "trace", "turns", "repeatLast"];
const FREE: Usage = { inputTokens: 0, outputTokens: 0 };
/** Characters of a streamed piece. */
const PIECE = 8;

/**
 * A model that answers from a rule or from a script, offline. A rule has nothing to run out of: call 1 and call 100 both
 * answer. A script is a finite claim about how many turns a run takes: a call beyond it throws `ScriptExhausted`, which
 * stays on the ledger whatever catches it.
 */
export class FakeLLM implements LLMPort, Double {
  /** Copies of what was asked, failed calls included. */
  readonly calls: ChatRequest[] = [];
  readonly #rule: LLMRule | undefined;
  readonly #turns: readonly Turn[];
  readonly #options: FakeLLMOptions;
  readonly #ledger = openDoubleLedger(this);
  readonly #trace: TraceLog;
  #failures: number;
  #asked = 0;

  /** @param responses a dictionary answers `{}` where none of its keys is in the user's last message */
  constructor(responses: LLMRule = "{}", options: FakeLLMOptions = {}) {
    checkKeys("FakeLLM", options, KEYS);
    if (
      !["string", "function", "object"].includes(typeof responses) ||
      responses === null ||
      Array.isArray(responses)
    ) {
      throw new OptionInvalid(
        "FakeLLM answers with a text, a dictionary or a function; for a list of turns: FakeLLM.script([…]).",
      );
    }
    const { turns, failTimes = 0 } = options;
    this.#rule = turns === undefined ? responses : undefined;
    this.#turns = (turns ?? []).map((turn) => (turn instanceof Turn ? turn : new Turn(turn)));
    this.#options = options;
    this.#trace = createTraceLog(options.trace, "FakeLLM");
    this.#failures = failTimes;
  }

  /** Replays turns in order, one a call, whether it streams or not. */
  static script(turns: readonly (Turn | TurnParts)[], options: Omit<FakeLLMOptions, "turns"> = {}): FakeLLM {
    return new FakeLLM(undefined, { ...options, turns });
  }

  /** Turns that were not given yet; `Infinity` for a rule. */
  get remaining(): number {
    return this.#rule === undefined ? Math.max(0, this.#turns.length - this.#asked) : Number.POSITIVE_INFINITY;
  }
  /** What it was asked, as events: `{ kind: "call", op: "chat", model }`. Gates look at it. */
  get trace(): readonly FlatEvent[] {
    return this.#trace.events;
  }
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  async chat(request: ChatRequest): Promise<ChatResult> {
    const { content, toolCalls, usage } = await this.#enter(request);
    return {
      content,
      toolCalls: structuredClone(toolCalls),
      usage: usage ?? this.#options.usage ?? FREE,
      finish: toolCalls.length > 0 ? "tool_calls" : "stop",
    };
  }

  /** The content in small pieces, then one that says what it cost and why it ended. What fails, fails before the first. */
  async *stream(request: ChatRequest): AsyncGenerator<Delta, void> {
    const { content, ...end } = await this.chat(request);
    const characters = [...content];
    for (let i = 0; i < characters.length; i += PIECE) yield { content: characters.slice(i, i + PIECE).join("") };
    yield { content: "", ...end };
  }

  async #enter(request: ChatRequest): Promise<Turn> {
    const asked = structuredClone(request);
    this.calls.push(asked);
    this.#trace.log({ kind: "call", op: "chat", model: request.model });
    const { delay = 0, clock, failExc } = this.#options;
    const failing = this.#failures > 0 && this.#failures-- > 0;
    // Which turn it is, is decided when the call is made.
    const turn = failing ? undefined : this.#rule === undefined ? this.#next(asked) : this.#answer(asked, this.#rule);
    await this.#trace.opened(readScriptGate((await turn)?.after, "Turn"));
    if (delay > 0) await (clock === undefined ? platform.clock.sleep(delay * 1000) : clock.sleep(delay));
    if (turn === undefined) throw failExc ?? new Error("FakeLLM fails this call, as failTimes says.");
    return turn;
  }

  async #answer(request: ChatRequest, rule: LLMRule): Promise<Turn> {
    if (typeof rule === "string") return new Turn({ content: rule });
    if (typeof rule === "function") return new Turn({ content: await rule(request) });
    const text = lastUser(request);
    const key = Object.keys(rule).find((part) => text.includes(part));
    return new Turn({ content: key === undefined ? "{}" : (rule[key] as string) });
  }

  #next(request: ChatRequest): Turn {
    const turn = this.#turns[this.#asked++] ?? (this.#options.repeatLast === true ? this.#turns.at(-1) : undefined);
    if (turn !== undefined) return turn;
    const text = lastUser(request);
    throw this.#ledger.fail(
      scriptExhausted({
        double: "FakeLLM",
        unit: "turn",
        have: this.#turns.length,
        asked: this.#asked,
        request: JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 80)}…`),
        repeat: "pass repeatLast: true",
      }),
    );
  }
}

function lastUser({ messages }: ChatRequest): string {
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}
