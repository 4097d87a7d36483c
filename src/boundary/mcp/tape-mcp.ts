import { type Claim, type Lane, type Session, sessionOf } from "../../engine/session.ts";
import { mcpOpenings } from "./conversation.ts";
import type { JsonRpcMessage } from "./json-rpc.ts";
import { recordMcp } from "./record-mcp.ts";
import { replayMcp } from "./replay-mcp.ts";
import type { TapedConversation } from "./taped-conversation.ts";
import type { AnyMcpTransport, McpSendOptions, McpTransport } from "./transport.ts";

/**
 * A transport of MCP on tape: give it to a client of either SDK where it takes a transport.
 *
 * Recording: the transport that `open` makes is used, and every message of both sides goes into one track, from start to
 * close; the client sees each when it comes, each in a turn of the event loop of its own. Replaying: `open` is not called
 * and there is no server; a message of the server's comes when those of the client's that came before it have come. What
 * the client sends is compared by method and params, without `_meta` and without the ids that it makes up; concurrent
 * requests may come in any order, and answers, progress and cancellations bear the ids of this time. A message that was
 * not recorded rejects its `send` with `FrameMismatch` or `ScriptExhausted`, and stays on the deck.
 *
 * Conversations are played in their recorded order within a lane: several servers at a time go in lanes of their own. A
 * transport that is started again after its close begins the next conversation.
 */
export function tapeMcp(deck: Lane, open: () => AnyMcpTransport): McpTransport {
  const session = sessionOf(deck);
  if (session.mode === "live") return open() as unknown as McpTransport;
  return new TapedTransport(session, open);
}

// A class, because clients set its callbacks and look at what it has.
class TapedTransport implements McpTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JsonRpcMessage, extra?: unknown) => void) | undefined;
  sessionId?: string | undefined;
  /** The version that was negotiated, as the client told the transport. */
  protocolVersion: string | undefined;
  declare readonly hasPerRequestStream?: boolean;
  readonly #session: Session;
  readonly #open: () => AnyMcpTransport;
  #conversation: TapedConversation | Promise<TapedConversation>;
  #state: "new" | "started" | "closed" = "new";

  constructor(session: Session, open: () => AnyMcpTransport) {
    this.#session = session;
    this.#open = open;
    this.#conversation = this.#begin();
  }

  async start(): Promise<void> {
    if (this.#state === "started") throw new Error("This MCP transport was started already.");
    if (this.#state === "closed") this.#conversation = this.#begin();
    this.#state = "started";
    await (await this.#conversation).start();
  }

  async send(message: JsonRpcMessage, options?: McpSendOptions): Promise<void> {
    const conversation = this.#conversation;
    // At once where it can be: the order in which a program sends is that of its calls.
    await (conversation instanceof Promise ? await conversation : conversation).send(message, options);
  }

  async close(): Promise<void> {
    this.#state = "closed";
    await (await this.#conversation).close();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
    const conversation = this.#conversation;
    if (!(conversation instanceof Promise)) conversation.setProtocolVersion?.(version);
  }

  #begin(): TapedConversation | Promise<TapedConversation> {
    const admission = this.#session.admit();
    if (admission.recording !== undefined) return this.#begun({ record: admission.recording });
    let claim: Claim | Promise<Claim>;
    try {
      claim = admission.claim(mcpOpenings, {});
    } catch (error) {
      return this.#refused(error);
    }
    if (!(claim instanceof Promise)) return this.#begun(claim);
    return claim.then(
      (late) => this.#begun(late),
      (error: unknown) => this.#refused(error),
    );
  }

  #begun(claim: Claim): TapedConversation {
    if ("play" in claim) return this.#show(replayMcp(this.#session, claim.play, this));
    let inner: McpTransport;
    try {
      inner = this.#open() as unknown as McpTransport;
    } catch (error) {
      claim.record.drop();
      throw error;
    }
    return this.#show(recordMcp(this.#session, claim.record, inner, this));
  }

  // There is no such conversation: a transport says so when it is started, as one that finds no server.
  #refused(error: unknown): TapedConversation {
    const refuse = (): Promise<never> => Promise.reject(error);
    return { facts: {}, start: refuse, send: refuse, close: async () => this.onclose?.() };
  }

  // The SDKs ask whether a transport has these at all.
  #show(conversation: TapedConversation): TapedConversation {
    const { facts, inner } = conversation;
    const told = (name: string, get: () => unknown): void => {
      Object.defineProperty(this, name, { get, configurable: true, enumerable: true });
    };
    if (facts.stdio === true) {
      for (const name of ["stderr", "pid"]) told(name, () => (inner === undefined ? null : Reflect.get(inner, name)));
    }
    if (facts.perRequestStream === true) told("hasPerRequestStream", () => true);
    this.sessionId = facts.sessionId;
    return conversation;
  }
}
