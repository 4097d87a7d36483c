import type { Node } from "jsonc-parser";
import { numberLiteral } from "../wire/json.ts";
import type { Path } from "./fault.ts";
import { childLayout, type Layout } from "./layout.ts";

/** A key that stands a second time in its object. */
export interface Duplicate {
  readonly path: Path;
  readonly offset: number;
  readonly firstOffset: number;
}

/**
 * The value of a syntax tree. A number in a payload is kept as it is written; elsewhere it is a number. Of a duplicate
 * key the first counts. What has no value because the text is broken there is left out.
 */
export function treeValue(root: Node, text: string, layout: Layout, duplicates: Duplicate[]): unknown {
  const path: (string | number)[] = [];

  function value(node: Node, place: Layout | undefined): unknown {
    if (node.type === "object") return object(node, place);
    if (node.type === "array") return list(node, place?.item);
    if (node.type !== "number") return node.value;
    if (place?.payload) return numberLiteral(text.slice(node.offset, node.offset + node.length));
    return (node.value as number) + 0; // never -0, which would be printed as 0
  }

  function list(node: Node, item: Layout | undefined): unknown[] {
    return (node.children ?? []).map((child, i) => {
      path.push(i);
      const entry = value(child, item);
      path.pop();
      return entry;
    });
  }

  function object(node: Node, place: Layout | undefined): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    for (const property of node.children ?? []) {
      const [keyNode, valueNode] = property.children ?? [];
      if (keyNode === undefined || valueNode === undefined) continue;
      const key: string = keyNode.value;
      path.push(key);
      if (Object.hasOwn(members, key))
        duplicates.push({ path: [...path], offset: keyNode.offset, firstOffset: firstKey(node, key) });
      else setOwn(members, key, value(valueNode, childLayout(place, key)));
      path.pop();
    }
    return members;
  }

  return value(root, layout);
}

function firstKey(node: Node, key: string): number {
  return propertyOf(node, key)?.offset ?? node.offset;
}

/** Sets a key as a plain own key: `__proto__` is data like any other. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The node at a path, or the nearest one above it; of a key, with `atKey`, the node of the key itself. */
export function nodeAt(root: Node, path: Path, atKey = false): Node {
  let node = root;
  for (let i = 0; i < path.length; i++) {
    const step = path[i]!;
    if (typeof step === "number") {
      const child = node.type === "array" ? node.children?.[step] : undefined;
      if (child === undefined) return node;
      node = child;
      continue;
    }
    const property = propertyOf(node, step);
    if (property === undefined) return node;
    if (atKey && i === path.length - 1) return property;
    const child = property.children?.[1];
    if (child === undefined) return property;
    node = child;
  }
  return node;
}

/** The property node of a key of an object node. */
export function propertyOf(node: Node, key: string): Node | undefined {
  if (node.type !== "object") return undefined;
  const properties = node.children ?? [];
  if (properties.length <= 16) return properties.find((property) => property.children?.[0]?.value === key);
  let index = indices.get(node);
  if (index === undefined) {
    index = new Map();
    for (const property of properties) {
      const own = property.children?.[0]?.value;
      if (!index.has(own)) index.set(own, property);
    }
    indices.set(node, index);
  }
  return index.get(key);
}

// A hostile file has a million keys in one object and a fault in each.
const indices = new WeakMap<Node, Map<unknown, Node>>();
