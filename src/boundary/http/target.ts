import { bodyBytes, openBody } from "../../cassette/frames.ts";
import type { Body, Frame, HttpTrack, Json, StoredRequest, StoredResponse, Track } from "../../cassette/schema.ts";
import type { Answer, Target, TrackDrive } from "../../engine/target.ts";
import { OptionInvalid } from "../../errors.ts";
import { concatBytes, decodeUtf8, encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { createEventReader, type ReadEvent } from "../../wire/event-reader.ts";
import { encodeJson, parseJsonTree } from "../../wire/json.ts";
import { parseUrl } from "../../wire/url-facets.ts";

/** A handler of requests, as frameworks have them. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

export interface HttpTargetOptions {
  /** Sent with every request, in place of recorded ones of the same name: credentials, which no cassette holds. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How requests are made to a base URL. Default: the platform's fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * A server as the target of a drive: a base URL, whose origin and path stand in place of the recorded origin, or a handler
 * in this process. Headers that held a secret are sent with the secret of this time where the server gave one (a token, a
 * cookie), else only where `headers` has them.
 */
export function httpTarget(target: string | URL | FetchHandler, options: HttpTargetOptions = {}): Target {
  const base = typeof target === "function" ? new URL("http://localhost/") : baseOf(target);
  const send = async ({ url, init }: Outgoing): Promise<Response> =>
    typeof target === "function" ? target(new Request(url, init)) : (options.fetch ?? globalThis.fetch)(url, init);
  return {
    name: typeof target === "function" ? "the handler" : base.href.replace(/\/$/, ""),
    refuses,
    recorded: (track) => recordedAnswer((track as HttpTrack).response as StoredResponse),
    deliveries: (track) => deliveriesOf((track as HttpTrack).response as StoredResponse),
    async play(track, drive) {
      const request = requestFor((track as HttpTrack).request, base, options.headers ?? {}, drive);
      return heardAnswer(await send(request), drive);
    },
  };
}

function baseOf(target: string | URL): URL {
  const base = parseUrl(String(target));
  if (base !== undefined && /^https?:$/.test(base.protocol)) return base;
  throw new OptionInvalid(
    `${JSON.stringify(String(target))} is no URL of a server: it begins with http:// or https://.`,
  );
}

function refuses(track: Track): string | undefined {
  if (track.kind !== "http") return `it is of kind ${track.kind}`;
  const { request, response } = track;
  if (response === undefined) return "it has no answer to compare with";
  const bodies = [request.body, response.body].flatMap((body) => (body === undefined ? [] : framesOf(body)));
  if (bodies.some(({ file }) => file !== undefined)) return "a body of it stands in a file beside the cassette";
  return undefined;
}

const framesOf = (body: Body): readonly Frame[] => (Array.isArray(body) ? (body as readonly Frame[]) : [body as Frame]);

// The connection's own, and what fetch states anew.
const OWN = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "accept-encoding"]);

interface Outgoing {
  readonly url: string;
  readonly init: RequestInit;
}

function requestFor(
  stored: StoredRequest,
  base: URL,
  given: Readonly<Record<string, string>>,
  drive: TrackDrive,
): Outgoing {
  const { method, url, headers = [], body, style } = stored;
  const target = new URL(drive.live(url));
  target.protocol = base.protocol;
  target.host = base.host;
  if (base.pathname !== "/") target.pathname = base.pathname.replace(/\/$/, "") + target.pathname;
  const sent = new Headers();
  const named = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  for (const [name, value] of headers) {
    const live = credentials(name, value, drive.live(value));
    const known = !OWN.has(name.toLowerCase()) && !named.has(name.toLowerCase()) && !/REDACTED-[a-z]/.test(live);
    if (known) sent.append(name, live);
  }
  for (const [name, value] of Object.entries(given)) sent.set(name, value);
  const init: RequestInit = { method, headers: sent, signal: drive.signal };
  if (body !== undefined && method !== "GET" && method !== "HEAD")
    init.body = liveBody(body, style, drive) as Uint8Array<ArrayBuffer>;
  return { url: target.href, init };
}

// A recorded credential stands for the whole value, and a token that an answer gave is one without its scheme.
function credentials(name: string, recorded: string, live: string): string {
  const bare = live !== recorded && name.toLowerCase() === "authorization" && !live.includes(" ");
  return bare ? `Bearer ${live}` : live;
}

function liveBody(body: Body, style: StoredRequest["style"], drive: TrackDrive): Uint8Array {
  const bytes = bodyBytes(body, style);
  const text = decodeUtf8(bytes);
  if (text === undefined) return bytes;
  const tree = parseJsonTree(text);
  if (tree === undefined) {
    const live = drive.live(text);
    return live === text ? bytes : encodeUtf8(live);
  }
  const live = drive.live(tree);
  return JSON.stringify(live) === JSON.stringify(tree) ? bytes : encodeUtf8(encodeJson(live, style?.json));
}

