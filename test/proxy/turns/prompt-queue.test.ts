// Prompts that arrive during a turn: what people do to those that wait, and what ends those that are on their way into the turn.
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
  expect((await second).result).toEqual({ stopReason: 'cancelled' });
  expect(connection.changeQueued({ sessionId: 's', id: '"two"' }, undefined)).toBe(false);
  expect(connection.queuedPrompts()).toEqual([]);
  agent.reply(first, { stopReason: 'end_turn' });
  void prompt(client, 's', 'third');
  await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'third');
  expect(agent.all('session/prompt')).toHaveLength(2);
});

/** A turn under way, and a second prompt of which the agent has not said whether it joins the turn. */
async function withOffer() {
  const agent = createActor('one');
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: {}, _meta: { steering: { supported: true } } }));
  agent.on('session/new', () => ({ sessionId: 's' }));
  for (const method of ['session/prompt', '_session/steering']) agent.on(method, () => UNANSWERED);
  const { client } = connectInProcess({ agents: { one: { command: 'one', while_running: 'steer' } }, launch: agent.launch });
  await hello(client);
  await client.call('session/new', { cwd: '/work', mcpServers: [] });
  void prompt(client, 's', 'first');
  const first = (await agent.got('session/prompt')).msg;
  const second = prompt(client, 's', 'second');
  const offer = (await agent.got('_session/steering')).msg;
  const texts = () => agent.all('session/prompt').map(({ msg }) => msg.params.prompt[0].text);
  return { agent, client, first, second, offer, texts };
}
const cancelled = { stopReason: 'cancelled' };

test('a cancel ends a prompt that is on its way into the turn, and the late answer of the agent does not start it', async () => {
  const { agent, client, first, second, offer, texts } = await withOffer();
  client.notify('session/cancel', { sessionId: 's' });
  expect((await second).result).toEqual(cancelled);
  agent.reply(first, cancelled);
  agent.reply(offer, { outcome: 'promptRequired' });
  void prompt(client, 's', 'third');
  await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'third');
  expect(texts()).toEqual(['first', 'third']);
});

test('the end of a session ends a prompt that is on its way into the turn', async () => {
  const { agent, client, second } = await withOffer();
  agent.on('session/close', () => ({}));
  const close = client.request('session/close', { sessionId: 's' });
  expect((await second).result).toEqual(cancelled);
  expect((await close).error).toBeUndefined();
});

test('a prompt behind one that is on its way into the turn does not overtake it', async () => {
  const { agent, client, first, offer, texts } = await withOffer();
  agent.reply(first, { stopReason: 'end_turn' });
  agent.on('session/set_mode', () => ({}));
  void prompt(client, 's', 'third');
  await client.call('session/set_mode', { sessionId: 's', modeId: 'code' });
  expect(texts()).toEqual(['first']);
  agent.reply(offer, { outcome: 'promptRequired' });
  const { msg } = await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'second');
  agent.reply(msg, { stopReason: 'end_turn' });
  await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'third');
  expect(texts()).toEqual(['first', 'second', 'third']);
});

test('two prompts that cannot join the turn follow it in their order', async () => {
  const { agent, client, first, offer, texts } = await withOffer();
  void prompt(client, 's', 'third');
  const { msg } = await agent.got('_session/steering', ({ prompt: [block] }) => block.text === 'third');
  for (const one of [msg, offer]) agent.reply(one, { outcome: 'promptRequired' });
  agent.on('session/prompt', () => ({ stopReason: 'end_turn' }));
  agent.reply(first, { stopReason: 'end_turn' });
  await agent.got('session/prompt', ({ prompt: [block] }) => block.text === 'third');
  expect(texts()).toEqual(['first', 'second', 'third']);
});
