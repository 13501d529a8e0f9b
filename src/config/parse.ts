// The strict parser for configuration files: it reports every problem and knows the position of every value.

// The default entry of the package is UMD; a bundler cannot follow its inner `require` calls, and the bundle would fail at run time.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser/lib/esm/main.js';
import { followers } from '../policy/format/problem.ts';
import { type Document, fileProblem, type Path, type Problem, showPath } from './problems.ts';

type ErrorName = ReturnType<typeof printParseErrorCode>;

/** The syntax errors, without those that only follow from an earlier one. */
export function mistakes(errors: readonly ParseError[]): { offset: number; message: string }[] {
  return errors
    .filter((error, index) => !isEcho(error, errors[index - 1]))
    .map(({ error, offset }) => ({ offset, message: MESSAGES[printParseErrorCode(error)] ?? 'invalid JSON' }));
}

// The parser skips an unknown word and then reports a missing key or value in its place.
function isEcho(error: ParseError, before: ParseError | undefined): boolean {
  const names: ErrorName[] = ['PropertyNameExpected', 'ValueExpected'];
  if (!before || !names.includes(printParseErrorCode(error.error))) return false;
  const nameBefore = printParseErrorCode(before.error);
  return nameBefore === 'InvalidSymbol' || nameBefore === 'PropertyNameExpected' || before.offset === error.offset;
}

const MESSAGES: Readonly<Partial<Record<ErrorName, string>>> = {
  InvalidCommentToken: 'comments are not allowed: the program that owns this file does not support them',
  InvalidSymbol: 'expected a string in double quotes, a number, true, false or null',
  InvalidNumberFormat: 'invalid number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}"',
  CloseBracketExpected: 'expected "]"',
  EndOfFileExpected: 'expected nothing after the closing "}"',
  UnexpectedEndOfComment: 'unterminated comment',
  UnexpectedEndOfString: 'unterminated string',
  UnexpectedEndOfNumber: 'incomplete number',
  InvalidUnicode: 'invalid unicode escape',
  InvalidEscapeCharacter: 'invalid escape sequence',
  InvalidCharacter: 'this character must be written as an escape sequence',
};

const MOST_PROBLEMS = 100;

/** `isStrict`: no comments or trailing commas, for files of programs that do not support them. */
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

  // Finding a position scans the text. Limit the problems, so that a file full of errors does not take minutes.
  const report = (offset: number, message: string) => {
    if (problems.length < MOST_PROBLEMS) problems.push(place(offset, [], message));
  };

  try {
    root = parseTree(text, errors, { allowTrailingComma: !isStrict, disallowComments: isStrict });
    const [first, ...more] = mistakes(errors);
    // Later findings, such as duplicate keys, may be artefacts of the syntax error.
    if (first) problems.push(place(first.offset, [], `syntax error: ${first.message}`, followers(more.length)));
    if (root) value = build(root, (key, message) => !first && report(key.offset, message));
  } catch (error) {
    // The parser is recursive; deep nesting must not overflow the stack.
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

// The parser's own conversion accepts duplicate keys, and lets `__proto__` bypass the schema.
function build(node: Node, report: (key: Node, message: string) => unknown): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child) => build(child, report));
  if (node.type !== 'object') return node.value;
  const result: Record<string, unknown> = {};
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (!key || !value) continue; // incomplete property: already reported as a syntax error
    if (key.value === '__proto__') report(key, 'the key "__proto__" is not allowed');
    else if (Object.hasOwn(result, key.value)) report(key, `duplicate key ${JSON.stringify(key.value)}`);
    else result[key.value] = build(value, report);
  }
  return result;
}