const isEvents = (media: string): boolean => /^text\/event-stream\b/i.test(media);
const isLines = (media: string): boolean => /ndjson|jsonl|json-?lines|json-seq/i.test(media);

const mediaOf = (headers: StoredResponse["headers"]): string =>
  headers?.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";

function recordedAnswer(response: StoredResponse): Answer {
  const { status, headers = [] } = response;
  const media = mediaOf(headers);
  const reader = openBody(response.body, response.style, { at: response.at ?? 0 });
  const chunks: Uint8Array[] = [];
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) chunks.push(chunk.bytes);
  const head = { status, headers: byName(headers) };
  if (isEvents(media) || isLines(media)) {
    const units = unitReader(media);
    return { ...head, events: [...chunks.flatMap(units.push), ...units.end()] };
  }
  const bytes = concatBytes(chunks);
  return bytes.length === 0 ? head : { ...head, body: bodyValue(bytes) };
}

/** The head, then each event or line when its chunk came, or the body at its end. */
function deliveriesOf(response: StoredResponse): { at: number; after?: unknown }[] {
  const start = response.at ?? 0;
  const media = mediaOf(response.headers);
  const reader = openBody(response.body, response.style, { at: start });
  const units = unitReader(media);
  const streams = isEvents(media) || isLines(media);
  const deliveries: { at: number; after?: unknown }[] = [{ at: start }];
  let last = start;
  let any = false;
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) {
    any = true;
    last = chunk.at;
    const { at, after } = chunk;
    if (streams) for (const _ of units.push(chunk.bytes)) deliveries.push({ at, after });
  }
  if (!streams && any) deliveries.push({ at: last });
  return deliveries;
}

async function heardAnswer(response: Response, drive: TrackDrive): Promise<Answer> {
  const headers = byName([...response.headers]);
  const head = { status: response.status, headers };
  drive.arrived(head);
  const media = response.headers.get("content-type") ?? "";
  const streams = isEvents(media) || isLines(media);
  const units = unitReader(media);
  const events: Json[] = [];
  const chunks: Uint8Array[] = [];
  const hear = (event: Json): void => {
    events.push(event);
    drive.arrived({ events: { [events.length - 1]: event } });
  };
  try {
    for await (const chunk of response.body ?? []) {
      if (streams) for (const event of units.push(chunk as Uint8Array)) hear(event);
      else chunks.push(chunk as Uint8Array);
    }
  } catch (error) {
    if (!drive.signal.aborted) return { ...head, ...(streams ? { events } : {}), error: broken(error) };
  }
  if (streams) {
    for (const event of units.end()) hear(event);
    return { ...head, events };
  }
  const bytes = concatBytes(chunks);
  if (bytes.length === 0) return head;
  const body = bodyValue(bytes);
  drive.arrived({ body });
  return { ...head, body };
}

function broken(error: unknown): NonNullable<Answer["error"]> {
  const { name, message, cause } = error as Error;
  const code = (cause as { code?: string } | undefined)?.code;
  return { name, message, ...(code !== undefined && { code }) };
}

function byName(headers: readonly (readonly [string, string])[]): NonNullable<Answer["headers"]> {
  const named: Record<string, string[]> = {};
  for (const [name, value] of headers) (named[name.toLowerCase()] ??= []).push(value);
  return named;
}

/** Reads the events of a stream, or its lines, as values. */
function unitReader(media: string): { push(bytes: Uint8Array): Json[]; end(): Json[] } {
  if (isEvents(media)) {
    const reader = createEventReader();
    return { push: (bytes) => reader.push(bytes).map(eventValue), end: () => [] };
  }
  const decoder = new TextDecoder();
  let rest = "";
  return {
    push(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      return lines.filter((line) => line.trim() !== "").map(lineValue);
    },
    end: () => (rest.trim() === "" ? [] : [lineValue(rest)]),
  };
}

function eventValue({ event, id, data }: ReadEvent): Json {
  const json = /^\s*[[{"]/.test(data) ? parseJsonTree(data) : undefined;
  return {
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
    ...(json === undefined ? { data } : { json }),
  };
}

const lineValue = (line: string): Json => parseJsonTree(line) ?? line;

function bodyValue(bytes: Uint8Array): Json {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { $bytes: encodeBase64(bytes) };
  return (/^\s*[[{"]/.test(text) ? parseJsonTree(text) : undefined) ?? text;
}
