import { type Double, openDoubleLedger, scriptExhausted } from "../engine/double.ts";
import { type ErrorDetails, ScriptExhausted, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import { Turn, type TurnParts } from "./turn.ts";

/** A runtime asked for more transport turns than the script has. */
export class ScriptedAdapterExhausted extends ScriptExhausted {
  static override readonly label: string = "ScriptedAdapterExhausted";
  // biome-ignore lint/complexity/noUselessConstructor: its own label is read from the class that is made
  constructor(message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(message, details, options);
  }
}

/** A finite sequence of what a transport says; asked for more, it throws `ScriptedAdapterExhausted`, on the ledger too. */
export class ScriptedAdapter implements Double {
  /** What it was asked, in order: copies. */
  readonly calls: unknown[] = [];
  readonly #turns: readonly Turn[];
  readonly #ledger = openDoubleLedger(this);

  constructor(turns: Iterable<Turn | TurnParts>) {
    this.#turns = [...turns].map((turn) => (turn instanceof Turn ? turn : new Turn(turn)));
  }

  get remaining(): number {
    return Math.max(0, this.#turns.length - this.calls.length);
  }
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  /** The next turn, whatever is asked. */
  async send(request?: unknown): Promise<Turn> {
    this.calls.push(structuredClone(request));
    const turn = this.#turns[this.calls.length - 1];
    if (turn !== undefined) return turn;
    const end = { double: "ScriptedAdapter", unit: "turn", have: this.#turns.length, asked: this.calls.length };
    throw this.#ledger.fail(scriptExhausted(end, ScriptedAdapterExhausted));
  }
}
