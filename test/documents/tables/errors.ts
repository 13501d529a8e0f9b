// The table of docs/errors.md, made from the comments of src/failures.ts.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type FailureKey, reasonOf } from '../../../src/errors.ts';
import { root } from '../pages.ts';

const FAILURE = /^ {2}\/\*\* (.+) \*\/\n {2}([A-Z_]+): \{/gm;

/** What each comment says; a failure without a comment is missing. */
export function meanings(): ReadonlyMap<string, string> {
  const source = readFileSync(path.join(root, 'src/failures.ts'), 'utf8');
  return new Map([...source.matchAll(FAILURE)].map(([, meaning = '', key = '']) => [key, meaning]));
}

export function errorTable(): string {
  const rows = [...meanings()].map(([key, meaning]) => {
    const { reason, rpc, retryable } = reasonOf(key as FailureKey);
    return `| \`${reason}\` | ${rpc} | ${retryable ? 'yes' : ''} | ${meaning} |`;
  });
  return ['| reason | code | retryable | what happened, and what to do |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
