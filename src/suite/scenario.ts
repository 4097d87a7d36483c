import type { RequirementId } from "./requirements.ts";
import type { Session } from "./session.ts";

/** One story that shows requirements to be met, over a backend of its own. */
export interface Scenario {
  readonly name: string;
  /** The requirements that it shows. */
  readonly cites: readonly [RequirementId, ...RequirementId[]];
  run(session: Session): Promise<void>;
}
