import { OptionInvalid } from "../errors.ts";
import type { TransportSupports } from "./transport.ts";

/**
 * How the agent protocol lies on HTTP: one table that the client fills in and the server matches against. The
 * documentation of `serveAgentTransport` prints it for people.
 */

export interface AgentRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Segments; `:name` stands for any one of them, percent-encoded. */
  readonly path: string;
  /** The optional part of a transport without which it is answered with 501. */
  readonly needs?: keyof TransportSupports;
  /** Fields of the JSON body that must be texts. Further fields are handed on. */
  readonly texts?: readonly string[];
}

export const agentRoutes = {
  send: { method: "POST", path: "/threads/:threadId/send", texts: ["text"] },
  retry: { method: "POST", path: "/threads/:threadId/retry" },
  regenerate: { method: "POST", path: "/threads/:threadId/regenerate", needs: "regeneration" },
  submitAction: { method: "POST", path: "/threads/:threadId/actions/:actionId" },
  watchThread: { method: "GET", path: "/threads/:threadId/watch", needs: "watch" },
  watchThreadHeads: { method: "GET", path: "/heads/watch", needs: "heads" },
  getThreadState: { method: "GET", path: "/threads/:threadId" },
  listThreads: { method: "GET", path: "/threads" },
  getManifest: { method: "GET", path: "/manifest" },
  renameThread: { method: "PATCH", path: "/threads/:threadId", texts: ["title"] },
  deleteThread: { method: "DELETE", path: "/threads/:threadId" },
  uploadFile: { method: "POST", path: "/files", needs: "files" },
  readFile: { method: "GET", path: "/files/:fileId", needs: "files" },
  createFileUrl: { method: "GET", path: "/files/:fileId/url", needs: "files" },
  executeCommand: { method: "POST", path: "/threads/:threadId/commands/:name", needs: "commands" },
  writeToolData: {
    method: "POST",
    path: "/threads/:threadId/tool-data",
    texts: ["runId", "messageId", "toolCallId", "name"],
  },
  supports: { method: "GET", path: "/supports" },
} as const satisfies Readonly<Record<string, AgentRoute>>;

export type AgentRouteName = keyof typeof agentRoutes;

/** The `:names` of a path. */
type ParamsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** What the path of a route is filled in with. */
export type RouteParams<Name extends AgentRouteName> = Readonly<
  Record<ParamsIn<(typeof agentRoutes)[Name]["path"]>, string>
>;

/** The header in which the record of a file travels beside its body: percent-encoded JSON. */
export const FILE_RECORD_HEADER = "x-agent-file";

/** A file's name, media type and metadata, percent-encoded: HTTP stacks refuse heads of 16 KiB. */
export const FILE_RECORD_LIMIT = 12 * 1024;

/** The path of a route with each `:name` filled in and percent-encoded. */
export function routePath<Name extends AgentRouteName>(name: Name, params: RouteParams<Name>): string {
  const values = params as Readonly<Record<string, string>>;
  return agentRoutes[name].path
    .split("/")
    .map((segment) => (segment.startsWith(":") ? encodeSegment(segment.slice(1), values[segment.slice(1)]) : segment))
    .join("/");
}

// URLs resolve "." and ".." away, "%2e" too, so an id that is one of them (or looks as if it were marked) gets a mark.
function encodeSegment(name: string, value: unknown): string {
  if (typeof value !== "string")
    throw new OptionInvalid(`"${name}" must be a text, not ${value === null ? "null" : typeof value}.`, { name });
  try {
    return (/^~*\.\.?$/.test(value) ? "~" : "") + encodeURIComponent(value);
  } catch (cause) {
    const message = `"${name}" is ${JSON.stringify(value)}: half of a surrogate pair cannot be sent in a URL.`;
    throw new OptionInvalid(message, { name }, { cause });
  }
}

function decodeSegment(segment: string): string {
  const value = decodeURIComponent(segment);
  return /^~+\.\.?$/.test(value) ? value.slice(1) : value;
}

/** What a method and a path ask for. */
export type RouteMatch =
  | { readonly kind: "route"; readonly name: AgentRouteName; readonly params: Readonly<Record<string, string>> }
  /** The path is known, the method is not one of its own. */
  | { readonly kind: "method"; readonly allow: readonly string[] }
  /** A segment is not percent-encoded UTF-8. */
  | { readonly kind: "encoding"; readonly segment: string }
  | { readonly kind: "unknown" };

const table = Object.entries(agentRoutes).map(([name, route]) => ({
  name: name as AgentRouteName,
  method: route.method,
  segments: route.path.split("/"),
}));

/** Every route as `METHOD /path`, in the order of the table. */
export const routeNames: readonly string[] = Object.values(agentRoutes).map(({ method, path }) => `${method} ${path}`);

/** Finds the route of a request. The path is without its query, still percent-encoded. */
export function matchRoute(method: string, path: string): RouteMatch {
  const segments = path.split("/");
  const allow: string[] = [];
  for (const route of table) {
    if (!fits(route.segments, segments)) continue;
    if (route.method === method) return decodeParams(route.name, route.segments, segments);
    allow.push(route.method);
  }
  return allow.length > 0 ? { kind: "method", allow } : { kind: "unknown" };
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((segment, i) => segment.startsWith(":") || segment === segments[i]);
}

function decodeParams(name: AgentRouteName, pattern: readonly string[], segments: readonly string[]): RouteMatch {
  const params: Record<string, string> = {};
  for (const [i, segment] of pattern.entries()) {
    if (!segment.startsWith(":")) continue;
    const given = segments[i] as string;
    try {
      params[segment.slice(1)] = decodeSegment(given);
    } catch {
      return { kind: "encoding", segment: given }; // the only error of decodeURIComponent
    }
  }
  return { kind: "route", name, params };
}
