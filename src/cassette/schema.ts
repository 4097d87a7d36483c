import { z } from "zod";
import type { Json } from "../wire/json.ts";
import type { StoredError } from "./cassette.ts";

/**
 * The cassette file, version 1: the declaration of what is stored. The types of cassette.ts are proven to be those that
 * it gives, the published JSON Schema is written from it (`npm run schema`), the reader checks with that JSON Schema,
 * and the printer takes the order of keys from it. What each key means is told in cassettes/README.md.
 */

export type { Json } from "../wire/json.ts";
export type {
  AgentTrack,
  Body,
  CallTrack,
  Cassette,
  Cut,
  End,
  Frame,
  FunctionTrack,
  Gate,
  Headers,
  HttpTrack,
  JsonStyle,
  Match,
  McpTrack,
  ModelTrack,
  ProcessTrack,
  Seal,
  ServerSentEvent,
  Sidecar,
  SseStyle,
  StoredError,
  StoredRequest,
  StoredResponse,
  Style,
  Track,
  TrackKind,
  WebSocketTrack,
} from "./cassette.ts";

const object = <T extends z.core.$ZodLooseShape>(shape: T) => z.strictObject(shape).readonly();
const list = <T extends z.core.$ZodType>(item: T) => z.array(item).readonly();

const json = z.custom<Json>().meta({ id: "Json", description: "any JSON value" });
const note = z.string().optional().meta({ description: "a remark for people" });
const name = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]*$/)
  .meta({ id: "Name", description: 'a name of letters, digits, "_", "." and "-" that begins with a letter or digit' });
const at = z.int().min(0).meta({ id: "At", description: "a whole number of milliseconds" });
const count = z.int().min(0).meta({ id: "Count", description: "a whole number from 0" });

const pointer = z.string().regex(/^\//).meta({ id: "Pointer", description: 'a JSON Pointer, as "/body/requestId"' });

const gate = z
  .union([
    name,
    list(name),
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), list(z.string())])).readonly(),
  ])
  .meta({ id: "Gate", description: 'a track id, a list of track ids, "start", or a pattern over the trace' });

const fault: z.ZodType<StoredError> = object({
  at: at.optional(),
  name: z.string(),
  message: z.string(),
  code: z.union([z.string(), z.number()]).optional(),
  get cause() {
    return fault.optional();
  },
  note,
}).meta({ id: "Error", description: 'an error: { "name", "message", "code"?, "cause"? }' });

const jsonStyle = object({
  colon: z.enum([":", ": "]).optional(),
  comma: z.enum([",", ", "]).optional(),
  indent: z.int().min(0).max(16).optional(),
  escape: z.enum(["none", "ascii", "html", "slash", "ascii-slash", "html-quote"]).optional(),
  tail: z.enum(["", "\n"]).optional(),
}).meta({ id: "JsonStyle", description: "how JSON text is printed" });

const sseStyle = object({
  newline: z.enum(["\n", "\r\n", "\r"]).optional(),
  space: z.boolean().optional(),
}).meta({ id: "SseStyle", description: "how server-sent events are printed" });

const style = object({ json: jsonStyle.optional(), sse: sseStyle.optional() }).meta({
  id: "Style",
  description: 'a style: { "json"?, "sse"? }',
});

const sse = object({
  comment: z.string().optional(),
  event: z.string().optional(),
  id: z.string().optional(),
  retry: z.int().min(0).optional(),
  data: z.string().optional(),
  json: json.optional(),
  ended: z.enum(["", "\n", "\r\n", "\r"]).optional(),
}).meta({ id: "ServerSentEvent", description: "a server-sent event; its fields are sent in the order of the keys" });

const sidecar = object({
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: count,
}).meta({ id: "Sidecar", description: 'a file beside the cassette: { "path", "sha256", "size" }' });

const cut = z
  .union([z.tuple([count, at]).readonly(), z.tuple([count, at, gate]).readonly()])
  .meta({ id: "Cut", description: "[offset, at] or [offset, at, gate]" });

const content = {
  json: json.optional(),
  line: json.optional(),
  sse: sse.optional(),
  text: z.string().optional(),
  base64: z.string().optional(),
  file: sidecar.optional(),
  value: json.optional(),
};

const frame = object({
  at: at.optional(),
  from: z.enum(["client", "server", "stdin", "stdout", "stderr"]).optional(),
  after: gate.optional(),
  joined: z.literal(true).optional(),
  binary: z.literal(true).optional(),
  ...content,
  style: style.optional(),
  pad: count.optional(),
  cuts: list(cut).optional(),
  note,
}).meta({ id: "Frame", description: "a frame with exactly one content key" });

const body = z.union([frame, list(frame)]).meta({ id: "Body", description: "one content object, or a list of frames" });

const headers = list(z.tuple([z.string(), z.string()]).readonly()).meta({
  id: "Headers",
  description: "a list of [name, value] pairs",
});

const end = object({
  at: at.optional(),
  after: gate.optional(),
  by: z.literal("client").optional(),
  error: fault.optional(),
  note,
}).meta({ id: "End", description: 'how it ended: { "at", "error" } or { "at", "by": "client" }' });

