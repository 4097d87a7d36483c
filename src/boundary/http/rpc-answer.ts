import { encodeContent } from "../../cassette/content.ts";
import { movedBy } from "../../cassette/duplex-plan.ts";
import type { Cut, Frame, HttpTrack, Json, StoredResponse, Style } from "../../cassette/schema.ts";
import { createIdLinks, type IdLinks, linkIds, withLiveIds } from "../../engine/duplex-script.ts";
import type { Session } from "../../engine/session.ts";
import { decodeUtf8 } from "../../wire/bytes.ts";
import { encodeJson, parseJsonTree } from "../../wire/json.ts";
import { isJsonRpc, jsonRpcIds } from "../../wire/json-rpc.ts";
import type { HttpRequest } from "./request.ts";

// A JSON-RPC client makes up the ids of its requests, and they depend on what else it has asked: they do not count, and
// the answers bear those of this time. Bodies that are no JSON-RPC cost a look at one key.

const ids = { ids: jsonRpcIds };

// A stream that goes on with an answer is asked for by a request that holds no id: what it names is known from before.
const known = new WeakMap<Session, Map<string, IdLinks>>();

/** The recorded answer to a request, with the JSON-RPC ids that the live request bears; the very same where none differ. */
export function answerWithLiveIds(
  track: HttpTrack,
  request: HttpRequest,
  session: Session,
): StoredResponse | undefined {
  const { response } = track;
  if (response?.body === undefined) return response;
  const links = linksFor(track, request, session);
  if (links === undefined || links.toLive.size === 0) return response;
  const { body, style } = response;
  if (!Array.isArray(body)) {
    const live = liveFrame(body as Frame, style, links);
    return live === body ? response : { ...response, body: live };
  }
  const live = (body as readonly Frame[]).map((frame) => liveFrame(frame, style, links));
  return live.every((frame, i) => frame === body[i]) ? response : { ...response, body: live };
}

function linksFor(track: HttpTrack, request: HttpRequest, session: Session): IdLinks | undefined {
  const recorded = rpcIn(track.request.body);
  if (recorded === undefined)
    return request.method === "GET" ? known.get(session)?.get(conversationOf(request)) : undefined;
  const live = parseJsonTree(decodeUtf8(request.body ?? new Uint8Array(0)) ?? "");
  const links = createIdLinks();
  link(links, recorded, live);
  let conversations = known.get(session);
  if (conversations === undefined) known.set(session, (conversations = new Map()));
  let all = conversations.get(conversationOf(request));
  if (all === undefined) conversations.set(conversationOf(request), (all = createIdLinks()));
  link(all, recorded, live);
  return links;
}

function link(links: IdLinks, recorded: Json, live: Json | undefined): void {
  if (!Array.isArray(recorded)) linkIds(ids, links, recorded, live);
  else
    for (const [i, message] of (recorded as readonly Json[]).entries())
      linkIds(ids, links, message, (live as readonly Json[] | undefined)?.[i]);
}

// The recorded body tells at a look whether this is JSON-RPC, and the live one is what was recorded.
function rpcIn(body: HttpTrack["request"]["body"]): Json | undefined {
  if (body === undefined || Array.isArray(body)) return undefined;
  const { json, text } = body as Frame;
  const tree = json ?? (text?.includes('"jsonrpc"') === true ? parseJsonTree(text) : undefined);
  const first: Json | undefined = Array.isArray(tree) ? (tree as readonly Json[])[0] : tree;
  return isJsonRpc(first) ? tree : undefined;
}

function conversationOf({ url, headers }: HttpRequest): string {
  const session = headers.find(([name]) => name.toLowerCase() === "mcp-session-id")?.[1] ?? "";
  return `${url} ${session}`;
}

function liveFrame(frame: Frame, style: Style | undefined, links: IdLinks): Frame {
  const live = liveContent(frame, links);
  if (live === undefined) return frame;
  const made = { ...frame, ...live };
  if (frame.cuts === undefined) return made;
  const moved = movedBy(encodeContent(frame, style), encodeContent(made, style));
  return { ...made, cuts: frame.cuts.map(([offset, ...rest]) => [moved(offset), ...rest] as unknown as Cut) };
}

function liveContent({ json, line, sse, text }: Frame, links: IdLinks): Partial<Frame> | undefined {
  if (json !== undefined) return changed(json, links, (live) => ({ json: live }));
  if (line !== undefined) return changed(line, links, (live) => ({ line: live }));
  if (sse?.json !== undefined) return changed(sse.json, links, (live) => ({ sse: { ...sse, json: live } }));
  if (sse?.data !== undefined)
    return changed(parseJsonTree(sse.data), links, (live) => ({ sse: { ...sse, data: encodeJson(live) } }));
  return text === undefined ? undefined : changed(parseJsonTree(text), links, (live) => ({ text: encodeJson(live) }));
}

function changed(
  message: Json | undefined,
  links: IdLinks,
  make: (live: Json) => Partial<Frame>,
): Partial<Frame> | undefined {
  if (message === undefined) return undefined;
  const live = Array.isArray(message)
    ? (message as readonly Json[]).map((one) => withLiveIds(ids, links, one))
    : withLiveIds(ids, links, message);
  const same = Array.isArray(live) ? live.every((one, i) => one === (message as readonly Json[])[i]) : live === message;
  return same ? undefined : make(live);
}
