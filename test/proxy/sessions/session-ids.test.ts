// One id means one session at a time, and frames that name it keep their order.
import { expect, test } from 'vitest';
import { open, UNANSWERED } from '../../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../../e2e/scripted-agent.ts';
import { able, CWD, cancelled, chunk, connected, connection, end } from '../actors.ts';
import { memoryEnforcement } from '../memory-enforcement.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [] };
const toRight = (sessionId: string) => ({ sessionId, configId: 'agent', value: 'right' });

// Seed 88101744 of the simulator.
test('an id under which the client shows a request is not given to another session, even if a cancel has answered the agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', async () => {
    void right.request('session/request_permission', { sessionId: 's2', ...PERMISSION }, 'early');
    await client.got('session/request_permission');
    return { sessionId: 's2' };
  });
  await client.call('session/set_config_option', toRight(id));
  client.notify('session/cancel', { sessionId: id });
  await right.until((msg) => msg.id === 'early' && msg.method === undefined);
  expect((await open(client, CWD, 'left')).id).toBe('s2~left');
});

// Seed 90205781 of the simulator.
test('a session that the client resumes by its id is not moved to another id: the change of agent fails, and the replay stays withheld', async () => {
  const [left, right] = [able('left'), able('right', { ...ALL_CAPABILITIES, sessionCapabilities: {} })];
  const client = await connected([left, right]);
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', () => UNANSWERED);
  right.on('session/load', () => UNANSWERED);
  const change = client.request('session/set_config_option', toRight(id));
  const opening = await right.got('session/new');
  void right.request('session/request_permission', { sessionId: 'own', ...PERMISSION });
  await client.got('session/request_permission');
  const resume = client.request('session/resume', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  const loading = await right.got('session/load');
  right.reply(opening.msg, { sessionId: 'own' });
  expect((await change).error.message).toContain('already in use as "own"');
  right.notify('session/update', { sessionId: 'own', update: chunk('replay') });
  right.reply(loading.msg, {});
  expect((await resume).error).toBeUndefined();
  await client.call('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'hello' }] });
  expect([client.agentText(id), client.agentText('own')]).toEqual(['left heard hello', '']);
});

// Seed 91500073 of the simulator.
test('if the load that made a change of agent fail is refused itself, the session that the agent opened is closed', async () => {
  const capabilities = { ...ALL_CAPABILITIES, sessionCapabilities: { close: {} } };
  const [left, right] = [able('left'), able('right', capabilities)];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', () => UNANSWERED);
  right.on('session/load', () => UNANSWERED);
  const change = client.request('session/set_config_option', toRight(id));
  const opening = await right.got('session/new');
  const load = client.request('session/load', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  const loading = await right.got('session/load');
  right.reply(opening.msg, { sessionId: 'own' });
  expect((await change).error.message).toContain('already in use as "own"');
  expect(right.all('session/close')).toEqual([]);
  right.send({ jsonrpc: '2.0', id: loading.msg.id, error: { code: -32603, message: 'not now' } });
  expect((await load).error.code).toBe(-32002);
  expect((await right.got('session/close')).msg.params).toEqual({ sessionId: 'own' });
});

// Seed 90210177 of the simulator.
test('requests on a session whose agent is still being looked for reach it in their order, and the agents are asked once', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  left.on('session/list', () => UNANSWERED);
  const turn = client.request('session/prompt', { sessionId: 'old', prompt: [{ type: 'text', text: 'hello' }] });
  const close = client.request('session/close', { sessionId: 'old' });
  left.reply((await left.got('session/list')).msg, { sessions: [{ sessionId: 'old', cwd: CWD }] });
  expect([(await turn).result, (await close).error]).toEqual([end, undefined]);
  const reached = left.seen.flatMap(({ msg }) => (/^session\/(list|prompt|close)$/.test(msg.method ?? '') ? [msg.method] : []));
  expect(reached).toEqual(['session/list', 'session/prompt', 'session/close']);
});

// Seed 91304757 of the simulator.
test('a file request behind one that waits for the user stays behind it when its session moves to that agent', async () => {
  const { enforcement } = memoryEnforcement({ allow: ['edit(/**)'], ask: ['read(/**)'] });
  const [left, right] = [able('left'), able('right')];
  const { client } = await connection([left, right], {}, { enforcement });
  client.on('session/request_permission', () => UNANSWERED);
  client.on('fs/read_text_file', () => ({ content: 'a' }));
  client.on('fs/write_text_file', () => ({}));
  client.on('_vendor/ask', () => ({}));
  const { id } = await open(client, CWD, 'left');
  const file = { sessionId: 'own', path: `${CWD}/a` };
  const asked: Promise<unknown>[] = [];
  right.on('session/new', async () => {
    asked.push(right.call('fs/read_text_file', file));
    await client.got('session/request_permission');
    return { sessionId: 'own' };
  });
  await client.call('session/set_config_option', toRight(id));
  asked.push(right.call('fs/write_text_file', { ...file, content: 'b' }));
  await right.call('_vendor/ask', { sessionId: 'own' }); // passes behind the write
  expect(client.all('fs/write_text_file')).toEqual([]);
  client.reply((await client.got('session/request_permission')).msg, { outcome: { outcome: 'selected', optionId: 'allow' } });
  await Promise.all(asked);
  const reached = client.seen.flatMap(({ msg }) => (msg.method?.startsWith('fs/') ? [[msg.method, msg.params.sessionId]] : []));
  expect(reached).toEqual([
    ['fs/read_text_file', id],
    ['fs/write_text_file', id],
  ]);
});

// Seed 111004369 of the simulator.
test('a session opened under an id that a request is looking for gets an alias, and the request does not reach it', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  left.on('session/list', () => UNANSWERED);
  const turn = client.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'hello' }] });
  const { msg } = await left.got('session/list');
  expect((await open(client, CWD, 'right')).id).toBe('s1~right');
  left.reply(msg, { sessions: [] });
  expect((await turn).error.code).toBe(-32002);
  expect(right.all('session/prompt')).toEqual([]);
});

