import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from "react";
import { OptionInvalid } from "../errors.ts";
import type { AgentClient } from "./client.ts";
import type { FilesClient } from "./files-client.ts";
import type { ThreadState } from "./project.ts";
import type { AgentContract, AgentManifest, PaiThreadHead, ThreadId } from "./protocol.ts";
import { headsStore, threadSource, type WaitingAction } from "./react-sources.ts";
import type { WatchedStore } from "./react-store.ts";
import type { Thread } from "./thread.ts";

/** What a generated contract knows of its agents at run time, by name. */
export interface PaiReactContract {
  readonly agents: Readonly<Record<string, AgentManifest>>;
}

export interface ProviderProps<T extends AgentContract> {
  readonly client: AgentClient<T>;
  readonly children?: ReactNode;
}

/** A thread in a component. The functions are the same ones in every render. */
export interface ThreadView<T extends AgentContract>
  extends Pick<Thread<T>, "send" | "retry" | "regenerate" | "getPendingAction"> {
  readonly state: ThreadState<T>;
  /** What waits for the client. */
  readonly pending: readonly WaitingAction<T>[];
  readonly thread: Thread<T>;
}

/** The hooks of one agent. All of them read the client of the nearest `Provider`, and keep no state of their own. */
export interface PaiReactAgent<T extends AgentContract> {
  readonly name: string;
  /** What the contract that was given says of the agent; `undefined` where none was. */
  readonly manifest: AgentManifest | undefined;
  useClient(): AgentClient<T>;
  /**
   * A thread, watched while the component is mounted; components that name the same thread share one watch. A watch
   * that cannot be kept is thrown where the component renders, for an error boundary.
   */
  useThread(threadId: ThreadId): ThreadView<T>;
  /** The heads of all threads, watched while the component is mounted. */
  useThreads(): readonly PaiThreadHead<T>[];
  /** A command, to be called with the thread that it is about. */
  useCommand<K extends keyof T["commands"] & string>(
    name: K,
  ): (threadId: ThreadId, input: T["commands"][K]["input"]) => Promise<T["commands"][K]["output"]>;
  useFiles(): FilesClient;
}

export interface PaiReact<T extends AgentContract> {
  /** Gives the components below it the client that they talk to. */
  Provider(props: ProviderProps<T>): ReactElement;
  /** The hooks of an agent. Its name must be in the contract, where one was given. */
  agent(name: string): PaiReactAgent<T>;
}

function useWatched<S>(store: WatchedStore<S>): S {
  const { value, failure } = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  if (failure !== undefined) throw failure.error;
  return value;
}

/** Hooks over the agent client. `contract`: what a generator wrote about the agents; the hooks work without it. */
export function createPaiReact<T extends AgentContract>(contract?: PaiReactContract): PaiReact<T> {
  const Client = createContext<AgentClient<T> | undefined>(undefined);

  function agentOf(name: string): PaiReactAgent<T> {
    const manifest = contract?.agents[name];
    if (contract !== undefined && manifest === undefined) {
      const known = Object.keys(contract.agents).join(", ") || "none";
      throw new OptionInvalid(`There is no agent "${name}" in the contract. Its agents: ${known}.`, { agent: name });
    }

    // biome-ignore lint/correctness/noComponentHookFactories: an agent's hooks are made once, with the application
    function useClient(): AgentClient<T> {
      const client = useContext(Client);
      if (client === undefined) {
        throw new OptionInvalid(
          `A hook of the agent "${name}" found no client. Render its component inside <Pai.Provider client={…}>.`,
          { agent: name },
        );
      }
      return client;
    }

    return {
      name,
      manifest,
      useClient,
      useThread(threadId) {
        const thread = useClient().thread(threadId);
        const source = threadSource(thread);
        const state = useWatched(source.store);
        const pending = useMemo(() => source.waitingIn(state), [source, state]);
        const { send, retry, regenerate } = source;
        return { state, pending, thread, send, retry, regenerate, getPendingAction: thread.getPendingAction };
      },
      useThreads: () => useWatched(headsStore(useClient())),
      useCommand(command) {
        const client = useClient();
        return useCallback((threadId, input) => client.thread(threadId).commands[command](input), [client, command]);
      },
      useFiles: () => useClient().files,
    };
  }

  return {
    // biome-ignore lint/correctness/noComponentHookFactories: made once, with the application
    Provider: ({ client, children }) => createElement(Client.Provider, { value: client }, children),
    agent: agentOf,
  };
}
