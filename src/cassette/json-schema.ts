import document from "./cassette.schema.json" with { type: "json" };

/** The subset of JSON Schema that the cassette's schema uses, as zod writes it. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode | false;
  readonly prefixItems?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

/** The schema of a cassette file, as it is published. */
export const cassetteJsonSchema = document as unknown as SchemaNode & {
  readonly $defs: Readonly<Record<string, SchemaNode>>;
};

/** The name under `$defs` that a node refers to. */
export function referenceOf(node: SchemaNode): string | undefined {
  return node.$ref?.slice("#/$defs/".length);
}

/** The node itself, or the definition that it refers to. */
export function resolve(node: SchemaNode): SchemaNode {
  const name = referenceOf(node);
  return name === undefined ? node : cassetteJsonSchema.$defs[name]!;
}
