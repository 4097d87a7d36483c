import { answerTo, deltasOf } from "./staging-answers.ts";
import {
  type Exchange,
  openStream,
  pause,
  readJson,
  readText,
  type StagingContext,
  StagingRefusal,
  type StagingRoute,
  sendJson,
} from "./staging-exchange.ts";

const heartbeatMs = 15_000;

interface Message {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly text: string;
}

interface Thread {
  readonly id: string;
  readonly title: string;
  readonly createdAt: string;
  readonly messages: Message[];
  readonly watchers: Set<Watcher>;
  /** The run that is going on, as far as it has come. */
  active: { readonly runId: string; seq: number; text: string } | null;
  /** Runs of one thread follow each other. */
  lastRun: Promise<void>;
  eventCount: number;
}

interface Watcher {
  write(text: string): void;
  end(): void;
  readonly untilIdle: boolean;
}

function summary(thread: Thread): object {
  const { id, title, createdAt, messages, active } = thread;
  return { id, title, createdAt, status: active === null ? "idle" : "running", messageCount: messages.length };
}

function state(thread: Thread): object {
  return { ...summary(thread), messages: thread.messages, active: thread.active };
}

/** An event with an id and a name of its own, as the turning points of a run have them. */
function namedEvent(thread: Thread, name: string, data: object): string {
  thread.eventCount += 1;
  return `id: ${thread.eventCount}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function publish(thread: Thread, text: string): void {
  for (const watcher of thread.watchers) watcher.write(text);
}

/** The routes of the agent: log in, threads, and the watch stream that a `send` drives. */
export function threadRoutes(context: StagingContext): StagingRoute[] {
  const threads = new Map<string, Thread>();
  let logins = 0;

  async function run(thread: Thread, runId: string, prompt: string): Promise<void> {
    const alive = (): Promise<boolean> => pause(context.paceMs, context.signal);
    if (!(await alive())) return;
    const active = { runId, seq: 0, text: "" };
    thread.active = active;
    publish(thread, namedEvent(thread, "run", { type: "run.admitted", runId }));
    if (!(await alive())) return;
    publish(thread, ": keep-alive\n\n");
    for (const delta of deltasOf(answerTo(prompt))) {
      if (!(await alive())) return;
      active.seq += 1;
      active.text += delta;
      const chunk = { type: "generation.message.chunk", runId, seq: active.seq, delta };
      publish(thread, `data: ${JSON.stringify(chunk)}\n\n`);
    }
    if (!(await alive())) return;
    const message: Message = { id: context.nextId("message"), role: "assistant", text: active.text };
    thread.messages.push(message);
    thread.active = null;
    publish(thread, namedEvent(thread, "run", { type: "run.completed", runId, chunks: active.seq, message }));
    for (const watcher of thread.watchers) if (watcher.untilIdle) watcher.end();
  }

  function find(exchange: Exchange): Thread {
    const id = exchange.params.id ?? "";
    const thread = threads.get(id);
    if (thread === undefined) throw new StagingRefusal(404, "thread_not_found", `There is no thread "${id}".`);
    return thread;
  }

  function login(exchange: Exchange): void {
    const body = readJson(exchange);
    const user = readText(body, "user");
    if (readText(body, "password") === "wrong") {
      throw new StagingRefusal(401, "bad_credentials", `The password of "${user}" is not right.`);
    }
    logins += 1;
    const token = { access_token: `stg_${context.secret(`token ${logins}`)}`, token_type: "Bearer", expires_in: 3600 };
    const session = `session=${context.secret(`session ${logins}`)}; Path=/; HttpOnly; SameSite=Lax`;
    sendJson(exchange, 200, token, { "set-cookie": [session, "locale=en-GB; Path=/; Max-Age=31536000"] });
  }

  function create(exchange: Exchange): void {
    const title = exchange.body.length === 0 ? undefined : readJson(exchange).title;
    const thread: Thread = {
      id: context.nextId("thread"),
      title: typeof title === "string" ? title : "Untitled",
      createdAt: context.now().toISOString(),
      messages: [],
      watchers: new Set(),
      active: null,
      lastRun: Promise.resolve(),
      eventCount: 0,
    };
    threads.set(thread.id, thread);
    sendJson(exchange, 201, summary(thread), { location: `/v1/threads/${thread.id}` });
  }

  function remove(exchange: Exchange): void {
    const thread = find(exchange);
    threads.delete(thread.id);
    publish(thread, namedEvent(thread, "thread", { type: "thread.deleted", id: thread.id }));
    for (const watcher of thread.watchers) watcher.end();
    exchange.response.writeHead(204).end();
  }

  function send(exchange: Exchange): void {
    const thread = find(exchange);
    const text = readText(readJson(exchange), "text");
    const runId = context.nextId("run");
    thread.messages.push({ id: context.nextId("message"), role: "user", text });
    thread.lastRun = thread.lastRun.then(() => run(thread, runId, text));
    sendJson(exchange, 202, { runId });
  }

  async function watch(exchange: Exchange): Promise<void> {
    const thread = find(exchange);
    const { response } = exchange;
    openStream(exchange, "text/event-stream");
    const watcher: Watcher = {
      write: (text) => void (exchange.signal.aborted || response.write(text)),
      end: () => void response.end(),
      untilIdle: exchange.url.searchParams.get("until") === "idle",
    };
    watcher.write(namedEvent(thread, "snapshot", { type: "snapshot", thread: state(thread) }));
    thread.watchers.add(watcher);
    while (await pause(heartbeatMs, exchange.signal)) watcher.write(": keep-alive\n\n");
    thread.watchers.delete(watcher);
  }

  function authorized(handle: StagingRoute["handle"]): StagingRoute["handle"] {
    return (exchange) => {
      if (/^Bearer \S/i.test(exchange.request.headers.authorization ?? "")) return handle(exchange);
      throw new StagingRefusal(401, "unauthorized", "Send `authorization: Bearer <token>`; POST /v1/login gives one.");
    };
  }

  const list = (exchange: Exchange): void => sendJson(exchange, 200, { threads: [...threads.values()].map(summary) });
  const show = (exchange: Exchange): void => sendJson(exchange, 200, state(find(exchange)));

  return [
    { methods: ["POST"], path: "/v1/login", handle: login },
    { methods: ["POST"], path: "/v1/threads", handle: authorized(create) },
    { methods: ["GET"], path: "/v1/threads", handle: authorized(list) },
    { methods: ["GET"], path: "/v1/threads/:id", handle: authorized(show) },
    { methods: ["DELETE"], path: "/v1/threads/:id", handle: authorized(remove) },
    { methods: ["POST"], path: "/v1/threads/:id/send", handle: authorized(send) },
    { methods: ["GET"], path: "/v1/threads/:id/watch", handle: authorized(watch) },
  ];
}
