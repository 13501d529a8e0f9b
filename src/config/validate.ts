// Turns schema issues into problems with position, key and expected value.
import type * as z from 'zod';
import { didYouMean } from '../policy/format/nearest.ts';
import { type Document, type Path, type Problem, showPath } from './problems.ts';
import { configJsonSchema, configSchema } from './schema.ts';

// Planned keys that this version does not support. "Unknown key" would suggest a typo, and ignoring them could leave a policy unenforced.
const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': ['proxies'],
  'agent_servers.*': ['proxies'],
};

const VALUES: Readonly<Record<string, readonly unknown[]>> = {};

export function isLaterKey(owner: Path, key: string): boolean {
  return KEYS[pattern(owner)]?.includes(key) ?? false;
}

export function isLaterValue(path: Path, value: unknown): boolean {
  return VALUES[pattern(path)]?.includes(value) ?? false;
}

function pattern(path: Path): string {
  return path.map((part, index) => (index === 1 && path[0] === 'agent_servers' ? '*' : part)).join('.');
}

const LATER = 'not supported in this version';

/** All keys and values that the schema rejects. */
export function validate(document: Document): Problem[] {
  const { error } = configSchema.safeParse(document.value);
  return (error?.issues ?? []).flatMap((issue) => explain(document, issue));
}

function explain(document: Document, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path as Path; // zod also allows symbols, which our paths never contain
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(document, path, key));
  if (issue.code === 'invalid_union') {
    // A value of the right type with a mistake inside: that mistake counts.
    const inner = issue.errors.find((issues) => issues.some((one) => one.path.length > 0 || one.code === 'unrecognized_keys'));
    if (inner) return inner.flatMap((one) => explain(document, { ...one, path: [...path, ...one.path] }));
  }
  if (isLaterValue(path, valueAt(document.value, path))) return [document.problem(path, `${showPath(path)}: this value is ${LATER}`)];
  if (document.has(path)) return [document.problem(path, `${showPath(path) || 'the file'}: expected ${expected(issue)}`)];
  const owner = showPath(path.slice(0, -1));
  return [document.problem(path, `${owner === '' ? '' : `${owner}: `}missing key "${path.at(-1)}"`, `expected ${expected(issue)}`)];
}

function unknownKey(document: Document, owner: Path, key: string): Problem {
  const path = [...owner, key];
  if (isLaterKey(owner, key)) return document.keyProblem(path, `${showPath(path)}: ${LATER}`);
  return document.keyProblem(path, `unknown key ${JSON.stringify(key)}`, didYouMean(key, knownKeys(owner)));
}

function knownKeys(owner: Path): string[] {
  let at: z.core.JSONSchema.BaseSchema = configJsonSchema();
  for (const part of owner) {
    const next = typeof part === 'number' ? at.items : (at.properties?.[part] ?? at.additionalProperties);
    if (typeof next !== 'object' || Array.isArray(next)) return [];
    at = next;
  }
  return Object.keys(at.properties ?? {});
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<string | number, unknown> | undefined)?.[part], value);
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function expected(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? 'a value of another type';
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(' or ');
  if (issue.code === 'too_small') return issue.origin === 'string' ? 'a non-empty string' : `a whole number from ${issue.minimum}`;
  if (issue.code === 'too_big') return `a whole number up to ${issue.maximum}`;
  if (issue.code === 'invalid_union' && issue.errors.length > 0)
    return [...new Set(issue.errors.flatMap((issues) => issues.slice(0, 1).map(expected)))].join(' or ');
  return 'another value';
}
