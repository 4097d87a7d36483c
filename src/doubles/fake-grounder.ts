import { checkKeys } from "./check-keys.ts";

/** Gives the same block whatever it is asked, and keeps what it was asked. An empty block is one to skip. */
export class FakeGrounder {
  readonly block: string;
  /** Every call: the context and the task. */
  readonly calls: [ctx: unknown, task: string][];
  /** Bound, so that it may be given away as a function. */
  readonly ground: (ctx: unknown, task: string) => Promise<string>;

  constructor(options: { readonly block?: string; readonly calls?: [ctx: unknown, task: string][] } = {}) {
    checkKeys("FakeGrounder", options, ["block", "calls"]);
    this.block = options.block ?? "";
    this.calls = options.calls ?? [];
    this.ground = async (ctx, task) => {
      this.calls.push([ctx, task]);
      return this.block;
    };
  }
}
