export type { AnyLanguageModel, ModelVersion, TapedModel } from "./boundary/model/language-model.ts";
export { type TapeModelOptions, tapeModel } from "./boundary/model/tape-model.ts";
