import { describe, expect, test } from "vitest";
import { agentTransportSuite, type SuiteContract } from "wiretape/conformance";
import { createMockAgentTransport } from "../../src/agent/mock.ts";
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
