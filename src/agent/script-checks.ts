import { checkOptions, misuse } from "./mock-refusal.ts";

/**
 * What a test's author writes is checked where it is written: a mistake that is found when a run plays it looks like a
 * backend that fails.
 */

const kindOf = (value: unknown): string =>
  value === null ? "null" : value instanceof Promise ? "a promise" : Array.isArray(value) ? "a list" : typeof value;

export function checkText(what: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw misuse(`${what} takes a text, not ${kindOf(value)}.`);
}

/** Errors of another realm count. */
export function checkError(what: string, value: unknown): Error {
  if (value instanceof Error || typeof (value as Error | null | undefined)?.message === "string") return value as Error;
  throw misuse(`${what} takes an Error, not ${kindOf(value)}: its message is what the client is told.`);
}

/** Blobs of another realm count, such as those of a DOM that is simulated. */
export function checkBlob(what: string, value: unknown): Blob {
  const { size, arrayBuffer } = (value ?? {}) as Partial<Blob>;
  if (typeof size === "number" && typeof arrayBuffer === "function") return value as Blob;
  throw misuse(`${what} takes a Blob as its body, not ${kindOf(value)}: new Blob([…], { type }).`);
}

/** An object, with these keys where any are named. */
export function checkFields<V extends object>(what: string, value: V | undefined, needed: readonly string[]): V {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Promise)
    throw misuse(`${what} takes an object, not ${kindOf(value)}.`);
  const missing = needed.filter((key) => !(key in value));
  if (missing.length > 0) throw misuse(`${what} needs ${missing.map((key) => `"${key}"`).join(" and ")}.`, { missing });
  return value;
}

export function checkAction<A extends object>(what: string, action: A | undefined): A {
  const given = checkFields(`"action" of ${what}`, action, ["name", "input"]);
  checkOptions(`"action" of ${what}`, given, ["name", "input", "id", "declaredSuspend"]);
  checkText(`"name" in the action of ${what}`, (given as { readonly name?: unknown }).name);
  return given;
}

/** The parts of a response: those that `r.text` and `r.tool` made. */
export function checkScriptParts<P>(parts: readonly P[]): readonly P[] {
  return checkEach("r.assistant", "r", parts, (part) => /^(text|tool)$/.test(String(part?.kind)));
}

/** The parts of a seeded message: native ones, or those that `s.text` and `s.tool` made. */
export function checkNativeParts<P>(what: string, parts: readonly P[]): readonly P[] {
  const isPart = (part: Loose): boolean => typeof part?.type === "string";
  return checkEach(what, "s", parts, (part) => (Array.isArray(part) ? part.every(isPart) : isPart(part)));
}

type Loose = Readonly<Record<string, unknown>> | null | undefined;

function checkEach<P>(
  what: string,
  builder: "r" | "s",
  parts: readonly P[],
  isPart: (part: Loose) => boolean,
): readonly P[] {
  if (!Array.isArray(parts)) throw misuse(`${what}([…]) takes a list of parts, not ${kindOf(parts)}.`);
  for (const [index, part] of parts.entries()) {
    if (isPart(part as Loose)) continue;
    const isTool = typeof (part as Loose)?.waiting === "function";
    throw misuse(
      isTool
        ? `Part ${index + 1} of ${what}([…]) is a tool without an outcome: call .result(…), .waiting(…) or .error(…) on it.`
        : `Part ${index + 1} of ${what}([…]) is no part, but ${kindOf(part)}: write ${builder}.text("…") or ${builder}.tool(name).result({ input, output }).`,
      { part: index + 1 },
    );
  }
  return parts;
}

/** A copy, so that what the test does to its values afterwards is not part of the script. */
export function copyOfScript<V>(what: string, value: V): V {
  try {
    return structuredClone(value);
  } catch (cause) {
    throw misuse(`${what} holds what is no data: ${(cause as Error).message}`);
  }
}
