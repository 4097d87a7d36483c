/** Hooks over the agent client, and what tests their components. */
export {
  createPaiReact,
  type PaiReact,
  type PaiReactAgent,
  type PaiReactContract,
  type ProviderProps,
  type ThreadView,
} from "./agent/react.ts";
export type { WaitingAction } from "./agent/react-sources.ts";
export {
  type ClientHarness,
  type ClientHarnessOptions,
  createReactTestUtils,
  type HarnessArguments,
  type ReactTestUtils,
} from "./agent/react-testing.ts";
