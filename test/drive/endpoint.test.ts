import { describe, expect, test } from "vitest";
import { tapeFunction } from "../../src/boundary/function/function.ts";
import type { EndpointHandler } from "../../src/drive/endpoint-agent.ts";
import { createEndpointMock } from "../../src/drive/endpoint-mock.ts";
import { loadEndpointMock } from "../../src/drive/load-endpoint.ts";
import { createDeck } from "../../src/engine/create-deck.ts";
import { OptionInvalid, ReplayStalled } from "../../src/errors.ts";
import { matchTrace } from "../../src/pattern.ts";

const PAGE = `
[endpoint]
kind = "mock"
poll_ms = 10
requests = [
  { model = "gpt-4o", messages = [{ content = "hi" }], stream = true },
  {
    model = "gpt-4o",
    messages = [{ content = "bye" }],
    stream = false,
    after = { kind = "call", op = "chat" },
  },
]
`;

const hi = { model: "m", messages: [{ content: "hi" }] };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("the page's script, as it is written: the second request comes after the agent's first chat", async () => {
  await using endpoint = loadEndpointMock(PAGE);
  const seen: string[] = [];
  endpoint.subscribe("gpt-4o", async function* ({ messages, stream }, session) {
    const [{ role, content }] = messages as [{ role: string; content: string }];
    seen.push(`${role} ${content} ${stream}`);
    yield "one ";
    if (content === "hi") {
      await later(5);
      expect(seen).toHaveLength(1);
      session.call("chat");
    }
    yield "two";
  });
  const replies = await endpoint.finished();
  expect(seen).toEqual(["user hi true", "user bye false"]);
  expect(replies.map(({ request, text, ended }) => [request, text, ended])).toEqual([
    [1, "one two", "done"],
    [2, "one two", "done"],
  ]);
  expect(
    matchTrace(endpoint.trace, [
      { kind: "inbound", stream: true },
      { kind: "call", op: "^chat$" },
      { kind: "inbound", stream: false },
    ]).matched,
  ).toBe(true);
});

test("the second request fires only after the agent's first chat call, fifty times in a row", async () => {
  for (let round = 0; round < 50; round++) {
    await using endpoint = createEndpointMock({
      requests: [hi, { ...hi, messages: [{ content: "then" }], after: { kind: "call", op: "^chat$" } }],
    });
    const order: string[] = [];
    endpoint.subscribe("m", async ({ messages }, session) => {
      order.push(String(messages[0]?.content));
      if (messages[0]?.content === "then") return "second";
      for (let i = 0; i < round % 7; i++) await turn();
      order.push("chat");
      session.call("chat");
      return "first";
    });
    await endpoint.finished();
    expect(order).toEqual(["hi", "chat", "then"]);
  }
});

