// Requests that cross a change of agent.
import { expect, test } from 'vitest';
import { open, type Peer, prompt, UNANSWERED } from '../e2e/harness.ts';
import { createStillClock } from '../faults/in-process.ts';
import { able, CWD, cancelled, chunk, connected, connection, end } from './actors.ts';

test('requests about a session that an agent sends before the session moves to it are cancelled with the session', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', async () => {
    void right.request('session/request_permission', { sessionId: 'own', toolCall: { toolCallId: 't' }, options: [] }, 'early');
    await client.got('session/request_permission');
    return { sessionId: 'own' };
  });
  await CHANGES['the option'](client, id);
  client.notify('session/cancel', { sessionId: id });
  const answer = await right.until((msg) => msg.id === 'early' && msg.method === undefined);
  expect(answer.msg.result).toEqual({ outcome: { outcome: 'cancelled' } });
});

const CHANGES = {
  '/agent': (client: Peer, sessionId: string) => prompt(client, sessionId, '/agent right'),
  'the option': (client: Peer, sessionId: string) =>
    client.request('session/set_config_option', { sessionId, configId: 'agent', value: 'right' }, 'change'),
};

test.each([
  ['/agent', 'cancelled', (client: Peer, sessionId: string) => client.notify('session/cancel', { sessionId })],
  ['the option', 'cancelled', (client: Peer) => client.notify('$/cancel_request', { requestId: 'change' })],
] as const)('%s, when %s, leaves the session with its agent at once, and closes what the other agent opens', async (how, _, callOff) => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  right.on('session/new', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  const change = CHANGES[how](client, id);
  const asked = await right.got('session/new');
  callOff(client, id);
  const answer = await change;
  expect(answer.result ?? answer.error.code).toEqual(how === '/agent' ? cancelled : -32800);
  right.notify('session/update', { sessionId: 'r1', update: chunk('nobody hears me') });
  right.reply(asked.msg, { sessionId: 'r1' });
  expect((await right.got('session/close')).msg.params).toEqual({ sessionId: 'r1' });
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect([client.agentText(id), client.agentText('r1')]).toEqual(['left heard hello', '']);
});

test('an agent that requires a login is named in its own error, even if the session has moved to another agent since', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  left.on('_vendor/do', () => UNANSWERED);
  const asking = client.request('_vendor/do', { sessionId: id });
  const asked = await left.got('_vendor/do');
  await CHANGES['the option'](client, id);
  left.send({ jsonrpc: '2.0', id: asked.msg.id, error: { code: -32000, message: 'log in first' } });
  expect((await asking).error.data.agent).toBe('left');
});

test("an agent's pending requests are withdrawn when the session moves to another agent, and the agent is told", async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  const permission = left.request('session/request_permission', { sessionId: id, toolCall: { toolCallId: 't' }, options: [] });
  const vendor = left.request('_vendor/ask', { sessionId: id });
  const agentRequests = [(await client.got('session/request_permission')).msg.id, (await client.got('_vendor/ask')).msg.id];
  await CHANGES['the option'](client, id);
  expect((await permission).result).toEqual({ outcome: { outcome: 'cancelled' } });
  expect((await vendor).error.code).toBe(-32002);
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params.requestId)).toEqual(agentRequests);
});

test("an agent's pending requests in an abandoned session are withdrawn, so that the next session with its id does not get them", async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  right.on('session/new', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  const change = CHANGES['/agent'](client, id);
  const asked = await right.got('session/new');
  const permission = right.request('session/request_permission', { sessionId: 's2', toolCall: { toolCallId: 't' }, options: [] });
  const file = right.request('fs/read_text_file', { sessionId: 's2', path: '/work/a' });
  const agentRequests = [(await client.got('session/request_permission')).msg.id, (await client.got('fs/read_text_file')).msg.id];
  client.notify('session/cancel', { sessionId: id });
  await change;
  right.reply(asked.msg, { sessionId: 's2' });
  expect((await permission).result).toEqual({ outcome: { outcome: 'cancelled' } });
  expect((await file).error.code).toBe(-32002);
  expect((await open(client, CWD, 'left')).id).toBe('s2');
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params.requestId)).toEqual(agentRequests);
});

