// The parser's syntax errors in words.
import { type ParseError, printParseErrorCode } from 'jsonc-parser/lib/esm/main.js';

type ErrorName = ReturnType<typeof printParseErrorCode>;

/** What somebody mistyped: the parser's errors without those that only follow from the one before. */
export function mistakes(errors: readonly ParseError[]): { offset: number; message: string }[] {
  return errors
    .filter((error, index) => !isEcho(error, errors[index - 1]))
    .map(({ error, offset }) => ({ offset, message: MESSAGES[printParseErrorCode(error)] ?? 'this is not JSON' }));
}

// The parser skips a word it does not know and then misses the key or value that the word stood for.
function isEcho(error: ParseError, before: ParseError | undefined): boolean {
  const names: ErrorName[] = ['PropertyNameExpected', 'ValueExpected'];
  if (!before || !names.includes(printParseErrorCode(error.error))) return false;
  const nameBefore = printParseErrorCode(before.error);
  return nameBefore === 'InvalidSymbol' || nameBefore === 'PropertyNameExpected' || before.offset === error.offset;
}

const MESSAGES: Readonly<Partial<Record<ErrorName, string>>> = {
  InvalidCommentToken: 'this file may not have comments: the program that owns it does not read them',
  InvalidSymbol: 'this is neither a string in double quotes nor a number, true, false or null',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}"',
  CloseBracketExpected: 'expected "]"',
  EndOfFileExpected: 'expected nothing after the closing "}"',
  UnexpectedEndOfComment: 'this comment does not end',
  UnexpectedEndOfString: 'this string does not end',
  UnexpectedEndOfNumber: 'this number does not end',
  InvalidUnicode: 'this is not a unicode escape',
  InvalidEscapeCharacter: 'this is not an escape sequence',
  InvalidCharacter: 'this character must be written as an escape sequence',
};
