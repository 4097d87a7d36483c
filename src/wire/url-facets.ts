import type { Json } from "./json.ts";

/** What of a URL is compared: origin, path, and the query by name, each with its values in order. */
export function urlFacets(url: string): { origin?: string; path: string; query?: Json } {
  const parsed = parseUrl(url);
  if (parsed === undefined) return { path: url };
  const { protocol, host, pathname, search, searchParams } = parsed;
  // `origin` of a URL that is neither HTTP nor a socket's is the text "null".
  const facets = { origin: `${protocol}//${host}`, path: pathname };
  return search === "" ? facets : { ...facets, query: valuesByName(searchParams) };
}

/** The values of each name, in order. */
export function valuesByName(params: URLSearchParams): Json {
  const values = new Map<string, string[]>();
  for (const [name, value] of params) {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries(values);
}

/** A parsed URL, or `undefined`: a hand-written track may hold anything, and is compared as it stands. */
export function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
