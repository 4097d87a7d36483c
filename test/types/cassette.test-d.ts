/** The types that are written out are those that the schema gives. Checked by the compiler alone. */
import { expectTypeOf } from "vitest";
import type { z } from "zod";
import type { Cassette, Track } from "../../src/cassette/cassette.ts";
import type { cassetteSchema } from "../../src/cassette/schema.ts";

type Inferred = z.infer<typeof cassetteSchema>;

expectTypeOf<Cassette>().toEqualTypeOf<Inferred>();
expectTypeOf<Track>().toEqualTypeOf<Inferred["tracks"][number]>();
