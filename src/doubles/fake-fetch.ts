import { suggest } from "../cassette/nearest.ts";
import { type Double, openDoubleLedger } from "../engine/double.ts";
import { OptionInvalid, UnrecordedRequest, type WiretapeError, type WiretapeErrorCode } from "../errors.ts";
import { copyOf } from "./copy-of.ts";
import type { FetchPort, FetchResponse } from "./ports.ts";
import { shown } from "./shown.ts";

/**
 * Answers by URL, as often as it is asked: with a copy of what it was given, a clone where that is a `Response`. An unknown
 * URL throws `UnrecordedRequest` with the URL, and stays on the ledger: there is no answer to fall back to.
 */
export class FakeFetch<R extends object = FetchResponse> implements FetchPort<R>, Double {
  /** The URLs that were asked for, in order. */
  readonly calls: string[] = [];
  /** Bound, so that it may be given away as a `fetch`. Options are not looked at. */
  readonly fetch: (url: string | URL | { readonly url: string }, options?: unknown) => Promise<R>;
  readonly #ledger = openDoubleLedger(this);

  constructor(fixtures: Readonly<Record<string, R>>) {
    if (typeof fixtures !== "object" || fixtures === null || Array.isArray(fixtures)) {
      throw new OptionInvalid(
        'FakeFetch takes answers by URL, as { "https://example.com/": { status: 200, body: "" } }.',
      );
    }
    const answers = copyOf({ ...fixtures });
    this.fetch = async (input) => {
      const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
      this.calls.push(url);
      if (Object.hasOwn(answers, url)) return fresh(answers[url] as R);
      throw this.#unknown(url, Object.keys(answers));
    };
  }

  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  #unknown(url: string, known: readonly string[]): UnrecordedRequest {
    const name = shown(url, 1000);
    const nearest = known.length === 0 ? ": it has none at all." : `${suggest(url, known, "it has")}.`;
    const message = `FakeFetch has no answer for ${name}${nearest.replace(/\?\.$/, "?")}`;
    const next = "  next      add it to the fixtures, or look for what asks for it";
    return this.#ledger.fail(new UnrecordedRequest(`${message}\n${next}`, { url: name, known }), url);
  }
}

function fresh<R extends object>(answer: R): R {
  const { clone } = answer as { clone?: () => R };
  return typeof clone === "function" ? clone.call(answer) : copyOf(answer);
}
