import { OptionInvalid } from "../errors.ts";
import { whyOutside } from "./inside-folder.ts";

const suffix = ".cassette.json";

/** Whether a name is that of a cassette. */
export function isCassetteName(name: string): boolean {
  return name.endsWith(suffix) && name.length > suffix.length && !name.endsWith(`/${suffix}`);
}

/** Whether a name is that of a sidecar file: `<stem>.files/<sha256>`. */
export function isSidecarName(name: string): boolean {
  return /[^/]\.files\/[^/]+$/.test(name);
}

/** OptionInvalid for a name that a store does not take. */
export function checkName(name: string): void {
  const reason = whyOutside(name);
  if (reason !== undefined) throw new OptionInvalid(`the name ${JSON.stringify(name)} ${reason}`, { name });
  if (!isCassetteName(name) && !isSidecarName(name))
    throw new OptionInvalid(
      `the name ${JSON.stringify(name)} is not that of a cassette: it must end in ${suffix} (sidecars: <stem>.files/<sha256>)`,
      { name },
    );
}

/** The name without `.cassette.json`. OptionInvalid for any other name. */
export function stemOf(name: string): string {
  checkName(name);
  if (!isCassetteName(name)) throw new OptionInvalid(`${JSON.stringify(name)} does not end in ${suffix}`, { name });
  return name.slice(0, -suffix.length);
}

/** The name of the nth failed recording, from 1. */
export function failedName(stem: string, n: number): string {
  return `${stem}.failed${n === 1 ? "" : `-${n}`}${suffix}`;
}

/** The name of the journal; `n` from 1: of the nth that was set aside. */
export function journalName(stem: string, n = 0): string {
  return `${stem}.recording${n === 0 ? "" : `-${n}`}.jsonl`;
}

/** OptionInvalid for what would be two lines of a journal. */
export function checkLine(line: string): string {
  if (/[\r\n]/.test(line)) throw new OptionInvalid("a line of a journal holds no line break");
  return `${line}\n`;
}
