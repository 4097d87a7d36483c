import { type Lane, sessionOf } from "../../engine/session.ts";
import { type FetchInput, isPending, readRequest, signalOf } from "./read-request.ts";
import { recordFetch } from "./record.ts";
import { replayFetch } from "./replay.ts";
import { httpRequests } from "./request.ts";

/**
 * A `fetch` on tape. Give it to whatever takes a `fetch`: `new OpenAI({ fetch: tapeFetch(deck) })`.
 *
 * Recording: the request goes out through `fetch` (default: the platform's), and the program sees each chunk when it
 * arrives. Replaying: the recorded status, reason, headers, `url`, `redirected` and body, in the recorded chunks; a
 * recorded network failure rejects as `fetch` does, with the recorded code on `cause`; no socket is opened. A request
 * that the recording does not allow rejects with `ScriptExhausted`, `UnrecordedRequest` or `OutOfOrder`, and stays on
 * the deck. Accepts `(string | URL, init)` and `(Request, init)`.
 */
export function tapeFetch(deck: Lane, fetch: typeof globalThis.fetch = globalThis.fetch): typeof globalThis.fetch {
  const session = sessionOf(deck);
  if (session.mode === "live") return (input, init) => fetch(input, init);
  return async function tapedFetch(input: FetchInput, init?: RequestInit): Promise<Response> {
    const signal = signalOf(input, init);
    signal?.throwIfAborted(); // nothing goes out, so there is nothing to record or to claim
    const admission = session.admit();
    if (admission.recording !== undefined) return recordFetch(admission.recording, fetch, input, init, session.fail);
    let request = null as ReturnType<typeof readRequest> | null;
    try {
      request = readRequest(input, init);
      if (isPending(request)) request = await request;
    } catch (error) {
      admission.drop();
      throw error;
    }
    const claimed = admission.claim(httpRequests, request);
    const claim = isPending(claimed) ? await claimed : claimed;
    if ("play" in claim) return replayFetch(claim.play, request, signal, session);
    const again: RequestInit = {
      ...(input instanceof Request ? settingsOf(input) : {}),
      ...init,
      method: request.method,
      headers: request.headers as [string, string][],
      ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
    };
    return recordFetch(claim.record, fetch, request.url, again, session.fail);
  };
}

// What of a Request is neither its URL, method, headers nor body: those were read, so that it could be compared.
function settingsOf(request: Request): RequestInit {
  const { cache, credentials, integrity, keepalive, mode, redirect, referrer, referrerPolicy, signal } = request;
  // A browser's own navigations have a mode that no program may ask for.
  const asked = mode === "navigate" ? {} : { mode };
  return { ...asked, cache, credentials, integrity, keepalive, redirect, referrer, referrerPolicy, signal };
}
