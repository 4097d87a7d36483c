import type { Path } from "./fault.ts";
import type { Gate } from "./schema.ts";

/** Where rules report. */
export interface RuleContext {
  fault(path: Path, message: string, atKey?: true): void;
  /** Something is absent from what stands at the path. */
  missing(path: Path, message: string): void;
  /** Checks the track ids that a gate names. */
  gate(gate: Gate | undefined, path: Path): void;
}
