import { checkKeys } from "./check-keys.ts";
import { copyOf } from "./copy-of.ts";
import type { Tool, ToolSchema } from "./ports.ts";

type Args = Readonly<Record<string, unknown>>;

export interface FakeToolOptions {
  /** Default `fake_tool`. */
  readonly name?: string;
  readonly description?: string;
  /** What a run gives: a value, given as it is, or a function of the arguments, asynchronous or not; what it throws is thrown. */
  readonly responder?: unknown;
  readonly sideEffecting?: boolean;
  readonly requiresApproval?: boolean;
  readonly outputSchema?: ToolSchema;
  /** Default: any JSON object. */
  readonly schema?: ToolSchema;
}

const KEYS = ["name", "description", "responder", "sideEffecting", "requiresApproval", "outputSchema", "schema"];

/** A tool that does nothing but answer. */
export class FakeTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly outputSchema: ToolSchema | undefined;
  readonly sideEffecting: boolean;
  readonly requiresApproval: boolean;
  /** Copies of the arguments of every run. */
  readonly calls: Record<string, unknown>[] = [];
  readonly #responder: unknown;

  constructor(options: FakeToolOptions = {}) {
    checkKeys("FakeTool", options, KEYS);
    this.name = options.name ?? "fake_tool";
    this.description = options.description ?? "fake tool for unit tests";
    this.schema = options.schema ?? { type: "object" };
    this.outputSchema = options.outputSchema;
    this.sideEffecting = options.sideEffecting ?? false;
    this.requiresApproval = options.requiresApproval ?? false;
    this.#responder = options.responder;
  }

  async run(args: Args, _ctx?: unknown): Promise<unknown> {
    this.calls.push(copyOf({ ...args }));
    return typeof this.#responder === "function"
      ? await (this.#responder as (args: Args) => unknown)(args)
      : this.#responder;
  }
}
