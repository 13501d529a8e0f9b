// What people do to prompts that wait: they see them, change their text and remove them.
import { expect, test } from 'vitest';
import { hello, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { connectInProcess, createActor } from '../../faults/in-process.ts';

async function withQueue() {
  const agent = createActor('one');
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: {} }));
  agent.on('session/new', () => ({ sessionId: 's' }));
  agent.on('session/prompt', () => UNANSWERED);
  const { client, connection } = connectInProcess({ agents: { one: { command: 'one', while_running: 'queue' } }, launch: agent.launch });
  await hello(client);
  await client.call('session/new', { cwd: '/work', mcpServers: [] });
  void prompt(client, 's', 'first');
  const first = (await agent.got('session/prompt')).msg;
  const link = { type: 'resource_link', name: 'a.ts', uri: 'file:///work/a.ts' };
  const second = client.request('session/prompt', { sessionId: 's', prompt: [{ type: 'text', text: 'second' }, link] }, 'two');
  while (connection.queuedPrompts().length === 0) await new Promise(setImmediate);
  return { agent, client, connection, first, second, link };
}

test('a waiting prompt is listed, and takes another text; its other content stays', async () => {
  const { agent, connection, first, link } = await withQueue();
  expect(connection.queuedPrompts()).toEqual([{ sessionId: 's', id: '"two"', text: 'second' }]);
  expect(connection.changeQueued({ sessionId: 's', id: '"two"' }, 'better "words"\n')).toBe(true);
  expect(connection.queuedPrompts()).toMatchObject([{ text: 'better "words"\n' }]);
  agent.reply(first, { stopReason: 'end_turn' });
  const { msg } = await agent.got('session/prompt', ({ prompt: blocks }) => blocks.length === 2);
  expect(msg.params).toEqual({ sessionId: 's', prompt: [{ type: 'text', text: 'better "words"\n' }, link] });
  expect(connection.changeQueued({ sessionId: 's', id: '"two"' }, 'too late')).toBe(false);
});

test('a waiting prompt that is removed is answered as cancelled, once', async () => {
  const { agent, client, connection, first, second } = await withQueue();
  expect(connection.changeQueued({ sessionId: 's', id: '"two"' }, undefined)).toBe(true);
  expect((await second).error.code).toBe(-32800);
  expect(connection.changeQueued({ sessionId: 's', id: '"two"' }, undefined)).toBe(false);
  expect(connection.queuedPrompts()).toEqual([]);
  agent.reply(first, { stopReason: 'end_turn' });
  void prompt(client, 's', 'third');
  await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'third');
  expect(agent.all('session/prompt')).toHaveLength(2);
});
