import { createScanner, type Node } from "jsonc-parser";
import { OptionInvalid } from "../errors.ts";
import { formatPath, type Path } from "./fault.ts";
import { cassetteLayout, childLayout, type Layout, trackLayout } from "./layout.ts";
import { formatValue } from "./print.ts";
import type { Json } from "./schema.ts";
import { readSyntax } from "./syntax.ts";
import { nodeAt, propertyOf } from "./tree.ts";

/** A value set at a path of a text; `undefined` removes what is there. */
export interface TextEdit {
  readonly path: Path;
  readonly value: Json | undefined;
}

/**
 * Sets or removes one value of a text that is a valid cassette; everything around it stays as it stands, comments
 * included. Objects on the way are made where they are missing; an index that is the length of a list appends.
 * OptionInvalid where the path leads nowhere.
 */
export function editValue(text: string, { path, value }: TextEdit): string {
  const root = rootOf(text);
  if (path.length === 0) throw new OptionInvalid("an edit needs a path: the whole cassette is not a value to set");
  const layouts = layoutsAlong(root, path);
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = exactly(root, path.slice(0, depth));
    if (parent === undefined) continue;
    if (depth < path.length - 1 && (value === undefined || childOf(parent, path[depth]!) !== undefined)) break;
    const made = wrap(value, path.slice(depth + 1));
    return editChild(text, parent, path.slice(0, depth + 1), made, layouts[depth + 1]);
  }
  throw nowhere(path);
}

/** Appends printed items to a list of a text. `items` are indented as they shall stand. */
export function appendItems(text: string, path: Path, items: readonly string[]): string {
  const list = exactly(rootOf(text), path);
  if (list?.type !== "array") throw nowhere(path);
  const last = list.children?.at(-1);
  if (last !== undefined) return insert(text, last.offset + last.length, items.map((item) => `,\n${item}`).join(""));
  const margin = " ".repeat(marginAt(text, list.offset));
  return insert(text, list.offset + 1, `\n${items.join(",\n")}\n${margin}`);
}

function rootOf(text: string): Node {
  const { root, faults } = readSyntax(text);
  if (root === undefined || faults.length > 0) throw new TypeError("only a valid text is edited");
  return root;
}

function editChild(
  text: string,
  parent: Node,
  path: Path,
  value: Json | undefined,
  layout: Layout | undefined,
): string {
  const step = path.at(-1)!;
  const child = childOf(parent, step);
  if (value === undefined) {
    if (child === undefined) throw nowhere(path);
    return remove(text, parent, parent.type === "object" ? child.parent! : child);
  }
  if (child !== undefined) {
    const printed = formatValue(value, " ".repeat(marginAt(text, child.offset)), columnAt(text, child.offset), layout);
    return splice(text, child.offset, child.length, printed);
  }
  if (parent.type === "object" && typeof step === "string")
    return addTo(text, parent, `${JSON.stringify(step)}: `, value, layout);
  if (parent.type === "array" && step === parent.children?.length) return addTo(text, parent, "", value, layout);
  throw nowhere(path);
}

function addTo(text: string, parent: Node, key: string, value: Json, layout: Layout | undefined): string {
  const last = parent.children?.at(-1);
  const oneLine = !text.slice(parent.offset, parent.offset + parent.length).includes("\n");
  const outer = marginAt(text, parent.offset);
  const margin = oneLine ? outer : outer + 2;
  const printed = key + formatValue(value, " ".repeat(margin), margin + key.length + 1, layout);
  if (last !== undefined) {
    const comma = oneLine ? ", " : `,\n${" ".repeat(margin)}`;
    return insert(text, last.offset + last.length, comma + printed);
  }
  const spaced = parent.type === "object" ? ` ${printed} ` : printed;
  return insert(text, parent.offset + 1, oneLine ? spaced : `\n${" ".repeat(margin)}${printed}`);
}

function remove(text: string, parent: Node, item: Node): string {
  const siblings = parent.children ?? [];
  const index = siblings.indexOf(item);
  const end = item.offset + item.length;
  const comma = commaAfter(text, end);
  const before = siblings[index - 1];
  // A comma of its own goes with the item; the last item without one takes the comma before it.
  if (comma !== -1) return removeRanges(text, [item.offset, end], [comma, comma + 1]);
  if (before === undefined) return removeRanges(text, [item.offset, end]);
  const earlier = commaAfter(text, before.offset + before.length);
  return removeRanges(text, [earlier, earlier + 1], [item.offset, end]);
}

/** Removes an item and its comma, given in the order of the text: at once, or around the comments between them. */
function removeRanges(text: string, first: readonly [number, number], second?: readonly [number, number]): string {
  if (second === undefined) return removeRange(text, ...first);
  if (text.slice(first[1], second[0]).trim() === "") return removeRange(text, first[0], second[1]);
  return removeRange(removeRange(text, ...second), ...first);
}

/** Removes a range and the white space that only it needed: its line, or the spaces on one side. */
function removeRange(text: string, from: number, to: number): string {
  let start = from;
  while (text[start - 1] === " " || text[start - 1] === "\t") start--;
  let end = to;
  while (text[end] === " " || text[end] === "\t") end++;
  const lineStarts = start === 0 || text[start - 1] === "\n";
  const lineEnds = end === text.length || text[end] === "\n" || text[end] === "\r";
  if (lineStarts && lineEnds) return text.slice(0, start) + text.slice(text[end] === "\r" ? end + 2 : end + 1);
  if (lineEnds) return text.slice(0, start) + text.slice(end);
  // What begins with a comma was the last item: the space after it belongs to the bracket.
  return text.slice(0, from) + text.slice(text[from] === "," ? to : end);
}

/** The offset of the comma that follows, comments aside, or -1. */
function commaAfter(text: string, offset: number): number {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : -1;
}

function exactly(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) node = node && childOf(node, step);
  return node;
}

function childOf(node: Node, step: string | number): Node | undefined {
  if (typeof step === "number") return node.type === "array" ? node.children?.[step] : undefined;
  return propertyOf(node, step)?.children?.[1];
}

function wrap(value: Json | undefined, path: Path): Json | undefined {
  if (value === undefined) return undefined;
  return path.reduceRight<Json>((inner, step) => (typeof step === "number" ? [inner] : { [step]: inner }), value);
}

/** The layouts of the root and of what stands at each step of the path. */
function layoutsAlong(root: Node, path: Path): (Layout | undefined)[] {
  const layouts: (Layout | undefined)[] = [cassetteLayout];
  path.forEach((step, i) => {
    const here = layouts[i];
    if (path[0] === "tracks" && i === 1) layouts.push(trackLayout(nodeAt(root, [...path.slice(0, 2), "kind"]).value));
    else layouts.push(typeof step === "number" ? here?.item : childLayout(here, step));
  });
  return layouts;
}

function splice(text: string, offset: number, length: number, printed: string): string {
  // Printed values hold no raw line break but those of the layout.
  const eol = text.includes("\r\n") ? printed.replaceAll("\n", "\r\n") : printed;
  return text.slice(0, offset) + eol + text.slice(offset + length);
}

function insert(text: string, offset: number, printed: string): string {
  return splice(text, offset, 0, printed);
}

function columnAt(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** How far the line on which an offset stands is indented. */
function marginAt(text: string, offset: number): number {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  let end = start;
  while (text[end] === " ") end++;
  return end - start;
}

function nowhere(path: Path): OptionInvalid {
  return new OptionInvalid(`the cassette has nothing at ${formatPath(path)}`, { path: formatPath(path) });
}
