import fc from "fast-check";
import { expect, test } from "vitest";
import { createDeck, memoryStore } from "wiretape";
import { type JsonRpcMessage, type McpTransport, tapeMcp } from "wiretape/mcp";

/** What a worker does, one step after the other: it asks, and may take back what it asked after some progress. */
interface Step {
  readonly progress: number;
  /** After so many reports of progress the request is taken back. */
  readonly cancelAfter: number | undefined;
  readonly notify: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    progress: fc.nat(3),
    cancelAfter: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    notify: fc.boolean(),
  }),
  { maxLength: 4 },
);

type Turns = () => number;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A server in memory that answers in an order of its own. */
function server(random: Turns): McpTransport {
  const gone = new Set<unknown>();
  const transport: McpTransport = {
    start: async () => undefined,
    close: async () => transport.onclose?.(),
    async send({ id, method, params = {} }) {
      if (method === "notifications/cancelled") gone.add(params.requestId);
      if (id === undefined) return;
      const { steps: reports, progressToken } = params._meta as { steps: number; progressToken: unknown };
      for (let progress = 1; progress <= reports; progress++) {
        await turns(random());
        if (gone.has(id)) return;
        transport.onmessage?.({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken, progress },
        });
      }
      await turns(random());
      if (!gone.has(id)) transport.onmessage?.({ jsonrpc: "2.0", id: id as number, result: { about: params.name } });
    },
  };
  return transport;
}

/** A program of workers that ask at the same time. Returns what came, in order, by the worker and step that it was for. */
async function program(
  transport: McpTransport,
  workers: readonly (readonly Step[])[],
  random: Turns,
  newId: () => string | number,
): Promise<{ log: string[]; each: string[][] }> {
  const log: string[] = [];
  const waiting = new Map<unknown, (message: JsonRpcMessage) => void>();
  transport.onmessage = (message) => {
    const id = message.method === undefined ? message.id : (message.params as { progressToken: unknown }).progressToken;
    const found = waiting.get(id);
    if (found === undefined) log.push(`lost ${JSON.stringify(message)}`);
    else found(message);
  };
  transport.onerror = (error) => log.push(`error ${error.message}`);
  await transport.start();
  const each = await Promise.all(
    workers.map(async (mine, worker) => {
      const own: string[] = [];
      const say = (what: string): void => {
        own.push(what);
        log.push(what);
      };
      for (const [number, { progress, cancelAfter, notify }] of mine.entries()) {
        await turns(random());
        const name = `${worker}.${number}`;
        const [id, progressToken] = [newId(), newId()];
        if (notify)
          await transport.send({ jsonrpc: "2.0", method: "notifications/note", params: { name: `of ${worker}` } });
        const over = new Promise<void>((resolve) => {
          const came = (message: JsonRpcMessage): void => {
            if (message.method === undefined) {
              say(`${name} ${JSON.stringify(message.result)}`);
              resolve();
              return;
            }
            const { progress: report } = message.params as { progress: number };
            say(`${name} progress ${report}`);
            if (report !== cancelAfter) return;
            say(`${name} taken back`);
            void transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
            // What was on its way when it was taken back finds nobody.
            waiting.delete(id);
            waiting.delete(progressToken);
            resolve();
          };
          waiting.set(id, came);
          waiting.set(progressToken, came);
        });
        const _meta = { progressToken, steps: progress };
        await transport.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta } });
        await over;
      }
      return own;
    }),
  );
  await transport.close();
  return { log, each };
}

test("concurrent requests, in whatever order they are made again and under whatever ids, see what was recorded", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat(4)),
      fc.infiniteStream(fc.nat(4)),
      async (workers, recordedTurns, replayedTurns) => {
        const store = memoryStore();
        const recording = await createDeck({ store, mode: "record" });
        const random = (): number => recordedTurns.next().value as number;
        let count = 0;
        const recorded = await program(
          tapeMcp(recording, () => server(random)),
          workers,
          random,
          () => count++,
        );
        await recording.finish();
        expect(recorded.log.filter((line) => line.startsWith("error"))).toEqual([]);

        const replay = await createDeck({ store, mode: "replay" });
        const ids = new Set<number>();
        const again = await program(
          tapeMcp(replay, () => expect.unreachable("a replay made a transport")),
          workers,
          () => replayedTurns.next().value as number,
          () => {
            // The ids of this time come from the same few numbers: a recorded one is often another request's now.
            let id = count;
            while (ids.has(id)) id = (id * 7 + 3) % 97;
            ids.add(id);
            return ids.size % 5 === 0 ? `id-${id}` : id;
          },
        );
        await replay.finish();
        expect(again.each).toEqual(recorded.each);
        const told = ({ log }: { log: string[] }): string[] => log.filter((line) => !line.startsWith("lost"));
        expect(told(again)).toEqual(told(recorded));
      },
    ),
    { numRuns: 150 },
  );
});
