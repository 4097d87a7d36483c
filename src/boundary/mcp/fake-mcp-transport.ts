import { openDoubleLedger, scriptExhausted } from "../../engine/double.ts";
import { platform } from "../../engine/platform.ts";
import { OptionInvalid, type WiretapeError, type WiretapeErrorCode } from "../../errors.ts";
import type { FlatEvent } from "../../pattern.ts";
import { createTraceLog, readScriptGate, type TraceLog, type TraceSource } from "../../trace-gate.ts";
import { isNotification, isRequest, type JsonRpcId, type JsonRpcMessage, type JsonRpcRequest } from "./json-rpc.ts";
import { requestTimeout } from "./request-timeout.ts";
import {
  checkAnswer,
  checkNotification,
  type ScriptedAnswer,
  type ScriptedNotification,
  type ScriptedOutcome,
} from "./scripted-answer.ts";
import type { McpSendOptions, McpTransport } from "./transport.ts";

/** A request that the client took back. */
export interface Cancellation {
  readonly requestId: JsonRpcId;
  readonly reason?: string | undefined;
}

export interface FakeMcpTransportOptions {
  /**
   * What the client takes the transport for: with `stdio` a probe that is not answered means a server of an older era;
   * with `http` each request has a stream of its own, and is taken back by its signal. Default: neither.
   */
  readonly like?: "stdio" | "http";
  /** Where gates of answers look beside the transport's own trace. `false`: nowhere, and they are open, with a warning. */
  readonly trace?: TraceSource;
}

const OUTCOMES = ["result", "raw", "error", "timeout", "throw"];

/**
 * A transport of MCP that answers from a script instead of from a server, and keeps everything that the client sent. It
 * fits the clients of both SDKs and both eras; there is no process, no socket and no time in it.
 *
 * Answers are queued for each method and used in order. A request that no answer is left for rejects with
 * `ScriptExhausted`, which is no answer of a server's and stays on the ledger, whatever the client makes of it.
 */
