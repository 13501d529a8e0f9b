// The classification of failures: every error of its own has a reason, and says whether to try again.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FAILURE_KEYS, failure, reasonOf, wireDataOf } from '../src/errors.ts';
import { errorLine } from '../src/proxy/messages.ts';

test('docs/errors.md lists every reason with its code and whether to try again', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../docs/errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (-\d+) \| (yes|no) \| \S.+ \|$/gm)].map(([, ...cells]) => cells);
  const wanted = FAILURE_KEYS.map(reasonOf).map(({ reason, rpc, retryable }) => [reason, String(rpc), retryable ? 'yes' : 'no']);
  expect(rows).toEqual(wanted);
  expect(new Set(wanted.map(([reason]) => reason)).size).toBe(wanted.length);
});

test('an error frame has the reason and retryable, with or without other data', () => {
  const dataOf = (line: string) => JSON.parse(line).error.data;
  expect(dataOf(errorLine('1', failure('SESSION_UNKNOWN', ['x'], { sessionId: 'x' })))).toEqual({
    ...{ reason: 'session_unknown', sessionId: 'x', retryable: false },
  });
  expect(dataOf(errorLine('1', failure('SHUTTING_DOWN', [])))).toEqual({ reason: 'shutting_down', retryable: true });
  expect(wireDataOf(failure('AGENT_STOPPED', ['a'], { reason: 'stopped' }))).toEqual({ reason: 'stopped', retryable: false });
});
