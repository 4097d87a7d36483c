import { createHttpAgentTransport } from "../../../src/agent/http.ts";
import { createMockAgentTransport, type MockAgentTransport } from "../../../src/agent/mock.ts";
import type { PaiThreadTransportEvent } from "../../../src/agent/protocol.ts";
import { type ServedAgentTransport, serveAgentTransport } from "../../../src/agent/server.ts";
import { rawEventText } from "../../../src/agent/sse-events.ts";
import type { AgentClientTransport } from "../../../src/agent/transport.ts";
import type { SupportContract } from "../../agent/support-contract.ts";

export type Transport = AgentClientTransport<SupportContract>;
export type Event = PaiThreadTransportEvent<SupportContract>;

/** A mock behind a real server, and what reaches it over a socket. */
export interface Backend extends AsyncDisposable {
  readonly mock: MockAgentTransport<SupportContract>;
  readonly served: ServedAgentTransport;
  readonly http: Transport;
}

export async function startBackend(): Promise<Backend> {
  const mock = createMockAgentTransport<SupportContract>({ initialMetadata: { rating: null } });
  const served = await serveAgentTransport(mock);
  const http = createHttpAgentTransport<SupportContract>({ baseUrl: served.url });
  return { mock, served, http, [Symbol.asyncDispose]: () => served.close() };
}

/** The exact text of an event, as it came. */
export const textOf = (event: object): string => rawEventText(event) ?? `(printed) ${JSON.stringify(event)}`;

/** A watch that is read in the background: what it gave, and waits for what it has yet to give. */
export interface Reader {
  readonly texts: string[];
  readonly events: Event[];
  /** Resolves once an event of this type has come, `count` times. */
  seen(type: string, count?: number): Promise<void>;
  /** Leaves the watch, and resolves with how it ended. */
  leave(): Promise<unknown>;
  readonly ended: Promise<unknown>;
}

export function readWatch(transport: Transport, threadId: string, options: { includeInitial?: boolean } = {}): Reader {
  const leaving = new AbortController();
  const texts: string[] = [];
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  const ended = (async () => {
    try {
      for await (const event of transport.watchThread(threadId, { ...options, signal: leaving.signal })) {
        texts.push(textOf(event));
        events.push(event);
        for (const look of [...waiting]) look();
      }
      return "ended";
    } catch (error) {
      return error;
    }
  })();
  return {
    texts,
    events,
    ended,
    seen: (type, count = 1) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (events.filter((event) => event.type === type).length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void ended.then((how) => reject(new Error(`the watch ended before ${type} came: ${String(how)}`)));
        look();
      }),
    leave() {
      leaving.abort();
      return ended;
    },
  };
}

/** What a call gave, comparable: a value, or its error. */
export async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call };
  } catch (error) {
    const { name, message, code } = error as Error & { code?: unknown };
    return { error: { name, message, ...(code === undefined ? {} : { code }) } };
  }
}

export const bytesOf = async (blob: Blob): Promise<number[]> => [...new Uint8Array(await blob.arrayBuffer())];
