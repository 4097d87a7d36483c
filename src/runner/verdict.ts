import { WiretapeError } from "../errors.ts";

/** What is asked of vitest's task to know how its test went. */
export interface TestState {
  /** The test is marked `fails`. */
  readonly fails?: boolean | undefined;
  readonly result?:
    | { readonly state: string; readonly errors?: readonly { readonly message?: string }[] | undefined }
    | undefined;
}

/**
 * Whether this attempt went as it should. The state is that of the attempt; the list of errors is not, it keeps those
 * of earlier attempts. A test that is marked `fails` goes as it should when its body failed: vitest turns the state
 * around only after the hooks. Some versions leave the state of a test with repeats at `run` when its body passed.
 */
export function outcomeOf({ fails, result }: TestState): "passed" | "failed" {
  const wanted = fails === true ? ["fail"] : ["pass", "run"];
  return wanted.includes(result?.state ?? "") ? "passed" : "failed";
}

/** Why an error thrown by a hook would be lost with this test, or `undefined` where it makes the test fail. */
export function hiddenBy({ fails, result }: TestState): string | undefined {
  if (fails === true) return "is marked as failing, which would hide this";
  if (result?.state === "skip") return "skipped itself, which would hide this";
  return undefined;
}

/** Whether vitest is showing this very error already. As the cause of another it is easily overlooked, and counts as not shown. */
export function isShown({ result }: TestState, error: unknown): boolean {
  if (result?.state !== "fail" || !(error instanceof Error)) return false;
  return result.errors?.some(({ message }) => message === error.message) ?? false;
}

/** The same error, at the same place, with a sentence before its message that says where it belongs. */
export function withLead(lead: string, error: unknown): unknown {
  if (!(error instanceof WiretapeError)) return error;
  const text = `${lead}\n${error.message}`;
  const told = new WiretapeError(
    error.code,
    text,
    error.details,
    error.cause === undefined ? {} : { cause: error.cause },
  );
  told.name = error.name;
  if (error.stack !== undefined) told.stack = error.stack.replace(error.message, () => text);
  return told;
}

const { queueMicrotask } = globalThis;

/**
 * Fails the run with an error that no test can carry. Thrown where nothing can catch it, it is an unhandled error of
 * the run: vitest prints it and exits with 1.
 */
export function failRun(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
