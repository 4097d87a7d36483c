import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileStore } from "../cassette/file-store.ts";
import { OptionInvalid } from "../errors.ts";
import type { Deck } from "./deck.ts";
import type { DeckOptions } from "./options.ts";
import { platform } from "./platform.ts";
import { startDeck } from "./start-deck.ts";

/**
 * Opens a deck over a file, `*.cassette.json`, relative to the working directory.
 *
 * The caller finishes it: `await deck.finish()` says that the body passed. In replay it throws what was violated, in
 * record it writes the file. Errors: `CassetteMissing`, `CassetteExists`, `CassetteInvalid`, `CassetteBusy`,
 * `SealBroken`, `OptionInvalid`.
 */
export function openDeck(path: string, options: DeckOptions = {}): Promise<Deck> {
  return openTitledDeck(path, options, undefined);
}

/** As `openDeck`, with the full name of what is recorded: a test's, say. */
export async function openTitledDeck(path: string, options: DeckOptions, title: string | undefined): Promise<Deck> {
  if (typeof path !== "string" || !path.endsWith(".cassette.json")) {
    const better = typeof path === "string" ? `${path.replace(/\.json$/, "")}.cassette.json` : "name.cassette.json";
    throw new OptionInvalid(
      `A cassette is a file that ends in ".cassette.json"; got ${JSON.stringify(path)}. Call it ${JSON.stringify(better)}.`,
    );
  }
  const file = resolve(path);
  const folder = dirname(file);
  const place = { store: fileStore(folder), name: basename(file), display: path, title, schema: schemaFrom(folder) };
  return startDeck(place, options, platform);
}

/**
 * Opens a deck, runs the body with it, and finishes it with the right outcome: a recording is kept when the body
 * returned, a violation is thrown even when the body swallowed it, and recorded tracks that were left are an error
 * only when the body did not fail.
 */
export async function withDeck<T>(path: string, options: DeckOptions, body: (deck: Deck) => Promise<T>): Promise<T> {
  if (typeof body !== "function") {
    const before = typeof options === "function" ? "; the options stand before it: withDeck(path, {}, body)" : "";
    throw new OptionInvalid(
      `withDeck runs a function with the deck as its third argument; got ${typeof body}${before}.`,
    );
  }
  const deck = await openDeck(path, options);
  let result: T;
  try {
    result = await body(deck);
  } catch (error) {
    try {
      await deck.finish("failed");
    } catch (violation) {
      if (violation === error) throw error;
      const text = violation instanceof Error ? violation.message : String(violation);
      throw new AggregateError([error, violation], `The body failed, and the deck was violated. ${text}`, {
        cause: error,
      });
    }
    throw error;
  }
  await deck.finish("passed");
  return result;
}

// The schema of the installed package, as a path that editors follow without a network.
function schemaFrom(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const schema = join(at, "node_modules", "wiretape", "cassette.schema.json");
    if (existsSync(schema)) return relative(folder, schema).split(sep).join("/");
    if (dirname(at) === at) return undefined;
  }
}
