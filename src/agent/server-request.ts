import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody } from "./http-error.ts";
import type { AgentContract, FileRecord } from "./protocol.ts";
import {
  type AgentRoute,
  agentRoutes,
  FILE_RECORD_HEADER,
  FILE_RECORD_LIMIT,
  matchRoute,
  routeNames,
} from "./routes.ts";
import { answerers, type ServedAnswer } from "./server-answers.ts";
import { badRequest, parseJsonBody, readBody } from "./server-body.ts";
import { sendEvents } from "./server-watch.ts";
import type { AgentClientTransport } from "./transport.ts";

export interface ServerLimits {
  readonly maxBodyBytes: number;
  readonly heartbeatMs: number;
}

/** Answers one request from the transport, errors included. The signal: the client has gone, or the server closes. */
export async function answerRequest(
  transport: AgentClientTransport<AgentContract>,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  limits: ServerLimits,
): Promise<void> {
  try {
    const answer = await findAnswer(transport, request, response, signal, limits);
    if (!signal.aborted) await sendAnswer(answer, response, signal, limits);
  } catch (error) {
    if (!signal.aborted) sendError(error, response);
  }
}

async function findAnswer(
  transport: AgentClientTransport<AgentContract>,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  limits: ServerLimits,
): Promise<ServedAnswer> {
  const method = request.method ?? "";
  // A request through a proxy has the whole URL. Parsed by hand: URL would resolve what looks like dots.
  const [path = "", ...query] = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").split("?");
  const match = matchRoute(method, path);
  if (match.kind === "unknown") throw badRequest(404, "unknown-route", `There is no route ${method} ${path}.`);
  if (match.kind === "encoding")
    throw badRequest(400, "invalid-path", `"${match.segment}" in the path is not percent-encoded UTF-8.`);
  if (match.kind === "method") {
    const allow = match.allow.join(", ");
    response.setHeader("allow", allow);
    throw badRequest(405, "wrong-method", `${path} does not take ${method}, but ${allow}.`);
  }
  const route: AgentRoute = agentRoutes[match.name];
  if (route.needs !== undefined && !transport.supports[route.needs]) {
    const message = `${method} ${route.path} is not there: the served transport does not support "${route.needs}" (GET /supports).`;
    throw badRequest(501, "not-supported", message);
  }
  const body = await readBody(request, limits.maxBodyBytes);
  const contentType = request.headers["content-type"];
  const json = match.name === "uploadFile" || method === "GET" ? {} : parseJsonBody(body, contentType, route.texts);
  const call = { params: match.params, query: new URLSearchParams(query.join("?")), json, body, contentType, signal };
  return answerers[match.name](transport, call);
}

async function sendAnswer(
  answer: ServedAnswer,
  response: ServerResponse,
  signal: AbortSignal,
  limits: ServerLimits,
): Promise<void> {
  if (answer.kind === "events") return sendEvents(response, answer.events, signal, limits.heartbeatMs);
  response.setHeader("cache-control", "no-store");
  if (answer.kind === "json") sendJson(response, answer.status, answer.value);
  else if (answer.kind === "file") await sendFile(response, answer.file, answer.body);
  else response.writeHead(204).end();
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("The served transport answered with something that JSON does not have.");
  const bytes = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length }).end(bytes);
}

async function sendFile(response: ServerResponse, file: FileRecord, body: Blob): Promise<void> {
  const record = encodeURIComponent(JSON.stringify(file));
  if (record.length > FILE_RECORD_LIMIT) {
    const message = `The record of file "${file.fileId}" takes ${record.length} bytes; ${FILE_RECORD_LIMIT} cross HTTP beside a file.`;
    throw new Error(message);
  }
  const bytes = Buffer.from(await body.arrayBuffer());
  response.writeHead(200, {
    "content-type": /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\x20-\x7e]*)?$/.test(file.mediaType)
      ? file.mediaType
      : "application/octet-stream",
    "content-length": bytes.length,
    // A file is what some user uploaded: a browser must not run it as a page of this origin.
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    [FILE_RECORD_HEADER]: record,
  });
  response.end(bytes);
}

function sendError(error: unknown, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy(); // half an answer must not look like a whole one
    return;
  }
  const told = errorBody(error);
  const { status, code } = told.error;
  const body = code === "unknown-route" ? { error: { ...told.error, routes: routeNames } } : told;
  // A violation of the tape asked again is one violation more; some clients ask again after any 5xx.
  if (status === 599) response.setHeader("x-should-retry", "false");
  response.setHeader("cache-control", "no-store");
  sendJson(response, status, body);
}