export class FakeMcpTransport implements McpTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JsonRpcMessage, extra?: unknown) => void) | undefined;
  sessionId?: string | undefined;
  /** The version that was negotiated, as the client told the transport. */
  protocolVersion: string | undefined;
  /** Every message of the client's in order, as it would have gone over the wire. */
  readonly sent: JsonRpcMessage[] = [];
  /** The requests that were taken back, by `notifications/cancelled` or by their signal. */
  readonly cancellations: Cancellation[] = [];
  /** How often the transport was closed. */
  closes = 0;
  declare readonly hasPerRequestStream?: boolean;
  readonly #ledger = openDoubleLedger(this);
  readonly #trace: TraceLog;
  readonly #scripts = new Map<string, ScriptedAnswer[]>();
  readonly #fallback: ScriptedAnswer[] = [];
  /** How many answers each method had, the ones it took of the fallback included. */
  readonly #had = new Map<string, number>();
  #open: "before" | "open" | "closed" = "before";

  constructor(options: FakeMcpTransportOptions = {}) {
    const { like, trace, ...rest } = typeof options === "object" && options !== null ? options : { none: options };
    if (Object.keys(rest).length > 0 || !(like === undefined || like === "stdio" || like === "http"))
      throw new OptionInvalid('FakeMcpTransport has two options: like, which is "stdio" or "http", and trace.', {
        options,
      });
    this.#trace = createTraceLog(trace, "FakeMcpTransport");
    // The SDKs look whether these are there at all.
    if (like === "stdio") Object.assign(this, { stderr: null, pid: null });
    if (like === "http") Object.assign(this, { hasPerRequestStream: true });
  }

  /** Queues answers for a method. They are used in order; `OptionInvalid` for one that is none. */
  script(method: string, ...answers: readonly ScriptedAnswer[]): this {
    answers.forEach((answer, i) => {
      checkAnswer(answer, `Answer ${i + 1} of script(${JSON.stringify(method)})`);
    });
    const queue = this.#scripts.get(method);
    if (queue === undefined) this.#scripts.set(method, [...answers]);
    else queue.push(...answers);
    this.#had.set(method, (this.#had.get(method) ?? 0) + answers.length);
    return this;
  }

  /** Queues answers for any method that has none of its own left, in the order in which they are asked for. */
  scriptAny(...answers: readonly ScriptedAnswer[]): this {
    answers.forEach((answer, i) => {
      checkAnswer(answer, `Answer ${i + 1} of scriptAny()`);
    });
    this.#fallback.push(...answers);
    return this;
  }

  /** The requests that were sent. */
  get requests(): readonly JsonRpcRequest[] {
    return this.sent.filter(isRequest);
  }

  /** The methods of the requests that were sent. */
  get sentMethods(): readonly string[] {
    return this.requests.map(({ method }) => method);
  }

  /** The JSON-RPC ids of the requests that were sent. */
  get sentIds(): readonly JsonRpcId[] {
    return this.requests.map(({ id }) => id);
  }

  /** The methods of the notifications that were sent. */
  get notifiedMethods(): readonly string[] {
    return this.sent.filter(isNotification).map(({ method }) => method);
  }

  /** The requests for one method. */
  requestsFor(method: string): readonly JsonRpcRequest[] {
    return this.requests.filter((request) => request.method === method);
  }

  /** How many answers were queued and never used. */
  get unused(): number {
    return [...this.#scripts.values()].reduce((sum, { length }) => sum + length, this.#fallback.length);
  }

  /** What the client sent, in order: `{ kind: "call", boundary: "mcp", op: method }`. Gates look at it. */
  get trace(): readonly FlatEvent[] {
    return this.#trace.events;
  }

  /** What was asked and is not in the script. */
  get violations(): readonly WiretapeError[] {
    return this.#ledger.violations;
  }

  /** Acknowledges one violation of this code that the test is about. */
  expectViolation(code: WiretapeErrorCode): void {
    this.#ledger.expectViolation(code);
  }

  /** Hands the client a notification that belongs to no answer. */
  emitNotification(notification: ScriptedNotification): void {
    checkNotification(notification, "What emitNotification() was given");
    if (this.onmessage === undefined || this.#open === "closed")
      throw new OptionInvalid("There is no client to notify: it is not connected, or the transport was closed.");
    this.onmessage(copied({ ...notification, jsonrpc: "2.0" }));
  }

  async start(): Promise<void> {
    if (this.#open === "open") throw new Error("FakeMcpTransport was started already.");
    this.#open = "open";
  }

  async close(): Promise<void> {
    this.closes++;
    if (this.#open === "closed") return;
    this.#open = "closed";
    this.onclose?.();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  async send(message: JsonRpcMessage, options?: McpSendOptions): Promise<void> {
    const wire = copied(message);
    this.sent.push(wire);
    if (wire.method !== undefined) this.#trace.log({ kind: "call", boundary: "mcp", op: wire.method });
    if (this.#open === "closed") throw new Error("FakeMcpTransport was closed.");
    if (!isRequest(wire)) {
      const { requestId, reason } = (wire.params ?? {}) as Partial<Cancellation>;
      if (wire.method === "notifications/cancelled" && requestId !== undefined) this.#cancelled(requestId, reason);
      return;
    }
    const { requestSignal } = options ?? {};
    requestSignal?.addEventListener("abort", () => this.#cancelled(wire.id, undefined), { once: true });
    const answer = this.#take(wire);
    await this.#trace.opened(readScriptGate(answer.after, wire.method), requestSignal);
    const outcome = await this.#resolve(wire, answer);
    for (const notification of outcome.notify ?? []) {
      await turn();
      this.#deliver(wire.id, withProgressToken(notification, wire));
    }
    await turn();
    this.#settle(wire, outcome, options);
  }

  #take({ method }: JsonRpcRequest): ScriptedAnswer {
    const own = this.#scripts.get(method)?.shift();
    if (own !== undefined) return own;
    const have = this.#had.get(method) ?? 0;
    const any = this.#fallback.shift();
    if (any !== undefined) {
      this.#had.set(method, have + 1);
      return any;
    }
    const asked = this.requestsFor(method).length;
    const error = scriptExhausted({ double: "FakeMcpTransport", unit: "answer", have, asked, request: method });
    throw this.#ledger.fail(error, method);
  }

  async #resolve(request: JsonRpcRequest, answer: ScriptedAnswer): Promise<ScriptedOutcome> {
    if (!("respond" in answer)) return answer;
    const outcome = await answer.respond(copied(request));
    try {
      checkAnswer(outcome, `What respond() gave for ${request.method}`, OUTCOMES);
    } catch (error) {
      throw this.#ledger.fail(error as OptionInvalid, request.method);
    }
    return { ...outcome, notify: [...(answer.notify ?? []), ...(outcome.notify ?? [])] };
  }

  #settle(request: JsonRpcRequest, outcome: ScriptedOutcome, options: McpSendOptions | undefined): void {
    const { id, method } = request;
    const answer = (part: object): void => this.#deliver(id, { jsonrpc: "2.0", id, ...part });
    if ("throw" in outcome) throw outcome.throw;
    if ("raw" in outcome) answer({ result: outcome.raw });
    else if ("result" in outcome) answer({ result: { ...defaultsFor(request), ...outcome.result } });
    else if ("error" in outcome) {
      const { code, message = `The script answers ${method} with this error.`, data } = outcome.error;
      answer({ error: { code, message, ...(data === undefined ? {} : { data }) } });
    } else {
      const failure = requestTimeout(method, outcome.timeout, options);
      if (failure instanceof Error) throw failure;
      if (failure !== undefined) answer({ error: failure });
    }
  }

  // What was taken back is not answered: the clients would take the answer for one to a request that they never made.
  #deliver(id: JsonRpcId, message: object): void {
    if (this.#open === "closed" || this.cancellations.some(({ requestId }) => requestId === id)) return;
    this.onmessage?.(copied(message) as JsonRpcMessage);
  }

  #cancelled(requestId: JsonRpcId, reason: string | undefined): void {
    if (this.cancellations.some((one) => one.requestId === requestId)) return;
    this.cancellations.push(reason === undefined ? { requestId } : { requestId, reason });
  }
}

const CACHEABLE = /^(server\/discover|(tools|prompts|resources|resources\/templates)\/list|resources\/read)$/;

// What the protocol demands of every result since 2026-07-28, said by the request itself. The clients of older eras
// refuse it where a result is to be empty.
function defaultsFor({ method, params }: JsonRpcRequest): object {
  const meta = params?._meta as Record<string, unknown> | undefined;
  if (meta?.["io.modelcontextprotocol/protocolVersion"] === undefined) return {};
  return { resultType: "complete", ...(CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: "private" } : {}) };
}

function withProgressToken(notification: ScriptedNotification, request: JsonRpcRequest): JsonRpcMessage {
  const meta = request.params?._meta as { progressToken?: unknown } | undefined;
  const { method, params } = notification;
  const token = method === "notifications/progress" && meta?.progressToken !== undefined;
  return {
    ...notification,
    jsonrpc: "2.0",
    ...(token ? { params: { progressToken: meta.progressToken, ...params } } : {}),
  };
}

// What crosses a wire is JSON, and nobody's to change for the other side.
function copied<T>(message: T): T {
  return JSON.parse(JSON.stringify(message)) as T;
}

function turn(): Promise<void> {
  return new Promise((resolve) => platform.turn(resolve));
}
