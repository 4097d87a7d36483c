/**
 * The program that the demo records and replays: an afternoon at the night-train desk. It knows nothing of tapes; it is
 * handed a `fetch` and says what it saw.
 */

/** An error as a program can compare it. */
export interface ObservedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly cause?: ObservedError | undefined;
}

/** All that one request gave: a head and chunks, an error, or a head, some chunks and then an error. */
export interface ObservedRequest {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly status?: number | undefined;
  readonly headers?: readonly [string, string][] | undefined;
  /** Copies of the chunks in the form in which the program was handed them. */
  readonly chunks: readonly Uint8Array[];
  readonly error?: ObservedError | undefined;
}

/** What a session saw, in the order in which it made its requests. */
export interface SessionObservation {
  readonly requests: readonly ObservedRequest[];
}

/** Said after each request. `detail` names what came: status, chunks and bytes, or the error. */
export interface SessionStep {
  readonly name: string;
  readonly detail: string;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Observation = Omit<Mutable<ObservedRequest>, "chunks"> & { readonly chunks: Uint8Array[] };

function observeError(error: unknown): ObservedError {
  if (!(error instanceof Error)) return { name: "unknown", message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    ...(error.cause === undefined ? {} : { cause: observeError(error.cause) }),
  };
}

function textOf(observed: ObservedRequest): string {
  const decoder = new TextDecoder();
  return observed.chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

function describe({ status, chunks, error }: ObservedRequest): string {
  const parts: string[] = [];
  if (status !== undefined) {
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    parts.push(`${status}, ${chunks.length} ${chunks.length === 1 ? "chunk" : "chunks"}, ${size} bytes`);
  }
  if (error !== undefined) {
    const code = error.code ?? error.cause?.code;
    parts.push(`${error.name}: ${error.message}${code === undefined ? "" : ` (${code})`}`);
  }
  return parts.join(", then ");
}

/** A field of a JSON answer that the session cannot go on without. */
function need(observed: ObservedRequest, field: string): string {
  const body = observed.status === undefined || observed.status >= 400 ? {} : JSON.parse(textOf(observed));
  if (typeof body[field] === "string") return body[field];
  throw new Error(`The session needs "${field}" from "${observed.name}", which gave ${describe(observed)}.`);
}

/**
 * Runs one session of twelve requests against a staging server: logs in, opens a thread, watches it while a message
 * is answered, fetches an export, a picture, numbers and text, meets a torn answer and a failure that a retry mends, and
 * deletes the thread.
 *
 * Deterministic: it reads no clock and no random value, and `observe` hears the steps in the order of the requests.
 * A request that fails is an observation, not an exception.
 *
 * @throws Error when the login or the new thread gives nothing to go on with.
 */
export async function runStagingSession(
  fetch: typeof globalThis.fetch,
  baseUrl: string,
  observe?: (step: SessionStep) => void,
): Promise<SessionObservation> {
  const requests: Observation[] = [];
  const base = baseUrl.replace(/\/+$/, "");
  const report = (observed: Observation): void => observe?.({ name: observed.name, detail: describe(observed) });

  /** Makes a request and reads its answer until the end, or until `enough` says so. */
  async function exchange(
    name: string,
    path: string,
    init: RequestInit = {},
    enough: (observed: Observation) => boolean = () => false,
  ): Promise<Observation> {
    const observed: Observation = { name, method: init.method ?? "GET", url: base + path, chunks: [] };
    requests.push(observed);
    try {
      const response = await fetch(observed.url, init);
      observed.status = response.status;
      observed.headers = [...response.headers];
      const reader = response.body?.getReader();
      while (reader !== undefined) {
        const { done, value } = await reader.read();
        if (done) break;
        observed.chunks.push(Uint8Array.from(value));
        if (enough(observed)) {
          await reader.cancel();
          break;
        }
      }
    } catch (error) {
      observed.error = observeError(error);
    }
    return observed;
  }

  async function step(name: string, path: string, init?: RequestInit): Promise<Observation> {
    const observed = await exchange(name, path, init);
    report(observed);
    return observed;
  }

  const json = (value: object, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(value),
  });

  const login = await step("log in", "/v1/login", json({ user: "ada", password: "correct horse battery staple" }));
  const authorization = { authorization: `Bearer ${need(login, "access_token")}` };

  const created = await step("create a thread", "/v1/threads", json({ title: "Night train" }, authorization));
  const thread = `/v1/threads/${need(created, "id")}`;

  // The message is sent once the stream has shown its snapshot, while the stream is being read.
  const watching = new AbortController();
  async function send(): Promise<Observation> {
    const message = json({ text: "When does the night train to Vienna leave?" }, authorization);
    const sent = await exchange("send a message", `${thread}/send`, message);
    // Without a run the stream would stay open, and the session with it.
    if (sent.status !== 202) watching.abort();
    return sent;
  }
  let sending: Promise<Observation> | undefined;
  const watch = { headers: authorization, signal: watching.signal };
  const watched = await exchange("watch the thread", `${thread}/watch`, watch, (observed) => {
    sending ??= send();
    return textOf(observed).includes('"run.completed"');
  });
  report(watched);
  if (sending !== undefined) report(await sending);

  await step("export the orders", "/v1/export.ndjson");
  await step("fetch the avatar", "/v1/avatar.png");
  await step("fetch the numbers", "/v1/numbers");
  await step("fetch a greeting", "/v1/unicode");
  await step("fetch a torn answer", "/v1/torn?after=24");

  const flaky = `/v1/flaky?fail=1&key=${encodeURIComponent(thread)}`;
  const first = await step("try a flaky route", flaky);
  if (first.status === 500) await step("try it again", flaky);

  await step("delete the thread", thread, { method: "DELETE", headers: authorization });
  return { requests };
}
