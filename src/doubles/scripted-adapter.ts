import { type Double, openDoubleLedger, scriptExhausted } from "../engine/double.ts";
import { ScriptExhausted, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import type { FlatEvent } from "../pattern.ts";
import { createTraceLog, readScriptGate, type TraceLog, type TraceSource } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import { copyOf } from "./copy-of.ts";
import { type Turn, type TurnParts, turnsOf } from "./turn.ts";

/** A runtime asked for more transport turns than the script has. */
export class ScriptedAdapterExhausted extends ScriptExhausted {
  static override readonly label: string = "ScriptedAdapterExhausted";
}

/** A finite sequence of what a transport says; asked for more, it throws `ScriptedAdapterExhausted`, on the ledger too. */
export class ScriptedAdapter implements Double {
  /** What it was asked, in order: copies. */
  readonly calls: unknown[] = [];
  readonly #turns: readonly Turn[];
  readonly #ledger = openDoubleLedger(this);
  readonly #trace: TraceLog;

  /** @param options `trace`: where gates of turns look beside the adapter's own trace */
  constructor(turns: Iterable<Turn | TurnParts | string>, options: { readonly trace?: TraceSource | undefined } = {}) {
    checkKeys("ScriptedAdapter", options, ["trace"]);
    this.#turns = turnsOf(turns, "ScriptedAdapter");
    this.#trace = createTraceLog(options.trace, "ScriptedAdapter");
  }

  /** Turns that were not given yet. */
  get remaining(): number {
    return Math.max(0, this.#turns.length - this.calls.length);
  }
  /** What it was asked, as events: `{ kind: "call", op: "send" }`. Gates look at it. */
  get trace(): readonly FlatEvent[] {
    return this.#trace.events;
  }
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  /** The next turn, whatever is asked. */
  async send(request?: unknown): Promise<Turn> {
    const turn = this.#turns[this.calls.length];
    this.calls.push(copyOf(request));
    this.#trace.log({ kind: "call", op: "send" });
    if (turn === undefined) {
      const end = { double: "ScriptedAdapter", unit: "turn", have: this.#turns.length, asked: this.calls.length };
      throw this.#ledger.fail(scriptExhausted(end, ScriptedAdapterExhausted));
    }
    await this.#trace.opened(readScriptGate(turn.after, "Turn"));
    return turn;
  }
}
