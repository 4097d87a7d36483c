import type { CallDraft, Chunk, DuplexDraft, HttpDraft, SentChunk, TrackDraft } from "../draft.ts";
import type { Headers, Json, StoredError } from "../schema.ts";

/** What is done to each kind of field of a track. Each answers the very value it got where it changes nothing. */
export interface FieldMap {
  url(text: string): string;
  /** A text of any kind. */
  text(text: string): string;
  /** A text for people: what an error says. */
  message(text: string): string;
  /** The value of a header, Latin-1. */
  header(name: string, value: string): string;
  /** The value of a variable of the environment. */
  variable(name: string, value: string): string;
  /** What stands after an option in a command line. */
  argument(option: string, value: string): string;
  json(value: Json): Json;
  bytes<T extends Chunk>(chunks: readonly T[], media: string | undefined): readonly T[];
}

/** The object with some of its keys replaced; the very same where nothing changed. A key that is absent stays absent. */
function patch<T extends object>(value: T, changes: Partial<T>): T {
  const changed = Object.entries(changes).some(([key, next]) => next !== value[key as keyof T]);
  return changed ? { ...value, ...changes } : value;
}

/** A change of a key that may be absent. */
function change<T extends object, K extends keyof T>(
  value: T,
  key: K,
  map: (field: NonNullable<T[K]>) => NonNullable<T[K]>,
): Partial<T> {
  const field = value[key];
  return field === undefined || field === null ? {} : ({ [key]: map(field) } as unknown as Partial<T>);
}

export function mapList<T>(list: readonly T[], map: (item: T, index: number) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i]!;
    const next = map(item, i);
    if (next !== item) (changed ??= [...list])[i] = next;
  }
  return changed ?? list;
}

export function mapHeaders(headers: Headers, fields: FieldMap): Headers {
  return mapList(headers, (pair) => {
    const value = fields.header(pair[0], pair[1]);
    return value === pair[1] ? pair : [pair[0], value];
  });
}

function mapError(error: StoredError, fields: FieldMap): StoredError {
  return patch(error, {
    name: fields.message(error.name),
    message: fields.message(error.message),
    ...change(error, "code", (code) => (typeof code === "string" ? fields.message(code) : code)),
    ...change(error, "cause", (cause) => mapError(cause, fields)),
  });
}

function mapOutcome<T extends { fault?: StoredError | undefined; end?: HttpDraft["end"] }>(
  draft: T,
  fields: FieldMap,
): Partial<T> {
  return {
    ...change(draft, "fault", (fault) => mapError(fault!, fields) as NonNullable<T["fault"]>),
    ...change(draft, "end", (end) => mapEnd(end!, fields) as NonNullable<T["end"]>),
  };
}

function mapEnd(end: NonNullable<HttpDraft["end"]>, fields: FieldMap): NonNullable<HttpDraft["end"]> {
  return patch(
    end,
    change(end, "error", (error) => mapError(error, fields)),
  );
}

const sizeOf = (chunks: readonly Chunk[]): number => chunks.reduce((size, { bytes }) => size + bytes.length, 0);

/** `content-length` says the new length where it said the old one. A length that was wrong before stays as it was. */
export function restateLength(headers: Headers, before: number, after: number): Headers {
  if (before === after) return headers;
  return mapList(headers, (pair) =>
    pair[0].toLowerCase() === "content-length" && pair[1].trim() === String(before) ? [pair[0], String(after)] : pair,
  );
}

function mapMessage<T extends HttpDraft["request"] | NonNullable<HttpDraft["response"]>>(
  message: T,
  fields: FieldMap,
): T {
  const { body } = message;
  const headers = mapHeaders(message.headers, fields);
  const mapped = patch(message, {
    headers,
    ...change(message as HttpDraft["request"], "trailers", (trailers) => mapHeaders(trailers, fields)),
  } as Partial<T>);
  if (body === undefined) return mapped;
  const chunks = fields.bytes(body.chunks, body.media);
  if (chunks === body.chunks) return mapped;
  return { ...mapped, headers: restateLength(headers, sizeOf(body.chunks), sizeOf(chunks)), body: { ...body, chunks } };
}

