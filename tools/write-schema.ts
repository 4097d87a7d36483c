/** Writes the published JSON Schema from the zod schema. The reader checks with the same file: see cassette/check.ts. */
import { writeFileSync } from "node:fs";
import { z } from "zod";
import { cassetteSchema } from "../src/cassette/schema.ts";

const contents = ["json", "line", "sse", "text", "base64", "file", "value"];

export function jsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(cassetteSchema, {
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
      // JavaScript's safe integers are no limit worth telling people about.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.id === "Frame") jsonSchema.oneOf = contents.map((key) => ({ required: [key] }));
    },
  }) as Record<string, unknown>;
  return { ...schema, $id: "https://wiretape.dev/cassette.schema.json" };
}

if (process.argv[1] === import.meta.filename) {
  const path = new URL("../src/cassette/cassette.schema.json", import.meta.url);
  writeFileSync(path, `${JSON.stringify(jsonSchema(), null, 2)}\n`);
  console.log(`wrote ${path.pathname}`);
}
