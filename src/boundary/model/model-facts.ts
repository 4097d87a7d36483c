import type { Json } from "../../cassette/schema.ts";
import type { Session } from "../../engine/session.ts";
import { CassetteInvalid, OptionInvalid, VarMissing } from "../../errors.ts";
import type { AnyLanguageModel, ModelVersion, SupportedUrls } from "./language-model.ts";

/** What a model says of itself. In a replay there is no model, and the recording says it. */
export interface ModelFacts {
  readonly specificationVersion: ModelVersion;
  readonly provider: string;
  readonly modelId: string;
  /** By media type; `source` and `flags` of expressions. Recorded when the program first looks. */
  readonly supportedUrls?: Readonly<Record<string, readonly StoredExpression[]>>;
  /** The model answers with a promise of them. */
  readonly supportedUrlsLater?: true;
}

interface StoredExpression {
  readonly source: string;
  readonly flags?: string;
}

/** The facts of one model on tape. */
export interface KnownModel {
  readonly facts: ModelFacts;
  /** The URLs that the model reads by itself: those of the real one, which are recorded, or the recorded ones. */
  supportedUrls(real: (() => AnyLanguageModel) | undefined): SupportedUrls | PromiseLike<SupportedUrls>;
}

// Which model of a lane it is follows from the order in which a program makes them, unless it names them.
const made = new WeakMap<Session, { count: number; last: KnownModel | undefined }>();

/**
 * What is known of a model: what the recording says, else what the model itself says, which is recorded. Facts are
 * variables of the cassette: `model-1`, `model-2`, … in the order in which models are put on tape, or `model.<name>`;
 * behind it `.<lane>`. A number without facts is the same model as the number before.
 */
export function knownModel(
  session: Session,
  name: string | undefined,
  real: (() => AnyLanguageModel) | undefined,
): KnownModel {
  const order = made.get(session) ?? { count: 0, last: undefined };
  made.set(session, order);
  const own = name === undefined ? `model-${++order.count}` : `model.${name}`;
  const variable = session.lane === undefined ? own : `${own}.${session.lane}`;
  const last = name === undefined ? order.last : undefined;
  const known = find(session, variable, last, real);
  if (name === undefined) order.last = known;
  return known;
}

function find(
  session: Session,
  variable: string,
  last: KnownModel | undefined,
  real: (() => AnyLanguageModel) | undefined,
): KnownModel {
  const recorded = session.recordedFact(variable);
  if (recorded !== undefined) return known(session, variable, factsFrom(session, variable, recorded));
  if (real === undefined) {
    if (last !== undefined) return last;
    throw session.fail(
      new VarMissing(
        `The cassette does not say which model this is, and a replay asks no model.\n  next      record again, or add under "vars": "${variable}": { "specificationVersion": "v3", "provider": "…", "modelId": "…" }, with which the names of its tracks begin: <provider>/<modelId>.doGenerate`,
        { name: variable },
      ),
    );
  }
  const facts = factsOf(real());
  if (last !== undefined && sameModel(last.facts, facts)) return last;
  session.recordFact(variable, facts as unknown as Json);
  return known(session, variable, facts);
}

/** Whether both say that they are the same model. */
export function sameModel(a: ModelFacts, b: ModelFacts): boolean {
  return a.specificationVersion === b.specificationVersion && a.provider === b.provider && a.modelId === b.modelId;
}

/** What a model says of itself, without the URLs. `OptionInvalid` for what is no language model of a known version. */
export function factsOf(model: AnyLanguageModel): ModelFacts {
  const { specificationVersion, provider, modelId } = Object(model) as AnyLanguageModel;
  if (isVersion(specificationVersion) && typeof provider === "string" && typeof modelId === "string")
    return { specificationVersion, provider, modelId };
  const got =
    typeof model === "string" ? `the text ${JSON.stringify(model)}` : `specificationVersion ${specificationVersion}`;
  throw new OptionInvalid(
    `tapeModel takes a language model of the AI SDK, of specification v2, v3 or v4; got ${got}.\n  next      give it what a provider makes, as openai("gpt-5")`,
  );
}

function isVersion(value: unknown): value is ModelVersion {
  return value === "v2" || value === "v3" || value === "v4";
}

function factsFrom(session: Session, variable: string, recorded: Json): ModelFacts {
  const { specificationVersion = "v3", ...facts } = Object(recorded) as ModelFacts;
  if (isVersion(specificationVersion) && typeof facts.provider === "string" && typeof facts.modelId === "string")
    return { specificationVersion, ...facts };
  throw session.fail(unreadable(variable, 'it needs "specificationVersion" (v2, v3 or v4), "provider" and "modelId"'));
}

function unreadable(variable: string, fault: string): CassetteInvalid {
  return new CassetteInvalid(`The variable "${variable}" does not say which model it is: ${fault}.`, {
    name: variable,
  });
}

function known(session: Session, variable: string, facts: ModelFacts): KnownModel {
  let stored = facts.supportedUrls;
  const record = (urls: SupportedUrls, later: boolean): SupportedUrls => {
    if (stored !== undefined) return urls;
    stored = storeUrls(urls);
    const value = { ...facts, supportedUrls: stored, ...(later ? { supportedUrlsLater: true } : {}) };
    session.recordFact(variable, value as unknown as Json);
    return urls;
  };
  return {
    facts,
    supportedUrls(real) {
      if (real === undefined) {
        const urls = urlsFrom(session, variable, stored ?? {});
        return facts.supportedUrlsLater === true ? Promise.resolve(urls) : urls;
      }
      const urls = real().supportedUrls;
      return isThenable(urls) ? Promise.resolve(urls).then((known) => record(known, true)) : record(urls, false);
    },
  };
}

function storeUrls(urls: SupportedUrls): NonNullable<ModelFacts["supportedUrls"]> {
  const store = ({ source, flags }: RegExp): StoredExpression => ({ source, ...(flags === "" ? {} : { flags }) });
  return Object.fromEntries(Object.entries(Object(urls)).map(([type, list]) => [type, (list as RegExp[]).map(store)]));
}

// Made anew each time: an expression remembers where it matched last.
function urlsFrom(session: Session, variable: string, stored: NonNullable<ModelFacts["supportedUrls"]>): SupportedUrls {
  try {
    return Object.fromEntries(
      Object.entries(stored).map(([type, list]) => [type, list.map(({ source, flags }) => new RegExp(source, flags))]),
    );
  } catch (error) {
    throw session.fail(unreadable(variable, `its "supportedUrls" hold no expressions (${(error as Error).message})`));
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (Object(value) as { then?: unknown }).then === "function";
}
