// The classification of failures: every error of its own has a reason, and says whether to try again.
import { expect, test } from 'vitest';
import { FAILURE_KEYS, failure, reasonOf, wireDataOf } from '../src/errors.ts';
import { errorLine } from '../src/proxy/json-rpc-lines.ts';

test('every failure has a reason of its own', () => {
  const reasons = FAILURE_KEYS.map((key) => reasonOf(key).reason);
  expect(new Set(reasons).size).toBe(reasons.length);
});

test('an error frame has the reason and retryable, with or without other data', () => {
  const dataOf = (line: string) => JSON.parse(line).error.data;
  expect(dataOf(errorLine('1', failure('SESSION_UNKNOWN', ['x'], { sessionId: 'x' })))).toEqual({
    ...{ reason: 'session_unknown', sessionId: 'x', retryable: false },
  });
  expect(dataOf(errorLine('1', failure('SHUTTING_DOWN', [])))).toEqual({ reason: 'shutting_down', retryable: true });
  expect(wireDataOf(failure('AGENT_STOPPED', ['a'], { reason: 'stopped' }))).toEqual({ reason: 'stopped', retryable: false });
});
