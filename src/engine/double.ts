import { ScriptExhausted, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import { Violations } from "./deck.ts";
import { enter } from "./ledger.ts";
import { platform } from "./platform.ts";

/**
 * What every scripted double has of its own, because it belongs to no deck: what was asked of it beyond its script, and
 * which of that a test announced. It is entered into the process-wide ledger as well, so that an empty catch hides nothing.
 */
export interface Double {
  /** What was asked and is not in the script, acknowledged ones included. */
  readonly violations: readonly WiretapeError[];
  /** Acknowledges one violation of this code that the test is about; it may come later. Nothing else does. */
  expectViolation(code: WiretapeErrorCode): void;
}

/** The inside of a double: where it reports. */
export interface DoubleLedger extends Double {
  /**
   * Enters a violation and returns it, to be thrown where it happened.
   * @param about what was asked: violations of one code about one thing count as one and its repetitions
   */
  fail<E extends WiretapeError>(error: E, about?: string): E;
}

/** The ledger of one double. `owner` is the double itself, as tests know it. */
export function openDoubleLedger(owner: object): DoubleLedger {
  const violations = new Violations();
  return {
    violations: violations.all,
    expectViolation: (code) => violations.expect(code),
    fail(error, about = "") {
      const entry = enter(error, owner, platform);
      violations.add(error, about, () => {
        entry.acknowledged = true;
      });
      return error;
    },
  };
}

/** What a script that has run out is told with. */
export interface ScriptEnd {
  /** The double, as its author calls it: "FakeCodexCli", "scriptedModel". */
  readonly double: string;
  /** What the script is a list of: "run", "turn". */
  readonly unit: string;
  /** How many it has, and the how-manieth was asked for. */
  readonly have: number;
  readonly asked: number;
  /** What was asked, in a few words, where that tells something. */
  readonly request?: string | undefined;
  /** How it is told that the last one may be given for ever: "pass repeatLast: true". */
  readonly repeat?: string | undefined;
}

/** The error of a script that has run out: what it has, what was asked, and both ways to mend it. */
export function scriptExhausted(end: ScriptEnd, Kind: typeof ScriptExhausted = ScriptExhausted): ScriptExhausted {
  const { double, unit, have, asked, request, repeat } = end;
  const units = have === 1 ? `1 ${unit}` : `${have} ${unit}s`;
  return new Kind(
    [
      `${double} has ${have === 0 ? `no ${unit}` : units} and was asked for ${unit} ${asked}.`,
      ...(request === undefined ? [] : [`  asked     ${request}`]),
      `  next      look for the loop or retry that asks once more than expected, or add ${/^[aeiou]/.test(unit) ? "an" : "a"} ${unit} to the script${repeat === undefined ? "" : `; a script that is meant to go on for ever: ${repeat}`}`,
    ].join("\n"),
    { double, unit, recorded: have, asked, ...(request === undefined ? {} : { request }) },
  );
}
