import { checkKeys } from "./check-keys.ts";
import type { Message } from "./ports.ts";

/** Replaces every transcript with one message, so that a test sees that compaction ran. */
export class FakeCompactor {
  readonly sentinel: string;
  /** Whether it ran. */
  called: boolean;

  constructor(options: { readonly sentinel?: string; readonly called?: boolean } = {}) {
    checkKeys("FakeCompactor", options, ["sentinel", "called"]);
    this.sentinel = options.sentinel ?? "[COMPACTED]";
    this.called = options.called ?? false;
  }

  async compact(_messages: readonly Message[], _ctx?: unknown): Promise<Message[]> {
    this.called = true;
    return [{ role: "system", content: this.sentinel }];
  }
}
