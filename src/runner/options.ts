import { checkOptions, type DeckOptions } from "../engine/options.ts";
import { OptionInvalid } from "../errors.ts";

/** How a test's deck is opened: the options of a deck, and where its cassette is. */
export interface TestDeckOptions extends DeckOptions {
  /** The folder of the cassettes, relative to that of the test file. Default `__cassettes__`. */
  folder?: string;
  /**
   * The cassette itself, relative to the folder of the test file, instead of one named after the test. Tests that are
   * given one path share the cassette on purpose: the first records it, and each replays it with cursors of its own.
   */
  path?: string;
}

/** Splits off what is the runner's. Throws `OptionInvalid` for an unknown or impossible option. */
export function splitOptions(options: TestDeckOptions): {
  place: Pick<TestDeckOptions, "folder" | "path">;
  deck: DeckOptions;
} {
  if (typeof options !== "object" || options === null) {
    throw new OptionInvalid(
      `The options of a deck are an object such as { folder: "tapes" }; got ${JSON.stringify(options)}.`,
    );
  }
  checkOptions(options, ["folder", "path"]);
  const { folder, path, ...deck } = options;
  for (const [name, value] of Object.entries({ folder, path })) {
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw new OptionInvalid(
        `The option ${name} is ${JSON.stringify(value)}; it is a path relative to the test file's folder.`,
        { option: name },
      );
    }
  }
  if (folder !== undefined && path !== undefined) {
    throw new OptionInvalid(
      `The options folder and path contradict each other: ${JSON.stringify(path)} is the whole path of the cassette.`,
    );
  }
  return { place: { ...(folder === undefined ? {} : { folder }), ...(path === undefined ? {} : { path }) }, deck };
}
