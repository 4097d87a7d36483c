import { type Double, openDoubleLedger, scriptExhausted } from "../engine/double.ts";
import { platform } from "../engine/platform.ts";
import { OptionInvalid, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import type { FlatEvent } from "../pattern.ts";
import { createTraceLog, readScriptGate, type TraceLog, type TraceSource } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import { copyOf } from "./copy-of.ts";
import { type Dictionary, entriesOf, firstMatch } from "./dictionary.ts";
import type { ChatRequest, ChatResult, ClockPort, Delta, LLMPort, Usage } from "./ports.ts";
import { shown } from "./shown.ts";
import { Turn, type TurnParts, turnsOf } from "./turn.ts";

/** What a rule that is a function is given: the request, and what it comes to. */
export interface LLMQuestion extends ChatRequest {
  /** The system messages. */
  readonly system: string;
  /** The user's last message. */
  readonly user: string;
}

/** A rule for answering: a text, texts by what the user's last message contains, or a function of the request. */
export type LLMRule = string | Dictionary<string> | ((question: LLMQuestion) => string | Promise<string>);

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
  readonly turns?: Iterable<Turn | TurnParts | string>;
  /** The last turn is given for ever, instead of running out. Default false. */
  readonly repeatLast?: boolean;
}

const KEYS = ["usage", "failTimes", "failExc", "delay", "clock", "trace", "turns", "repeatLast"];
const FREE: Usage = { inputTokens: 0, outputTokens: 0 };
/** What is answered where nothing is said. */
const EMPTY = "{}";
/** Characters of a streamed piece. */
const PIECE = 8;

/**
 * A model that answers from a rule or from a script, offline. A rule has nothing to run out of: call 1 and call 100 both
 * answer. A script is a finite claim about how many turns a run takes: a call beyond it throws `ScriptExhausted`, which
 * stays on the ledger whatever catches it. An aborted signal ends a call where it is; one that has begun keeps its turn.
 */
export class FakeLLM implements LLMPort, Double {
  /** Copies of what was asked, failed calls included; without the signal. */
  readonly calls: Omit<ChatRequest, "signal">[] = [];
  readonly #answer: (request: ChatRequest) => Turn | Promise<Turn>;
  readonly #turns: readonly Turn[] | undefined;
  readonly #options: FakeLLMOptions;
  readonly #ledger = openDoubleLedger(this);
  readonly #trace: TraceLog;
  #failures: number;
  #asked = 0;

  /** @param responses default `{}`; so answers a dictionary none of whose keys is in the user's last message */
  constructor(responses: LLMRule = EMPTY, options: FakeLLMOptions = {}) {
    checkKeys("FakeLLM", options, KEYS);
    const { turns, failTimes = 0, delay = 0 } = options;
    if (!Number.isInteger(failTimes) || failTimes < 0)
      throw new OptionInvalid(`FakeLLM: failTimes is a whole number from 0; got ${String(failTimes)}.`);
    if (!Number.isFinite(delay) || delay < 0)
      throw new OptionInvalid(`FakeLLM: delay is a number of seconds from 0; got ${String(delay)}.`);
    if (turns !== undefined && responses !== EMPTY)
      throw new OptionInvalid("FakeLLM answers by a rule or from turns, and got both.");
    this.#turns = turns === undefined ? undefined : turnsOf(turns, "FakeLLM.script");
    this.#answer = this.#turns === undefined ? readRule(responses) : (request) => this.#next(request);
    this.#options = { ...options };
    this.#trace = createTraceLog(options.trace, "FakeLLM");
    this.#failures = failTimes;
  }

  /** Replays turns in order, one a call, whether it streams or not; then throws `ScriptExhausted`, unless `repeatLast`. */
  static script(turns: Iterable<Turn | TurnParts | string>, options: Omit<FakeLLMOptions, "turns"> = {}): FakeLLM {
    return new FakeLLM(undefined, { ...options, turns });
  }

  /** Turns that were not given yet; `Infinity` for a rule. */
  get remaining(): number {
    return this.#turns === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#turns.length - this.#asked);
  }
  /** What it was asked, as events: `{ kind: "call", op: "chat" | "stream", model }`. Gates look at it. */
  get trace(): readonly FlatEvent[] {
    return this.#trace.events;
  }
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  chat(request: ChatRequest): Promise<ChatResult> {
    return this.#enter(request, "chat");
  }

  /**
   * The content in small pieces, each in a turn of the event loop of its own, then one that says what it cost and why it
   * ended. What fails, fails before the first.
   */
  async *stream(request: ChatRequest): AsyncGenerator<Delta, void> {
    const { content, ...end } = await this.#enter(request, "stream");
    const characters = [...content];
    for (let i = 0; i < characters.length; i += PIECE) {
      await beat(request.signal);
      yield { content: characters.slice(i, i + PIECE).join("") };
    }
    await beat(request.signal);
    yield { content: "", ...end };
  }

  async #enter({ signal, ...request }: ChatRequest, op: string): Promise<ChatResult> {
    const asked = copyOf(request);
    this.calls.push(asked);
    this.#trace.log({ kind: "call", op, model: request.model });
    signal?.throwIfAborted();
    const { delay = 0, clock, failExc } = this.#options;
    const failing = this.#failures > 0 && this.#failures-- > 0;
    // Which turn it is, is decided when the call is made.
    const turn = failing ? undefined : await this.#answer(asked);
    await this.#trace.opened(readScriptGate(turn?.after, "Turn"), signal);
    if (delay > 0) await (clock?.sleep(delay, signal) ?? platform.clock.sleep(delay * 1000, signal));
    if (turn === undefined) throw failExc ?? new Error("FakeLLM fails this call, as failTimes says.");
    return {
      content: turn.content,
      toolCalls: copyOf(turn.toolCalls),
      usage: { ...(turn.usage ?? this.#options.usage ?? FREE) },
      finish: turn.toolCalls.length > 0 ? "tool_calls" : "stop",
    };
  }

  #next(request: ChatRequest): Turn {
    const turns = this.#turns as readonly Turn[];
    const turn = turns[this.#asked++] ?? (this.#options.repeatLast === true ? turns.at(-1) : undefined);
    if (turn !== undefined) return turn;
    throw this.#ledger.fail(
      scriptExhausted({
        double: "FakeLLM",
        unit: "turn",
        have: turns.length,
        asked: this.#asked,
        request: JSON.stringify(shown(questionOf(request).user)),
        repeat: "pass repeatLast: true",
      }),
    );
  }
}

function readRule(rule: LLMRule): (request: ChatRequest) => Turn | Promise<Turn> {
  if (typeof rule === "string") {
    const turn = new Turn(rule);
    return () => turn;
  }
  if (typeof rule === "function") return async (request) => new Turn(await rule(questionOf(request)));
  if (Array.isArray(rule)) throw new OptionInvalid("FakeLLM takes a list of turns as FakeLLM.script([…]).");
  const entries = entriesOf("FakeLLM", rule, (value) => typeof value === "string", "text");
  return (request) => new Turn(firstMatch(entries, questionOf(request).user) ?? EMPTY);
}

function questionOf(request: ChatRequest): LLMQuestion {
  const system = request.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const user = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
  return { ...request, system: system.join("\n\n"), user };
}

async function beat(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => platform.turn(resolve));
  signal?.throwIfAborted();
}
