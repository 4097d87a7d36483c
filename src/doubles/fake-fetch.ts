import { suggest } from "../cassette/nearest.ts";
import { type Double, openDoubleLedger } from "../engine/double.ts";
import { UnrecordedRequest, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import type { FetchPort, FetchResponse } from "./ports.ts";

/** Answers by URL. An unknown one throws with the URL, and stays on the ledger: there is no answer to fall back to. */
export class FakeFetch implements FetchPort, Double {
  /** The URLs that were asked for, in order. */
  readonly calls: string[] = [];
  readonly #fixtures: Readonly<Record<string, FetchResponse>>;
  readonly #ledger = openDoubleLedger(this);

  constructor(fixtures: Readonly<Record<string, FetchResponse>>) {
    this.#fixtures = structuredClone(fixtures);
  }

  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  async fetch(url: string): Promise<FetchResponse> {
    this.calls.push(url);
    if (Object.hasOwn(this.#fixtures, url)) return structuredClone(this.#fixtures[url] as FetchResponse);
    const known = Object.keys(this.#fixtures);
    throw this.#ledger.fail(
      new UnrecordedRequest(
        `FakeFetch has no answer for ${url}${known.length === 0 ? ": it has none at all" : suggest(url, known, "it has")}.\n  next      add it to the fixtures, or look for what asks for it`,
        { url, known },
      ),
      url,
    );
  }
}
