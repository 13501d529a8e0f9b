// A configuration file read with care: every mistake named, every value with its place.

// The package's default entry is UMD, whose inner `require`s a bundler cannot follow: the bundle would fail at run time.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser/lib/esm/main.js';
import { followers } from '../policy/format/problem.ts';
import { type Document, fileProblem, type Path, type Problem, showPath } from './problems.ts';

// The parser's syntax errors in words.
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

const MOST_PROBLEMS = 100;

/** `isStrict`: JSON without comments and trailing commas, for files that other programs read so. */
export function parseDocument(file: string, text: string, { isStrict = false } = {}): Document {
  const errors: ParseError[] = [];
  const problems: Problem[] = [];
  let root: Node | undefined;
  let value: unknown;

  const place = (offset: number, path: Path, message: string, hint?: string): Problem => {
    const before = text.slice(0, offset).split(/\r\n|\r|\n/);
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { file, line: before.length, column, path: showPath(path), message, ...(hint !== undefined && { hint }) };
  };

  // To find a place costs a walk through the text, and a file made of mistakes alone must not take minutes to refuse.
  const report = (offset: number, message: string) => {
    if (problems.length < MOST_PROBLEMS) problems.push(place(offset, [], message));
  };

  try {
    root = parseTree(text, errors, { allowTrailingComma: !isStrict, disallowComments: isStrict });
    const [first, ...more] = mistakes(errors);
    // What is found after it, twice-written keys too, may not be there at all.
    if (first) problems.push(place(first.offset, [], `syntax error: ${first.message}`, followers(more.length)));
    if (root) value = build(root, (key, message) => !first && report(key.offset, message));
  } catch (error) {
    // The parser calls itself for every level; a file of a thousand brackets must not end the process.
    if (!(error instanceof RangeError)) throw error;
    problems.push(fileProblem(file, 'nested too deeply'));
  }

  const find = (path: Path) => (root ? findNodeAtLocation(root, [...path]) : undefined);
  const nearestOffset = (path: Path): number => find(path)?.offset ?? (path.length > 0 ? nearestOffset(path.slice(0, -1)) : 0);
  return {
    file,
    value,
    problems,
    has: (path) => find(path) !== undefined,
    keys: (path) =>
      (find(path)?.children ?? []).flatMap(({ type, children }) => (type === 'property' ? [String(children?.[0]?.value)] : [])),
    problem: (path, message, hint) => place(nearestOffset(path), path, message, hint),
    keyProblem: (path, message, hint) => place(find(path)?.parent?.offset ?? nearestOffset(path), path, message, hint),
  };
}

// The parser's own conversion lets the last of two equal keys win and lets `__proto__` smuggle keys past the schema.
function build(node: Node, report: (key: Node, message: string) => unknown): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child) => build(child, report));
  if (node.type !== 'object') return node.value;
  const result: Record<string, unknown> = {};
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (!key || !value) continue; // half a property: a syntax error, and reported as one
    if (key.value === '__proto__') report(key, 'the key "__proto__" is not allowed');
    else if (Object.hasOwn(result, key.value)) report(key, `the key ${JSON.stringify(key.value)} stands here twice`);
    else result[key.value] = build(value, report);
  }
  return result;
}
