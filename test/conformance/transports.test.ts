import { describe, expect, test } from "vitest";
import { createDeck, memoryStore } from "wiretape";
import { agentTransportSuite, type SuiteContract, type SuiteFixture, type SuiteScript } from "wiretape/conformance";
import { createHttpAgentTransport } from "../../src/agent/http.ts";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
import { serveAgentTransport } from "../../src/agent/server.ts";
import { createRecordingAgentTransport } from "../../src/boundary/agent/record.ts";
import { createReplayAgentTransport } from "../../src/boundary/agent/replay.ts";
import { scriptOfMock } from "./mock-script.ts";

const supports = { watch: true, heads: true, files: true, commands: true, regeneration: true };

function createMock() {
  return createMockAgentTransport<SuiteContract>({
    manifest: {
      name: "suite",
      tools: {
        lookup: { executor: "server", toolId: "lookup" },
        approve: { executor: "server", toolId: "approve", suspends: ["approval", "output"] },
        pick: { executor: "client", toolId: "pick" },
      },
      commands: ["echo", "refuse"],
    },
  });
}

describe("the mock", () => {
  agentTransportSuite({
    test,
    expect,
    supports,
    create() {
      const mock = createMock();
      return { transport: mock, script: scriptOfMock(mock), dispose: () => mock.reset() };
    },
  });
});

/** The mock behind a real socket, and the HTTP transport in front of it. */
async function serveMock(): Promise<SuiteFixture> {
  const mock = createMock();
  const server = await serveAgentTransport(mock);
  return {
    transport: createHttpAgentTransport<SuiteContract>({ baseUrl: server.url }),
    script: scriptOfMock(mock),
    dispose: () => server.close(),
  };
}

describe("HTTP over a served mock", () => {
  agentTransportSuite({ test, expect, supports, create: serveMock });
});

/** One store for the recorded sessions of the suite: each scenario is recorded first, and replayed with the server gone. */
const store = memoryStore();
const nameOf = (scenario: string) => `${scenario.replace(/[^a-z]+/gi, "-")}.cassette.json`;

describe("recording HTTP over a served mock", () => {
  agentTransportSuite({
    test,
    expect,
    supports,
    async create({ scenario }) {
      const served = await serveMock();
      const deck = await createDeck({ store, name: nameOf(scenario), mode: "record" });
      return {
        transport: createRecordingAgentTransport(served.transport, deck),
        script: served.script,
        async dispose() {
          await served.dispose();
          await deck.finish();
        },
      };
    },
  });
});

describe("replaying what was recorded", () => {
  // The tape knows the answers: a backend is told nothing, because there is none.
  const nothing = (): void => undefined;
  const held = async (): Promise<void> => undefined;
  const script: SuiteScript = {
    reply: nothing,
    fail: nothing,
    hold: () => ({ started: held, text: held, complete: held, fail: held, abort: held }),
    command: nothing,
    push: nothing,
  };
  agentTransportSuite({
    test,
    expect,
    supports,
    async create({ scenario }) {
      const deck = await createDeck({ store, name: nameOf(scenario), mode: "replay" });
      return {
        transport: createReplayAgentTransport<SuiteContract>(deck),
        script,
        async dispose() {
          await deck.finish();
        },
      };
    },
  });
});
