import { OptionInvalid } from "../errors.ts";

/** How large a file may be. A cassette is untrusted input. */
export interface Limits {
  /** Length of the file: bytes, or UTF-16 units where it is handed over as a text. Default 256 Mi. */
  readonly size: number;
  /** Nesting of lists and objects, from 16 to 2000: everything that walks a tree may recurse. Default 1200. */
  readonly depth: number;
  /** Number of tracks. Default 1,000,000. */
  readonly tracks: number;
}

const defaults: Limits = { size: 256 * 1024 * 1024, depth: 1200, tracks: 1_000_000 };

/** What every reader of a cassette accepts. */
export interface ReadOptions {
  /** The name of the file, for messages. */
  readonly path?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** The limits that apply. OptionInvalid for a limit that is unknown or no whole number in its range. */
export function limitsOf(options: ReadOptions): Limits {
  for (const key of Object.keys(options))
    if (key !== "path" && key !== "limits")
      throw new OptionInvalid(`unknown option "${key}" for reading a cassette; the options are path and limits`);
  const limits: Record<string, number> = { ...defaults };
  for (const [key, value] of Object.entries(options.limits ?? {})) {
    if (!Object.hasOwn(defaults, key))
      throw new OptionInvalid(`unknown limit "${key}"; the limits are ${Object.keys(defaults).join(", ")}`);
    if (value === undefined) continue;
    const [least, most] = key === "depth" ? [16, 2000] : [0, Number.MAX_SAFE_INTEGER];
    if (!Number.isSafeInteger(value) || value < least || value > most)
      throw new OptionInvalid(`limit "${key}" must be a whole number from ${least} to ${most}, not ${value}`);
    limits[key] = value;
  }
  return limits as unknown as Limits;
}

/** The sentences for what is over a limit. */
export function tooLarge(size: number, limits: Limits): string {
  return `the file is larger than the limit of ${limits.size} (it has ${size}); raise limits.size if you trust it`;
}

export function tooDeep(limits: Limits): string {
  return `lists and objects nest deeper than the limit of ${limits.depth}; raise limits.depth if you trust the file`;
}

export function tooMany(count: number, limits: Limits): string {
  return `${count} tracks are more than the limit of ${limits.tracks}; raise limits.tracks if you trust the file`;
}
