import { OptionInvalid } from "../errors.ts";
import { createHttpRequester, type HttpPlace, readJson } from "./http-request.ts";
import { type AgentTransportWarning, type WatchSource, watchStream } from "./http-watch.ts";
import type { AgentContract, FileRecord } from "./protocol.ts";
import { FILE_RECORD_HEADER, FILE_RECORD_LIMIT } from "./routes.ts";
import type { AcceptedRun, AgentClientTransport, TransportSupports } from "./transport.ts";

export interface HttpAgentTransportOptions extends HttpPlace {
  /** What the server supports, where it is known; what is left out counts as supported. `readSupports()` asks it. */
  readonly supports?: Partial<TransportSupports> | undefined;
  /** Told of what a watch stream had wrong. Where it was an event, the stream goes on with a `state.changed`. */
  readonly onWarning?: ((warning: AgentTransportWarning) => void) | undefined;
}

/** A transport over HTTP, which can ask its server what it supports. */
export interface HttpAgentTransport<T extends AgentContract = AgentContract> extends AgentClientTransport<T> {
  /** Asks the server (`GET /supports`); from then on `supports` is what it said. */
  readSupports(): Promise<TransportSupports>;
}

const OPTIONS = ["baseUrl", "fetch", "headers", "supports", "onWarning"];
const EVERYTHING: TransportSupports = { watch: true, heads: true, files: true, commands: true, regeneration: true };

/**
 * The agent protocol over HTTP, against `serveAgentTransport` or any server with the same routes.
 *
 * `fetch` is used for every request (`tapeFetch(deck)` records the session on the wire); `headers` go with each, and a
 * function is asked anew each time. Nothing is retried and nothing is requested that was not asked for.
 *
 * An error of the served transport rejects as a plain `Error` with its `name`, `message` and `code`, and the answer's
 * `status` (`AgentTransportError`). A watch makes its request at the first `next()`; it ends when the server ends it, at
 * once when its signal aborts or `return()` is called, and rejects where the connection breaks. An event that is
 * malformed is yielded as `state.changed` and told to `onWarning`. `rawEventText(event)` is an event's text as it came.
 *
 * @throws OptionInvalid for an unknown option, or a `baseUrl` that cannot be one.
 */
export function createHttpAgentTransport<T extends AgentContract = AgentContract>(
  options: HttpAgentTransportOptions,
): HttpAgentTransport<T> {
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue;
    const message = `createHttpAgentTransport has no option "${name}". It has ${OPTIONS.join(", ")}.`;
    throw new OptionInvalid(message, { option: name });
  }
  const request = createHttpRequester(options);
  const warn = options.onWarning ?? (() => undefined);
  let supports: TransportSupports = { ...EVERYTHING, ...options.supports };

  const watch = (signal: AbortSignal | undefined, open: WatchSource["open"]): WatchSource => ({ open, signal, warn });
  const streaming = (signal: AbortSignal) => ({ signal, accept: "text/event-stream" });

  return {
    get supports() {
      return supports;
    },
    async readSupports() {
      supports = { ...supports, ...(await readJson<TransportSupports>(await request("supports", {}))) };
      return supports;
    },
    async send({ threadId, ...json }) {
      return readJson<AcceptedRun>(await request("send", { threadId }, { json }));
    },
    async retry({ threadId, ...json }) {
      return readJson(await request("retry", { threadId }, { json }));
    },
    async regenerate({ threadId, ...json }) {
      return readJson(await request("regenerate", { threadId }, { json }));
    },
    async submitAction({ threadId, actionId, ...json }) {
      return readJson(await request("submitAction", { threadId, actionId }, { json }));
    },
    watchThread(threadId, { includeInitial, signal } = {}) {
      const query = includeInitial === false ? { initial: "false" } : undefined;
      const extras = query === undefined ? {} : { query };
      return watchStream(
        watch(signal, (closing) => request("watchThread", { threadId }, { ...extras, ...streaming(closing) })),
      );
    },
    watchThreadHeads({ signal } = {}) {
      return watchStream(watch(signal, (closing) => request("watchThreadHeads", {}, streaming(closing))));
    },
    async getThreadState(threadId) {
      return readJson(await request("getThreadState", { threadId }));
    },
    async listThreads() {
      return (await readJson<{ threads: [] }>(await request("listThreads", {}))).threads;
    },
    async getManifest() {
      return readJson(await request("getManifest", {}));
    },
    async renameThread({ threadId, ...json }) {
      return readJson(await request("renameThread", { threadId }, { json }));
    },
    async deleteThread(threadId) {
      await finish(await request("deleteThread", { threadId }));
    },
    async uploadFile({ filename, mediaType, body, metadata }) {
      const query = { filename, mediaType, ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }) };
      const size = new URLSearchParams(query).toString().length;
      if (size > FILE_RECORD_LIMIT) {
        const message = `The name, media type and metadata of "${filename.slice(0, 80)}" take ${size} bytes; ${FILE_RECORD_LIMIT} cross HTTP beside a file.`;
        throw new OptionInvalid(message, { size, limit: FILE_RECORD_LIMIT });
      }
      return readJson(await request("uploadFile", {}, { query, body }));
    },
    async readFile(fileId) {
      const answer = await request("readFile", { fileId }, { accept: "*/*" });
      const record = answer.response.headers.get(FILE_RECORD_HEADER);
      if (record === null)
        throw new Error(`${answer.request} was answered without the header ${FILE_RECORD_HEADER}, the file's record.`);
      const file = JSON.parse(decodeURIComponent(record)) as FileRecord;
      return { file, body: new Blob([await answer.response.arrayBuffer()], { type: file.mediaType }) };
    },
    async createFileUrl(fileId) {
      return (await readJson<{ url: string | null }>(await request("createFileUrl", { fileId }))).url;
    },
    async executeCommand({ threadId, name, input }) {
      const answer = await request("executeCommand", { threadId, name }, { json: { input } });
      return (await readJson<{ output?: unknown }>(answer)).output;
    },
    async writeToolData({ threadId, ...json }) {
      await finish(await request("writeToolData", { threadId }, { json }));
    },
  };
}

// Read to its end although nothing is in it: a body that nobody reads keeps its connection.
async function finish({ response }: { readonly response: Response }): Promise<void> {
  await response.arrayBuffer();
}
