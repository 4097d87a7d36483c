import { checkKeys } from "./check-keys.ts";

/** Gives the same block whatever it is asked, and keeps what it was asked. An empty block is one to skip. */
export class FakeGrounder {
  readonly block: string;
  /** Every call: the context and the task. */
  readonly calls: [ctx: unknown, task: string][];

  constructor(options: { readonly block?: string; readonly calls?: [ctx: unknown, task: string][] } = {}) {
    checkKeys("FakeGrounder", options, ["block", "calls"]);
    this.block = options.block ?? "";
    this.calls = options.calls ?? [];
  }

  async ground(ctx: unknown, task: string): Promise<string> {
    this.calls.push([ctx, task]);
    return this.block;
  }
}
