import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { tapeFetch } from "../boundary/http/fetch.ts";
import type { DeckReport } from "../engine/deck.ts";
import { openTitledDeck } from "../engine/open-deck.ts";
import { type AgentDemo, runAgentDemo } from "./agent-demo.ts";
import { compareSessions, type SessionComparison } from "./compare-sessions.ts";
import { DEMO_TITLE, demoPlace, noteWritten } from "./demo-place.ts";
import type { OfflineReplay } from "./replay-offline.ts";
import { runStagingSession, type SessionObservation, type SessionStep } from "./session.ts";
import { startStagingServer } from "./staging-server.ts";

/** What the demo did, step by step. Times are milliseconds. */
export type DemoStep =
  | { readonly step: "served"; readonly url: string; readonly milliseconds: number }
  | { readonly step: "asked"; readonly name: string; readonly detail: string }
  | {
      readonly step: "recorded";
      readonly requests: number;
      readonly replacements: number;
      readonly milliseconds: number;
    }
  | { readonly step: "stopped"; readonly requests: number; readonly milliseconds: number }
  | { readonly step: "replayed"; readonly replay: OfflineReplay; readonly milliseconds: number }
  | { readonly step: "compared"; readonly comparison: SessionComparison }
  | { readonly step: "agent"; readonly agent: AgentDemo; readonly milliseconds: number };

/** How the demo went. */
export interface DemoResult {
  readonly cassette: string;
  /** Cassettes of earlier demos that were edited by hand, and left alone. */
  readonly kept: readonly string[];
  /** What is not as it should be, in words; none: it went well. */
  readonly faults: readonly string[];
  readonly recorded: { readonly requests: number; readonly milliseconds: number; readonly replacements: number };
  readonly replayed: OfflineReplay;
  readonly comparison: SessionComparison;
  readonly agent: AgentDemo;
}

/**
 * Records a session against a real server, stops the server, replays the session in a process that cannot reach a
 * network, and compares what the two programs saw. What the demo wrote before is replaced; a cassette that was
 * touched since is left alone, and another name is taken.
 */
export async function runDemo(folder: string, observe: (step: DemoStep) => void): Promise<DemoResult> {
  const { path, kept } = await demoPlace(folder);
  const { observation, report, milliseconds } = await record(path, observe);
  const replacements = Object.values(report.replacements).reduce((sum, n) => sum + n, 0);
  const began = performance.now();
  const replayed = await replayOffline(path);
  observe({ step: "replayed", replay: replayed, milliseconds: performance.now() - began });
  const comparison = compareSessions(observation, replayed.observation);
  observe({ step: "compared", comparison });
  const talking = performance.now();
  const desk = await demoPlace(folder, "night-train-agent");
  const agent = await runAgentDemo(desk.path);
  observe({ step: "agent", agent, milliseconds: performance.now() - talking });
  const recorded = { requests: report.recorded, milliseconds, replacements };
  return {
    cassette: path,
    kept: [...kept, ...desk.kept],
    faults: [...demoFaults(replayed, comparison, report.recorded), ...agentFaults(agent)],
    recorded,
    replayed,
    comparison,
    agent,
  };
}

async function record(
  path: string,
  observe: (step: DemoStep) => void,
): Promise<{ observation: SessionObservation; report: DeckReport; milliseconds: number }> {
  const timer = stopwatch();
  const server = await startStagingServer();
  try {
    observe({ step: "served", url: server.url, milliseconds: timer() });
    const deck = await openTitledDeck(path, { mode: "rerecord" }, DEMO_TITLE);
    const asked = (step: SessionStep): void => observe({ step: "asked", ...step });
    const observation = await runStagingSession(tapeFetch(deck), server.url, asked);
    const report = await deck.finish();
    await noteWritten(path);
    const milliseconds = timer();
    const replacements = Object.values(report.replacements).reduce((sum, n) => sum + n, 0);
    observe({ step: "recorded", requests: report.recorded, replacements, milliseconds });
    return { observation, report, milliseconds };
  } finally {
    const requests = server.requests.length;
    await server.close();
    observe({ step: "stopped", requests, milliseconds: timer() });
  }
}

/** Replays in a new process, offline before its program begins. */
function replayOffline(cassette: string): Promise<OfflineReplay> {
  const here = fileURLToPath(import.meta.url);
  const extension = extname(here);
  const beside = (name: string): URL => new URL(`./${name}${extension}`, import.meta.url);
  // From the sources, during development, the process needs what turns TypeScript into JavaScript.
  const loader = extension === ".ts" ? ["--import", pathToFileURL(createRequire(here).resolve("tsx")).href] : [];
  const child = fork(beside("replay-offline"), [cassette], {
    execArgv: [...loader, "--import", beside("offline-preload").href],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let complaint = "";
  child.stderr?.on("data", (piece) => (complaint += piece));
  let found: OfflineReplay | undefined;
  child.on("message", (message) => (found = message as OfflineReplay));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0 && found !== undefined) resolve(found);
      else reject(new Error(`The process that replays ended with ${signal ?? code}.\n${complaint}`));
    });
  });
}

/** What is not as it should be, in words. `recorded`: how many tracks were. */
export function demoFaults(replayed: OfflineReplay, { differences }: SessionComparison, recorded: number): string[] {
  const { armed, refused, touched, played, onceMore } = replayed;
  const unrefused = ["net", "tls", "dgram", "dns", "fetch"].filter((name) => !refused.includes(name));
  return [
    ...differences,
    ...(armed ? [] : ["the process that replayed was not offline"]),
    ...(armed && unrefused.length > 0 ? [`a deliberate touch of ${unrefused.join(", ")} was not refused`] : []),
    ...(touched.length > 0 ? [`the replay touched the network: ${touched.join(", ")}`] : []),
    ...(played === recorded ? [] : [`${recorded} tracks were recorded, and ${played} were played`]),
    ...(onceMore.thrown?.code === "script-exhausted" ? [] : ["asking once too often did not end in ScriptExhausted"]),
    ...(onceMore.finish?.code === "script-exhausted" ? [] : ["deck.finish() forgot a violation that was swallowed"]),
  ];
}

function agentFaults({ differences, onceMore, kept, edited }: AgentDemo): string[] {
  return [
    ...differences,
    ...(onceMore.startsWith("ScriptExhausted") ? [] : ["sending once too often did not end in ScriptExhausted"]),
    ...(kept ? [] : ["deck.finish() forgot what the agent's replay met"]),
    ...(edited.seen && edited.state === "edited"
      ? []
      : ["what was edited by hand was not seen, or not known as an edit"]),
  ];
}

/** Gives the milliseconds since it was last asked. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const passed = now - last;
    last = now;
    return passed;
  };
}
