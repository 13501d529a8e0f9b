// Terminals that an agent creates before it has answered session/new.
import { expect, test } from 'vitest';
import { open, UNANSWERED } from '../../e2e/harness.ts';
import { able, CWD, connected } from '../actors.ts';

test('a terminal that an agent creates while a session moves to it belongs to that session: it can be used, and is released when the agent dies', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('terminal/create', () => ({ terminalId: 't1' }));
  client.on('terminal/output', () => ({ output: 'done', truncated: false }));
  client.on('terminal/release', () => ({}));
  const { id } = await open(client, CWD, 'right');
  left.on('session/new', () => UNANSWERED);
  const change = client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'left' });
  const { msg } = await left.got('session/new');
  await left.call('terminal/create', { sessionId: 'early', command: 'make' });
  left.reply(msg, { sessionId: 'early' });
  await change;
  expect((await left.call('terminal/output', { sessionId: 'early', terminalId: 't1' })).output).toBe('done');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect((await client.got('terminal/release')).msg.params).toEqual({ sessionId: id, terminalId: 't1' });
});
