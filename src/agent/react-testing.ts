import { createMockAgentClient, type MockAgentClient, type MockAgentOptions } from "./mock.ts";
import type { AgentContract } from "./protocol.ts";
import type { PaiReact, PaiReactAgent, ProviderProps } from "./react.ts";
import type { MockTransportSeedInput } from "./seed.ts";

/** The mock's options, and a seed. What the contract says of the agent's tools need not be said again. */
export type ClientHarnessOptions<T extends AgentContract> = MockAgentOptions<T> & {
  readonly seed?: MockTransportSeedInput<T>;
};

/** A mocked backend, the real client over it, and the provider that gives that client to components. */
export interface ClientHarness<T extends AgentContract> extends MockAgentClient<T>, AsyncDisposable {
  /** For `render(…, { wrapper: harness.Provider })`. */
  Provider(props: Pick<ProviderProps<T>, "children">): ReturnType<PaiReact<T>["Provider"]>;
}

export interface ReactTestUtils<T extends AgentContract> {
  /** A harness of its own for one test. Disposed of, it ends every watch and forgets everything. */
  createClientHarness(...options: HarnessArguments<T>): ClientHarness<T>;
}

/** The options are left out where the contract's metadata requires nothing. */
export type HarnessArguments<T extends AgentContract> =
  Record<never, never> extends ClientHarnessOptions<T>
    ? [options?: ClientHarnessOptions<T>]
    : [options: ClientHarnessOptions<T>];

/** Test utilities for the components of an agent: they talk to the real client, over a mock of its backend. */
export function createReactTestUtils<T extends AgentContract>(parts: {
  readonly Pai: PaiReact<T>;
  readonly AI: PaiReactAgent<T>;
}): ReactTestUtils<T> {
  const { Pai, AI } = parts;
  return {
    createClientHarness(...[options]) {
      const { seed, ...rest } = options ?? ({} as ClientHarnessOptions<T>);
      const manifest = rest.manifest ?? AI.manifest;
      const mock = createMockAgentClient<T>({ ...rest, ...(manifest && { manifest }) } as MockAgentOptions<T>);
      if (seed !== undefined) mock.seed(seed);
      return {
        ...mock,
        // biome-ignore lint/correctness/noComponentHookFactories: made once for each test, outside of any render
        Provider: ({ children }) => Pai.Provider({ client: mock.client, children }),
        [Symbol.asyncDispose]: async () => mock.reset(),
      };
    },
  };
}
