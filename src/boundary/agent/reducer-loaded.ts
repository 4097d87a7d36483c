import { loadReducer } from "../../agent/message-session.ts";

let loaded: Promise<void> | undefined;

/**
 * Resolves once what reduces messages is loaded, or is known not to be there. The first event of a watch waits for it:
 * else a program would still be loading while further events come, and see another sequence of states the first time.
 */
export function reducerLoaded(): Promise<void> {
  loaded ??= loadReducer().then(
    () => undefined,
    () => undefined, // whoever needs it says so
  );
  return loaded;
}
