// Parses a policy file into plain values with line and column. YAML's aliases, tags and merge keys are rejected here.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parseDocument, type YAMLError } from 'yaml';
import { followers, type Problem } from './problem.ts';

export type Spot = { readonly line: number; readonly column: number };
export type Entry = { readonly key: Spot; readonly value: Tree };
export type Tree = Spot &
  (
    | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Entry> }
    | { readonly kind: 'list'; readonly items: readonly Tree[] }
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'number'; readonly number: number }
    | { readonly kind: 'flag'; readonly flag: boolean }
    | { readonly kind: 'nothing' }
  );

const MAX_CHARACTERS = 1_000_000;
const MAX_DEPTH = 32;

/** The tree, or undefined with the problems. JSON is YAML, so it is accepted too. */
export function parseTree(file: string, text: string): { readonly tree: Tree | undefined; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const report = (spot: Spot, message: string, hint?: string) =>
    problems.push({ file, ...spot, path: '', message, ...(hint !== undefined && { hint }) });
  if (text.length > MAX_CHARACTERS) {
    report({ line: 1, column: 1 }, 'the file is too long for a policy');
    return { tree: undefined, problems };
  }
  const lines = new LineCounter();
  const spotAt = (offset: number): Spot => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // No merge keys, no tags, no YAML 1.1 spellings: `no` is a string, so every parser reads the file alike.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    strict: true,
    stringKeys: true,
    resolveKnownTags: false,
    logLevel: 'error', // "silent" would also accept a second document
  });
  const errors = [...document.errors, ...document.warnings].sort((one, other) => one.pos[0] - other.pos[0]);
  const [first, ...more] = errors.filter(({ code }) => !ON_ITS_OWN.has(code));
  for (const error of first ? [first] : errors) report(spotAt(error.pos[0]), `syntax error: ${messageOf(error)}`, followers(more.length));
  if (problems.length > 0) return { tree: undefined, problems };

  const convert = (node: Node | null, spot: Spot, depth: number): Tree => {
    if (node === null) return { ...spot, kind: 'nothing' };
    const here = node.range ? spotAt(node.range[0]) : spot;
    if (depth > MAX_DEPTH) {
      report(here, 'nested too deeply');
      return { ...here, kind: 'nothing' };
    }
    if (isAlias(node)) {
      report(here, 'aliases are not allowed: write the value out');
      return { ...here, kind: 'nothing' };
    }
    if (node.tag !== undefined && !node.tag.startsWith('tag:yaml.org,2002:')) report(here, 'tags are not allowed');
    if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const entries = new Map<string, Entry>();
      for (const { key, value } of node.items) {
        const keySpot = spotAt(key.range[0]);
        if (isScalar(key)) entries.set(String(key.value), { key: keySpot, value: convert(value, keySpot, depth + 1) });
      }
      return { ...here, kind: 'map', entries };
    }
    if (isSeq<ParsedNode>(node)) return { ...here, kind: 'list', items: node.items.map((item) => convert(item, here, depth + 1)) };
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'string') return { ...here, kind: 'text', text: value };
    if (typeof value === 'number') return { ...here, kind: 'number', number: value };
    if (typeof value === 'boolean') return { ...here, kind: 'flag', flag: value };
    return { ...here, kind: 'nothing' };
  };
  const tree = convert(document.contents, { line: 1, column: 1 }, 0);
  return { tree: problems.length > 0 ? undefined : tree, problems };
}

// The parser's messages quote the text, which may be a secret; its codes do not.
const MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'an alias without its anchor',
  BAD_DQ_ESCAPE: 'unknown escape; in double quotes write a backslash twice',
  BAD_INDENT: 'the indentation does not fit',
  BAD_SCALAR_START: 'a value may not start with this character; put it in quotes',
  DUPLICATE_KEY: 'duplicate key',
  MISSING_CHAR: 'a character is missing here: a quote, bracket, comma or colon',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line',
  MULTIPLE_DOCS: 'the file contains several documents; a policy is one',
  NON_STRING_KEY: 'a key must be a plain word',
  TAB_AS_INDENT: 'a tab may not indent; use spaces',
  TAG_RESOLVE_FAILED: 'tags are not allowed',
  UNEXPECTED_TOKEN: 'unexpected here; a value with special characters needs quotes',
};

/** Errors in the content of a readable text: they cause no other errors. */
const ON_ITS_OWN: ReadonlySet<YAMLError['code']> = new Set([
  'BAD_ALIAS',
  'DUPLICATE_KEY',
  'MULTIPLE_DOCS',
  'NON_STRING_KEY',
  'TAG_RESOLVE_FAILED',
]);

function messageOf(error: YAMLError): string {
  return MESSAGES[error.code] ?? 'not valid YAML';
}
