/** What every agent transport must do, as requirements and as a suite for any test runner. */
export { type AgentTransportSuiteOptions, agentTransportSuite, type SuiteTest } from "./suite/agent-transport-suite.ts";
export type { AnswerPart, HeldAnswer, SuiteContract, SuiteFixture, SuiteScript } from "./suite/fixture.ts";
export { type Requirement, type RequirementId, type RequirementProfile, requirements } from "./suite/requirements.ts";
export type { SuiteExpect } from "./suite/session.ts";
