import { readFile } from "node:fs/promises";
import { cassetteInvalid } from "../cassette/invalid.ts";
import { badUtf8 } from "../cassette/utf8.ts";
import { OptionInvalid } from "../errors.ts";
import { decodeUtf8 } from "../wire/bytes.ts";

/** The bytes of a file that was named on the command line. OptionInvalid where it cannot be read. */
export async function readInput(path: string, hint?: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const next = hint === undefined ? "" : `\n  next      ${hint}`;
    throw new OptionInvalid(`${path} cannot be read: ${REASONS[code ?? ""] ?? message}.${next}`, { path, code });
  }
}

/** As `readInput`, as a text. CassetteInvalid where it is not UTF-8. */
export async function readCassetteText(path: string): Promise<string> {
  const bytes = await readInput(path, HINT);
  const text = decodeUtf8(bytes);
  if (text === undefined) throw cassetteInvalid(path, [badUtf8(bytes)]);
  return text;
}

/** What to say where a cassette is not there. */
export const HINT = 'name a *.cassette.json file; "wiretape ls" lists those below a folder';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  ENOTDIR: "what should be a folder on the way to it is a file",
  EACCES: "permission is denied",
};
