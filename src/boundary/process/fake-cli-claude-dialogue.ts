import { type DoubleLedger, scriptExhausted } from "../../engine/double.ts";
import { decodeUtf8, encodeUtf8 } from "../../wire/bytes.ts";
import { type CliLine, type CliRun, playOf } from "./cli-run.ts";
import type { CliDialogue } from "./fake-cli-play.ts";

/** What matters of one line of stream-json; every other line is `other`. */
type Message =
  | { readonly what: "answer"; readonly id: string }
  | { readonly what: "request" | "cancel"; readonly id: string }
  | { readonly what: "system" | "init" | "keep-alive" | "other" | "result" | "talk" };

/** Names of requests that the program's side makes: an answer's id in a script may be one of them. */
const NAMES = new Set(
  `initialize interrupt set_permission_mode set_model set_max_thinking_tokens apply_flag_settings rewind_files
  mcp_status mcp_message mcp_set_servers mcp_reconnect mcp_toggle mcp_call mcp_read_resource stop_task get_settings
  get_context_usage get_usage get_session_cost get_task_output get_hooks_listing get_binary_version list_models
  list_permission_rules reload_skills reload_plugins reload_output_styles rename_session read_file seed_read_state
  cancel_async_message background_tasks update_settings register_repo_root set_color`.split(/\s+/),
);

const TALK = new Set(["assistant", "user", "stream_event", "tool_progress"]);

/** What `initialize` is answered with where the script has no answer: a CLI with nothing to offer. */
const INITIALIZED = {
  commands: [],
  agents: [],
  output_style: "default",
  available_output_styles: ["default"],
  models: [],
  account: {},
};

const read = new WeakMap<CliRun, readonly Message[]>();

function messagesOf(run: CliRun): readonly Message[] {
  const known = read.get(run);
  if (known !== undefined) return known;
  const messages = playOf(run).lines.map(({ bytes }) => messageOf(objectOf(bytes)));
  read.set(run, messages);
  return messages;
}

/** What this protocol looks at in a line. Anything may stand there. */
interface StreamLine {
  readonly type?: unknown;
  readonly subtype?: unknown;
  readonly request_id?: unknown;
  readonly request?: { readonly subtype?: unknown } | null;
  readonly response?: { readonly request_id?: unknown } | null;
}

function objectOf(line: Uint8Array): StreamLine | undefined {
  const text = decodeUtf8(line);
  if (text === undefined || !/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text) as StreamLine;
  } catch {
    return undefined; // a torn or plain line: the SDKs skip it or fail on it, which is theirs to show
  }
}

function messageOf(message: StreamLine | undefined): Message {
  const { type, subtype, request_id: id, response } = message ?? {};
  const answered = response?.request_id;
  if (type === "control_response" && typeof answered === "string") return { what: "answer", id: answered };
  if (type === "control_request" && typeof id === "string") return { what: "request", id };
  if (type === "control_cancel_request" && typeof id === "string") return { what: "cancel", id };
  if (type === "system") return { what: subtype === "init" ? "init" : "system" };
  if (type === "keep_alive") return { what: "keep-alive" };
  if (type === "result") return { what: "result" };
  return { what: TALK.has(type as string) ? "talk" : "other" };
}

/**
 * What of a `claude` run waits for the program. The recording has one side only, so this is what the protocol says:
 *
 * An answer to a control request waits for the request and is given its id: by the id itself, by the request's subtype
 * written as the id, or first come, first served. A request for which the run has no answer left is answered at once.
 * After a control request of the CLI's own everything but answers waits for the program's answer to it (or is the request's
 * cancellation). Where the program talks stream-json, a turn waits for its user message, and an end without error that
 * follows a result waits for the end of the input; one user message more than the run has turns is a fault.
 */
