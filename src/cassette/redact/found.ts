/** A secret that was found in a text, by the place it stands in or by its shape. */
export interface Found {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  /** What it means: the value without the escapes of the place. */
  readonly secret: string;
  /** The value as it stood there, where an encoding was taken off that it may not have had. */
  readonly raw?: string;
  /** What the pseudonym stands between where the value was a bare number. */
  readonly quote?: string;
  /** Replaced here and not looked for elsewhere. */
  readonly inPlaceOnly?: boolean;
}

/** What kind of text is looked at, which decides how a value ends and how much is believed. */
export interface Setting {
  /**
   * `query`: a URL or a form, and nothing else. `text`: any text, with URLs and JSON in it. `message`: a text for
   * people, where `api_key=…` and `password: …` after a space count too.
   */
  readonly kind: "query" | "text" | "message";
  /** The caller's own names, in lower case. */
  readonly keys: ReadonlyMap<string, string>;
  readonly queries: ReadonlyMap<string, string>;
}
