import { type Fault, type Path, quoteValue } from "./fault.ts";
import { cassetteJsonSchema, referenceOf, resolve, type SchemaNode } from "./json-schema.ts";
import { suggest } from "./nearest.ts";

/**
 * The JSON Schema of the cassette compiled into closures, once, at import: the same documents pass as with the zod
 * schema it was written from (a property test holds the two together), at a twentieth of the cost. That a frame has
 * exactly one content key is left to rules.ts, which names the keys.
 */

/** The version of the format that is read and written. */
const FORMAT = 1;

interface Report {
  /** The place at which the check is; a stack, because a path for each value would cost more than the check. */
  readonly path: (string | number)[];
  readonly faults: Fault[];
}
type Check = (value: unknown, report: Report) => void;

/** Every fault of the shape of a cassette; none means that it is one. Of a newer format only that is told. */
export function checkShape(value: unknown): Fault[] {
  const newer = newerFormat(value);
  return newer === undefined ? run(wholeFile, value, []) : [newer];
}

/** The fault of a file that a later version of wiretape wrote: nothing else that is said about it would be true. */
export function newerFormat(value: unknown): Fault | undefined {
  const version = isPlainObject(value) ? value.wiretape : undefined;
  if (!Number.isInteger(version) || (version as number) <= FORMAT) return undefined;
  const message = `this file was written by a newer wiretape, in version ${version} of the format; the one that is installed reads version ${FORMAT}: update wiretape`;
  return { path: ["wiretape"], message };
}

/** Every fault of the shape of one track. `path`: where it stands. */
export function checkTrackShape(value: unknown, path: Path): Fault[] {
  return run(oneTrack, value, path);
}

function run(check: Check, value: unknown, path: Path): Fault[] {
  const report: Report = { path: [...path], faults: [] };
  check(value, report);
  return report.faults;
}

const compiled = new Map<string, Check>();
const wholeFile = compile(cassetteJsonSchema);
const oneTrack = compile({ $ref: "#/$defs/Track" });

function compile(node: SchemaNode): Check {
  const name = referenceOf(node);
  if (name === undefined) return build(node);
  const known = compiled.get(name);
  if (known !== undefined) return known;
  // An error has a cause that is an error: the name is bound before its definition is compiled.
  let check: Check = pass;
  compiled.set(name, (value, report) => check(value, report));
  check = build(resolve(node));
  compiled.set(name, check);
  return check;
}

function pass(): void {
  // Any JSON value.
}

function build(node: SchemaNode): Check {
  if (node.oneOf && !node.properties) return byKind(node.oneOf);
  const branches = branchesOf(node);
  if (branches !== undefined) return anyOf(branches, describe(node));
  if (node.const !== undefined || node.enum) return oneOf(node);
  switch (node.type) {
    case "object":
      return node.properties ? objectOf(node) : recordOf(node);
    case "array":
      return node.prefixItems ? tupleOf(node) : listOf(node);
    case "string":
      return textOf(node);
    case "integer":
    case "number":
      return numberOf(node);
    case "boolean":
    case "null":
      return scalarOf(node);
    default:
      return pass;
  }
}

/** The branches of a union: `anyOf`, or a list of types. */
function branchesOf(node: SchemaNode): readonly SchemaNode[] | undefined {
  return typeof node.type === "object" ? node.type.map((type) => ({ ...node, type })) : node.anyOf;
}

function fail(report: Report, message: string): void {
  report.faults.push({ path: [...report.path], message });
}

function wrong(report: Report, value: unknown, right: string): void {
  fail(report, `must be ${right}, not ${quoteValue(value)}`);
}

function objectOf(node: SchemaNode): Check {
  const checks = new Map(Object.entries(node.properties ?? {}).map(([key, child]) => [key, compile(child)]));
  const required = node.required ?? [];
  const known = [...checks.keys()];
  const right = describe(node);
  return (value, report) => {
    if (!isPlainObject(value)) return wrong(report, value, right);
    for (const key of required)
      if (!Object.hasOwn(value, key) || value[key] === undefined)
        report.faults.push({ path: [...report.path], message: `"${key}" is missing`, missing: true });
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined) continue;
      const check = checks.get(key);
      report.path.push(key);
      if (check !== undefined) check(item, report);
      else
        report.faults.push({
          path: [...report.path],
          message: `unknown key ${JSON.stringify(key)}${suggest(key, known, "the keys here are")}`,
          atKey: true,
        });
      report.path.pop();
    }
  };
}

function recordOf(node: SchemaNode): Check {
  const names = node.propertyNames && resolve(node.propertyNames);
  const pattern = names?.pattern === undefined ? undefined : new RegExp(names.pattern);
  const item = typeof node.additionalProperties === "object" ? compile(node.additionalProperties) : pass;
  const right = describe(node);
  return (value, report) => {
    if (!isPlainObject(value)) return wrong(report, value, right);
    for (const key of Object.keys(value)) {
      report.path.push(key);
      if (pattern !== undefined && !pattern.test(key))
        report.faults.push({
          path: [...report.path],
          message: `${JSON.stringify(key)} is not ${names?.description}`,
          atKey: true,
        });
      if (item !== pass) item(value[key], report);
      report.path.pop();
    }
  };
}

function listOf(node: SchemaNode): Check {
  const item = node.items ? compile(node.items) : pass;
  const right = describe(node);
  return (value, report) => {
    if (!Array.isArray(value)) return wrong(report, value, right);
    for (let i = 0; i < value.length; i++) {
      report.path.push(i);
      item(value[i], report);
      report.path.pop();
    }
  };
}