export function createClaudeDialogue(
  run: CliRun,
  argv: readonly string[],
  double: string,
  ledger: DoubleLedger,
): CliDialogue {
  const { lines } = playOf(run);
  const messages = messagesOf(run);
  const talking = argv.some(
    (word, index) =>
      word === "--input-format=stream-json" || (word === "--input-format" && argv[index + 1] === "stream-json"),
  );
  const turns = messages.filter(({ what }) => what === "result").length;
  /** The program's requests that no answer was given to, by id. */
  const open = new Map<string, string>();
  const asides: Uint8Array[] = [];
  /** Answers of the run that were not said. */
  const answers = messages.filter((message) => message.what === "answer").map(({ id }) => id);
  /** The CLI's request that the program has to answer first. */
  let asked: string | undefined;
  /** Answers of the program's, by the id of what they answer. */
  const answered = new Set<string>();
  let prompts = 0;
  let finished = 0;
  let over = false;

  function requestFor(id: string): string | undefined {
    if (open.has(id)) return id;
    for (const [live, name] of open) if (NAMES.has(id) ? name === id : !answers.includes(name)) return live;
    return undefined;
  }

  function requested(id: string, subtype: string): void {
    const named = answers.includes(id) || answers.includes(subtype);
    const others = [...open.values()].filter((name) => !answers.includes(name)).length;
    const free = answers.filter((answer) => !NAMES.has(answer)).length;
    if (named || free > others) open.set(id, subtype);
    else {
      const response = subtype === "initialize" ? INITIALIZED : {};
      const answer = { type: "control_response", response: { subtype: "success", request_id: id, response } };
      asides.push(encodeUtf8(`${JSON.stringify(answer)}\n`));
    }
  }

  /** Whether the line waits for a user message. */
  function early(what: Message["what"]): boolean {
    if (!talking || over || prompts > finished) return false;
    if (what === "talk" || what === "result") return true;
    return finished > 0 && (what === "init" || what === "request" || what === "other");
  }

  function said(index: number): Uint8Array | "held" {
    const line = lines[index] as CliLine;
    const message = messages[index] as Message;
    if (message.what === "answer") {
      const live = requestFor(message.id);
      if (live === undefined) return "held";
      open.delete(live);
      answers.splice(answers.indexOf(message.id), 1);
      return line.verbatim || live === message.id ? line.bytes : withId(line.bytes, message.id, live);
    }
    if (asked !== undefined) {
      if (message.what !== "cancel" || message.id !== asked) return "held";
      asked = undefined;
    }
    if (early(message.what)) return "held";
    if (message.what === "request" && !answered.delete(message.id)) asked = message.id;
    if (message.what === "result") finished++;
    return line.bytes;
  }

  return {
    heard(bytes, ending) {
      const message = objectOf(bytes);
      if (message?.type === "control_request") {
        const { request_id: id, request } = message;
        if (typeof id === "string") requested(id, String(request?.subtype));
      } else if (message?.type === "control_response") {
        const id = message.response?.request_id;
        if (typeof id === "string") answered.add(id);
        if (id === asked) asked = undefined;
      } else if (message?.type === "user") {
        prompts++;
        if (talking && ending && turns > 0 && prompts > turns) {
          const facts = { double, unit: "turn", have: turns, asked: prompts };
          throw ledger.fail(scriptExhausted({ ...facts, request: "a user message on standard input" }));
        }
      }
    },
    inputEnded() {
      over = true;
    },
    aside: () => asides.shift(),
    line(index) {
      const bytes = said(index);
      // What waits for something that can no longer be said is not said: a CLI whose input is gone ends.
      return bytes === "held" && over ? "over" : bytes;
    },
    mayEnd: () => !talking || over || run.returncode !== 0 || finished === 0 || prompts > finished,
  };
}

/** The line with the live id in the place of the recorded one; nothing else of it changes. */
function withId(line: Uint8Array, recorded: string, live: string): Uint8Array {
  const text = decodeUtf8(line) as string;
  for (const { 0: whole, 1: before = "", 2: token = "", index } of text.matchAll(
    /("request_id"\s*:\s*)("(?:[^"\\]|\\.)*")/g,
  )) {
    if (JSON.parse(token) !== recorded) continue;
    return encodeUtf8(text.slice(0, index) + before + JSON.stringify(live) + text.slice(index + whole.length));
  }
  return line;
}
