import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { SuiteContract } from "wiretape/conformance";
import { type AgentClient, createAgentClient } from "../../src/agent/client.ts";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { createMockAgentTransport, type MockAgentTransport } from "../../src/agent/mock.ts";
import { serveAgentTransport } from "../../src/agent/server.ts";
import { isPaiToolPart, type PaiToolPart } from "../../src/agent/tool-part.ts";

/** Random programs of an application reach the same states and get the same answers over the mock and over HTTP. */

const THREADS = ["one", "two"] as const;
type ThreadName = (typeof THREADS)[number];

type Step =
  | { do: "answer"; with: "text" | "tool" | "tool-error" | "approval" | "output" | "failure"; text: string }
  | { do: "send" | "rename"; thread: ThreadName; text: string }
  | { do: "retry" | "regenerate" | "submit" | "delete" | "command"; thread: ThreadName }
  | { do: "upload"; bytes: Uint8Array };

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ maxLength: 6, unit: "grapheme" }));
const thread = fc.constantFrom(...THREADS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      with: fc.constantFrom("text", "tool", "tool-error", "approval", "output", "failure"),
      text,
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("send", "send", "send", "rename"), thread, text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("retry", "regenerate", "submit", "submit", "delete", "command"),
      thread,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("upload" as const), bytes: fc.uint8Array({ maxLength: 64 }) }) },
) as fc.Arbitrary<Step>;

interface World {
  readonly mock: MockAgentTransport<SuiteContract>;
  readonly client: AgentClient<SuiteContract>;
  close(): Promise<void>;
}

async function createWorld(over: "memory" | "http"): Promise<World> {
  const mock = createMockAgentTransport<SuiteContract>({});
  mock.commands.set("echo", ({ input }) => input);
  if (over === "memory") return { mock, client: createAgentClient(mock), close: async () => mock.reset() };
  const server = await serveAgentTransport(mock);
  const transport = createHttpAgentTransport<SuiteContract>({ baseUrl: server.url });
  return { mock, client: createAgentClient(transport), close: () => server.close() };
}

function answer({ mock }: World, { with: kind, text: words }: Extract<Step, { do: "answer" }>): void {
  mock.responses.queue((r) => {
    const lookup = r.tool("lookup");
    const input = { query: words };
    if (kind === "failure") return r.error(new Error(`failed: ${words}`));
    if (kind === "tool") return r.assistant([r.text(words), lookup.result({ input, output: { found: [words] } })]);
    if (kind === "tool-error") return r.assistant([lookup.error(new Error(`error: ${words}`), { input })]);
    if (kind === "output") {
      const file = { fileName: words };
      return r.assistant([r.tool("pick").waiting({ input: file, action: { name: "output", input: file } })]);
    }
    if (kind === "approval") {
      const action = { name: "approval", input: { question: words } } as const;
      return r.assistant([r.text(words), r.tool("approve").waiting({ input: { subject: words }, action })]);
    }
    return r.assistant([r.text(words)]);
  });
}

async function perform(world: World, one: Step): Promise<unknown> {
  if (one.do === "answer") return answer(world, one);
  if (one.do === "upload") {
    const file = await world.client.files.upload({
      filename: "bytes",
      mediaType: "application/octet-stream",
      body: new Blob([one.bytes as Uint8Array<ArrayBuffer>]),
    });
    const { body } = await world.client.files.read(file.fileId);
    return [file, [...new Uint8Array(await body.arrayBuffer())]];
  }
  const { client } = world;
  const on = client.thread(one.thread);
  if (one.do === "send") return (await on.send(one.text)).runId;
  if (one.do === "retry") return (await on.retry()).runId;
  if (one.do === "regenerate") return (await on.regenerate()).runId;
  if (one.do === "rename") return on.rename(one.text);
  if (one.do === "delete") return on.delete();
  if (one.do === "command") return on.commands.echo({ text: one.thread });
  const state = await on.refresh();
  for (const message of state.messages) {
    for (const part of (message.parts as readonly PaiToolPart<SuiteContract>[]).filter(isPaiToolPart)) {
      const action = on.getPendingAction(message, part);
      if (action !== undefined) return (await action.submit({ approved: true } as never)).run?.runId;
    }
  }
  return "nothing waits";
}

/** Waits until the backend has nothing more to do by itself: it has not moved for some turns of the event loop. */
async function rest({ mock }: World): Promise<void> {
  let before = "";
  for (let still = 0; still < 4; still++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = JSON.stringify([mock.responses.size(), THREADS.map((id) => mock.inspect.thread(id))]);
    if (now !== before) still = 0;
    before = now;
  }
}

// The first chunk of a process loads the AI SDK, which takes longer than anything a program does.
beforeAll(async () => {
  const world = await createWorld("memory");
  answer(world, { do: "answer", with: "text", text: "" });
  await (await world.client.thread("one").send("")).waitUntilIdle();
  await world.close();
});

async function play(world: World, steps: readonly Step[]): Promise<unknown[]> {
  const stop = new AbortController();
  const watching = THREADS.map(async (id) => {
    for await (const _ of world.client.thread(id).watch({ signal: stop.signal }));
  });
  const seen: unknown[] = [];
  for (const one of steps) {
    const outcome = await perform(world, one).catch((error: unknown) => ({ refused: (error as Error).message }));
    await rest(world);
    seen.push(outcome, await Promise.all(THREADS.map((id) => world.client.thread(id).refresh())));
  }
  seen.push(await world.client.threads());
  // What the watches have made of their events is what the backend has.
  for (const id of THREADS) {
    const state = await world.client.thread(id).refresh();
    await expect.poll(() => world.client.thread(id).getState(), { interval: 5, timeout: 3000 }).toEqual(state);
  }
  stop.abort();
  await Promise.all(watching);
  return seen;
}

/** What only a watch has seen: a client that never refreshes. */
async function watched(world: World, steps: readonly Step[]): Promise<unknown[]> {
  const stop = new AbortController();
  const watching = THREADS.map(async (id) => {
    for await (const _ of world.client.thread(id).watch({ signal: stop.signal }));
  });
  for (const one of steps) {
    await perform(world, one).catch(() => undefined);
    await rest(world);
  }
  const states = [];
  for (const id of THREADS) {
    const fresh = await createAgentClient(world.mock).thread(id).refresh();
    await expect.poll(() => world.client.thread(id).getState(), { interval: 5, timeout: 3000 }).toEqual(fresh);
    states.push(fresh);
  }
  stop.abort();
  await Promise.all(watching);
  return states;
}

async function inBoth(steps: readonly Step[], run: (world: World, steps: readonly Step[]) => Promise<unknown[]>) {
  const [memory, http] = [await createWorld("memory"), await createWorld("http")];
  try {
    const [first, second] = await Promise.all([run(memory, steps), run(http, steps)]);
    expect(second).toEqual(first);
  } finally {
    await memory.close();
    await http.close();
  }
}

const programs = fc.array(step, { minLength: 1, maxLength: 14 });

test("random programs have the same outcomes and states over the mock and over HTTP", async () => {
  await fc.assert(
    fc.asyncProperty(programs, (steps) => inBoth(steps, play)),
    { numRuns: 25 },
  );
}, 120_000);

test("random programs are seen by a watch as they are read", async () => {
  await fc.assert(
    fc.asyncProperty(programs, (steps) => inBoth(steps, watched)),
    { numRuns: 25 },
  );
}, 120_000);
