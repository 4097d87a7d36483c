import { errorToStored } from "../../cassette/stored-error.ts";
import { recordDuplex } from "../../engine/duplex-record.ts";
import type { Recording } from "../../engine/recorder.ts";
import type { Session } from "../../engine/session.ts";
import { encodeUtf8 } from "../../wire/bytes.ts";
import { type McpOpening, mcpConversations, mcpOpenings } from "./conversation.ts";
import { isRequest, type JsonRpcMessage } from "./json-rpc.ts";
import { noteError } from "./noted-error.ts";
import { createSendCounter } from "./send-counter.ts";
import type { Listener, TapedConversation } from "./taped-conversation.ts";
import type { McpSendOptions, McpTransport } from "./transport.ts";
import { cancelNote, type TransportFacts, type TransportNote } from "./transport-note.ts";

/** Records a conversation over a real transport. */
export function recordMcp(
  session: Session,
  recording: Recording,
  inner: McpTransport,
  listener: Listener,
): TapedConversation {
  session.redactor.environment(environmentOf(inner));
  const open = openingOf(inner);
  const facts = factsOf(inner);
  const duplex = recordDuplex(recording, mcpConversations, open, mcpOpenings.event(open));
  const nameOf = createSendCounter();
  let sessionId = inner.sessionId;
  let ending = false;
  let over = false;
  let tail: Promise<void> = Promise.resolve();

  // One a turn, as a replay hands them out: what the program makes of two messages may depend on which come together.
  const inTurn = (run: () => void): Promise<void> => {
    tail = tail.then(() => session.turn()).then(run);
    return tail;
  };
  const tell = (message: object): void => duplex.received("server", encoded(message));
  const note = (told: TransportNote, run: () => void): Promise<void> =>
    inTurn(() => {
      if (ending) return;
      tell({ jsonrpc: "2.0", ...told });
      guarded(run);
    });
  const guarded = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      listener.onerror?.(error as Error); // as the transports of the SDKs do
    }
  };
  const noteSession = (): void => {
    if (inner.sessionId === sessionId) return;
    sessionId = inner.sessionId;
    const now = sessionId;
    void note({ method: "$/session", params: { sessionId: now ?? null } }, () => {
      listener.sessionId = now;
    });
  };
  const end = (): void => {
    if (over) return;
    over = true;
    ending = true;
    duplex.closed();
    listener.onclose?.();
  };

  const { onmessage, onerror, onclose } = inner;
  inner.onmessage = (message, extra) => {
    onmessage?.(message, extra);
    noteSession();
    void inTurn(() => {
      if (ending) return;
      tell(message);
      guarded(() => listener.onmessage?.(message, extra));
    });
  };
  inner.onerror = (error) => {
    onerror?.(error);
    void note({ method: "$/error", params: { error: noteError(error) } }, () => listener.onerror?.(error));
  };
  inner.onclose = () => {
    onclose?.();
    void inTurn(end);
  };
  const { stdio, ...rest } = facts;
  const params = stdio === true && open.command === undefined ? facts : rest; // a command says that it is a process
  if (Object.keys(params).length > 0) tell({ jsonrpc: "2.0", method: "$/transport", params });

  // What the transport tells of one message, told in its turn.
  function watched(message: JsonRpcMessage, options: McpSendOptions | undefined): McpSendOptions | undefined {
    if (options === undefined || !isRequest(message)) return options;
    const requestId = message.id;
    const { onresumptiontoken, onRequestStreamEnd, requestSignal } = options;
    requestSignal?.addEventListener("abort", () => !ending && duplex.sent(encoded(cancelNote(requestId))), {
      once: true,
    });
    return {
      ...options,
      ...(onresumptiontoken && {
        onresumptiontoken: (eventId) =>
          void note({ method: "$/resumption", params: { requestId, eventId } }, () => onresumptiontoken(eventId)),
      }),
      ...(onRequestStreamEnd && {
        onRequestStreamEnd: () => void note({ method: "$/stream-end", params: { requestId } }, onRequestStreamEnd),
      }),
    };
  }

  return {
    facts,
    inner,
    async start() {
      try {
        await inner.start();
      } catch (error) {
        over = true;
        ending = true;
        duplex.refused({ at: duplex.elapsed(), ...errorToStored(error) });
        throw error;
      }
      noteSession();
    },
    async send(message, options) {
      const name = nameOf(message);
      if (!ending) duplex.sent(encoded(message));
      try {
        await inner.send(message, watched(message, options));
      } catch (error) {
        await note({ method: "$/failed", params: { ...name, error: noteError(error) } }, () => undefined);
        throw error;
      } finally {
        noteSession();
      }
    },
    async close() {
      if (!ending) duplex.called("close");
      ending = true; // what comes now is nobody's, in a replay as well
      await inner.close();
      await inTurn(end);
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
}

const encoded = (message: object): Uint8Array => encodeUtf8(JSON.stringify(message));

// The SDKs' transports keep what they were made with; others are recorded without.
function openingOf(transport: object): McpOpening {
  const { _serverParams: params, _url: url } = transport as {
    _serverParams?: { command?: unknown; args?: unknown };
    _url?: unknown;
  };
  if (typeof params?.command === "string") {
    const argv = Array.isArray(params.args) ? params.args.map(String) : [];
    return { command: params.command, ...(argv.length === 0 ? {} : { argv }) };
  }
  return url instanceof URL ? { url: url.href } : {};
}

/** A server that is started with a token of its own may say it. */
function environmentOf(transport: object): Readonly<Record<string, string | undefined>> {
  const { _serverParams: params } = transport as { _serverParams?: { env?: Record<string, string> } };
  return params?.env ?? {};
}

function factsOf(transport: McpTransport): TransportFacts {
  const { sessionId, hasPerRequestStream } = transport;
  return {
    ...("stderr" in transport && "pid" in transport ? { stdio: true } : {}),
    ...(hasPerRequestStream === true ? { perRequestStream: true } : {}),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
