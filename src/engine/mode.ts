import { OptionInvalid } from "../errors.ts";

/** What a deck may be asked to do. */
export type DeckMode = "auto" | "replay" | "record" | "rerecord" | "extend" | "live";

const MODES: readonly DeckMode[] = ["auto", "replay", "record", "rerecord", "extend", "live"];

/** The mode that is asked for, and where that comes from, for messages. */
export function askedMode(
  option: DeckMode | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): { mode: DeckMode; reason: string } {
  if (option !== undefined) return { mode: known(option, "the option mode"), reason: "the option mode" };
  const variable = environment.WIRETAPE_MODE;
  if (variable !== undefined && variable !== "")
    return { mode: known(variable, "WIRETAPE_MODE"), reason: "WIRETAPE_MODE" };
  const ci = environment.CI;
  if (ci !== undefined && ci !== "" && ci !== "false" && ci !== "0") return { mode: "replay", reason: "CI is set" };
  return { mode: "auto", reason: "the default" };
}

function known(mode: string, from: string): DeckMode {
  if ((MODES as readonly string[]).includes(mode)) return mode as DeckMode;
  throw new OptionInvalid(`${from} is ${JSON.stringify(mode)}; it is one of ${MODES.join(", ")}.`, { mode });
}
