import type { UploadInput } from "../../agent/transport.ts";
import type { Json } from "../../cassette/schema.ts";
import { tagValue } from "../../cassette/values.ts";
import { storedFile } from "./stored-file.ts";

/** What a call is asked with, as a cassette keeps it. A promise where a file has to be read for it. */
export type StoredInput = Json | undefined | Promise<Json>;

/**
 * The stored form of an input without its thread, which stands beside it. What is `undefined` is left out, as it is on
 * any wire. Throws `OptionInvalid` for what cannot be stored.
 */
export function storedInput(input: object): Json {
  const { threadId: _, ...rest } = input as { threadId?: unknown };
  return tagValue(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)));
}

/** The stored form of an upload, its file read. */
export async function storedUpload({ body, ...rest }: UploadInput): Promise<Json> {
  return { ...(storedInput(rest) as object), body: await storedFile(body) };
}
