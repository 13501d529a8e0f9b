// Reads a tree strictly. Every function reports what it does not accept and continues, so that all problems appear at once.
import { didYouMean } from './nearest.ts';
import type { Problem } from './problem.ts';
import type { Spot, Tree } from './tree.ts';

export type Reader = {
  readonly file: string;
  readonly problems: Problem[];
  report(spot: Spot, path: string, message: string, hint?: string): void;
};

const MOST_PROBLEMS = 100;

export function createReader(file: string): Reader {
  const problems: Problem[] = [];
  return {
    file,
    problems,
    report({ line, column }, path, message, hint) {
      const located = path === '' ? message : `${path}: ${message}`;
      if (problems.length < MOST_PROBLEMS)
        problems.push({ file, line, column, path, message: located, ...(hint !== undefined && { hint }) });
    },
  };
}

export type Fields<Key extends string> = Partial<Record<Key, Tree>>;

/** The fields of a map by name. A key that is not in `known` is a problem with a suggestion. */
export function fields<Key extends string>(reader: Reader, tree: Tree, path: string, known: readonly Key[]): Fields<Key> {
  if (tree.kind !== 'map') {
    reader.report(tree, path, `expected a map with ${listed(known)}`);
    return {};
  }
  const found: Fields<Key> = {};
  for (const [key, { key: spot, value }] of tree.entries) {
    if (!(known as readonly string[]).includes(key)) {
      const hint = didYouMean(key, known) ?? `expected ${listed(known)}`;
      reader.report(spot, path, `unknown key ${JSON.stringify(key)}`, hint);
    } else found[key as Key] = value;
  }
  return found;
}

export function text(reader: Reader, tree: Tree | undefined, path: string): string | undefined {
  if (tree === undefined) return undefined;
  if (tree.kind === 'text' && tree.text !== '') return tree.text;
  reader.report(tree, path, 'expected a string that is not empty');
  return undefined;
}

/** One of a few names. A wrong value is not repeated in the message: it might be a secret. */
export function oneOf<Word extends string>(reader: Reader, tree: Tree | undefined, path: string, words: readonly Word[]): Word | undefined {
  if (tree === undefined) return undefined;
  const word = tree.kind === 'text' ? tree.text : undefined;
  if (word !== undefined && (words as readonly string[]).includes(word)) return word as Word;
  reader.report(tree, path, `expected ${words.join(' or ')}`, word === undefined ? undefined : didYouMean(word, words));
  return undefined;
}

/** A single value or a list of alternatives. An empty list would silently match nothing, so it is a problem. */
export function oneOrMany(reader: Reader, tree: Tree | undefined, path: string): readonly { tree: Tree; path: string }[] | undefined {
  if (tree === undefined) return undefined;
  if (tree.kind !== 'list') return [{ tree, path }];
  if (tree.items.length === 0) reader.report(tree, path, 'expected at least one value');
  return tree.items.map((item, index) => ({ tree: item, path: `${path}[${index}]` }));
}

export function texts(reader: Reader, tree: Tree | undefined, path: string): readonly Spotted[] | undefined {
  return oneOrMany(reader, tree, path)?.flatMap(({ tree: item, path: itemPath }) => {
    const value = text(reader, item, itemPath);
    return value === undefined ? [] : [{ text: value, path: itemPath, line: item.line, column: item.column }];
  });
}

export type Spotted = Spot & { readonly text: string; readonly path: string };

export function flag(reader: Reader, tree: Tree | undefined, path: string): boolean | undefined {
  if (tree === undefined) return undefined;
  if (tree.kind === 'flag') return tree.flag;
  reader.report(tree, path, 'expected true or false');
  return undefined;
}

/** A whole number from 1. */
export function count(reader: Reader, tree: Tree | undefined, path: string): number | undefined {
  if (tree === undefined) return undefined;
  if (tree.kind === 'number' && Number.isSafeInteger(tree.number) && tree.number >= 1) return tree.number;
  reader.report(tree, path, 'expected a whole number from 1');
  return undefined;
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30s`, `8h`: a number and a unit. A bare number would leave the unit to guesswork. */
export function duration(reader: Reader, tree: Tree | undefined, path: string): number | undefined {
  if (tree === undefined) return undefined;
  const found = tree.kind === 'text' ? /^(\d{1,9})(ms|s|m|h|d)$/.exec(tree.text) : null;
  if (found) return Number(found[1]) * UNIT_MS[found[2] as keyof typeof UNIT_MS];
  reader.report(tree, path, 'expected a number with its unit (ms, s, m, h or d), such as 30s');
  return undefined;
}

function listed(words: readonly string[]): string {
  return words.length === 0 ? 'no keys' : words.join(', ');
}