function mapHttp(draft: HttpDraft, fields: FieldMap): HttpDraft {
  const request = mapMessage(draft.request, fields);
  return patch(draft, {
    request: patch(request, { url: fields.url(request.url) }),
    ...change(draft, "response", (response) => {
      const message = mapMessage(response, fields);
      return patch(message, {
        ...change(message, "url", fields.url),
        ...change(message, "reason", fields.text),
        ...change(message, "informational", (heads) =>
          mapList(heads, (head) =>
            patch(
              head,
              change(head, "headers", (headers) => mapHeaders(headers, fields)),
            ),
          ),
        ),
        ...change(message, "end", (end) => mapEnd(end, fields)),
      });
    }),
    ...mapOutcome(draft, fields),
  });
}

/** What of `open` and `close` may be there, whatever the kind of the conversation. */
interface Opening {
  readonly url?: string | undefined;
  readonly protocols?: readonly string[] | undefined;
  readonly protocol?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

function mapArguments(argv: readonly string[], fields: FieldMap): readonly string[] {
  return mapList(argv, (argument, i) => {
    const option = /^--?([\w-]+)$/.exec(argv[i - 1] ?? "")?.[1];
    return option === undefined ? fields.text(argument) : fields.argument(option, argument);
  });
}

function mapVariables(env: Readonly<Record<string, string>>, fields: FieldMap): Readonly<Record<string, string>> {
  const changes = Object.entries(env).map(([name, value]) => [name, fields.variable(name, value)] as const);
  return patch(env, Object.fromEntries(changes));
}

function mapOpening(open: Opening, fields: FieldMap): Opening {
  return patch(open, {
    ...change(open, "url", fields.url),
    ...change(open, "protocols", (protocols) => mapList(protocols, fields.text)),
    ...change(open, "protocol", fields.text),
    ...change(open, "headers", (headers) => mapHeaders(headers, fields)),
    ...change(open, "command", fields.text),
    ...change(open, "argv", (argv) => mapArguments(argv, fields)),
    ...change(open, "cwd", fields.text),
    ...change(open, "env", (env) => mapVariables(env, fields)),
  });
}

/** Each side is a stream of its own: what one sender tore over two frames is whole again in its own bytes. */
function mapFrames(frames: readonly SentChunk[], fields: FieldMap): readonly SentChunk[] {
  let result = frames;
  for (const from of new Set(frames.map((frame) => frame.from))) {
    const side = frames.filter((frame) => frame.from === from);
    const mapped = fields.bytes(side, undefined);
    if (mapped === side) continue;
    let next = 0;
    result = result.map((frame) => (frame.from === from ? mapped[next++]! : frame));
  }
  return result;
}

function mapDuplex(draft: DuplexDraft, fields: FieldMap): DuplexDraft {
  return patch(draft, {
    ...change(draft, "open", (open) => mapOpening(open, fields) as typeof open),
    frames: mapFrames(draft.frames, fields),
    ...change(draft, "close", (close) => patch(close, change(close as { reason?: string }, "reason", fields.text))),
    ...mapOutcome(draft, fields),
  });
}

function mapCall(draft: CallDraft, fields: FieldMap): CallDraft {
  const { call } = draft;
  return patch(draft, {
    call: patch(call, {
      name: fields.text(call.name),
      ...change(call, "thread", fields.text),
      ...(call.input === undefined ? {} : { input: fields.json(call.input) }),
    }),
    ...change(draft, "result", (result) =>
      result.value === undefined ? result : patch(result, { value: fields.json(result.value) }),
    ),
    ...change(draft, "error", (error) => mapError(error, fields)),
    ...change(draft, "events", (events) =>
      mapList(events, (event) =>
        patch(event, {
          ...(event.value === undefined ? {} : { value: fields.json(event.value) }),
          ...change(event, "text", fields.text),
        }),
      ),
    ),
    ...mapOutcome(draft, fields),
  });
}

/** The draft with every field mapped in which a secret may stand; the very same draft where nothing changed. */
export function mapDraft<T extends TrackDraft>(draft: T, fields: FieldMap): T {
  const track: TrackDraft = draft;
  if (track.kind === "http") return mapHttp(track, fields) as T;
  if (track.kind === "websocket" || track.kind === "process" || track.kind === "mcp")
    return mapDuplex(track, fields) as T;
  return mapCall(track as CallDraft, fields) as T;
}
