/** Everything that a program can see of a response, in a comparable form. */
export interface Observation {
  readonly status?: number;
  readonly statusText?: string;
  readonly ok?: boolean;
  readonly type?: string;
  readonly url?: string;
  readonly redirected?: boolean;
  readonly headers?: readonly (readonly [string, string])[];
  /** `null`: no body at all. */
  readonly chunks?: readonly string[] | null;
  /** What the call or the body failed with. */
  readonly error?: unknown;
}

/** An error as far as a program can tell errors apart. */
export function seenError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    class: Object.prototype.toString.call(error) + (error.constructor?.name ?? ""),
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: { ...(seenError(cause) as object), class: undefined } }),
  };
}

/** Makes a call and reads its body chunk by chunk. */
export async function observe(call: () => Promise<Response>): Promise<Observation> {
  let response: Response;
  try {
    response = await call();
  } catch (error) {
    return { error: seenError(error) };
  }
  const { status, statusText, ok, type, url, redirected } = response;
  const head = { status, statusText, ok, type, url, redirected, headers: [...response.headers] };
  if (response.body === null) return { ...head, chunks: null };
  const chunks: string[] = [];
  try {
    for await (const chunk of response.body) chunks.push(Buffer.from(chunk).toString("latin1"));
  } catch (error) {
    return { ...head, chunks, error: seenError(error) };
  }
  return { ...head, chunks };
}
