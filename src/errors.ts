/**
 * Every error of wiretape, on one page. The wording is made elsewhere (engine/report.ts and the parts that find a
 * fault); here is only what an error is: a class, a stable `code` and structured `details`.
 */

/** The stable, machine-readable name of each way to fail. */
export type WiretapeErrorCode =
  | "script-exhausted"
  | "unrecorded-request"
  | "out-of-order"
  | "replay-stalled"
  | "unplayed-tracks"
  | "cassette-missing"
  | "cassette-exists"
  | "cassette-invalid"
  | "cassette-busy"
  | "seal-broken"
  | "secret-found"
  | "verify-failed"
  | "peer-missing"
  | "option-invalid"
  | "var-missing"
  | "frame-mismatch"
  | "sidecar-broken"
  | "deck-finished"
  | "expectation-unmet";

/** What an error knows beside its message: JSON-like, already redacted. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

// Two copies of this library in one process (a linked package, a bundled test helper) must agree on what is whose
// error, so the brand is a registered symbol and `instanceof` reads it instead of the prototype chain.
const brand = Symbol.for("wiretape.error");

function lineage(from: unknown): string[] {
  const names: string[] = [];
  for (let c = from; typeof c === "function" && c !== Error; c = Object.getPrototypeOf(c)) {
    const label = (c as { label?: string }).label;
    if (label !== undefined) names.push(label);
  }
  return names;
}

// What a terminal may act on, or show as something else than it is: control characters (C0, DEL, C1), the line and
// paragraph separators, the marks that reorder text, byte order marks, and halves of surrogate pairs.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escapeUnit = (unit: string): string => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text from outside as it may be shown on one line of a terminal: what is not a plain character is escaped. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeUnit);
}

/** As `printable`, with its line breaks: for messages. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (unit) => (unit === "\n" ? unit : escapeUnit(unit)));
}

/**
 * The base of everything that wiretape throws on purpose.
 *
 * `code` is stable across versions, `details` is structured data for programs, `message` is for people and says what
 * happened, where, what is nearest and what to do next. Messages and details never contain a redacted secret. What a
 * message quotes may come from a hostile cassette or server: but for line breaks it holds plain characters only.
 */
export class WiretapeError extends Error {
  static readonly label: string = "WiretapeError";
  readonly code: WiretapeErrorCode;
  readonly details: ErrorDetails;

  constructor(code: WiretapeErrorCode, message: string, details: ErrorDetails = {}, options: { cause?: unknown } = {}) {
    super(printableLines(message), "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = details;
    Object.defineProperty(this, "name", { value: new.target.label, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: lineage(new.target) });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    const names = (value as Record<symbol, unknown>)[brand];
    // biome-ignore lint/complexity/noThisInStatic: each subclass asks for its own label
    return Array.isArray(names) && names.includes(this.label);
  }
}

/** Whether a value is an error of wiretape's, from this copy of the library or another. */
export function isWiretapeError(value: unknown): value is WiretapeError {
  return value instanceof WiretapeError;
}

type Options = { cause?: unknown };

/** The program asked once more than was recorded. `details`: `{ recorded, asked, playedBy }` where known. */
export class ScriptExhausted extends WiretapeError {
  static override readonly label: string = "ScriptExhausted";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("script-exhausted", message, details, options);
  }
}

/** The program asked for something that was never recorded, while other tracks remain. */
export class UnrecordedRequest extends WiretapeError {
  static override readonly label: string = "UnrecordedRequest";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("unrecorded-request", message, details, options);
  }
}

/** Recorded, but not its turn (`match.order: "strict"`). */
export class OutOfOrder extends WiretapeError {
  static override readonly label: string = "OutOfOrder";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("out-of-order", message, details, options);
  }
}

/** A delivery is held by a gate that nothing will open. `details.waiting` names what is waited for. */
export class ReplayStalled extends WiretapeError {
  static override readonly label: string = "ReplayStalled";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("replay-stalled", message, details, options);
  }
}

/** The test passed, but recorded tracks were never asked for. `details.tracks` lists their ids. */
export class UnplayedTracks extends WiretapeError {
  static override readonly label: string = "UnplayedTracks";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("unplayed-tracks", message, details, options);
  }
}

/** Replay was asked for and there is no cassette. */
export class CassetteMissing extends WiretapeError {
  static override readonly label: string = "CassetteMissing";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("cassette-missing", message, details, options);
  }
}

/** A recording would have overwritten a cassette. */
export class CassetteExists extends WiretapeError {
  static override readonly label: string = "CassetteExists";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("cassette-exists", message, details, options);
  }
}

/** The cassette cannot be read. `issues` lists every fault of the file at once. */
export class CassetteInvalid extends WiretapeError {
  static override readonly label: string = "CassetteInvalid";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("cassette-invalid", message, details, options);
  }
}

/** Another process is recording this cassette at the moment. */
export class CassetteBusy extends WiretapeError {
  static override readonly label: string = "CassetteBusy";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("cassette-busy", message, details, options);
  }
}

/** `integrity: "sealed"` and a track is not as it was recorded. */
export class SealBroken extends WiretapeError {
  static override readonly label: string = "SealBroken";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("seal-broken", message, details, options);
  }
}

/** The final scan saw a secret in the text that was about to be written. Says where and of which kind, never what. */
export class SecretFound extends WiretapeError {
  static override readonly label: string = "SecretFound";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("secret-found", message, details, options);
  }
}

/** A fresh recording did not read back as the bytes that were seen. A fault of ours; nothing was overwritten. */
export class VerifyFailed extends WiretapeError {
  static override readonly label: string = "VerifyFailed";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("verify-failed", message, details, options);
  }
}

/** A boundary needs a package that is not installed. */
export class PeerMissing extends WiretapeError {
  static override readonly label: string = "PeerMissing";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("peer-missing", message, details, options);
  }
}

/** An option or argument is wrong, unknown, or contradicts the cassette. */
export class OptionInvalid extends WiretapeError {
  static override readonly label: string = "OptionInvalid";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("option-invalid", message, details, options);
  }
}

/** `deck.var(name)` in replay, and the cassette has no such variable. */
export class VarMissing extends WiretapeError {
  static override readonly label: string = "VarMissing";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("var-missing", message, details, options);
  }
}

/** A frame that the client sent differs from the recorded one. */
export class FrameMismatch extends WiretapeError {
  static override readonly label: string = "FrameMismatch";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("frame-mismatch", message, details, options);
  }
}

/** A sidecar file is missing, of another size, or does not have the recorded digest. */
export class SidecarBroken extends WiretapeError {
  static override readonly label: string = "SidecarBroken";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("sidecar-broken", message, details, options);
  }
}

/** The deck was used after `finish()`. */
export class DeckFinished extends WiretapeError {
  static override readonly label: string = "DeckFinished";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("deck-finished", message, details, options);
  }
}

/** `expectViolation(code)` announced a violation that never came. */
export class ExpectationUnmet extends WiretapeError {
  static override readonly label: string = "ExpectationUnmet";
  constructor(message: string, details?: ErrorDetails, options?: Options) {
    super("expectation-unmet", message, details, options);
  }
}
