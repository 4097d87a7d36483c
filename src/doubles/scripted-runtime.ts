import { suggest } from "../cassette/nearest.ts";
import { OptionInvalid } from "../errors.ts";
import type { TraceSource } from "../trace-gate.ts";
import { checkKeys } from "./check-keys.ts";
import type { ChatRequest, ChatResult, Usage } from "./ports.ts";
import { ScriptedAdapter } from "./scripted-adapter.ts";
import type { Turn, TurnParts } from "./turn.ts";

/** How a runtime talks to its models. */
export interface RuntimeMode {
  readonly name: string;
}

/** The OpenAI API: input tokens include the cached ones. */
export const OPENAI_API: RuntimeMode = Object.freeze({ name: "openai_api" });

/** What one token of a model costs. Cached input costs as other input where it is not said. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

/** Prices by the name of the model. */
export type PriceTable = Readonly<Record<string, Price>>;

/** An answer, and what it cost. */
export interface PricedResult extends ChatResult {
  readonly model: string;
  readonly cost: number;
}

export interface ScriptedRuntimeOptions {
  /** Default `OPENAI_API`. */
  readonly mode?: RuntimeMode;
  /** Where gates of turns look beside the adapter's own trace. */
  readonly trace?: TraceSource;
  /** Told of each call when it is done. */
  readonly onCall?: (result: PricedResult) => void;
}

/** A runtime over a scripted adapter: each call takes the next turn and is priced. */
export interface CallRuntime {
  readonly mode: RuntimeMode;
  readonly adapter: ScriptedAdapter;
  /** What all calls cost so far. */
  readonly totals: { readonly calls: number; readonly usage: Usage; readonly cost: number };
  /** `OptionInvalid` for a model without a price, before a turn is taken; `ScriptedAdapterExhausted` past the last turn. */
  call(request: ChatRequest): Promise<PricedResult>;
}

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** Creates a runtime with one scripted mode and an explicit price table: usage × price. */
export function scriptedRuntime(
  turns: Iterable<Turn | TurnParts | string>,
  pricing: PriceTable,
  options: ScriptedRuntimeOptions = {},
): CallRuntime {
  checkKeys("scriptedRuntime", options, ["mode", "trace", "onCall"]);
  const prices = readPrices(pricing);
  const { mode = OPENAI_API, trace, onCall } = options;
  const adapter = new ScriptedAdapter(turns, { trace });
  let [calls, inputTokens, outputTokens, cachedInputTokens, cost] = [0, 0, 0, 0, 0];
  return {
    mode,
    adapter,
    get totals() {
      return { calls, usage: { inputTokens, outputTokens, cachedInputTokens }, cost };
    },
    async call(request) {
      const price = priceOf(prices, request.model);
      const { content, toolCalls, usage = NOTHING } = await adapter.send(request);
      const result: PricedResult = {
        model: request.model,
        content,
        toolCalls,
        usage: { ...usage },
        finish: toolCalls.length > 0 ? "tool_calls" : "stop",
        cost: costOf(usage, price),
      };
      calls++;
      inputTokens += usage.inputTokens;
      outputTokens += usage.outputTokens;
      cachedInputTokens += usage.cachedInputTokens ?? 0;
      cost += result.cost;
      onCall?.(result);
      return result;
    },
  };
}

// A price that is none would make every cost NaN, far from here.
function readPrices(pricing: PriceTable): PriceTable {
  if (typeof pricing !== "object" || pricing === null || Array.isArray(pricing))
    throw new OptionInvalid("scriptedRuntime needs a price table, as { model: { input, output } }.");
  return Object.fromEntries(
    Object.entries(pricing).map(([model, price]) => {
      checkKeys(`scriptedRuntime's price of ${model}`, price, ["input", "output", "cachedInput"]);
      const { input, output, cachedInput = input } = price;
      for (const [name, value] of Object.entries({ input, output, cachedInput })) {
        if (!Number.isFinite(value) || value < 0)
          throw new OptionInvalid(`The price of ${model}: ${name} is a number from 0; got ${String(value)}.`, {
            model,
          });
      }
      return [model, { input, output, cachedInput }];
    }),
  );
}

function priceOf(pricing: PriceTable, model: string): Price {
  if (Object.hasOwn(pricing, model)) return pricing[model] as Price;
  throw new OptionInvalid(
    `There is no price for the model ${JSON.stringify(model)}${suggest(model, Object.keys(pricing), "priced are")}.`,
    { model },
  );
}

function costOf(
  { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage,
  { input, output, cachedInput = input }: Price,
): number {
  return (inputTokens - cachedInputTokens) * input + cachedInputTokens * cachedInput + outputTokens * output;
}
