import type { Chunk, HttpDraft } from "../../cassette/draft.ts";
import type { End, Headers as StoredHeaders } from "../../cassette/schema.ts";
import { errorToStored } from "../../cassette/stored-error.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import { OptionInvalid } from "../../errors.ts";
import { concatBytes } from "../../wire/bytes.ts";
import { type FetchInput, plainBytes, signalOf, withoutFragment } from "./read-request.ts";
import { hasNullBody, RecordedResponse } from "./recorded-response.ts";
import { httpRequests } from "./request.ts";

/** A `fetch` call as it goes out, and what is known of its request. */
interface Outgoing {
  readonly input: FetchInput;
  readonly init: RequestInit | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: StoredHeaders;
  /** The body's bytes as far as they went out; asked for when the track is complete. */
  readonly body: () => Uint8Array | undefined;
}

/** Makes the request for real and records it; `fail` is told of what cannot be recorded. The program sees each chunk when it arrives; nothing is read ahead. */
export async function recordFetch(
  recording: Recording,
  fetch: typeof globalThis.fetch,
  input: FetchInput,
  init: RequestInit | undefined,
  fail: Session["fail"],
): Promise<Response> {
  let outgoing: Outgoing;
  try {
    outgoing = await prepare(input, init);
  } catch (error) {
    recording.drop();
    throw error;
  }
  const { method, url } = outgoing;
  const settle = (outcome: Pick<HttpDraft, "response" | "fault" | "end">): void => {
    const body = outgoing.body();
    const media = outgoing.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
    const request = {
      method,
      url,
      headers: outgoing.headers,
      ...(body === undefined ? {} : { body: { chunks: [{ at: 0, bytes: body }], media } }),
    };
    recording.onFinish = undefined;
    recording.settle({ id: recording.id, kind: "http", at: recording.at, lane: recording.lane, request, ...outcome });
  };
  const gaveUp = (): void => settle({ end: { at: recording.elapsed(), by: "client" } });
  recording.onFinish = gaveUp;
  const changes = !/^(GET|HEAD|OPTIONS|TRACE)$/.test(method);
  recording.sent(httpRequests.event({ method, url, headers: [], body: undefined }), originOf(url), changes);
  const signal = signalOf(input, init);
  let response: Response;
  try {
    response = await fetch(outgoing.input, outgoing.init);
  } catch (error) {
    if (signal?.aborted === true) gaveUp();
    else settle({ fault: { at: recording.elapsed(), ...errorToStored(error) } });
    throw error;
  }
  return recordResponse(recording, response, outgoing, signal, settle, fail);
}

function isAnswer(response: Response): boolean {
  const { status, headers, body } = Object(response) as Partial<Response>;
  const readable = body === null || typeof body?.getReader === "function";
  return Number.isInteger(status) && Number(status) >= 100 && Symbol.iterator in Object(headers) && readable;
}

function recordResponse(
  recording: Recording,
  response: Response,
  { method, url }: Outgoing,
  signal: AbortSignal | undefined,
  settle: (outcome: Pick<HttpDraft, "response">) => void,
  fail: Session["fail"],
): Response {
  if (!isAnswer(response)) {
    recording.onFinish = undefined;
    recording.drop();
    throw fail(
      new OptionInvalid(
        `What fetch returned for ${method} ${url} cannot be recorded: it is no Response with a status and headers that can be read (an opaque response and Response.error() have none).\n  next      give tapeFetch a fetch that returns a Response, or make this request outside the tape`,
        { method, url },
      ),
    );
  }
  const headers: StoredHeaders = [...response.headers];
  const { status, statusText: reason, redirected } = response;
  recording.delivered({ kind: "response", boundary: "http", status });
  const at = recording.elapsed();
  const chunks: Chunk[] = [];
  const media = response.headers.get("content-type") ?? undefined;
  const finalUrl = response.url === "" ? url : withoutFragment(response.url);
  const complete = (end?: End): void =>
    settle({
      response: {
        at,
        status,
        ...(reason === "" ? {} : { reason }),
        ...(finalUrl === url ? {} : { url: finalUrl }),
        ...(redirected ? { redirected } : {}),
        seen: "decoded",
        headers,
        ...(chunks.length === 0 ? {} : { body: { chunks, media } }),
        ...(end === undefined ? {} : { end }),
      },
    });
  const facts = { status, reason, headers, url: finalUrl, redirected };
  if (response.body === null) {
    complete();
    return new RecordedResponse(hasNullBody(method, status) ? null : new Uint8Array(0), facts);
  }
  recording.onFinish = () => complete({ at: recording.elapsed(), by: "client" });
  return new RecordedResponse(recordStream(response.body, recording, chunks, signal, complete), facts);
}

