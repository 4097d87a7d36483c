import type { FlatEvent } from "../pattern.ts";
import type { EndpointHandler, EndpointReply, EndpointSession } from "./endpoint-agent.ts";
import type { ReadRequest } from "./endpoint-request.ts";

/** Plays one request into an agent and drains its reply, up to its end or the one that the script sets. Never rejects. */
export async function drain(
  request: ReadRequest,
  handler: EndpointHandler,
  log: (event: FlatEvent) => void,
  stopped: AbortSignal,
): Promise<EndpointReply> {
  const { number, model, messages, tools, params, stream, label, end } = request;
  const id = globalThis.crypto.randomUUID();
  const caller = new AbortController();
  const mark = label === undefined ? { model, request: number } : { model, request: number, session: label };
  const session: EndpointSession = {
    id,
    signal: AbortSignal.any([caller.signal, stopped]),
    call: (op, more = {}) => log({ ...mark, ...more, kind: "call", op }),
  };
  const deltas: unknown[] = [];
  const over = (ended: EndpointReply["ended"], error?: unknown): EndpointReply => {
    log({ ...mark, kind: "close", ended });
    const text = deltas.filter((delta) => typeof delta === "string").join("");
    const reply = { request: number, model, session: { id, label }, deltas, text, ended };
    return error === undefined ? reply : { ...reply, error };
  };
  log({ ...mark, kind: "inbound", messages, tools, params, stream });

  const iterator = deltasOf(() =>
    handler({ model, messages: structuredClone(messages), tools, params, stream }, session),
  );
  const gone = new Promise<"gone">((resolve) =>
    session.signal.addEventListener("abort", () => resolve("gone"), { once: true }),
  );
  try {
    for (;;) {
      if (deltas.length === end?.after) {
        // Asked for first, so that an agent gets the request even of a session that ends at once.
        const next = deltas.length === 0 ? iterator.next() : undefined;
        leave(end.how);
        next?.catch(() => undefined); // what comes of it is nobody's any more
        return over(end.how === "close" ? "closed" : "aborted");
      }
      const next = await Promise.race([iterator.next(), gone]);
      if (next === "gone") return over("aborted");
      if (next.done) return over("done");
      deltas.push(next.value);
      log({ ...mark, kind: "frame" });
    }
  } catch (error) {
    return over("failed", error);
  } finally {
    // An agent that still talks is told that nobody listens; what it throws at that is its own.
    iterator.return(undefined).catch(() => undefined);
  }

  function leave(how: "close" | "abort"): void {
    const closed = Object.assign(new Error("the caller closed the session"), { name: "EndpointClosed" });
    caller.abort(how === "close" ? closed : undefined);
  }
}

async function* deltasOf(answer: () => unknown): AsyncGenerator<unknown, void> {
  const given = await answer();
  if (given === undefined || given === null) return;
  if (given instanceof Response) {
    const decoder = new TextDecoder();
    for await (const chunk of given.body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
    return;
  }
  if (typeof given === "object" && (Symbol.asyncIterator in given || Symbol.iterator in given)) {
    yield* given as AsyncIterable<unknown>;
    return;
  }
  yield given;
}