test('if an agent does not open the session that should move to it, the error names the agent, the timeout, its setting and the last output', async () => {
  const clock = createStillClock();
  const [left, right] = [able('left'), able('right')];
  const launch = right.launch;
  Object.assign(right, { launch: () => ({ ...launch(), stderrTail: () => ['indexing the disk'] }) });
  const { client } = await connection([left, right], { timeouts: { initialize_ms: 700 } }, { clock });
  right.on('session/new', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  const change = CHANGES['the option'](client, id);
  await right.got('session/new');
  clock.advance(1400);
  const { error } = await change;
  expect(error).toMatchObject({ code: -32603, data: { agent: 'right', stderr: ['indexing the disk'] } });
  expect(error.message).toMatch(/"right" did not open a session within 1400 ms; its last output: "indexing the disk"\./);
  expect(error.message).toContain('raise agent_servers.right.timeouts.initialize_ms (this limit is twice that)');
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
});

test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])('a close ends a change by %s that is in progress', async (how) => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  right.on('session/new', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  const change = CHANGES[how](client, id);
  const asked = await right.got('session/new');
  expect(await client.call('session/close', { sessionId: id })).toEqual({});
  const answer = await change;
  expect(answer.result ?? answer.error.code).toEqual(how === '/agent' ? cancelled : -32800);
  right.reply(asked.msg, { sessionId: 'r1' });
  await right.got('session/close');
});

test('a notification on a lost session reaches neither the agent that had it nor the one that it moves to; a later one does', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left, right] = agents;
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', () => ({ sessionId: 'r1' }));
  left.exit({ kind: 'exited', code: 1, signal: null });
  client.notify('_vendor/note', { sessionId: id, text: 'lost' });
  await CHANGES['the option'](client, id);
  client.notify('_vendor/note', { sessionId: id, text: 'moved' });
  expect((await right.got('_vendor/note')).msg.params).toEqual({ sessionId: 'r1', text: 'moved' });
  expect([left.all('initialize').length, left.all('_vendor/note')]).toEqual([1, []]);
});

test('frames that wait behind a change of agent that a close ends are not processed', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left, right] = agents;
  right.on('session/new', () => UNANSWERED);
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  const change = prompt(client, id, '/agent right');
  const mode = client.request('session/set_mode', { sessionId: id, modeId: 'code' });
  await right.got('session/new');
  await client.call('session/close', { sessionId: id });
  expect([(await change).result, (await mode).error.code]).toEqual([cancelled, -32800]);
  await client.call('session/list', {}); // the round trip: the agent has received everything
  expect(left.all('session/set_mode')).toEqual([]);
});

test("a session that moves to another agent can no longer be reached by the id in that agent's earlier requests", async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', async () => {
    await right.call('session/request_permission', { sessionId: 'own', toolCall: { toolCallId: 't' }, options: [] });
    return { sessionId: 'own' };
  });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
  await CHANGES['the option'](client, id);
  expect((await client.got('session/request_permission')).msg.params.sessionId).toBe('own');
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toBe('right heard hello');
  expect((await prompt(client, 'own', 'hello')).error.code).toBe(-32002);
});

test("an id in an agent's pending request is not given to another session", async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', async () => {
    void right.request('session/request_permission', { sessionId: 's2', toolCall: { toolCallId: 't' }, options: [] });
    await client.got('session/request_permission');
    return { sessionId: 's2' };
  });
  await CHANGES['the option'](client, id);
  const asked = await client.got('session/request_permission');
  expect([asked.msg.params.sessionId, (await open(client, CWD, 'left')).id]).toEqual(['s2', 's2~left']);
  client.reply(asked.msg, { outcome: { outcome: 'cancelled' } });
  left.on('session/new', () => ({ sessionId: 's2' }));
  await client.call('session/close', { sessionId: 's2~left' });
  expect((await open(client, CWD, 'left')).id).toBe('s2');
});
