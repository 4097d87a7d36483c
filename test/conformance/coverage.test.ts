import { describe, expect, test } from "vitest";
import { agentTransportSuite, requirements, type SuiteTest } from "wiretape/conformance";
import { scenarios } from "../../src/suite/agent-transport-suite.ts";

const SECTIONS = {
  "watch stream": [
    "Snapshot",
    "Native Generation Events",
    "Replay Authority",
    "Sequence And Version Rules",
    "Thread And Queue Events",
    "Watch Lifecycle And Repair",
    "SSE Encoding",
  ],
  "mock transport": [
    "Mock Transport",
    "API Shape",
    "Basic Usage",
    "Seeded State",
    "Response Queue",
    "Imperative Events",
    "Commands And Files",
  ],
};

describe("requirements", () => {
  const ids = requirements.map(({ id }) => id as string);
  const cited = scenarios.flatMap(({ cites }) => cites as readonly string[]);

  test("have ids of their own, and stand on a section of a page", () => {
    expect(new Set(ids).size).toBe(ids.length);
    expect(requirements.filter(({ source }) => !SECTIONS[source.page].includes(source.section))).toEqual([]);
    expect(requirements.filter(({ id, profile }) => id.split(".")[0] !== profile)).toEqual([]);
  });

  test("are each cited, and nothing else is", () => {
    expect(ids.filter((id) => !cited.includes(id))).toEqual([]);
    expect(cited.filter((id) => !ids.includes(id))).toEqual([]);
    expect(scenarios.filter(({ cites }) => new Set(cites).size !== cites.length)).toEqual([]);
  });

  test("scenarios have names of their own", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });
});

describe("the suite needs no runner", () => {
  function register(supports: Parameters<typeof agentTransportSuite>[0]["supports"], withSkip = true) {
    const run: string[] = [];
    const skipped: string[] = [];
    const put = (name: string) => run.push(name);
    const skip = (name: string) => skipped.push(name);
    const create = () => {
      throw new Error("nothing runs here");
    };
    const runner = (withSkip ? Object.assign(put, { skip }) : put) as SuiteTest;
    agentTransportSuite({ test: runner, expect, create, supports });
    return { run, skipped };
  }

  test("everything runs where everything is supported", () => {
    const all = register({ watch: true, heads: true, files: true, commands: true, regeneration: true });
    expect(all.skipped).toEqual([]);
    expect(all.run.length).toBe(scenarios.length + 1);
  });

  test("what is not supported is skipped, by name and with the reason", () => {
    const some = register({ watch: true, heads: false, files: true });
    expect(some.run.length + some.skipped.length).toBe(scenarios.length + 1);
    expect(some.skipped.filter((name) => !/: skipped, the transport has no /.test(name))).toEqual([]);
    expect(some.skipped.filter((name) => name.includes("heads")).length).toBeGreaterThan(1);
    expect(some.skipped.some((name) => name.includes("files.bytes"))).toBe(false);
    expect(some.skipped.some((name) => name.includes("commands.result"))).toBe(true);
  });

  test("a runner without skips still names what was left out", () => {
    const none = register({}, false);
    expect(none.run.length).toBe(scenarios.length + 1);
    expect(none.run.some((name) => name.endsWith(": skipped, the transport has no watch"))).toBe(true);
  });

  test("an option that does not exist is refused", () => {
    const wrong = { test: Object.assign(() => 0), expect, create: () => 0, supports: { wings: true } } as never;
    expect(() => agentTransportSuite(wrong)).toThrow(/no option "wings".*supports has watch, heads/);
  });
});
