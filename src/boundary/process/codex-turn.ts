import { OptionInvalid } from "../../errors.ts";
import { checkKeys } from "./fake-cli-options.ts";

/** The thread of a turn that names none. */
export const DEFAULT_THREAD_ID = "00000000-0000-7000-8000-000000000001";

/** One turn of `codex exec --json`. */
export interface CodexTurn {
  /** What the agent says. */
  text?: string;
  /** What it thought. */
  reasoning?: string;
  /** The thread that the turn announces; null: it announces none, as a resumed turn of some versions. */
  threadId?: string | null;
  /** Tokens: input with the cached ones in it, the cached ones of these, output. Default zeros; null: not told. */
  usage?: readonly [input: number, cachedInput: number, output: number] | null;
  /** Items beyond text and reasoning, as `codex` prints them; one without an `id` is given one. */
  items?: Iterable<Readonly<Record<string, unknown>>>;
  /** The turn fails with this message. */
  failed?: string;
  /** An error of the stream before the turn's last event: a broken pipe, not a failed turn. */
  error?: string;
  durationMs?: number;
}

type Event = Readonly<Record<string, unknown>>;

/**
 * A whole, well-formed turn, as payloads for `CliRun.of` or `FakeCodexCli.script`: `thread.started`, `turn.started`, an
 * `item.completed` for the reasoning, the text and each item, the stream's error, and exactly one `turn.completed` or
 * `turn.failed`. Ids of items are counted from `item_0`.
 */
export function codexTurn(turn: CodexTurn = {}): readonly Event[] {
  checkKeys("codexTurn", turn, [
    ...["text", "reasoning", "threadId", "usage", "items", "failed", "error", "durationMs"],
  ]);
  const { text, reasoning, threadId = DEFAULT_THREAD_ID, usage = [0, 0, 0], items = [], failed, error } = turn;
  if (usage !== null && !(Array.isArray(usage) && usage.length === 3 && usage.every(Number.isFinite))) {
    throw new OptionInvalid("usage is [input, cachedInput, output] in tokens, the cached ones counted in input too.");
  }
  const more: unknown = items;
  const all = typeof (Object(more) as Iterable<unknown>)[Symbol.iterator] === "function" ? [...items] : undefined;
  if (typeof more === "string" || !all?.every((item) => typeof item === "object" && item !== null)) {
    throw new OptionInvalid('items is a list of items as codex prints them: [{ type: "command_execution" }].');
  }
  const said = [
    ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning }]),
    ...(text === undefined ? [] : [{ type: "agent_message", text }]),
    ...all,
  ];
  const completed = {
    type: "turn.completed",
    ...(usage !== null && {
      usage: { input_tokens: usage[0], cached_input_tokens: usage[1], output_tokens: usage[2] },
    }),
    ...(turn.durationMs !== undefined && { duration_ms: turn.durationMs }),
  };
  return [
    ...(threadId === null ? [] : [{ type: "thread.started", thread_id: threadId }]),
    { type: "turn.started" },
    ...said.map((item, index) => ({ type: "item.completed", item: { id: `item_${index}`, ...item } })),
    ...(error === undefined ? [] : [{ type: "error", message: error }]),
    failed === undefined ? completed : { type: "turn.failed", error: { message: failed } },
  ];
}
