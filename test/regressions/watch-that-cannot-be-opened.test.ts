import { expect, test } from "vitest";
import { createDeck, memoryStore } from "wiretape";
import { type AgentClientTransport, createMockAgentTransport, tapeAgent } from "wiretape/agent";

test.each(["watchThread", "iterator"])(
  "a watch that fails when it is opened (%s) fails so in a replay too: it stayed silent there for ever",
  async (where) => {
    const fails = (): never => {
      throw new TypeError("no watch for you");
    };
    const real: AgentClientTransport = {
      ...createMockAgentTransport(),
      watchThread: () => (where === "iterator" ? { [Symbol.asyncIterator]: fails } : fails()),
    };
    const store = memoryStore();
    for (const mode of ["record", "replay"] as const) {
      const deck = await createDeck({ store, name: "x.cassette.json", mode });
      const watch = tapeAgent(deck, () => real).watchThread("t");
      await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow(new TypeError("no watch for you"));
      await deck.finish();
    }
  },
);
