import type { Deck } from "../engine/deck.ts";
import type { Double } from "../engine/double.ts";
import { ledger } from "../engine/ledger.ts";
import { sessionOf } from "../engine/session.ts";
import { OptionInvalid } from "../errors.ts";
import { matchTrace, type TracePattern } from "../pattern.ts";
import { traceText, trackText } from "./trace-text.ts";

/** What `expect(deck)` can do beside vitest's own matchers. */
export interface WiretapeMatchers<R = unknown> {
  /**
   * Every recorded track that had to be played was played. While recording there is nothing to play, so that the
   * assertion and its `.not` hold: the same test runs in every mode.
   */
  toHavePlayedAll(): R;
  /**
   * The program asked for more than was recorded, or than a double's script has (`ScriptExhausted`), and that is what the test is about: the
   * violation, with its repetitions, is acknowledged and does not fail the test. One call acknowledges one.
   */
  toHaveExhausted(): R;
  /** The patterns match the deck's trace as an ordered subsequence: other events may lie before, between and after. */
  toMatchTrace(patterns: readonly TracePattern[]): R;
}

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: declarations of one interface must agree, and vitest's says any
  interface Matchers<T = any> extends WiretapeMatchers<void> {}
}

interface Matcher {
  readonly isNot: boolean;
}

interface Result {
  pass: boolean;
  message: () => string;
}

/** The matchers, as `expect.extend` takes them. */
export const wiretapeMatchers = {
  toHavePlayedAll(this: Matcher, received: unknown): Result {
    const deck = deckFrom(received, "toHavePlayedAll");
    if (deck.mode !== "replay") return { pass: !this.isNot, message: () => "" };
    const left = deck.unplayed.filter(({ optional, repeat }) => optional !== true && repeat === undefined);
    return {
      pass: left.length === 0,
      message: () =>
        left.length === 0
          ? `expected the deck to have tracks left, but all ${deck.played.length} were played`
          : [
              `expected the deck to have played all, but ${left.length === 1 ? "a recorded track was" : `${left.length} recorded tracks were`} never asked for:`,
              ...left.slice(0, 10).map((track) => `  unplayed  ${trackText(track)}`),
              ...(left.length > 10 ? [`            and ${left.length - 10} more`] : []),
            ].join("\n"),
    };
  },

  toHaveExhausted(this: Matcher, received: unknown): Result {
    const subject = isDouble(received) ? received : deckFrom(received, "toHaveExhausted");
    const what = isDouble(received) ? "double" : "deck";
    const exhausted = subject.violations.filter(({ code }) => code === "script-exhausted");
    const open = ledger().entries.some(
      ({ owner, error, acknowledged }) => owner === subject && !acknowledged && error.code === "script-exhausted",
    );
    if (open && !this.isNot) subject.expectViolation("script-exhausted");
    return {
      pass: exhausted.length > 0,
      message: () => {
        const [first] = exhausted;
        if (first !== undefined) return `expected the ${what} not to be exhausted, but:\n${first.message}`;
        const others = subject.violations.map(({ name, message }) => `  instead   ${name}: ${message.split("\n")[0]}`);
        const why =
          what === "double"
            ? "nothing was asked beyond its script"
            : (subject as Deck).mode === "replay"
              ? `its program has asked for nothing beyond the recording (${(subject as Deck).remaining} left to play)`
              : `its mode is ${(subject as Deck).mode}: only a replay can be exhausted`;
        return [`expected the ${what} to be exhausted, but ${why}`, ...others.slice(0, 5)].join("\n");
      },
    };
  },

  toMatchTrace(this: Matcher, received: unknown, patterns: readonly TracePattern[]): Result {
    const deck = deckFrom(received, "toMatchTrace");
    if (!Array.isArray(patterns) || patterns.length === 0) {
      throw new OptionInvalid(
        `toMatchTrace takes a list of patterns such as [{ kind: "request", method: "POST" }]; got ${JSON.stringify(patterns)}.`,
      );
    }
    const found = matchTrace(deck.trace, patterns);
    // A recording's trace is what the program sent: secrets and all.
    const redact = (text: string): string => sessionOf(deck).redactor.text(text);
    return { pass: found.matched, message: () => redact(traceText(deck.trace, patterns, found)) };
  },
};

/** A scripted double: it has violations of its own, and is no deck. */
function isDouble(value: unknown): value is Double {
  if (typeof value !== "object" || value === null) return false;
  const { violations, expectViolation, finish } = value as Partial<Double & Deck>;
  return Array.isArray(violations) && typeof expectViolation === "function" && finish === undefined;
}

// Thrown, not returned: `.not` must not turn a slip into a success.
function deckFrom(value: unknown, matcher: string): Deck {
  const is = (type: string, name: string): boolean => typeof (value as Record<string, unknown>)[name] === type;
  if (typeof value === "object" && value !== null) {
    if (Array.isArray((value as Deck).violations) && Array.isArray((value as Deck).trace) && is("function", "finish")) {
      return value as Deck;
    }
    if (is("function", "then")) throw refusal("a promise", "await it first");
    if (is("string", "name")) throw refusal("a lane", "the deck that it is a lane of has them all");
  }
  if (typeof value === "function") throw refusal("a function", "what useDeck() returns is called: expect(deck())");
  throw refusal(value === null ? "null" : typeof value, "take the fixture deck, or what openDeck() resolves to");

  function refusal(what: string, next: string): OptionInvalid {
    return new OptionInvalid(`expect(…).${matcher}() takes a deck; got ${what}.\n  next      ${next}`);
  }
}