const request = object({
  method: z.string(),
  url: z.string(),
  headers: headers.optional(),
  style: style.optional(),
  body: body.optional(),
  decoded: body.optional(),
  trailers: headers.optional(),
  note,
}).meta({ id: "Request" });

const response = object({
  at: at.optional(),
  after: gate.optional(),
  status: z.int().min(100).max(999),
  reason: z.string().optional(),
  url: z.string().optional(),
  redirected: z.boolean().optional(),
  seen: z.enum(["decoded", "wire"]).optional(),
  informational: list(
    object({ at: at.optional(), status: z.int().min(100).max(199), headers: headers.optional() }),
  ).optional(),
  headers: headers.optional(),
  style: style.optional(),
  body: body.optional(),
  decoded: body.optional(),
  trailers: headers.optional(),
  end: end.optional(),
  note,
}).meta({ id: "Response" });

const common = {
  at: at.optional(),
  lane: name.optional(),
  after: gate.optional(),
  repeat: z.union([z.int().min(1), z.literal("forever")]).optional(),
  optional: z.literal(true).optional(),
  note,
};

const httpTrack = object({
  id: name,
  kind: z.literal("http"),
  ...common,
  request,
  response: response.optional(),
  fault: fault.optional(),
  end: end.optional(),
}).meta({ id: "HttpTrack", description: "an exchange: a request, then a response or a fault" });

const duplex = {
  style: style.optional(),
  frames: list(frame).optional(),
};

const webSocketTrack = object({
  id: name,
  kind: z.literal("websocket"),
  ...common,
  open: object({
    url: z.string(),
    protocols: list(z.string()).optional(),
    protocol: z.string().optional(),
    headers: headers.optional(),
    note,
  }),
  ...duplex,
  close: object({
    at: at.optional(),
    after: gate.optional(),
    code: count.optional(),
    reason: z.string().optional(),
    note,
  }).optional(),
  fault: fault.optional(),
  end: end.optional(),
}).meta({ id: "WebSocketTrack", description: "a WebSocket connection" });

const processTrack = object({
  id: name,
  kind: z.literal("process"),
  ...common,
  open: object({
    command: z.string(),
    argv: list(z.string()).optional(),
    cwd: z.string().optional(),
    env: z.record(z.string(), z.string()).readonly().optional(),
    note,
  }),
  ...duplex,
  close: object({
    at: at.optional(),
    after: gate.optional(),
    code: z.int().nullable().optional(),
    signal: z.string().nullable().optional(),
    note,
  }).optional(),
  fault: fault.optional(),
  end: end.optional(),
}).meta({ id: "ProcessTrack", description: "a child process" });

const mcpTrack = object({
  id: name,
  kind: z.literal("mcp"),
  ...common,
  open: object({
    url: z.string().optional(),
    command: z.string().optional(),
    argv: list(z.string()).optional(),
    note,
  }).optional(),
  ...duplex,
  close: object({ at: at.optional(), after: gate.optional(), note }).optional(),
  fault: fault.optional(),
  end: end.optional(),
}).meta({ id: "McpTrack", description: "an MCP conversation" });

const call = {
  call: object({ name: z.string(), thread: z.string().optional(), input: json.optional(), note }),
  result: object({ at: at.optional(), after: gate.optional(), value: json.optional(), note }).optional(),
  error: fault.optional(),
  style: style.optional(),
  events: list(frame).optional(),
  end: end.optional(),
};

const agentTrack = object({ id: name, kind: z.literal("agent"), ...common, ...call }).meta({ id: "AgentTrack" });
const modelTrack = object({ id: name, kind: z.literal("model"), ...common, ...call }).meta({ id: "ModelTrack" });
const functionTrack = object({ id: name, kind: z.literal("function"), ...common, ...call }).meta({
  id: "FunctionTrack",
});

const track = z
  .discriminatedUnion("kind", [
    httpTrack,
    webSocketTrack,
    processTrack,
    mcpTrack,
    agentTrack,
    modelTrack,
    functionTrack,
  ])
  .meta({ id: "Track", description: "a track" });

const match = object({
  order: z.enum(["identity", "strict"]).optional(),
  ignore: list(pointer).optional(),
  include: list(pointer).optional(),
  normalize: name.optional(),
  note,
}).meta({ id: "Match", description: "what makes two requests the same request" });

const seal = object({
  algorithm: z.literal("sha256"),
  crc32: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .optional(),
  head: z.string(),
  tracks: z.record(z.string(), z.string()).readonly(),
  note,
}).meta({ id: "Seal", description: "what tells recorded tracks from edited ones" });

/** The schema of a cassette file. */
export const cassetteSchema = object({
  $schema: z.string().optional(),
  wiretape: z.literal(1),
  recorded: object({
    at: z.string().optional(),
    with: z.string().optional(),
    name: z.string().optional(),
    origins: list(z.string()).optional(),
    note,
  }).optional(),
  note,
  match: match.optional(),
  vars: z.record(name, json).readonly().optional(),
  tracks: list(track),
  seal: seal.optional(),
}).meta({
  title: "wiretape cassette",
  description: "A recording of what crossed a boundary of a program, format version 1.",
});
