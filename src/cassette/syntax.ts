import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { unclosedBrackets } from "./nesting.ts";
import { positionsIn } from "./position.ts";

/** A place where the text is no JSON (comments and trailing commas aside). */
export interface SyntaxFault {
  readonly offset: number;
  readonly message: string;
}

/** The syntax tree of a text as far as it can be made out, and every place where it is broken. */
export function readSyntax(text: string): { root: Node | undefined; faults: SyntaxFault[] } {
  // A byte order mark is a fault of its own; a space in its place keeps every offset.
  const marked = text.startsWith("\ufeff");
  const source = marked ? ` ${text.slice(1)}` : text;
  const faults: SyntaxFault[] = [];
  if (marked)
    faults.push({ offset: 0, message: "the file begins with a byte order mark; save it as UTF-8 without one" });
  if (source.trim() === "") {
    faults.push({ offset: 0, message: 'the file is empty; the least cassette is { "wiretape": 1, "tracks": [] }' });
    return { root: undefined, faults };
  }
  const errors: ParseError[] = [];
  const root = parseTree(source, errors, { allowTrailingComma: true });
  const conflict = errors.length === 0 ? null : /^(?:<{7}|={7}|>{7})(?= |\r?$)/m.exec(source);
  if (conflict !== null) {
    // What else is wrong with the two halves goes with it.
    faults.push({ offset: conflict.index, message: "a merge conflict begins here; resolve it, or record again" });
    return { root: undefined, faults };
  }
  if (root === undefined || (root.type !== "object" && errors.length > 0)) {
    const offset = source.length - source.trimStart().length;
    faults.push({
      offset,
      message: `the file is not JSON: it begins with ${JSON.stringify(source.trim().slice(0, 20))}`,
    });
    return { root: undefined, faults };
  }
  faults.push(...explain(source, errors, root.offset + root.length));
  return { root, faults };
}

function explain(text: string, errors: readonly ParseError[], rootEnd: number): SyntaxFault[] {
  const end = text.trimEnd().length;
  const coded = errors.map(({ error, offset, length }) => ({ code: printParseErrorCode(error), offset, length }));
  // A comment without an end swallows the rest, brackets included.
  const comment = coded.find(({ code }) => code === "UnexpectedEndOfComment");
  const cutOff = coded.some(({ code, offset }) => offset >= end && isOpenEnd(code));
  const faults: SyntaxFault[] = [];
  let before = "";
  for (const { code, offset, length } of coded) {
    // The parser reports what it skipped and then, once more, that a value is absent there.
    const echo = code === "ValueExpected" && (before === "InvalidSymbol" || before === "PropertyNameExpected");
    before = code;
    const atEnd = offset + length >= end && code !== "UnexpectedEndOfComment";
    if (echo || (cutOff && atEnd)) continue;
    if (offset >= rootEnd && !cutOff && comment === undefined) {
      faults.push({ offset, message: sentence("EndOfFileExpected", text.slice(offset, offset + length)) });
      break; // what follows the end is junk as a whole
    }
    faults.push({ offset, message: sentence(code, text.slice(offset, offset + length)) });
  }
  if (cutOff && comment === undefined) faults.push({ offset: end, message: cutOffSentence(text) });
  return faults;
}

function isOpenEnd(code: string): boolean {
  return code === "CloseBraceExpected" || code === "CloseBracketExpected";
}

function cutOffSentence(text: string): string {
  const open = unclosedBrackets(text);
  const innermost = open.at(-1);
  const count = open.length === 1 ? "1 bracket is" : `${open.length} brackets are`;
  if (innermost === undefined) return "the file ends too early: it is cut off";
  const { line } = positionsIn(text)(innermost);
  return `the file ends while ${count} still open, the innermost from line ${line}: it is cut off, or a closing bracket is missing`;
}

function sentence(code: string, token: string): string {
  const clipped = token.length > 40 ? `${token.slice(0, 36)}…` : token;
  const shown = clipped.startsWith('"') ? clipped : JSON.stringify(clipped);
  const seen = token.trim() === "" ? "" : `, not ${shown}`;
  switch (code) {
    case "InvalidSymbol":
      return `${shown} is no JSON value (texts stand in double quotes; the words are true, false and null)`;
    case "InvalidNumberFormat":
    case "UnexpectedEndOfNumber":
      return `${shown} is no JSON number`;
    case "PropertyNameExpected":
      return `a key in double quotes must stand here${seen}`;
    case "ValueExpected":
      return `a value must stand here${seen}`;
    case "ColonExpected":
      return `":" must stand between a key and its value${seen}`;
    case "CommaExpected":
      return `a comma is missing before ${token.trim() === "" ? "this" : shown}`;
    case "EndOfFileExpected":
      return `the cassette ends before this; nothing but comments may follow${seen}`;
    case "UnexpectedEndOfComment":
      return "the comment is not closed with */";
    case "UnexpectedEndOfString":
      return 'the text is not closed with " on its line (a line break in a text is written \\n)';
    case "InvalidUnicode":
      return "\\u must be followed by four hexadecimal digits";
    case "InvalidEscapeCharacter":
      return 'the text holds an escape that JSON does not have (it has \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX)';
    case "InvalidCharacter":
      return "the text holds a control character; write it as \\u00XX";
    default:
      return `not JSON here (${code})`;
  }
}
