import { type StagingRoute, sendJson } from "./staging-exchange.ts";

export interface StagingMatch {
  /** What the `:names` of the path stood for. */
  readonly params: Readonly<Record<string, string>>;
  readonly handle: StagingRoute["handle"];
}

function matchPath(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of pattern.entries()) {
    const value = path[i] ?? "";
    if (segment.startsWith(":")) params[segment.slice(1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

/**
 * Finds what answers a method and a path. Where nothing does, that is a 404 that names the routes, or a 405 that
 * names the methods.
 */
export function createStagingRouter(routes: readonly StagingRoute[]): (method: string, path: string) => StagingMatch {
  const table = routes.map((route) => ({ route, segments: route.path.split("/") }));
  const names = routes.map((route) => `${route.methods.join("|")} ${route.path}`);
  return (method, path) => {
    const segments = path.split("/");
    const allowed = new Set<string>();
    for (const entry of table) {
      const params = matchPath(entry.segments, segments);
      if (params === undefined) continue;
      if (entry.route.methods.includes(method)) return { params, handle: entry.route.handle };
      for (const name of entry.route.methods) allowed.add(name);
    }
    if (allowed.size === 0) {
      const error = { code: "not_found", message: `There is no route ${method} ${path}.`, routes: names };
      return { params: {}, handle: (exchange) => sendJson(exchange, 404, { error }) };
    }
    const allow = [...allowed].join(", ");
    const error = { code: "method_not_allowed", message: `${path} does not take ${method}, but ${allow}.` };
    return { params: {}, handle: (exchange) => sendJson(exchange, 405, { error }, { allow }) };
  };
}
