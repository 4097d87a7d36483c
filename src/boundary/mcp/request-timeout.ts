import { brandError } from "./noted-error.ts";
import type { McpSendOptions } from "./transport.ts";

/**
 * How a request fails in its client when no answer came: what `send` rejects with, or the JSON-RPC error that becomes the
 * client's own error; `undefined`: nothing comes, and the client keeps its own time.
 *
 * v2 clients (their sends have a `requestSignal`) fail with an `SdkError` of code `REQUEST_TIMEOUT`, v1 clients with an
 * `McpError` of code -32001; v2's probe has no options and waits for its `probe.timeoutMs`.
 */
export function requestTimeout(
  method: string,
  seconds: number,
  options: McpSendOptions | undefined,
): Error | { code: number; message: string; data: object } | undefined {
  if (options === undefined) return undefined;
  const message = `No answer to ${method} within ${seconds} s`;
  const data = { timeout: seconds * 1000 };
  if (!("requestSignal" in options)) return { code: -32001, message, data };
  const error = Object.assign(new Error(message), { name: "SdkError", code: "REQUEST_TIMEOUT", data });
  return brandError(error, ["mcp.SdkError"]);
}
