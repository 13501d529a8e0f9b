// An agent with one process per session: the end of a process affects only its own sessions.
import { expect, test } from 'vitest';
import { CAPABILITIES, choosing, open, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { connectInProcess } from '../../faults/in-process.ts';
import { eventually } from '../../faults/setup.ts';
import { type Actor, able, CWD, chunk, connection, end } from '../actors.ts';

test('a request that waits for a process is answered even if the session that started the process is refused first', async () => {
  const capabilities = { sessionCapabilities: {} };
  const left = able('left', capabilities);
  left.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: capabilities, authMethods: [{ id: 'key', name: 'Key' }] }));
  left.on('authenticate', () => ({}));
  const { client } = await connection([left, able('right')], { isolation: 'session' });
  left.exit({ kind: 'exited', code: 0, signal: null });
  // The proxy refuses the session as soon as the process is ready, which then serves no session.
  const params = { cwd: CWD, mcpServers: [], additionalDirectories: ['/else'], ...choosing('left') };
  const opening = client.request('session/new', params);
  const login = client.request('authenticate', { methodId: 'left/key' });
  expect((await opening).error.message).toContain('additionalDirectories');
  expect((await login).result).toEqual({});
});

test('a session that only a refused process announced ends with it: a later request gets a new process, which ends with the proxy', async () => {
  const processes: Actor[] = [];
  const made = connectInProcess({
    agents: { left: { command: 'left', isolation: 'session' }, right: { command: 'right' } },
    launch({ name }) {
      const actor = able(name);
      if (name === 'left') processes.push(actor);
      if (processes.length === 2) actor.on('session/new', () => UNANSWERED);
      return Object.assign(actor.launch(), { stop: async () => void stopped.add(actor) });
    },
  });
  const stopped = new Set<Actor>();
  const { client } = made;
  await client.call('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES });
  await open(client, CWD, 'left');
  const refused = client.request('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') });
  await eventually(() => expect(processes).toHaveLength(2));
  const second = processes[1] as Actor;
  const asked = await second.got('session/new');
  void second.request('_vendor/ask', { sessionId: 'own' });
  await client.got('_vendor/ask');
  second.send({ jsonrpc: '2.0', id: asked.msg.id, error: { code: -32603, message: 'no' } });
  await refused;
  for (const actor of processes) actor.on('session/list', () => ({ sessions: [{ sessionId: 'own', cwd: CWD }] }));
  await client.call('session/resume', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  expect(processes).toHaveLength(3);
  await made.connection.stop();
  expect([...stopped].filter(({ name }) => name === 'left')).toHaveLength(3);
});

test('no process is started only to be told about the cancel of a turn that it never got', async () => {
  const left = able('left');
  const { client } = await connection([left], { isolation: 'session' });
  left.exit({ kind: 'exited', code: 0, signal: null });
  client.notify('session/cancel', { sessionId: 'of old' });
  client.line('no json'); // the proxy answers it, after the cancel
  await client.until((msg) => msg.error?.code === -32700);
  expect(left.all('session/cancel')).toEqual([]);
  expect(left.all('initialize')).toHaveLength(1);
});

test.each([1, 2])(
  'updates of a process for a session that another process holds go to a session of its own, which ends with it, with %i agents',
  async (count) => {
    const processes: Actor[] = [];
    const names = ['left', 'right'].slice(0, count);
    const { client } = connectInProcess({
      agents: Object.fromEntries(names.map((name) => [name, { command: name, isolation: name === 'left' ? 'session' : 'shared' }])),
      launch({ name }) {
        const actor = able(name);
        actor.on('session/list', () => ({ sessions: [{ sessionId: 'held', cwd: CWD }] }));
        if (name === 'left') processes.push(actor);
        else actor.on('session/list', () => ({ sessions: [] }));
        return actor.launch();
      },
    });
    await client.call('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES });
    await open(client, CWD, 'left');
    await client.call('session/load', { sessionId: 'held', cwd: CWD, mcpServers: [] });
    const [first, second] = processes as [Actor, Actor];
    expect(second.all('session/load')).toHaveLength(1);
    const call = { sessionUpdate: 'tool_call', toolCallId: 'mine', title: 'Work', status: 'in_progress' };
    first.notify('session/update', { sessionId: 'held', update: call });
    void first.request('session/request_permission', { sessionId: 'held', toolCall: { toolCallId: 'mine' }, options: [] });
    const asked = await client.got('session/request_permission');
    const elsewhere = asked.msg.params.sessionId;
    expect(elsewhere).not.toBe('held');
    second.notify('session/update', { sessionId: 'held', update: chunk('from the one that holds it') });
    await client.until((msg) => msg.params?.update?.content?.text === 'from the one that holds it');
    first.exit({ kind: 'exited', code: 1, signal: null });
    const ended = await client.until((msg) => msg.params?.update?.status === 'failed');
    expect(ended.msg.params).toMatchObject({ sessionId: elsewhere, update: { toolCallId: 'mine' } });
    await client.until((msg) => msg.method === '$/cancel_request' && msg.params.requestId === asked.msg.id);
    expect(client.agentText('held')).toBe('from the one that holds it');
  },
);

test('a session that moves to another agent is closed at a process that its fork still uses', async () => {
  const [left, right] = [able('left'), able('right')];
  const { client } = await connection([left, right], { isolation: 'session' });
  const { id } = await open(client, CWD, 'left');
  left.on('session/fork', () => ({ sessionId: 'forked' }));
  const { sessionId: fork } = await client.call('session/fork', { sessionId: id, cwd: CWD });
  await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'right' });
  expect((await left.got('session/close')).msg.params).toEqual({ sessionId: 's1' });
  expect((await prompt(client, fork, 'hello')).result).toEqual(end);
  expect(client.agentText(fork)).toBe('left heard hello');
});
