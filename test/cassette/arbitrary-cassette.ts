import fc from "fast-check";
import type { Cassette, Json } from "../../src/cassette/schema.ts";
import { encodeBase64 } from "../../src/wire/bytes.ts";

/** Arbitrary valid cassettes: every kind of track, awkward texts and keys, lines around the widths of the layout. */

const defined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
const record = <T extends Record<string, fc.Arbitrary<unknown>>>(
  required: T,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
) =>
  fc
    .record({ ...optional, ...required }, { requiredKeys: Object.keys(required) as never })
    .map((o) => defined({ ...o })) as fc.Arbitrary<never>;

const awkward = fc.constantFrom(
  "",
  "é😀",
  '"\\/',
  "\n\r\t\u0000",
  "\u2028",
  "//",
  "/*",
  "x".repeat(100),
  "😀".repeat(55),
  "\ufeff",
);
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), awkward);
const key = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toJSON", "note", "style", "$ref", "10", "2"));
const at = fc.nat({ max: 100_000 });
const name = fc.stringMatching(/^[A-Za-z0-9][\w.-]{0,8}$/).filter((n) => n !== "start");
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
);

const json: fc.Arbitrary<Json> = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.constant({ $number: "1.0" })),
    fc.array(tie("tree"), { maxLength: 5 }),
    fc.array(fc.tuple(key, tie("tree")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
})).tree;

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)), maxLength: 20 });
const headers = fc.array(fc.tuple(latin1, latin1), { maxLength: 4 });
const line = text.map((t) => t.replace(/[\r\n]/g, ""));
const pattern = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 2 })),
  { maxKeys: 3 },
);
const style = record(
  {},
  {
    json: record(
      {},
      {
        colon: fc.constantFrom(":", ": "),
        indent: fc.nat({ max: 4 }),
        escape: fc.constantFrom("none", "ascii", "html"),
        tail: fc.constantFrom("", "\n"),
      },
    ),
    sse: record({}, { newline: fc.constantFrom("\n", "\r\n"), space: fc.boolean() }),
  },
);
const event = fc.oneof(
  record({ data: text }, { id: line, event: line, comment: line, retry: at }),
  record({ json }, { event: line, ended: fc.constantFrom("", "\n") }),
);

const content = (values: boolean): fc.Arbitrary<object> =>
  fc.oneof(
    record({ json }, { pad: fc.nat({ max: 3 }), style }),
    record({ line: json }),
    record({ sse: event }),
    record({ text }),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ base64: encodeBase64(bytes) })),
    fc.constant({ file: { path: "a.files/b", sha256: "ab".repeat(32), size: 3 } }),
    ...(values ? [record({ value: json })] : []),
  );

type Gates = fc.Arbitrary<unknown>;

const frames = (gate: Gates, from: readonly string[] | undefined, values = false): fc.Arbitrary<never> =>
  fc
    .array(
      fc.record({
        content: content(values),
        at: fc.option(at, { nil: undefined }),
        after: fc.option(gate, { nil: undefined, freq: 4 }),
        joined: fc.boolean(),
        from: fc.constantFrom(...(from ?? [undefined])),
        cuts: fc.option(fc.array(fc.nat({ max: 50 }), { maxLength: 3 }), { nil: undefined, freq: 4 }),
        note: fc.option(text, { nil: undefined, freq: 6 }),
      }),
      { maxLength: 5 },
    )
    .map((list) => {
      const seen = new Set<string | undefined>();
      return list.map(({ content, at, after, joined, from, cuts, note }) => {
        const together = joined && seen.has(from);
        seen.add(from);
        return defined({
          ...(together ? { joined: true } : { at, after }),
          from,
          ...content,
          cuts: cuts?.sort((a, b) => a - b).map((offset) => [offset, 7]),
          note,
        });
      });
    }) as fc.Arbitrary<never>;

const error = fc.letrec<{ error: unknown }>((tie) => ({
  error: record(
    { name: text, message: text },
    {
      at,
      code: fc.oneof(text, fc.integer()),
      cause: fc.oneof({ depthSize: "small" }, fc.constant(undefined), tie("error")),
    },
  ),
})).error;

const end = (gate: Gates) => record({ at }, { after: gate, by: fc.constant("client"), error });
const common = (gate: Gates) => ({
  at,
  lane: name,
  after: gate,
  repeat: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant("forever")),
  optional: fc.constant(true),
  note: text,
});

function track(id: string, gate: Gates): fc.Arbitrary<never> {
  const body = fc.oneof(frames(gate, undefined), content(false));
  const request = record({ method: text, url: text }, { headers, style, body, trailers: headers, note: text });
  const response = record(
    { status: fc.integer({ min: 100, max: 999 }), headers },
    {
      at,
      after: gate,
      reason: latin1,
      seen: fc.constantFrom("decoded", "wire"),
      informational: fc.array(record({ status: fc.constant(103) }, { at, headers }), { maxLength: 2 }),
      style,
      body,
      decoded: body,
      end: end(gate),
    },
  );
  const sides = ["client", "server"];
  const calls = ["agent", "model", "function"].map((kind) =>
    record(
      {
        id: fc.constant(id),
        kind: fc.constant(kind),
        call: record({ name: text }, { thread: text, input: json }),
        result: record({ value: json }, { at, after: gate, note: text }),
      },
      { ...common(gate), style, events: frames(gate, undefined, true), end: end(gate) },
    ),
  );
  const duplex = (kind: string, open: Record<string, fc.Arbitrary<unknown>>, from: readonly string[]) =>
    record(
      { id: fc.constant(id), kind: fc.constant(kind), open: record(open) },
      {
        ...common(gate),
        style,
        frames: frames(gate, from),
        close: record({}, { at, after: gate, note: text }),
        fault: error,
      },
    );
  return fc.oneof(
    record({ id: fc.constant(id), kind: fc.constant("http"), request, response }, common(gate)),
    record({ id: fc.constant(id), kind: fc.constant("http"), request, fault: error }, common(gate)),
    duplex("websocket", { url: text, protocols: fc.array(text, { maxLength: 2 }), headers }, sides),
    duplex("process", { command: text, env: fc.dictionary(key, text, { maxKeys: 3 }) }, ["stdin", "stdout", "stderr"]),
    duplex("mcp", {}, sides),
    ...calls,
  ) as fc.Arbitrary<never>;
}

/** Arbitrary valid cassettes, without a seal. */
export const cassettes: fc.Arbitrary<Cassette> = fc.uniqueArray(name, { maxLength: 4 }).chain((ids) => {
  const gate = fc.oneof(
    pattern,
    fc.constant("start"),
    ...(ids.length === 0 ? [] : [fc.constantFrom(...ids), fc.array(fc.constantFrom(...ids), { maxLength: 2 })]),
  );
  return record(
    { wiretape: fc.constant(1), tracks: fc.tuple(...ids.map((id) => track(id, gate))) },
    {
      $schema: text,
      recorded: record({}, { at: text, with: text, origins: fc.array(text, { maxLength: 2 }) }),
      note: text,
      match: record(
        {},
        {
          order: fc.constantFrom("identity", "strict"),
          ignore: fc.array(
            text.map((rest) => `/${rest}`),
            { maxLength: 3 },
          ),
        },
      ),
      vars: fc.dictionary(name, json, { maxKeys: 3 }),
    },
  );
}) as fc.Arbitrary<Cassette>;
