// East Asian wide and fullwidth forms, and emoji: two columns each on a terminal.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NARROW = /^[\u0020-\u02ff]*$/;
const COMBINING = /[\p{M}\p{Cf}\u{1160}-\u{11ff}]/u;

/** How many columns of a terminal a printable text takes. */
export function columns(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** A text cut to so many columns, the last of them an ellipsis where something was cut off. */
export function shorten(text: string, width: number): string {
  if (columns(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? "" : `${kept}…`;
}

function widthOf(character: string): number {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
