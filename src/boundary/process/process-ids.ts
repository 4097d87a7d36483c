import type { Json } from "../../cassette/schema.ts";
import type { IdPlace } from "../../engine/duplex-kind.ts";

type Fields = { readonly [name: string]: Json | undefined };

const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/**
 * The ids that the program makes up in a line of JSON, and where the other side names them: of Claude's control protocol
 * (`control_request`, `control_response`), and of JSON-RPC, with or without its `jsonrpc` key. What the other side makes up
 * is as it was recorded, and so is what the program says of it.
 */
export function lineIds(message: Json, from: "client" | "server"): readonly IdPlace[] {
  const { type, id, method, params, response } = fieldsOf(message);
  if (type === "control_request" || type === "control_cancel_request") {
    if (from === "server") return [];
    return [{ path: ["request_id"], space: "control", role: type === "control_request" ? "gives" : "names" }];
  }
  if (type === "control_response") {
    if (from === "client" || fieldsOf(response).request_id === undefined) return [];
    return [{ path: ["response", "request_id"], space: "control", role: "names" }];
  }
  if (typeof method !== "string") {
    const answers = from === "server" && id !== undefined && type === undefined;
    return answers ? [{ path: ["id"], space: "request", role: "names" }] : [];
  }
  const { requestId, progressToken, _meta } = fieldsOf(params);
  if (from === "server") {
    const progress = method === "notifications/progress" && progressToken !== undefined;
    return progress ? [{ path: ["params", "progressToken"], space: "progress", role: "names" }] : [];
  }
  const places: IdPlace[] = [];
  if (id !== undefined) places.push({ path: ["id"], space: "request", role: "gives" });
  if (fieldsOf(_meta).progressToken !== undefined)
    places.push({ path: ["params", "_meta", "progressToken"], space: "progress", role: "gives" });
  if (method === "notifications/cancelled" && requestId !== undefined)
    places.push({ path: ["params", "requestId"], space: "request", role: "names" });
  return places;
}
