import { withValue } from "../../engine/duplex-script.ts";
import type { Json } from "../../wire/json.ts";
import { isJsonRpc, jsonRpcIds } from "../../wire/json-rpc.ts";

/** A body as it is compared: of JSON-RPC messages, alone or in a batch, without the ids that the client makes up. */
export function withoutOwnIds(tree: Json): Json {
  if (Array.isArray(tree)) return isJsonRpc(tree[0]) ? (tree as readonly Json[]).map(withoutOwnIds) : tree;
  if (!isJsonRpc(tree)) return tree;
  let compared: Json = tree;
  for (const { path, space } of jsonRpcIds(tree, "client"))
    if (space.endsWith("client")) compared = withValue(compared, path, undefined);
  return compared;
}
