import type { AgentClient } from "./client.ts";
import type { PendingAction } from "./pending-action.ts";
import type { ThreadState } from "./project.ts";
import type { AgentContract, PaiThreadHead } from "./protocol.ts";
import { type WatchedStore, watchedStore } from "./react-store.ts";
import type { Thread } from "./thread.ts";
import { isPaiToolPart, type PaiToolPart, type Suspension } from "./tool-part.ts";

type ActionOf<T extends AgentContract, Tool extends string, S> =
  S extends Suspension<infer Name, infer Input, infer Output>
    ? PendingAction<T, Name, Input, Output> & { readonly toolName: Tool }
    : never;

/** An action that waits in a thread, of one of the contract's tools: `toolName` and `name` tell which. */
export type WaitingAction<T extends AgentContract> = {
  [K in keyof T["tools"] & string]: ActionOf<
    T,
    K,
    Extract<PaiToolPart<T>, { readonly type: `tool-${K}` }>["suspensions"][number]
  >;
}[keyof T["tools"] & string];

/** A thread as React reads it: its states as a store, its generations as functions that never change. */
export interface ThreadSource<T extends AgentContract> extends Pick<Thread<T>, "send" | "retry" | "regenerate"> {
  readonly store: WatchedStore<ThreadState<T>>;
  /** What waits for the client in a state of the thread, in the order of its messages. */
  waitingIn(state: ThreadState<T>): readonly WaitingAction<T>[];
}

// A client hands out one object per thread, so that all components that name a thread share one watch of it.
const threadSources = new WeakMap<object, unknown>();
const headStores = new WeakMap<object, unknown>();

function kept<V>(cache: WeakMap<object, unknown>, key: object, make: () => V): V {
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key) as V;
}

/** The source of a thread, the same one each time. */
export function threadSource<T extends AgentContract>(thread: Thread<T>): ThreadSource<T> {
  return kept(threadSources, thread, () => {
    const store = watchedStore(thread.getState(), (signal) => thread.watch({ signal }));
    return {
      store,
      send(input) {
        store.revive();
        return thread.send(input);
      },
      retry(options) {
        store.revive();
        return thread.retry(options);
      },
      regenerate(options) {
        store.revive();
        return thread.regenerate(options);
      },
      waitingIn: (state) =>
        state.messages.flatMap((message) =>
          (message.parts as readonly { readonly type: string }[]).filter(isPaiToolPart).flatMap((part) => {
            const action = thread.getPendingAction(message, part as unknown as PaiToolPart<T>);
            return action === undefined ? [] : [action as unknown as WaitingAction<T>];
          }),
        ),
    };
  });
}

/** The heads of all threads of a client, the same store each time. */
export function headsStore<T extends AgentContract>(client: AgentClient<T>): WatchedStore<readonly PaiThreadHead<T>[]> {
  return kept(headStores, client, () =>
    watchedStore<readonly PaiThreadHead<T>[]>([], (signal) => client.heads({ signal })),
  );
}
