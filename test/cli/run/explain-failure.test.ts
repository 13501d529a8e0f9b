// How `run` reports an error: a message, a hint, and an exit code that depends on the error's `data`, not on its message.
import { expect, test } from 'vitest';
import { CommandFailure } from '../../../src/cli/failure.ts';
import { createRefused, describeFailure } from '../../../src/cli/run/explain-failure.ts';
import { ClientError } from '../../../src/client/client-error.ts';

function explained(message: string, data?: unknown, code = -32603): CommandFailure {
  const failure = describeFailure(new ClientError(code, message, data), 'mine', (text) => text.replaceAll('hunter2', '[redacted]'));
  expect(failure).toBeInstanceOf(CommandFailure);
  return failure as CommandFailure;
}

test.each([
  ['in details', { details: 'quota exceeded' }],
  ['in a message', { message: 'quota exceeded' }],
  ['as a text', 'quota exceeded'],
])('what an agent says %s is shown after "Internal error"', (_, data) => {
  expect(explained('Internal error', data)).toMatchObject({ message: 'Internal error: quota exceeded (error -32603)', exitCode: 1 });
});

test('a prompt that exceeds its limit is a timeout, and its message is hint enough', () => {
  const failure = explained('too long', { reason: 'prompt_timeout', agent: 'mine', retryable: true });
  expect([failure.exitCode, failure.hint]).toEqual([3, undefined]);
});

test.each(['no_initialize', 'not_startable', 'not_reachable', 'agent_version'])(
  'the message of %s says what to do: no test of the agent is advised',
  (reason) => {
    expect(explained('Check "command"', { reason, agent: 'mine', retryable: false }).hint).toBeUndefined();
    expect(
      explained('soon', { reason: 'backing-off', retryable: true, cause: { reason, message: 'Check "command"' } }).hint,
    ).toBeUndefined();
  },
);

test.each([
  ['none', 'use --policy FILE'],
  ['reads', 'or use --approve all'],
  ['inside', '--yolo approves only what stays in the working directory; a policy or --approve all must allow this'],
  ['all', 'the agent offers no option that allows it'],
] as const)('what was refused under --approve %s gets advice once: %s', (approval, advice) => {
  const printed: string[] = [];
  const refused = createRefused((text) => printed.push(text), { isRefused: false, isViolation: false }, approval);
  refused.unanswered({ toolCall: { title: 'Edit' } });
  refused.unanswered({ toolCall: { title: 'Run' } });
  expect(printed).toEqual(['denied: Edit', expect.stringContaining(advice), 'denied: Run']);
});

test("the agent's text is redacted, truncated and not repeated", () => {
  expect(explained('Internal error', { details: 'password hunter2' }).message).toBe('Internal error: password [redacted] (error -32603)');
  expect(explained('Internal error', 'x'.repeat(9999)).message.length).toBeLessThan(600);
  expect(explained('quota exceeded', { details: 'quota exceeded' }).message).toBe('quota exceeded (error -32603)');
  expect(explained('Internal error', null).message).toBe('Internal error (error -32603)');
});

test("other data of an agent's error follows on its own line, redacted and truncated; data of switchboard's own errors does not", () => {
  const data = { details: { code: 5, key: 'hunter2' } };
  expect(explained('Internal error', data, -32077).message).toBe(
    'Internal error (error -32077)\n  data: {"details":{"code":5,"key":"[redacted]"}}',
  );
  expect(explained('Internal error', { long: 'x'.repeat(9999) }).message.length).toBeLessThan(600);
  expect(explained('No agent owns session "x"', { sessionId: 'x', reason: 'session_unknown', retryable: false }).message).toBe(
    'No agent owns session "x"',
  );
});

test.each([
  [{ reason: 'no_initialize' }, 3],
  [{ reason: 'backing-off', cause: { reason: 'no_initialize', message: 'silent' } }, 3],
  [{ reason: 'backing-off', cause: { message: 'it speaks version 2' } }, 7],
  [{ reason: 'not_startable' }, 7],
  [{ reason: 'crash-loop' }, 7],
  [{ reason: 'agent_exited', atStart: true }, 7],
  [{ reason: 'agent_exited' }, 1],
  [{}, 1],
])('data %j is exit code %i', (data, exitCode) => {
  expect(explained('Agent "mine" is not available', { agent: 'mine', ...data })).toMatchObject({ exitCode });
});

test("the cause replaces the retry time; the agent's output and the hint are not repeated", () => {
  const message =
    'Agent "mine" exited (code 3) before answering; its last output: "no key". To find out why, run: switchboard agents test mine';
  const data = { agent: 'mine', reason: 'backing-off', retryable: true, stderr: ['no key'], cause: { reason: 'agent_exited', message } };
  expect(explained(`Agent "mine" is unavailable; try again in 1 s. ${message}`, data)).toMatchObject({
    message,
    hint: undefined,
  });
  expect(explained(message, { ...data, stderr: ['loading', 'no key'] }).message).toBe(`${message}\n  loading\n  no key`);
});
