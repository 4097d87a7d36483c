import { createRedactor } from "../cassette/redact/redactor.ts";
import { platform } from "../engine/platform.ts";

/** What was asked, for a message: without its secrets, and not the whole of a long text. */
export function shown(text: string, limit = 100): string {
  const safe = createRedactor({}, platform.environment).text(text);
  return safe.length <= limit ? safe : `${safe.slice(0, limit - 20)}…`;
}
