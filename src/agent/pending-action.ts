import type { PaiMessage } from "./project.ts";
import type { AgentContract, PaiThreadTransportState, PendingActionRecord } from "./protocol.ts";
import type { RunHandle } from "./run-handle.ts";
import type { Suspension } from "./tool-part.ts";

/** What submitting started: the run that goes on, where one does. */
export interface SubmittedRun<T extends AgentContract = AgentContract> {
  readonly run?: RunHandle<T>;
}

/** Something that waits for the client. */
export interface PendingAction<
  T extends AgentContract = AgentContract,
  Name extends string = string,
  Input = unknown,
  Output = unknown,
> {
  /** The action's, without the tool's. */
  readonly name: Name;
  readonly toolName: string;
  readonly input: Input;
  submit(output: Output): Promise<SubmittedRun<T>>;
}

type SuspensionIn<P> = P extends { readonly suspensions: readonly (infer S)[] } ? S : never;
type NameOf<S> = S extends Suspension<infer N, infer _I, infer _O> ? N : never;
type InputOf<S> = S extends Suspension<infer _N, infer I, infer _O> ? I : never;
type OutputOf<S> = S extends Suspension<infer _N, infer _I, infer O> ? O : never;

/** The action of a part, as far as the part's type tells: a part that may be one of several has the union of theirs. */
export type PendingActionOf<T extends AgentContract, P> = [SuspensionIn<P>] extends [never]
  ? PendingAction<T>
  : PendingAction<T, NameOf<SuspensionIn<P>>, InputOf<SuspensionIn<P>>, OutputOf<SuspensionIn<P>>>;

/** A part that owns tool calls' actions. */
export interface ActionOwner {
  readonly toolCallId: string;
  readonly pendingSuspension?: { readonly name: string } | undefined;
}

/** The record of the action that waits at exactly this part of this message. */
export function findPendingAction(
  state: PaiThreadTransportState,
  message: Pick<PaiMessage, "id">,
  part: ActionOwner,
): PendingActionRecord | undefined {
  const waiting = part.pendingSuspension;
  if (waiting === undefined) return undefined;
  return state.pending.findLast(
    (record) =>
      record.messageId === message.id && record.toolCallId === part.toolCallId && actionNameOf(record) === waiting.name,
  );
}

/** The action's name without the tool's. */
export function actionNameOf({ name, toolName }: PendingActionRecord): string {
  return name.startsWith(`${toolName}.`) ? name.slice(toolName.length + 1) : name;
}
