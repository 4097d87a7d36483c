import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { yamlScalars } from "./corpus-yaml.ts";

/** A body out of a recording: SSE, lines of JSON, JSON, or none of these. */
export interface Payload {
  /** The folder, and what of it. */
  readonly kind: string;
  /** The file, and where in it. */
  readonly place: string;
  readonly media: string | undefined;
  readonly bytes: Uint8Array;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const BODY_KEYS = ["text", "body", "string", "response", "base64_string"];

/** Every payload of the recordings in a folder; `skipped` is told of what could not be read. */
export function readPayloads(folder: string, skipped: (place: string, why: string) => void): Payload[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
  return paths.flatMap((path) => readFile(folder, path, skipped));
}

function readFile(folder: string, path: string, skipped: (place: string, why: string) => void): Payload[] {
  const bytes = new Uint8Array(readFileSync(join(folder, path)));
  const [top = "", ...names] = path.split("/");
  if (names.length === 0) return [];
  const text = new TextDecoder().decode(bytes);
  const whole = (kind: string, media?: string): Payload[] => [{ kind: `${top}: ${kind}`, place: path, media, bytes }];
  const body = (content: Uint8Array, place: string): Payload => ({
    kind: `${top}: body`,
    place: `${path} ${place}`,
    media: undefined,
    bytes: content,
  });

  switch (extname(path)) {
    case ".sse":
    case ".bin":
    case ".txt":
      return whole("stream", "text/event-stream");
    case ".jsonl":
    case ".ndjson":
      return whole("lines", "application/x-ndjson");
    case ".yaml":
    case ".yml": {
      const { scalars, unread } = yamlScalars(text, BODY_KEYS);
      if (unread > 0) skipped(path, `${unread} YAML scalars of a kind that this tool does not read`);
      return scalars.flatMap((scalar, i) => bodiesOf(scalar.text, scalar.binary).map((it) => body(it, `#${i + 1}`)));
    }
    case ".har":
    case ".json": {
      if (top === "sse-parse") return parserCases(path, JSON.parse(text));
      const found = jsonStrings(text, path, skipped).flatMap(([place, value]) =>
        bodiesOf(value, place.endsWith("base64_string")).map((it) => body(it, place)),
      );
      return [...whole("file", "application/json"), ...found];
    }
    default:
      skipped(path, "a file without payloads of these kinds");
      return [];
  }
}

function parserCases(path: string, file: { cases: { id: string; chunks_base64: string[] }[] }): Payload[] {
  return file.cases.map(({ id, chunks_base64 }) => ({
    kind: "sse-parse: stream",
    place: `${path} ${id}`,
    media: "text/event-stream",
    bytes: new Uint8Array(Buffer.concat(chunks_base64.map((chunk) => Buffer.from(chunk, "base64")))),
  }));
}

/** The texts under the keys in which recordings keep bodies. */
function jsonStrings(text: string, path: string, skipped: (place: string, why: string) => void): [string, string][] {
  const found: [string, string][] = [];
  const walk = (value: unknown, place: string, key: string, encoding: unknown): void => {
    if (typeof value === "string") {
      if (BODY_KEYS.includes(key) && value !== "")
        found.push([place + (encoding === "base64" ? ".base64_string" : ""), value]);
    } else if (
      Array.isArray(value) &&
      key === "response" &&
      value.length > 0 &&
      value.every((item) => typeof item === "string")
    )
      found.push([place, JSON.stringify(value)]);
    else if (typeof value === "object" && value !== null)
      for (const [name, item] of Object.entries(value))
        walk(item, `${place}.${name}`, name, (value as { encoding?: unknown }).encoding);
  };
  try {
    walk(JSON.parse(text.replace(/^\ufeff/, "")), "$", "", undefined);
  } catch {
    skipped(path, "is not JSON as a whole, its bodies were not looked for");
  }
  return found;
}

/** The body in a text: as it is; or hex or base64, in one piece or a list of chunks, perhaps compressed. */
function bodiesOf(text: string, base64: boolean): Uint8Array[] {
  const list = /^\["[0-9A-Za-z+/=]/.test(text) ? (JSON.parse(text) as string[]) : undefined;
  const parts = list ?? [text];
  if (parts.every((part) => /^(?:[0-9a-f]{2}){8,}$/.test(part)))
    return [decompress(Buffer.from(parts.join(""), "hex"))];
  if (!base64 && list === undefined) return [encode(text)];
  return [decompress(Buffer.concat(parts.map((part) => Buffer.from(part, "base64"))))];
}

function decompress(bytes: Buffer): Uint8Array {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      return new Uint8Array(gunzipSync(bytes));
    } catch {
      return new Uint8Array(bytes); // a recording of a broken body, kept as it is
    }
  }
  try {
    return new Uint8Array(brotliDecompressSync(bytes));
  } catch {
    return new Uint8Array(bytes); // brotli has no signature: what does not decode is none
  }
}
