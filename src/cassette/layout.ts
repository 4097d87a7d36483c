import { cassetteJsonSchema, referenceOf, resolve, type SchemaNode } from "./json-schema.ts";

/**
 * What the printer knows about a place in a cassette, taken from the JSON Schema: the order of its keys, and what its
 * values are in turn. A place that may hold an object or a list (a body) has both `fields` and `item`.
 */
export interface Layout {
  /** A JSON value of the user's: keys in their own order. */
  readonly payload?: true;
  /** Keys of ours. */
  readonly fields?: ReadonlyMap<string, Field>;
  /** Keys in their own order although they are ours: server-sent fields are sent as they stand. */
  readonly unordered?: true;
  /** The items of a list. */
  readonly item?: Layout | undefined;
  /** The items are frames: the list is always opened, an item has 400 columns. */
  readonly frames?: true;
  /** The values of a record. */
  readonly rest?: Layout | undefined;
}

export interface Field {
  readonly rank: number;
  readonly layout: Layout | undefined;
  /** Always opened, however short. */
  readonly open: boolean;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export const payload: Layout = selfSimilar();

function selfSimilar(): Layout {
  const layout: Writable<Layout> = { payload: true };
  layout.item = layout;
  layout.rest = layout;
  return layout;
}

const named = new Map<string, Layout | undefined>([["Json", payload]]);

/** The layout of a node; memoised by name, because an error has a cause that is an error. */
function layoutOf(node: SchemaNode): Layout | undefined {
  const name = referenceOf(node);
  if (name === undefined) return build(node);
  if (named.has(name)) return named.get(name);
  const layout: Writable<Layout> = {};
  named.set(name, layout);
  const built = build(resolve(node), name);
  if (built === undefined) named.set(name, undefined);
  return built && Object.assign(layout, built);
}

function build(node: SchemaNode, name?: string): Layout | undefined {
  const layout: Writable<Layout> = {};
  for (const branch of node.anyOf ?? []) Object.assign(layout, layoutOf(branch));
  if (node.items) {
    layout.item = layoutOf(node.items);
    if (referenceOf(node.items) === "Frame") layout.frames = true;
  }
  if (node.properties) layout.fields = fieldsOf(node.properties, name);
  if (name === "ServerSentEvent") layout.unordered = true;
  if (typeof node.additionalProperties === "object") layout.rest = layoutOf(node.additionalProperties);
  return Object.keys(layout).length === 0 ? undefined : layout;
}

function fieldsOf(properties: Readonly<Record<string, SchemaNode>>, name?: string): Map<string, Field> {
  const track = name?.endsWith("Track") === true;
  const fields = new Map<string, Field>();
  for (const [key, child] of Object.entries(properties)) {
    const open = track && (key === "request" || key === "response" || key === "open");
    fields.set(key, { rank: fields.size, layout: layoutOf(child), open });
  }
  return fields;
}

const tracks = new Map<unknown, Layout>();
for (const branch of resolve({ $ref: "#/$defs/Track" }).oneOf ?? [])
  tracks.set(resolve(branch).properties?.kind?.const, layoutOf(branch)!);

// Where the kind is not known yet, or wrong: a key of a track is a payload in all kinds or in none.
const anyTrack: Layout = { fields: new Map([...tracks.values()].flatMap((layout) => [...(layout.fields ?? [])])) };
named.set("Track", anyTrack);

/** The layout of the whole file; of a track whatever its kind, so that its order of keys is nothing to print by. */
export const cassetteLayout: Layout = build(cassetteJsonSchema)!;

/** The layout of a track, by its kind. */
export function trackLayout(kind: unknown): Layout {
  return tracks.get(kind) ?? anyTrack;
}

/** The layout of what stands under a key. */
export function childLayout(layout: Layout | undefined, key: string): Layout | undefined {
  const field = layout?.fields?.get(key);
  return field === undefined ? layout?.rest : field.layout;
}
