import { expect, test } from "vitest";
import * as agent from "../src/agent.ts";
import * as browser from "../src/browser.ts";
import * as conformance from "../src/conformance.ts";
import * as doubles from "../src/doubles.ts";
import * as endpoint from "../src/endpoint.ts";
import * as index from "../src/index.ts";
import * as mcp from "../src/mcp.ts";
import * as model from "../src/model.ts";
import * as process from "../src/process.ts";
import * as react from "../src/react.ts";
import * as runner from "../src/vitest.ts";
import * as websocket from "../src/websocket.ts";

// Frozen literals on purpose: a name that appears or disappears here is a change of the public surface, to be meant.
const NEUTRAL = [
  "CassetteBusy",
  "CassetteExists",
  "CassetteInvalid",
  "CassetteMissing",
  "DeckFinished",
  "ExpectationUnmet",
  "FrameMismatch",
  "OptionInvalid",
  "OutOfOrder",
  "PeerMissing",
  "ReplayStalled",
  "ScriptExhausted",
  "SealBroken",
  "SecretFound",
  "SidecarBroken",
  "UnplayedTracks",
  "UnrecordedRequest",
  "VarMissing",
  "VerifyFailed",
  "WiretapeError",
  "createDeck",
  "drift",
  "drive",
  "editText",
  "formatCassette",
  "functionTarget",
  "httpTarget",
  "isWiretapeError",
  "lintCassette",
  "matchTrace",
  "memoryStore",
  "parseCassette",
  "sealText",
  "sweep",
  "tapeFetch",
  "tapeFunction",
  "tapeObject",
  "trackStates",
];

test("wiretape", () => {
  expect(Object.keys(index).toSorted()).toEqual([...NEUTRAL, "fileStore", "openDeck", "withDeck"].toSorted());
});

test("wiretape in a browser: the same without files", () => {
  expect(Object.keys(browser).toSorted()).toEqual(NEUTRAL.toSorted());
});

test("wiretape/vitest", () => {
  expect(Object.keys(runner).toSorted()).toEqual(["test", "useDeck"]);
});

test("wiretape/agent", () => {
  expect(Object.keys(agent).toSorted()).toEqual([
    "agentTarget",
    "createAgentClient",
    "createHttpAgentTransport",
    "createMockAgentClient",
    "createMockAgentTransport",
    "createRecordingAgentTransport",
    "createReplayAgentTransport",
    "isPaiToolPart",
    "serveAgentTransport",
    "tapeAgent",
    "toTransportEvent",
    "toTransportEvents",
  ]);
});

test("wiretape/react", () => {
  expect(Object.keys(react).toSorted()).toEqual(["createPaiReact", "createReactTestUtils"]);
});

test("wiretape/conformance", () => {
  expect(Object.keys(conformance).toSorted()).toEqual(["agentTransportSuite", "requirements"]);
});

test("wiretape/process", () => {
  expect(Object.keys(process).toSorted()).toEqual([
    "CliInvocation",
    "CliRun",
    "CliStderr",
    "FakeClaudeCli",
    "FakeCodexCli",
    "claudeCodeSpawner",
    "codexTurn",
    "processTarget",
    "tapeSpawn",
    "writeCliShim",
  ]);
});

test("wiretape/mcp", () => {
  expect(Object.keys(mcp).toSorted()).toEqual(["FakeMcpTransport", "mcpTarget", "tapeMcp"]);
});

test("wiretape/model", () => {
  expect(Object.keys(model).toSorted()).toEqual(["scriptedModel", "tapeModel"]);
});

test("wiretape/websocket", () => {
  expect(Object.keys(websocket).toSorted()).toEqual(["tapeWebSocket"]);
});

test("wiretape/doubles", () => {
  expect(Object.keys(doubles).toSorted()).toEqual([
    "CancellationToken",
    "FakeClock",
    "FakeCompactor",
    "FakeCtx",
    "FakeFetch",
    "FakeGrounder",
    "FakeLLM",
    "FakeMemory",
    "FakeSearch",
    "FakeTool",
    "Invoker",
    "OPENAI_API",
    "RecordingSpan",
    "RecordingTracer",
    "RunContext",
    "ScriptedAdapter",
    "ScriptedAdapterExhausted",
    "ToolCallSuspended",
    "Turn",
    "makeTestCtx",
    "scriptedRuntime",
  ]);
});

test("wiretape/endpoint", () => {
  expect(Object.keys(endpoint).toSorted()).toEqual(["createEndpointMock", "loadEndpointMock"]);
});
