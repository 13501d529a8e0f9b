// An agent that a user stops, drains and starts again.
import { expect, test } from 'vitest';
import { choosing, open, UNANSWERED } from '../../e2e/harness.ts';
import { eventually } from '../../faults/setup.ts';
import { able, CWD, cancelled, connection, end } from '../actors.ts';

const prompt = (sessionId: string, text = 'hello') => ({ sessionId, prompt: [{ type: 'text', text }] });
const WHY = 'Agent "left" is stopped; start it in the console or use another agent';

test('a stopped agent refuses new sessions and prompts by name, is not started by them, and the other agent continues', async () => {
  const left = able('left');
  const { client, connection: proxy } = await connection([left, able('right')]);
  const { id: mine } = await open(client, CWD, 'left');
  const { id: other } = await open(client, CWD, 'right');
  expect(proxy.stopAgent('left', 'now')).toBe(true);
  await eventually(() => expect(proxy.health().left?.state).toBe('stopped'));
  const refused = await client.request('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') });
  expect(refused.error).toMatchObject({ code: -32603, message: WHY, data: { agent: 'left', reason: 'stopped' } });
  expect((await client.request('session/prompt', prompt(mine))).error.message).toBe(WHY);
  expect(proxy.health().left).toMatchObject({ state: 'stopped', pid: undefined, restarts: 0 });
  expect((await client.request('session/prompt', prompt(other))).result).toEqual(end);
  expect(proxy.stopAgent('nobody', 'now')).toBe(false);

  expect(proxy.restart('left')).toBe(true);
  expect((await client.request('session/prompt', prompt(mine))).result).toEqual(end);
  expect(left.all('session/resume')).toHaveLength(1);
  await proxy.stop();
});

test('stopping an agent cancels its turns, even if it does not respond', async () => {
  const left = able('left');
  left.on('session/prompt', () => UNANSWERED);
  const { client, connection: proxy } = await connection([left, able('right')]);
  const { id: session } = await open(client, CWD, 'left');
  const turn = client.request('session/prompt', prompt(session));
  await left.got('session/prompt');
  proxy.stopAgent('left', 'now');
  await left.got('session/cancel');
  expect(proxy.health().left?.state).toBe('draining');
  expect((await turn).result).toEqual(cancelled);
  await eventually(() => expect(proxy.health().left?.state).toBe('stopped'));
  await proxy.stop();
});

test('a draining agent finishes its turns and requests, accepts nothing new, and then exits', async () => {
  const left = able('left');
  left.on('session/prompt', () => UNANSWERED);
  const { client, connection: proxy } = await connection([left, able('right')]);
  const { id: session } = await open(client, CWD, 'left');
  const turn = client.request('session/prompt', prompt(session));
  const { msg } = await left.got('session/prompt');
  proxy.stopAgent('left', 'drain');
  expect((await client.request('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') })).error.message).toBe(WHY);
  client.on('_vendor/ask', () => ({ yes: true }));
  expect((await left.request('_vendor/ask', { sessionId: session })).result).toEqual({ yes: true });
  expect(proxy.health().left?.state).toBe('draining');
  expect(left.all('session/cancel')).toEqual([]);
  left.send({ jsonrpc: '2.0', id: msg.id, result: end });
  expect((await turn).result).toEqual(end);
  await eventually(() => expect(proxy.health().left?.state).toBe('stopped'));
  await proxy.stop();
});

test('an agent that is started again while it drains keeps running', async () => {
  const left = able('left');
  left.on('session/prompt', () => UNANSWERED);
  const { client, connection: proxy } = await connection([left, able('right')]);
  const { id: session } = await open(client, CWD, 'left');
  void client.request('session/prompt', prompt(session));
  await left.got('session/prompt');
  proxy.stopAgent('left', 'drain');
  proxy.restart('left');
  await eventually(() => expect(proxy.health().left?.state).toBe('ready'));
  await proxy.stop();
});
