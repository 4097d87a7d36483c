import type { TransportSupports } from "../agent/transport.ts";
import { WiretapeError } from "../errors.ts";
import { coreScenarios } from "./core-scenarios.ts";
import type { SuiteFixture } from "./fixture.ts";
import { generationScenarios } from "./generation-scenarios.ts";
import { listScenarios } from "./list-scenarios.ts";
import { type Requirement, requirements } from "./requirements.ts";
import type { Scenario } from "./scenario.ts";
import { runSession, type SuiteExpect } from "./session.ts";
import { sideScenarios } from "./side-scenarios.ts";
import { threadScenarios } from "./thread-scenarios.ts";
import { watchScenarios } from "./watch-scenarios.ts";

/** What the suite needs of a test runner. `skip` is used where there is one: vitest, jest, mocha, `node:test`. */
export interface SuiteTest {
  (name: string, run: () => Promise<void>): unknown;
  readonly skip?: (name: string, run: () => Promise<void>) => unknown;
}

export interface AgentTransportSuiteOptions {
  readonly test: SuiteTest;
  readonly expect: SuiteExpect;
  /**
   * A transport over an empty backend, for one scenario. `scenario` and `threadId` are the same in every run: a
   * recording can be kept under them.
   */
  readonly create: (about: {
    readonly scenario: string;
    readonly threadId: string;
  }) => SuiteFixture | Promise<SuiteFixture>;
  /** The optional parts that the transport has. One that is left out is not had, and its scenarios are skipped. */
  readonly supports: Partial<TransportSupports>;
}

/** Every scenario of the suite. */
export const scenarios: readonly Scenario[] = [
  ...coreScenarios,
  ...threadScenarios,
  ...watchScenarios,
  ...generationScenarios,
  ...listScenarios,
  ...sideScenarios,
];

const OPTIONS = ["test", "expect", "create", "supports"];
const PROFILES: readonly (keyof TransportSupports)[] = ["watch", "heads", "files", "commands", "regeneration"];
const byId = new Map<string, Requirement>(requirements.map((requirement) => [requirement.id, requirement]));

function checkOptions(options: AgentTransportSuiteOptions): void {
  const unknown = [
    ...Object.keys(options).filter((name) => !OPTIONS.includes(name)),
    ...Object.keys(options.supports).filter((name) => !(PROFILES as readonly string[]).includes(name)),
  ];
  if (unknown.length === 0) return;
  throw new WiretapeError(
    "option-invalid",
    `agentTransportSuite has no option ${unknown.map((name) => `"${name}"`).join(", ")}. It has ${OPTIONS.join(", ")}; supports has ${PROFILES.join(", ")}.`,
    { unknown },
  );
}

/**
 * Registers one test for each scenario that an agent transport has to pass. It needs no particular runner, and makes
 * one fixture for each scenario. A scenario of a part that `supports` leaves out is skipped, and its name says why.
 */
export function agentTransportSuite(options: AgentTransportSuiteOptions): void {
  checkOptions(options);
  const { test, expect, create } = options;
  const supports = Object.fromEntries(
    PROFILES.map((profile) => [profile, options.supports[profile] === true]),
  ) as unknown as TransportSupports;

  test("declares what it supports", async () => {
    const fixture = await create({ scenario: "declares what it supports", threadId: "thread-supports" });
    try {
      expect({ ...fixture.transport.supports }).toEqual(supports);
    } finally {
      await fixture.dispose();
    }
  });

  for (const scenario of scenarios) {
    const needs = new Set(scenario.cites.map((id) => byId.get(id)?.profile ?? "core"));
    const missing = PROFILES.filter((profile) => needs.has(profile) && !supports[profile]);
    const name = `${scenario.name} (${scenario.cites.join(", ")})`;
    const threadId = `thread-${scenario.name.replace(/[^a-z]+/gi, "-")}`;
    const run = async (): Promise<void> => {
      const fixture = await create({ scenario: scenario.name, threadId });
      await runSession(fixture, { expect, supports, threadId }, scenario.run);
    };
    if (missing.length === 0) {
      test(name, run);
      continue;
    }
    const reason = `${name}: skipped, the transport has no ${missing.join(" and no ")}`;
    if (test.skip === undefined) test(reason, () => Promise.resolve());
    else test.skip(reason, run);
  }
}
