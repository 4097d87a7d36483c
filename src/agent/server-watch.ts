import type { ServerResponse } from "node:http";
import { encodeEvent } from "../wire/sse.ts";
import { errorBody } from "./http-error.ts";
import { rawEventText } from "./sse-events.ts";

// Captured at import, so that a test with fake timers cannot touch a server that runs in its process.
const { setInterval: startInterval, clearInterval: stopInterval } = globalThis;

/**
 * Writes the events of a watch to a response, one `data:` field each, until they end or the signal aborts; then ends
 * the response. An event that came with a text of its own is written with that text. The next event is asked for once
 * the client has taken the ones before, as far as the connection's buffers go. An error ends the stream as
 * `event: error`, with the JSON that an HTTP error has.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<object>,
  signal: AbortSignal,
  heartbeatMs: number,
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
  const heartbeat = startInterval(() => {
    if (!response.writableNeedDrain) response.write(": keep-alive\n\n");
  }, heartbeatMs);
  heartbeat.unref();

  let iterator: AsyncIterator<object> | undefined;
  // A transport that waits for its next event may not hear the signal: the response ends all the same.
  const stop = (): void => {
    stopInterval(heartbeat);
    signal.removeEventListener("abort", stop);
    if (!response.writableEnded) response.end();
    iterator?.return?.()?.then(undefined, () => undefined); // nobody is there any more to be told
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) return stop();
  try {
    iterator = events[Symbol.asyncIterator]();
    for (let next = await iterator.next(); !next.done && !signal.aborted; next = await iterator.next())
      if (!response.write(eventText(next.value))) await drained(response, signal);
  } catch (error) {
    if (!signal.aborted) response.write(encodeEvent({ event: "error", data: JSON.stringify(errorBody(error)) }));
  } finally {
    stop();
  }
}

function eventText(event: object): string {
  const text = rawEventText(event) ?? JSON.stringify(event);
  return text.includes("\n") ? encodeEvent({ data: text }) : `data: ${text}\n\n`;
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      response.off("drain", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    response.on("drain", finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}
