import type { IncomingMessage } from "node:http";
import { decodeUtf8 } from "../wire/bytes.ts";
import { transportError } from "./http-error.ts";

/**
 * All of a request's body. Rejects with a status of 413 where it is longer than the limit; once that is answered,
 * `node:http` reads what follows and throws it away, so that the client comes to read the answer.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) throw tooLarge(request, limit);
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Not an async iterator: leaving one destroys the connection, and with it the answer.
  await new Promise<void>((resolve, reject) => {
    request.on("data", (piece: Uint8Array) => {
      size += piece.length;
      if (size <= limit) pieces.push(piece);
      else reject(tooLarge(request, limit));
    });
    request.on("end", resolve);
    request.on("error", reject);
  });
  const body = new Uint8Array(size);
  let offset = 0;
  for (const piece of pieces) {
    body.set(piece, offset);
    offset += piece.length;
  }
  return body;
}

function tooLarge(request: IncomingMessage, limit: number): Error {
  request.removeAllListeners("data"); // and with them what was read
  return transportError(`The body is longer than ${limit} bytes, the most that this server takes (maxBodyBytes).`, {
    status: 413,
    code: "body-too-large",
  });
}

/** The body as a JSON object with these fields as texts; an empty body is `{}`. Throws with a status of 400 or 415. */
export function parseJsonBody(
  body: Uint8Array,
  contentType: string | undefined,
  texts: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  // A page of another origin may post plain text without asking, but not JSON: this is what keeps it out.
  if (body.length > 0 && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? "")) {
    const found = contentType === undefined ? "no content type" : `content type ${contentType}`;
    throw badRequest(415, "not-json", `The body has ${found}. It must be JSON, with content-type: application/json.`);
  }
  const value = body.length === 0 ? {} : parse(body);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest(400, "invalid-body", "The body must be a JSON object.");
  const fields = value as Readonly<Record<string, unknown>>;
  const missing = texts.filter((name) => typeof fields[name] !== "string");
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(", ");
    throw badRequest(
      400,
      "invalid-body",
      `The body must have ${names}, as ${missing.length > 1 ? "texts" : "a text"}.`,
    );
  }
  return fields;
}

function parse(body: Uint8Array): unknown {
  const text = decodeUtf8(body);
  if (text === undefined) throw badRequest(400, "invalid-json", "The body is not UTF-8, and so it is not JSON.");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(400, "invalid-json", `The body is not JSON: ${(error as Error).message}.`);
  }
}

/** An error of the client's making. */
export function badRequest(status: number, code: string, message: string): Error {
  return transportError(message, { status, code });
}
