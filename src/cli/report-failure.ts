import { isWiretapeError } from "../errors.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Says why a command failed, and gives its exit status: 2 for wrong use, else 1. An error of ours is told by its
 * message; any other is a fault of this program, and is told whole.
 */
export function reportFailure(error: unknown, json: boolean, terminal: Terminal): number {
  const ours = isWiretapeError(error);
  const { code, message, details } = ours
    ? error
    : {
        code: "internal",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        details: {},
      };
  if (json) terminal.json({ error: { code, message, details } });
  else if (ours) terminal.complain(message);
  else terminal.complain(`this is a fault of wiretape; please report it.\n${message}`);
  return code === "option-invalid" ? 2 : 1;
}
