import { OptionInvalid } from "../errors.ts";

/** What a backend says to a client that asks for something it cannot do: an error of the application, not of the test. */
export function refusal(message: string): Error {
  return new Error(message);
}

/** A mistake of the test's author: what the mock was told to do makes no sense. */
export function misuse(message: string, details: Readonly<Record<string, unknown>> = {}): OptionInvalid {
  return new OptionInvalid(message, details);
}

/** Refuses what is not an option. */
export function checkOptions(what: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (!known.includes(option)) {
      throw misuse(`${what} has no option "${option}"; it has ${known.join(", ")}.`, { option, known });
    }
  }
}
