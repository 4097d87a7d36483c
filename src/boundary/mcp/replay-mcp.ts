import type { Frame, McpTrack, Sidecar } from "../../cassette/schema.ts";
import { storedToError } from "../../cassette/stored-error.ts";
import { type DuplexPlay, type DuplexStep, playDuplex } from "../../engine/duplex-play.ts";
import type { Play } from "../../engine/play.ts";
import type { Session } from "../../engine/session.ts";
import { decodeUtf8, encodeUtf8 } from "../../wire/bytes.ts";
import { mcpConversations } from "./conversation.ts";
import { isRequest, type JsonRpcMessage } from "./json-rpc.ts";
import { errorFromNote } from "./noted-error.ts";
import { createSendCounter, type SendName } from "./send-counter.ts";
import type { Listener, TapedConversation } from "./taped-conversation.ts";
import type { McpSendOptions } from "./transport.ts";
import { cancelNote, noteIn, type TransportFacts, type TransportNote } from "./transport-note.ts";

interface Sending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Plays a recorded conversation: there is no transport and no server. */
export function replayMcp(session: Session, play: Play, listener: Listener): TapedConversation {
  const track = play.track as McpTrack;
  const frames = track.frames ?? [];
  const failing = failuresIn(frames);
  const nameOf = createSendCounter();
  const asked = new Map<string, McpSendOptions>();
  const sending = new Map<string, Sending>();
  let duplex: DuplexPlay | undefined;
  let pending: ReturnType<DuplexPlay["next"]> | undefined;
  let over = false;

  const end = (): void => {
    if (over) return;
    over = true;
    for (const { resolve } of sending.values()) resolve();
    listener.onclose?.();
  };

  async function pump(conversation: DuplexPlay): Promise<void> {
    while (!over) {
      pending = conversation.next();
      let step: DuplexStep;
      try {
        step = await pending.promise;
      } catch (error) {
        listener.onerror?.(error as Error); // nothing will come any more, and the program is told so
        end();
        return;
      }
      if (over || step.type === "open" || step.type === "finished") return;
      if (step.type === "frame") hand(step.bytes);
      else {
        if (step.type === "broke") listener.onerror?.(storedToError(step.error));
        end();
      }
    }
  }

  function hand(bytes: Uint8Array): void {
    try {
      const message = JSON.parse(decodeUtf8(bytes) ?? "") as JsonRpcMessage;
      const note = noteIn(message);
      if (note !== undefined) {
        tell(note);
        return;
      }
      if (message.method === undefined) settle({ requestId: message.id as string | number })?.resolve();
      listener.onmessage?.(message);
    } catch (error) {
      listener.onerror?.(error as Error); // as the transports of the SDKs do: no JSON, or the program's handler failed
    }
  }

  function tell({ method, params }: TransportNote): void {
    if (method === "$/session") listener.sessionId = params.sessionId ?? undefined;
    else if (method === "$/resumption")
      asked.get(JSON.stringify(params.requestId))?.onresumptiontoken?.(params.eventId);
    else if (method === "$/stream-end") asked.get(JSON.stringify(params.requestId))?.onRequestStreamEnd?.();
    else if (method === "$/failed") settle(params)?.reject(errorFromNote(params.error));
    else if (method === "$/error") listener.onerror?.(errorFromNote(params.error));
  }

  function settle(name: SendName): Sending | undefined {
    const key = keyOf(name);
    const found = sending.get(key);
    sending.delete(key);
    return found;
  }

  function remember(message: JsonRpcMessage, options: McpSendOptions | undefined): void {
    if (options === undefined || !isRequest(message)) return;
    const { id } = message;
    const { onresumptiontoken, onRequestStreamEnd, requestSignal } = options;
    if (onresumptiontoken !== undefined || onRequestStreamEnd !== undefined) asked.set(JSON.stringify(id), options);
    const takeBack = (): void => {
      if (over) return;
      try {
        duplex?.sent(encoded(cancelNote(id)));
      } catch (error) {
        listener.onerror?.(error as Error); // nobody waits for it; it is on the deck
      }
    };
    requestSignal?.addEventListener("abort", takeBack, { once: true });
  }

  return {
    facts: factsIn(track),
    async start() {
      const files = frames.flatMap(({ file }): Sidecar[] => (file === undefined ? [] : [file]));
      duplex = playDuplex(play, mcpConversations, files.length === 0 ? undefined : await session.sidecars(files));
      await duplex.opened().promise;
      if (track.fault !== undefined) {
        over = true;
        throw storedToError(track.fault);
      }
      void pump(duplex);
    },
    async send(message, options) {
      if (duplex === undefined || over) throw new Error("Not connected");
      const name = nameOf(message);
      remember(message, options);
      duplex.sent(encoded(message));
      if (isRequest(message) ? failing.requests : failing.others.has(keyOf(name)))
        await new Promise<void>((resolve, reject) => sending.set(keyOf(name), { resolve, reject }));
    },
    async close() {
      if (over) return;
      pending?.cancel();
      duplex?.called("close");
      play.note({ kind: "close", boundary: "mcp" });
      await session.turn();
      end();
    },
  };
}

// The `send` of what was recorded to fail is not over before that is told; any other is at once.
function failuresIn(frames: readonly Frame[]): { requests: boolean; others: ReadonlySet<string> } {
  const names = frames.flatMap(({ json }): SendName[] => {
    const note = json === undefined ? undefined : noteIn(json);
    return note?.method === "$/failed" ? [note.params] : [];
  });
  return {
    requests: names.some((name) => "requestId" in name),
    others: new Set(names.map(keyOf)),
  };
}

function factsIn({ frames = [], open }: McpTrack): TransportFacts {
  const note = noteIn(frames[0]?.json);
  const told = note?.method === "$/transport" ? note.params : {};
  return open?.command === undefined ? told : { stdio: true, ...told };
}

const keyOf = (name: SendName): string =>
  "requestId" in name ? JSON.stringify(name.requestId) : `${name.message} ${name.number}`;

const encoded = (message: object): Uint8Array => encodeUtf8(JSON.stringify(message));