describe("a request", () => {
  test("waits until an agent subscribes to its model, and fires at once then", async () => {
    await using endpoint = createEndpointMock({ requests: [hi, { ...hi, model: "other" }], pollMs: 100_000 });
    await later(5);
    expect(endpoint.trace).toEqual([]);
    endpoint.subscribe("m", () => "a");
    await later(5);
    expect(endpoint.replies.map(({ model }) => model)).toEqual(["m"]);
    endpoint.subscribe("other", () => "b");
    expect((await endpoint.finished()).map(({ text }) => text)).toEqual(["a", "b"]);
  });

  test("passes messages, tools, params and stream on", async () => {
    const requests = [
      {
        model: "m",
        messages: [{ role: "system", content: "x" }, { content: [1] }],
        tools: [{ name: "t" }],
        params: { temperature: 0.5 },
        stream: true,
      },
    ];
    await using endpoint = createEndpointMock({ requests });
    let got: unknown;
    endpoint.subscribe("m", (request) => {
      got = request;
    });
    const [reply] = await endpoint.finished();
    expect(got).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "x" },
        { role: "user", content: [1] },
      ],
      tools: [{ name: "t" }],
      params: '{"temperature":0.5}',
      stream: true,
    });
    expect(reply).toMatchObject({ deltas: [], text: "", ended: "done" });
  });

  test("runs beside the others, unless it is gated", async () => {
    await using endpoint = createEndpointMock({ requests: [hi, hi, hi] });
    let running = 0;
    let most = 0;
    endpoint.subscribe("m", async () => {
      most = Math.max(most, ++running);
      await later(5);
      running--;
    });
    await endpoint.finished();
    expect(most).toBe(3);
  });

  test("is drained whatever the answer is: a text, a list, a stream, a response, a promise", async () => {
    const stream = new Response("ré").body;
    const answers: unknown[] = ["t", ["a", { b: 1 }], stream, new Response("body"), Promise.resolve("p"), undefined, 7];
    await using endpoint = createEndpointMock({ requests: answers.map((_, i) => ({ ...hi, model: `m${i}` })) });
    for (const [i, answer] of answers.entries()) endpoint.subscribe(`m${i}`, () => answer);
    const replies = await endpoint.finished();
    expect(replies.map(({ text }) => text)).toEqual(["t", "a", "", "body", "p", "", ""]);
    expect(replies[1]?.deltas).toEqual(["a", { b: 1 }]);
    expect(replies[6]?.deltas).toEqual([7]);
  });

  test("whose agent throws has a reply that says so", async () => {
    await using endpoint = createEndpointMock({ requests: [hi] });
    endpoint.subscribe("m", async function* () {
      yield "part";
      throw new Error("no more");
    });
    expect(await endpoint.finished()).toMatchObject([{ text: "part", ended: "failed", error: new Error("no more") }]);
  });
});

