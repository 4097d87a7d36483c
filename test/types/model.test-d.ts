/** What the AI SDK takes for a model. Checked by the compiler alone; a line that should not compile says so. */
import type { LanguageModelV2, LanguageModelV3 } from "@ai-sdk/provider";
import { generateText, type LanguageModel } from "ai";
import { createDeck } from "wiretape";
import { scriptedModel, tapeModel } from "wiretape/model";

declare const second: LanguageModelV2;
declare const third: LanguageModelV3;
const deck = await createDeck({ mode: "record" });

// a model on tape is what the real one is
const tapedSecond: LanguageModelV2 = tapeModel(deck, () => second);
const tapedThird: LanguageModelV3 = tapeModel(deck, () => third, { name: "planner" });
const models: LanguageModel[] = [tapedSecond, tapedThird];
generateText({ model: tapeModel(deck, () => third), prompt: "" });
// @ts-expect-error a model, not a function that makes one
tapeModel(deck, third);
// @ts-expect-error the name of a model at a gateway is no model
tapeModel(deck, () => "openai/gpt-5");
// @ts-expect-error there is no such option
tapeModel(deck, () => third, { lane: "a" });

// a scripted model is one of its version
const scripted: LanguageModelV3 = scriptedModel(["one", { toolCalls: [{ toolName: "search", input: { q: 1 } }] }]);
const scriptedSecond: LanguageModelV2 = scriptedModel("one", { version: "v2" });
models.push(
  scripted,
  scriptedSecond,
  scriptedModel((prompt) => `${prompt.length}`),
  scriptedModel({ hello: "you" }),
);
// @ts-expect-error of another version
const other: LanguageModelV2 = scriptedModel([]);
// @ts-expect-error there is no such option
scriptedModel([], { repeat: true });
void other;