// Seed 111004099 of the simulator.
test('a request that an agent sends about the session it opens stays with that session, even if a load of the id fails meanwhile', async () => {
  const [left, right] = [able('left', { ...ALL_CAPABILITIES, sessionCapabilities: { close: {} } }), able('right')];
  const client = await connected([left, right]);
  client.on('session/request_permission', () => UNANSWERED);
  left.on('session/new', () => UNANSWERED);
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  const loading = await left.got('session/load');
  const opening = open(client, CWD, 'left');
  const creating = await left.got('session/new');
  void left.request('session/request_permission', { sessionId: 'own', ...PERMISSION });
  const shown = await client.got('session/request_permission');
  left.send({ jsonrpc: '2.0', id: loading.msg.id, error: { code: -32002, message: 'there is no such session' } });
  await left.until((msg) => msg.method === 'session/load' && msg.id !== loading.msg.id); // the id is this agent's by now
  left.reply(creating.msg, { sessionId: 'own' });
  expect((await opening).id).toBe('own');
  left.send({ jsonrpc: '2.0', id: left.all('session/load')[1]?.msg.id, error: { code: -32002, message: 'there is no such session' } });
  expect((await load).error.code).toBe(-32002);
  await client.call('session/close', { sessionId: 'own' });
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: shown.msg.id });
});

// Seed 110005453 of the simulator.
const id = 'old';

test('a prompt before a close ends with it, even if the load that both waited for fails first', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  left.on('session/list', () => ({ sessions: [{ sessionId: id, cwd: CWD }] }));
  for (const method of ['session/load', 'session/close']) left.on(method, () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const loading = await left.got('session/load');
  const turn = client.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'hello' }] });
  const close = client.request('session/close', { sessionId: id });
  const closing = await left.got('session/close');
  left.send({ jsonrpc: '2.0', id: loading.msg.id, error: { code: -32603, message: 'not now' } });
  expect((await load).error.message).toBe('not now');
  left.reply(closing.msg, {});
  expect([(await turn).result, (await close).error]).toEqual([cancelled, undefined]);
  expect(left.all('session/prompt')).toEqual([]);
});

test('a prompt before a close that is refused looks for its session again, if the load that both waited for has failed', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  left.on('session/list', () => ({ sessions: [{ sessionId: id, cwd: CWD }] }));
  for (const method of ['session/load', 'session/close']) left.on(method, () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const loading = await left.got('session/load');
  const turn = client.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'hello' }] });
  const close = client.request('session/close', { sessionId: id });
  const closing = await left.got('session/close');
  left.send({ jsonrpc: '2.0', id: loading.msg.id, error: { code: -32603, message: 'not now' } });
  expect((await load).error.message).toBe('not now');
  expect(left.all('session/prompt')).toEqual([]);
  left.send({ jsonrpc: '2.0', id: closing.msg.id, error: { code: -32603, message: 'busy' } });
  expect([(await turn).result, (await close).error.message]).toEqual([end, 'busy']);
});

// Seed 114016740 of the simulator.
test('a session that its agent opens while it is looked for keeps its alias, even if the agent has listed it before', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  left.on('session/list', () => ({ sessions: [{ sessionId: 's1', cwd: CWD }] }));
  right.on('session/list', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 's1', cwd: CWD, mcpServers: [] });
  const asked = await right.got('session/list');
  expect((await open(client, CWD, 'left')).id).toBe('s1~left');
  right.reply(asked.msg, { sessions: [] });
  expect((await load).error.code).toBe(-32002);
  await client.call('session/prompt', { sessionId: 's1~left', prompt: [{ type: 'text', text: 'hello' }] });
  expect(client.agentText('s1~left')).toBe('left heard hello');
});
