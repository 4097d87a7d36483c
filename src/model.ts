export type { AnyLanguageModel, ModelCallOptions, ModelVersion, TapedModel } from "./boundary/model/language-model.ts";
export type { ModelContent, ModelResult, ModelStream, ModelStreamPart } from "./boundary/model/model-answer.ts";
export {
  type ModelScript,
  type ScriptedModel,
  type ScriptedModelCall,
  type ScriptedModelOptions,
  scriptedModel,
} from "./boundary/model/scripted-model.ts";
export type { ScriptedAnswer, ScriptedToolCall, ScriptedTurn, ScriptedUsage } from "./boundary/model/scripted-turn.ts";
export { type TapeModelOptions, tapeModel } from "./boundary/model/tape-model.ts";
export type { ScriptGate, TraceSource } from "./trace-gate.ts";
