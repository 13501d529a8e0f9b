// One id means one session at a time, for whoever has seen it, and frames that name it keep their order.
import { expect, test } from 'vitest';
import { open, UNANSWERED } from '../../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../../e2e/scripted-agent.ts';
import { able, CWD, chunk, connected, connection, end } from '../actors.ts';
import { memoryGuard } from '../memory-guard.ts';

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
  const { enforcement } = memoryGuard({ allow: ['edit(/**)'], ask: ['read(/**)'] });
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