describe("the end of a session", () => {
  const counting = (log: string[]): EndpointHandler =>
    async function* (_, { signal }) {
      signal.addEventListener("abort", () => log.push((signal.reason as Error).name));
      try {
        for (let i = 0; ; i++) {
          yield `${i} `;
          await turn();
        }
      } finally {
        log.push("left");
      }
    };

  test.each([
    [{ close: 2 }, "closed", "0 1 ", "EndpointClosed"],
    [{ abort: 3 }, "aborted", "0 1 2 ", "AbortError"],
  ] as const)("after so many deltas: %j", async (sessionEnd, ended, text, reason) => {
    await using endpoint = createEndpointMock({ requests: [{ ...hi, sessionEnd, sessionId: "label" }] });
    const log: string[] = [];
    endpoint.subscribe("m", counting(log));
    const [reply] = await endpoint.finished();
    await later(2);
    expect(reply).toMatchObject({
      ended,
      text,
      session: { label: "label", id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(log).toEqual([reason, "left"]);
    expect(endpoint.trace.at(-1)).toMatchObject({ kind: "close", ended, session: "label" });
  });

  test("after none: the agent has the request, and nobody reads the answer", async () => {
    await using endpoint = createEndpointMock({ requests: [{ ...hi, sessionEnd: { close: 0 } }] });
    let asked = 0;
    endpoint.subscribe("m", async () => {
      asked++;
      await later(1);
      throw new Error("nobody hears this");
    });
    expect(await endpoint.finished()).toMatchObject([{ ended: "closed", deltas: [] }]);
    expect(asked).toBe(1);
  });

  test("is nothing where the reply ends first", async () => {
    await using endpoint = createEndpointMock({ requests: [{ ...hi, sessionEnd: { abort: 5 } }] });
    endpoint.subscribe("m", () => ["a", "b"]);
    expect(await endpoint.finished()).toMatchObject([{ ended: "done", text: "ab" }]);
  });
});

describe("a gate", () => {
  test("sees what happened before its own agent subscribed", async () => {
    await using endpoint = createEndpointMock({
      requests: [hi, { ...hi, model: "late", after: { kind: "inbound", model: "^m$" } }],
    });
    endpoint.subscribe("m", () => "a");
    await later(5);
    endpoint.subscribe("late", () => "b");
    expect((await endpoint.finished()).map(({ text }) => text)).toEqual(["a", "b"]);
  });

  test("consumes nothing, and takes what is inside $while and $until", async () => {
    const gated = (after: object) => ({ ...hi, after }) as never;
    await using endpoint = createEndpointMock({
      requests: [
        gated({ $until: { kind: "call", op: "go" } }),
        gated({ $while: { op: "^go$" } }),
        gated({ kind: "call" }),
        { ...hi, after: "start" },
      ],
    });
    let asked = 0;
    endpoint.subscribe("m", () => void asked++);
    await later(3);
    expect(asked).toBe(1);
    endpoint.call("go");
    expect(await endpoint.finished()).toHaveLength(4);
  });

  test("looks at the trace of a deck as well", async () => {
    const deck = await createDeck({ mode: "record" });
    const work = tapeFunction(deck, "work", async () => 1);
    await using endpoint = createEndpointMock({
      requests: [{ ...hi, after: { kind: "call", name: "^work$" } }],
      trace: deck,
      pollMs: 1,
    });
    endpoint.subscribe("m", () => "a");
    await later(5);
    expect(endpoint.replies).toEqual([]);
    await work();
    expect(await endpoint.finished()).toHaveLength(1);
    await deck.finish();
  });

  test("without a trace fires at once, with a warning", async () => {
    await using endpoint = createEndpointMock({
      requests: [{ ...hi, after: { kind: "call", op: "never" } }],
      trace: false,
    });
    endpoint.subscribe("m", () => "a");
    expect(await endpoint.finished()).toHaveLength(1);
    expect(endpoint.warnings).toEqual([expect.stringMatching(/request 1 .*"op":"never".*fires at once/)]);
  });

  test("that nothing opens, and a model without an agent, are told", async () => {
    await using endpoint = createEndpointMock({
      requests: [
        { ...hi, after: { op: "never" } },
        { ...hi, model: "mm" },
      ],
      stallAfterMs: 20,
    });
    endpoint.subscribe("m", () => "a");
    const waiting = endpoint.finished();
    await expect(waiting).rejects.toThrow(ReplayStalled);
    await expect(waiting).rejects.toThrow(
      /request 1 for an event that matches \{"op":"never"\}[\s\S]*subscribes to "mm" \(the nearest that is subscribed is "m"\)/,
    );
  });
});

test("a script that is wrong is told whole, in its own spelling", () => {
  const requests = [
    { model: "", messages: [{}], afer: 1, params: 3, sessionEnd: { close: -1 } },
    7,
    { ...hi, after: { op: "(" } },
  ] as never;
  expect(() => createEndpointMock({ requests })).toThrow(OptionInvalid);
  expect(() => createEndpointMock({ requests })).toThrow(
    /request 1: there is no afer; the nearest is after.*model is.*message 1 has no content.*params is an object.*sessionEnd is.*request 2: it is an object.*request 3: .*no regular expression/,
  );
  expect(() => createEndpointMock({ requests: [], pollMs: 0, polMs: 1 } as never)).toThrow(
    /polMs; the nearest is pollMs.*pollMs is 0/,
  );
  expect(() =>
    loadEndpointMock(
      '[endpoint]\nkind = "mock"\nrequests = [{ model = "m", messages = [{ content = 1 }], session_idd = "x" }]',
    ),
  ).toThrow(/session_idd|session_id/);
  expect(() => loadEndpointMock("[endpoint]\nkind = 'rest'\npol_ms = 1")).toThrow(
    /no pol_ms; the nearest is poll_ms; kind is "rest"/,
  );
  expect(() => loadEndpointMock("[endpoint\n")).toThrow(/no TOML/);
  expect(() => loadEndpointMock("")).toThrow(/no table \[endpoint\]/);
});

test("one agent a model; a subscription can be taken back", async () => {
  await using endpoint = createEndpointMock({ requests: [hi] });
  const leave = endpoint.subscribe("m", () => "first");
  expect(() => endpoint.subscribe("m", () => "second")).toThrow(/subscribed to "m" already/);
  leave();
  endpoint.subscribe("m", () => "second");
  expect(await endpoint.finished()).toMatchObject([{ text: "second" }]);
});
