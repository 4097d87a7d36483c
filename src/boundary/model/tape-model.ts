import { type Claim, type Lane, type Session, sessionOf } from "../../engine/session.ts";
import { OptionInvalid, type WiretapeError } from "../../errors.ts";
import type { AnyLanguageModel, ModelOperation, TapedModel } from "./language-model.ts";
import { factsOf, type KnownModel, knownModel, sameModel } from "./model-facts.ts";
import { type ModelRequest, modelRequests, storedOptions } from "./model-requests.ts";
import { playGenerate, playStream } from "./played-call.ts";
import { recordGenerate, recordStream } from "./recorded-call.ts";

/** How a model is put on tape. */
export interface TapeModelOptions {
  /**
   * A name for the model in the cassette: a letter, then letters, digits, `_` and `-`. Without one, models of a lane are
   * told apart by the order in which they are put on tape; a program in which that order varies names them.
   */
  readonly name?: string;
}

type AskOptions = { readonly abortSignal?: AbortSignal };
type Asked = Readonly<Record<ModelOperation, (options: object) => PromiseLike<object & { stream: ReadableStream }>>>;

/**
 * A language model of the AI SDK on tape (specification v2, v3 and v4), for `generateText`, `streamText` and whatever
 * else takes a model. Recording keeps what it is asked with and what it answers: whole answers with all that comes with
 * them, streams part by part, errors so that the AI SDK retries them alike. In a replay the recording answers, and `make`
 * is not called: what the model says of itself was recorded too.
 *
 * Which model, the prompt and the options count for identity; `abortSignal` and `headers` do not. Dates, bytes, URLs
 * and errors come back as they were; what cannot be stored is `OptionInvalid`, which also fails the deck. Nothing of a
 * stream is read ahead of the program. A call beyond the recording rejects with `ScriptExhausted` or `UnrecordedRequest`.
 */
export function tapeModel<M extends AnyLanguageModel>(
  deck: Lane,
  make: () => M,
  options: TapeModelOptions = {},
): TapedModel<M> {
  const session = sessionOf(deck);
  const name = checkArguments(make, options);
  if (session.mode === "live") return make();
  let made: M | undefined;
  const real = session.mode === "replay" ? undefined : (): M => (made ??= make());
  const known = knownModel(session, name, real);
  const { specificationVersion, provider, modelId } = known.facts;
  const backend = (): Asked => theSame(session, known, (real as () => M)()) as unknown as Asked;

  const claim = (call: ModelRequest): Claim | Promise<Claim> => session.admit().claim(modelRequests, call);
  const request = (operation: ModelOperation, asked: object): ModelRequest => {
    try {
      return { name: `${provider}/${modelId}.${operation}`, input: storedOptions(asked) };
    } catch (error) {
      throw session.fail(error as WiretapeError);
    }
  };
  const taped = {
    specificationVersion,
    provider,
    modelId,
    get supportedUrls() {
      return known.supportedUrls(real);
    },
    async doGenerate(asked: AskOptions) {
      const call = request("doGenerate", asked);
      const signal = asked.abortSignal;
      const claimed = claim(call);
      const decided = claimed instanceof Promise ? await claimed : claimed;
      if ("play" in decided) return playGenerate(decided.play, signal);
      return recordGenerate(session, decided.record, call, signal, () => backend().doGenerate(asked));
    },
    async doStream(asked: AskOptions) {
      const call = request("doStream", asked);
      const signal = asked.abortSignal;
      const claimed = claim(call);
      const decided = claimed instanceof Promise ? await claimed : claimed;
      if ("play" in decided) return playStream(decided.play, signal);
      return recordStream(session, decided.record, call, signal, () => backend().doStream(asked));
    },
  };
  return taped as unknown as TapedModel<M>;
}

/** What is recorded under a model's name must be that model's: a recording that is extended may be another's. */
function theSame<M extends AnyLanguageModel>(session: Session, { facts }: KnownModel, model: M): M {
  const now = factsOf(model);
  if (sameModel(facts, now)) return model;
  const words = (one: typeof now): string => `${one.provider}/${one.modelId} (${one.specificationVersion})`;
  throw session.fail(
    new OptionInvalid(
      `The recording is of ${words(facts)}, and the program now makes ${words(now)}.\n  next      record again, or give the other model a name of its own: tapeModel(deck, make, { name: "…" })`,
      { recorded: words(facts), now: words(now) },
    ),
  );
}

function checkArguments(make: unknown, options: TapeModelOptions): string | undefined {
  if (typeof make !== "function")
    throw new OptionInvalid(
      "tapeModel takes a function that makes the model, which a replay does not call: tapeModel(deck, () => model).",
    );
  const { name, ...unknown } = Object(options) as TapeModelOptions;
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw new OptionInvalid(`tapeModel has no option ${other}; the only one is name.`);
  if (name === undefined || (typeof name === "string" && /^[A-Za-z][\w-]*$/.test(name))) return name;
  throw new OptionInvalid(
    `${JSON.stringify(name)} is no name of a model: it begins with a letter, and has letters, digits, "_" and "-".`,
  );
}
