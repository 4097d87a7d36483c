import type { AgentContract, FileRecord } from "./protocol.ts";
import type { AgentRouteName } from "./routes.ts";
import { badRequest } from "./server-body.ts";
import type { AgentClientTransport, RegenerateInput, RetryInput, SendInput, ToolDataInput } from "./transport.ts";

/** A request as its route understands it. */
export interface ServedCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; `{}` for a route without one. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The body as it came. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string | undefined;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

export type ServedAnswer =
  | { readonly kind: "json"; readonly status: number; readonly value: unknown }
  | { readonly kind: "nothing" }
  | { readonly kind: "file"; readonly file: FileRecord; readonly body: Blob }
  | { readonly kind: "events"; readonly events: AsyncIterable<object> };

type Answerer = (
  transport: AgentClientTransport<AgentContract>,
  call: ServedCall,
) => ServedAnswer | Promise<ServedAnswer>;

const json = (value: unknown, status = 200): ServedAnswer => ({ kind: "json", status, value });
const nothing: ServedAnswer = { kind: "nothing" };
const param = (call: ServedCall, name: string): string => call.params[name] as string;

/** What each route asks of the served transport. The path decides on the ids, whatever a body says. */
export const answerers: Readonly<Record<AgentRouteName, Answerer>> = {
  async send(transport, { json: body, params }) {
    return json(await transport.send({ ...body, ...params } as unknown as SendInput), 202);
  },
  async retry(transport, { json: body, params }) {
    return json(await transport.retry({ ...body, ...params } as unknown as RetryInput), 202);
  },
  async regenerate(transport, { json: body, params }) {
    return json(await transport.regenerate({ ...body, ...params } as unknown as RegenerateInput), 202);
  },
  async submitAction(transport, call) {
    const { output, ...rest } = call.json;
    const ids = { threadId: param(call, "threadId"), actionId: param(call, "actionId") };
    return json(await transport.submitAction({ ...rest, output, ...ids }));
  },
  watchThread(transport, call) {
    const includeInitial = flag(call.query, "initial");
    const options = { signal: call.signal, ...(includeInitial !== undefined && { includeInitial }) };
    return { kind: "events", events: transport.watchThread(param(call, "threadId"), options) };
  },
  watchThreadHeads(transport, { signal }) {
    return { kind: "events", events: transport.watchThreadHeads({ signal }) };
  },
  async getThreadState(transport, call) {
    return json(await transport.getThreadState(param(call, "threadId")));
  },
  async listThreads(transport) {
    return json({ threads: await transport.listThreads() });
  },
  async getManifest(transport) {
    return json(await transport.getManifest());
  },
  async renameThread(transport, call) {
    const title = call.json.title as string;
    return json(await transport.renameThread({ ...call.json, title, threadId: param(call, "threadId") }));
  },
  async deleteThread(transport, call) {
    await transport.deleteThread(param(call, "threadId"));
    return nothing;
  },
  async uploadFile(transport, { query, body, contentType }) {
    const filename = query.get("filename");
    if (filename === null)
      throw badRequest(
        400,
        "invalid-query",
        `The query must have "filename": POST /files?filename=notes.txt&mediaType=text/plain`,
      );
    const mediaType = query.get("mediaType") ?? contentType ?? "application/octet-stream";
    const metadata = metadataIn(query);
    const blob = new Blob([body], { type: mediaType });
    return json(await transport.uploadFile({ filename, mediaType, body: blob, ...(metadata && { metadata }) }), 201);
  },
  async readFile(transport, call) {
    return { kind: "file", ...(await transport.readFile(param(call, "fileId"))) };
  },
  async createFileUrl(transport, call) {
    return json({ url: await transport.createFileUrl(param(call, "fileId")) });
  },
  async executeCommand(transport, call) {
    const ids = { threadId: param(call, "threadId"), name: param(call, "name") };
    return json({ output: await transport.executeCommand({ ...ids, input: call.json.input }) });
  },
  async writeToolData(transport, { json: body, params }) {
    await transport.writeToolData({ ...body, ...params } as unknown as ToolDataInput);
    return nothing;
  },
  supports(transport) {
    return json(transport.supports);
  },
};

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw badRequest(400, "invalid-query", `"${name}" in the query must be true or false, not "${text}".`);
}

function metadataIn(query: URLSearchParams): Readonly<Record<string, unknown>> | undefined {
  const text = query.get("metadata");
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // told below, as for JSON that is no object
  }
  throw badRequest(400, "invalid-query", `"metadata" in the query must be a JSON object, not ${text.slice(0, 80)}.`);
}
