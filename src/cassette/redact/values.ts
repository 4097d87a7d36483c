/**
 * What a value says about itself: whether it can be a secret at all, and whether it is particular enough to be replaced
 * wherever it appears.
 */

/** Learned values shorter than this are replaced in their place only: elsewhere they would shred the text. */
export const shortestSearched = 8;

/** A value that the caller names outright may be this short. */
export const shortestNamed = 4;

/** A pseudonym, anywhere in a text: its rule and its number. */
export const pseudonymPattern = /REDACTED-([a-z\d]+(?:-[a-z\d]+)*)-(\d+)/g;
const wholePseudonym = /^REDACTED-[a-z\d]+(?:-[a-z\d]+)*-\d+$/;

export function isPseudonym(text: string): boolean {
  return text.startsWith("REDACTED-") && wholePseudonym.test(text);
}

/** Whether something in the text was taken out before: what is left of it was looked at then. */
export function holdsPseudonym(text: string): boolean {
  return text.includes("REDACTED-");
}

// Words that stand where a credential could stand and are none, masks, and places left for a value to be filled in.
const noSecret =
  /^(?:true|false|null|none|nil|undefined|include|omit|same-origin|required|optional|string|bearer|basic|\*+|•+|\$\{[^}]*\}|\{\{[^}]*\}\}|<[\w -]*>|%s)$/i;

/** Whether a value in the place of a credential is to be replaced. */
export function isSecretValue(value: string): boolean {
  return value !== "" && !isPseudonym(value) && !noSecret.test(value);
}

const commonWords = new Set(
  (
    "password passwords passphrase username authorization authenticated undefined production development staging " +
    "disabled required optional unlimited anonymous postgres postgresql localhost administrator application " +
    "credential credentials redacted accepted automatic interactive"
  ).split(" "),
);

/** Whether a value that was found in the place of a credential is also replaced everywhere else. */
export function isSearchable(value: string): boolean {
  if (value.length < shortestSearched) return false;
  if (/^[\d\s.,:/+-]*$/.test(value) && value.length < 16) return false; // a number: it would hit inside of others
  if (/^(.)\1*$/.test(value) || holdsPseudonym(value)) return false;
  return !commonWords.has(value.toLowerCase());
}

/** Whether a value looks made by a machine: letters and digits, or both cases within a word. Hyphens separate words. */
export function looksRandom(value: string): boolean {
  if (value.length < shortestSearched || /\s/.test(value)) return false;
  if (/[A-Za-z]/.test(value) && /\d/.test(value))
    return !/^[a-z]{2}[-_]|^https?:|^\//i.test(value) || value.length >= 16;
  return /[a-z][A-Z]/.test(value) && /[A-Z]{2}|[a-z][A-Z].*[a-z][A-Z]/.test(value);
}

/** Whether a hit of this value counts only where no letter or digit touches it: a plain word or a plain number. */
export function isPlainWord(value: string): boolean {
  return /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d+)$/.test(value);
}
