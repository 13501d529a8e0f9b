// Terminals that outlive, or come before, the session that an agent creates them in.
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

// 618902
test.each([
  ['the agent dies', 1],
  ['the client closes the session', 2],
])('a terminal that the client creates for a request that was withdrawn meanwhile is released: %s', async (_, count) => {
  const left = able('left');
  const client = await connected([left, able('right')].slice(0, count));
  client.on('terminal/create', () => UNANSWERED);
  client.on('terminal/release', () => ({}));
  const { id } = await open(client, CWD, count === 1 ? undefined : 'left');
  void left.request('terminal/create', { sessionId: id, command: 'make' });
  const { msg } = await client.got('terminal/create');
  if (count === 1) left.exit({ kind: 'exited', code: 1, signal: null });
  else await client.call('session/close', { sessionId: id });
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: msg.id });
  for (let times = 2; times > 0; times--) client.reply(msg, { terminalId: 't1' });
  expect((await client.got('terminal/release')).msg.params).toEqual({ sessionId: id, terminalId: 't1' });
  await open(client, CWD, count === 1 ? undefined : 'right');
  expect(client.all('terminal/release')).toHaveLength(1);
});