function tupleOf(node: SchemaNode): Check {
  const items = (node.prefixItems ?? []).map(compile);
  const right = describe(node);
  return (value, report) => {
    if (!Array.isArray(value)) return wrong(report, value, right);
    if (value.length !== items.length) return fail(report, `must be ${right}, not a list of ${value.length}`);
    for (let i = 0; i < items.length; i++) {
      report.path.push(i);
      items[i]!(value[i], report);
      report.path.pop();
    }
  };
}

function textOf(node: SchemaNode): Check {
  const pattern = node.pattern === undefined ? undefined : new RegExp(node.pattern);
  const right = describe(node);
  return (value, report) => {
    if (typeof value !== "string" || (pattern !== undefined && !pattern.test(value))) wrong(report, value, right);
  };
}

function numberOf(node: SchemaNode): Check {
  const least = node.minimum ?? Number.NEGATIVE_INFINITY;
  const most = node.maximum ?? Number.POSITIVE_INFINITY;
  // A whole number that a double cannot tell from its neighbour would be rounded.
  const proper = node.type === "integer" ? Number.isSafeInteger : Number.isFinite;
  const right = describe(node);
  return (value, report) => {
    if (typeof value !== "number" || !proper(value) || value < least || value > most) wrong(report, value, right);
  };
}

function scalarOf(node: SchemaNode): Check {
  const right = describe(node);
  return (value, report) => {
    if ((value === null ? "null" : typeof value) !== node.type) wrong(report, value, right);
  };
}

function oneOf(node: SchemaNode): Check {
  const values = node.enum ?? [node.const];
  const words = values.filter((v) => typeof v === "string");
  const right = describe(node);
  return (value, report) => {
    if (values.includes(value)) return;
    fail(report, `must be ${right}, not ${quoteValue(value)}${words.length > 1 ? nearestOf(value, words) : ""}`);
  };
}

/** `; did you mean "x"?` where a word is near; all that there are have been told already. */
function nearestOf(value: unknown, words: readonly string[]): string {
  const hint = typeof value === "string" ? suggest(value, words, "it may be") : "";
  return hint.startsWith("; did") ? hint : "";
}

/** The branches of the cassette's unions differ by the type of the value, and tuples by their length. */
function anyOf(branches: readonly SchemaNode[], right: string): Check {
  const options = branches.map((branch) => ({ node: resolve(branch), check: compile(branch) }));
  // Each of several plain values may be meant: a wrong one is told them all.
  if (options.every(({ node }) => node.type !== "object" && node.type !== "array")) return oneOfPlain(options, right);
  return (value, report) => {
    const fitting = options.filter(({ node }) => hasType(value, node.type));
    if (fitting.length === 0) return wrong(report, value, right);
    const sized =
      fitting.length === 1 || !Array.isArray(value)
        ? fitting[0]
        : fitting.find(
            ({ node }) => (node.minItems ?? 0) <= value.length && value.length <= (node.maxItems ?? Infinity),
          );
    if (sized === undefined) return wrong(report, value, right);
    sized.check(value, report);
  };
}

function oneOfPlain(options: readonly { readonly node: SchemaNode; readonly check: Check }[], right: string): Check {
  const words = options.map(({ node }) => node.const).filter((word) => typeof word === "string");
  return (value, report) => {
    const fits = options.some(({ check }) => {
      const attempt: Report = { path: [], faults: [] };
      check(value, attempt);
      return attempt.faults.length === 0;
    });
    if (!fits) fail(report, `must be ${right}, not ${quoteValue(value)}${nearestOf(value, words)}`);
  };
}

function byKind(branches: readonly SchemaNode[]): Check {
  const checks = new Map<unknown, Check>();
  for (const branch of branches) checks.set(resolve(branch).properties?.kind?.const, compile(branch));
  const kinds = [...checks.keys()] as string[];
  return (value, report) => {
    if (!isPlainObject(value)) return wrong(report, value, "a track");
    const kind = value.kind;
    const check = checks.get(kind);
    if (check !== undefined) return check(value, report);
    if (kind === undefined)
      return void report.faults.push({
        path: [...report.path],
        message: `"kind" is missing; the kinds are: ${kinds.join(", ")}`,
        missing: true,
      });
    report.path.push("kind");
    const hint =
      typeof kind === "string" ? suggest(kind, kinds, "the kinds are") : `; the kinds are: ${kinds.join(", ")}`;
    fail(report, `${quoteValue(kind)} is no kind of track${hint}`);
    report.path.pop();
  };
}

function hasType(value: unknown, type: SchemaNode["type"]): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  return typeof value === (type === "integer" ? "number" : type);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What would be right, as it continues "must be …". */
function describe(node: SchemaNode): string {
  const target = resolve(node);
  if (target === cassetteJsonSchema) return "a cassette, an object";
  if (target.description !== undefined && target.description !== "a remark for people") return target.description;
  if (target.const !== undefined) return JSON.stringify(target.const);
  if (target.enum) return alternatives(target.enum.map((value) => JSON.stringify(value)));
  const branches = branchesOf(target);
  if (branches !== undefined) return alternatives(branches.map(describe));
  switch (target.type) {
    case "string":
      return target.pattern === undefined ? "a text" : `a text like ${target.pattern}`;
    case "integer":
      return wholeNumber(target);
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "array":
      return target.prefixItems
        ? `[${target.prefixItems.map(describe).join(", ")}]`
        : `a list${target.items ? ` (each ${describe(target.items)})` : ""}`;
    default:
      return "an object";
  }
}

function wholeNumber({ minimum, maximum }: SchemaNode): string {
  if (minimum === undefined && maximum === undefined) return "a whole number";
  return `a whole number from ${minimum}${maximum === undefined ? "" : ` to ${maximum}`}`;
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
