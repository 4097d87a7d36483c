import type { Headers } from "../../cassette/schema.ts";

/** What of a response the platform's constructor cannot say, or refuses to. */
export interface ResponseFacts {
  readonly status: number;
  readonly reason: string;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
}

// https://fetch.spec.whatwg.org/#null-body-status
const NULL_BODY = new Set([101, 103, 204, 205, 304]);

/** Whether a response to this method, with this status, has no body at all (not even an empty one). */
export function hasNullBody(method: string, status: number): boolean {
  return method === "HEAD" || method === "CONNECT" || NULL_BODY.has(status);
}

/**
 * A `Response` as the network gave it: with `url`, `redirected` and `type`, and with a status that the constructor
 * refuses (600 and above). Otherwise an ordinary `Response`.
 */
export class RecordedResponse extends Response {
  readonly #facts: ResponseFacts;

  constructor(body: BodyInit | null, facts: ResponseFacts) {
    const { status, reason, headers } = facts;
    super(NULL_BODY.has(status) ? null : body, {
      status: status >= 200 && status <= 599 ? status : 200,
      // Anything but the characters of a reason phrase is refused by the constructor.
      statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : "",
      headers: headers as [string, string][],
    });
    this.#facts = facts;
  }

  // The platform's constructor reads `status` before there are facts.
  override get status(): number {
    return #facts in this ? this.#facts.status : super.status;
  }

  override get statusText(): string {
    return #facts in this ? this.#facts.reason : super.statusText;
  }

  override get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  override get url(): string {
    return #facts in this ? this.#facts.url : super.url;
  }

  override get redirected(): boolean {
    return #facts in this ? this.#facts.redirected : super.redirected;
  }

  override get type(): ResponseType {
    return "basic";
  }

  override clone(): RecordedResponse {
    return new RecordedResponse(super.clone().body, { ...this.#facts, headers: [...this.headers] });
  }
}
