// What `run` makes of an error: words, a way on, and an exit code by what the switchboard says in `data`, not by its words.
import { expect, test } from 'vitest';
import { CommandFailure } from '../../../src/cli/failure.ts';
import { describeFailure } from '../../../src/cli/run/failures.ts';
import { ClientError } from '../../../src/client/client-error.ts';

function told(message: string, data?: unknown, code = -32603): CommandFailure {
  const failure = describeFailure(new ClientError(code, message, data), 'mine', (text) => text.replaceAll('hunter2', '[redacted]'));
  expect(failure).toBeInstanceOf(CommandFailure);
  return failure as CommandFailure;
}

test.each([
  ['in details', { details: 'quota exceeded' }],
  ['in a message', { message: 'quota exceeded' }],
  ['as a text', 'quota exceeded'],
])('what an agent says %s stands behind "Internal error"', (_, data) => {
  expect(told('Internal error', data)).toMatchObject({ message: 'Internal error: quota exceeded', exitCode: 1 });
});

test('it is cleaned, cut, and not said twice', () => {
  expect(told('Internal error', { details: 'password hunter2' }).message).toBe('Internal error: password [redacted]');
  expect(told('Internal error', 'x'.repeat(9999)).message.length).toBeLessThan(600);
  expect(told('quota exceeded', { details: 'quota exceeded' }).message).toBe('quota exceeded');
  expect(told('Internal error', { details: { code: 5 } }).message).toBe('Internal error');
  expect(told('Internal error', null).message).toBe('Internal error');
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
])('%j: exit code %i', (data, exitCode) => {
  expect(told('Agent "mine" is not available', { agent: 'mine', ...data })).toMatchObject({ exitCode });
});

test('why it failed is said in place of when it may be tried again; its only words are said once, and so is the way on', () => {
  const message =
    'Agent "mine" exited (code 3) before answering; its last output: "no key". To find out why, run: switchboard agents test mine';
  const data = { agent: 'mine', reason: 'backing-off', stderr: ['no key'], cause: { reason: 'agent_exited', message } };
  expect(told(`Agent "mine" is unavailable; try again in 1 s. ${message}`, data)).toMatchObject({
    message,
    hint: undefined,
  });
  expect(told(message, { ...data, stderr: ['loading', 'no key'] }).message).toBe(`${message}\n  loading\n  no key`);
});