// A byte stream without a queue that pulls the original: `tee()` and `clone()` would read ahead without bound.
function recordStream(
  source: ReadableStream<Uint8Array>,
  recording: Recording,
  chunks: Chunk[],
  signal: AbortSignal | undefined,
  complete: (end?: End) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const pull = async (controller: ReadableByteStreamController): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          controller.byobRequest?.respond(0);
          complete();
          return;
        }
        if (!ArrayBuffer.isView(value)) throw new TypeError("A chunk of the response's body is no Uint8Array.");
        if (value.length === 0) continue; // a byte stream cannot hand it on, so the program does not see it
        const after = recording.delivered({ kind: "frame", boundary: "http" });
        chunks.push({
          at: recording.elapsed(),
          bytes: new Uint8Array(value),
          ...(after === undefined ? {} : { after }),
        });
        // Enqueueing transfers the whole buffer behind a view, and that buffer is not ours: a fetch that is given may
        // keep it, or share it (Node's pool). Not `slice()`, which copies nothing where the view is a Node Buffer.
        controller.enqueue(new Uint8Array(value));
        return;
      }
    } catch (error) {
      const after = recording.delivered({ kind: "close", boundary: "http" });
      const at = recording.elapsed();
      if (signal?.aborted === true) complete({ at, by: "client" });
      else complete({ at, ...(after === undefined ? {} : { after }), error: errorToStored(error) });
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => {
    complete({ at: recording.elapsed(), by: "client" });
    return reader.cancel(reason);
  };
  return new ReadableStream({ type: "bytes", pull, cancel }, { highWaterMark: 0 });
}

// What goes out is what the program passed, but for bodies that can be read only once (streams, which are copied as
// they flow) and forms, whose boundary the platform makes up when it serialises them.
async function prepare(input: FetchInput, init: RequestInit | undefined): Promise<Outgoing> {
  const body = init?.body ?? (input instanceof Request ? input.body : null);
  const streamed =
    body instanceof ReadableStream || (typeof body === "object" && body !== null && Symbol.asyncIterator in body);
  const shown = new Request(input instanceof Request ? input.url : input, {
    method: init?.method ?? (input instanceof Request ? input.method : "GET"),
    headers: init?.headers ?? (input instanceof Request ? input.headers : []),
    // A stream is not looked at here, but whether the platform takes one (for this method, with this `duplex`) is.
    ...(body === null ? {} : { body: streamed ? new ReadableStream() : body }),
    ...(streamed ? { duplex: init?.body == null ? "half" : (init as { duplex?: string }).duplex } : {}),
  });
  const { method } = shown;
  const facts = { method, url: withoutFragment(shown.url), headers: [...shown.headers] as StoredHeaders };
  if (streamed) {
    const pieces: Uint8Array[] = [];
    const copied = copying(body as AsyncIterable<Uint8Array>, pieces);
    const seen = (): Uint8Array => concatBytes(pieces);
    const rest = { body: copied, duplex: "half" } as RequestInit;
    return input instanceof Request && init?.body == null
      ? { input: new Request(input, rest), init, ...facts, body: seen }
      : { input, init: { ...init, ...rest }, ...facts, body: seen };
  }
  if (body instanceof FormData) {
    const bytes = new Uint8Array(await shown.arrayBuffer());
    return { input, init: { ...init, headers: shown.headers, body: bytes }, ...facts, body: () => bytes };
  }
  const bytes =
    body instanceof Blob || body instanceof ArrayBuffer
      ? new Uint8Array(await shown.arrayBuffer())
      : plainBytes(body as string);
  return { input, init, ...facts, body: () => bytes };
}

function copying(source: AsyncIterable<Uint8Array>, pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) {
          controller.close();
          return;
        }
        pieces.push(plainBytes(value) ?? new Uint8Array(0)); // a text, which a fetch that is given may take, in UTF-8
        controller.enqueue(value);
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function originOf(url: string): string {
  return new URL(url).origin;
}
