// Sessions of the daemon outlive their clients, and several clients share one.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { connectSocket, createToken, runCommand, type SocketClient, startDaemon } from './daemon.ts';
import { CAPABILITIES, fixture, type Json, open, prompt, type Stage, test, text, UNANSWERED } from './harness.ts';

const one = { a: fixture('well-behaved', 'a') };
const PERMISSION = {
  toolCall: { toolCallId: 'call-1', title: 'Write a file', kind: 'edit' },
  options: [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
};
const load = (client: SocketClient, sessionId: string, stage: Stage) =>
  client.call('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
const userText = (client: SocketClient, sessionId: string) =>
  client
    .updates(sessionId, 'user_message_chunk')
    .map(({ content }) => content.text)
    .join('');
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1} `).join('');

test('a client that is cut off in mid-turn comes back, loads, and has missed nothing', async ({ stage }) => {
  const daemon = await startDaemon(stage, one);
  const token = createToken(stage, 'laptop');
  const first = await connectSocket(daemon, token);
  const { id } = await open(first, stage.cwd);
  await prompt(first, id, 'count 10');
  prompt(first, id, 'count 3000').catch(() => {});
  await first.until(() => first.agentText(id).endsWith('20 '));
  first.socket.terminate();
  const second = await connectSocket(daemon, token);
  const answer = await load(second, id, stage);
  expect(answer._meta['acp-switchboard']).toMatchObject({ attached: true });
  const wanted = numbers(10) + numbers(3000);
  await second.until(() => second.agentText(id).length >= wanted.length);
  expect(second.agentText(id)).toBe(wanted);
  expect(userText(second, id)).toBe('count 10count 3000');
  expect((await prompt(second, id, 'and now')).result.stopReason).toBe('end_turn');
  expect(second.updates(id, 'user_message_chunk')).toHaveLength(2);
});

test('an open permission request waits for the next client, and its answer reaches the agent', async ({ stage }) => {
  const agent = stage.agent('asks', {
    turn: async ({ id }) => {
      const answer = await agent.call('session/request_permission', { sessionId: id, ...PERMISSION });
      agent.sendText(id, `chosen: ${answer.outcome.optionId ?? answer.outcome.outcome}`);
    },
  });
  const daemon = await startDaemon(stage, [agent]);
  const token = createToken(stage, 'laptop');
  const first = await connectSocket(daemon, token);
  const { id } = await open(first, stage.cwd);
  prompt(first, id, 'go').catch(() => {});
  await first.got('session/request_permission');
  first.socket.terminate();
  const second = await connectSocket(daemon, token);
  second.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
  const { index } = await second.until(
    ({ result }) => result?._meta?.['acp-switchboard']?.turn === 'running',
    await loading(second, id, stage),
  );
  const asked = await second.got('session/request_permission');
  expect(asked.index).toBeGreaterThan(index);
  await second.until(() => second.agentText(id) === 'chosen: yes');
});

async function loading(client: SocketClient, id: string, stage: Stage): Promise<number> {
  const from = client.seen.length;
  void load(client, id, stage);
  return from;
}

test('after detach_grace the turn is cancelled, its permission request too, and the agent stops', async ({ stage }) => {
  let outcome: Json;
  const agent = stage.agent('asks', {
    turn: async ({ id }) => {
      outcome = await agent.call('session/request_permission', { sessionId: id, ...PERMISSION });
      return { stopReason: 'cancelled' };
    },
  });
  const daemon = await startDaemon(stage, [agent], { config: { detach_grace: '1s' } });
  const client = await connectSocket(daemon, createToken(stage, 'laptop'));
  const { id } = await open(client, stage.cwd);
  prompt(client, id, 'go').catch(() => {});
  await client.got('session/request_permission');
  client.socket.terminate();
  await agent.gone();
  expect(outcome).toEqual({ outcome: { outcome: 'cancelled' } });
});

test('with detach_grace 0 the agents stop with their client', async ({ stage }) => {
  const agent = stage.agent('plain');
  const daemon = await startDaemon(stage, [agent], { config: { detach_grace: 0 } });
  const client = await connectSocket(daemon, createToken(stage, 'laptop'));
  await open(client, stage.cwd);
  client.socket.close();
  await agent.gone();
});

test('a session that the daemon lost in mid-turn is brought back by session/load', async ({ stage }) => {
  const token = createToken(stage, 'laptop');
  const daemon = await startDaemon(stage, one);
  const first = await connectSocket(daemon, token);
  const { id } = await open(first, stage.cwd);
  await prompt(first, id, 'hello');
  const turn = prompt(first, id, 'wait').catch((error: Error) => error.message);
  await first.until(() => first.agentText(id).endsWith('waiting;'));
  daemon.child.kill('SIGKILL');
  expect(await turn).toContain('the socket closed');
  const next = await startDaemon(stage, one);
  const second = await connectSocket(next, token);
  await load(second, id, stage);
  expect((await prompt(second, id, 'again')).result.stopReason).toBe('end_turn');
});

test('two clients and an owner share a session: same updates, one answer, one file request', async ({ stage }) => {
  writeFileSync(path.join(stage.cwd, 'a.txt'), 'content');
  let content: string | undefined;
  const agent = stage.agent('asks', {
    describe: () => ({
      modes: {
        currentModeId: 'ask',
        availableModes: [
          { id: 'ask', name: 'Ask' },
          { id: 'code', name: 'Code' },
        ],
      },
    }),
    turn: async ({ id }) => {
      content = (await agent.call('fs/read_text_file', { sessionId: id, path: path.join(stage.cwd, 'a.txt') })).content;
      const answer = await agent.call('session/request_permission', { sessionId: id, ...PERMISSION });
      agent.sendText(id, `chosen: ${answer.outcome.optionId}`);
      return { stopReason: 'end_turn' };
    },
  });
  const daemon = await startDaemon(stage, [agent]);
  const token = createToken(stage, 'laptop');
  const files = { clientCapabilities: CAPABILITIES };
  const first = await connectSocket(daemon, token, files);
  const second = await connectSocket(daemon, token, files);
  const owner = await connectSocket(daemon, createToken(stage, 'root', 'owner'), files);
  const observer = await connectSocket(daemon, createToken(stage, 'tv', 'observer'));
  const { id } = await open(first, stage.cwd);
  for (const client of [second, owner, observer]) await load(client, id, stage);
  for (const client of [first, second, owner]) client.on('fs/read_text_file', () => ({ content: 'content' }));
  for (const client of [first, second, owner, observer]) client.on('session/request_permission', () => UNANSWERED);
  const turn = prompt(first, id, 'go');
  const asked = await Promise.all([first, second, owner].map((client) => client.got('session/request_permission')));
  expect(new Set(asked.map(({ line }) => line)).size).toBe(1);
  second.reply(asked[1]?.msg, { outcome: { outcome: 'selected', optionId: 'no' } });
  const withdrawn = await Promise.all([first, owner].map((client) => client.got('$/cancel_request')));
  expect(withdrawn.map(({ msg }) => msg.params.requestId)).toEqual([asked[0]?.msg.id, asked[0]?.msg.id]);
  first.reply(asked[0]?.msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  expect((await turn).result.stopReason).toBe('end_turn');
  expect(content).toBe('content');
  expect([first, second, owner].map((client) => client.all('fs/read_text_file').length)).toEqual([1, 0, 0]);
  for (const client of [first, second, owner, observer]) await client.until(() => client.agentText(id) === 'chosen: no');
  for (const client of [second, owner, observer]) expect(userText(client, id)).toBe('go');
  expect(userText(first, id)).toBe('');
  expect(observer.all('session/request_permission')).toEqual([]);
  const updates = (client: SocketClient) =>
    client
      .all('session/update')
      .filter(({ line }) => !line.includes('user_message_chunk'))
      .map(({ line }) => line);
  for (const client of [second, owner, observer]) expect(updates(client)).toEqual(updates(first));
  await second.call('session/set_mode', { sessionId: id, modeId: 'code' });
  for (const client of [first, owner, observer])
    await client.until(() => client.updates(id, 'current_mode_update').at(-1)?.currentModeId === 'code');
  const third = await connectSocket(daemon, token);
  expect((await load(third, id, stage)).modes.currentModeId).toBe('code');
});

test('an observer looks and does not act; others may not look at foreign sessions', async ({ stage }) => {
  const daemon = await startDaemon(stage, one);
  const ann = await connectSocket(daemon, createToken(stage, 'ann'));
  const observer = await connectSocket(daemon, createToken(stage, 'tv', 'observer'));
  const bob = await connectSocket(daemon, createToken(stage, 'bob'));
  const { id } = await open(ann, stage.cwd);
  await prompt(ann, id, 'count 5');
  await load(observer, id, stage);
  expect(observer.agentText(id)).toBe(numbers(5));
  for (const [method, params] of [
    ['session/prompt', { prompt: text('x') }],
    ['session/set_mode', { modeId: 'x' }],
    ['session/delete', {}],
    ['session/fork', { cwd: stage.cwd, mcpServers: [] }],
  ] as const)
    expect((await observer.refused(method, { sessionId: id, ...params })).message, method).toContain('observer');
  observer.notify('session/cancel', { sessionId: id });
  bob.send({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: id, prompt: text('x') } });
  expect((await bob.refused('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })).code).toBe(-32002);
  expect(bob.all('session/update')).toEqual([]);
  expect(await observer.call('session/close', { sessionId: id })).toEqual({});
  expect((await prompt(ann, id, 'still here')).result.stopReason).toBe('end_turn');
  expect(observer.agentText(id)).toBe(numbers(5));
});

test('session/close leaves the session to the other clients', async ({ stage }) => {
  const daemon = await startDaemon(stage, one);
  const token = createToken(stage, 'laptop');
  const [first, second] = [await connectSocket(daemon, token), await connectSocket(daemon, token)];
  const { id } = await open(first, stage.cwd);
  await second.call('session/resume', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
  expect(await first.call('session/close', { sessionId: id })).toEqual({});
  expect((await prompt(second, id, 'go on')).result.stopReason).toBe('end_turn');
  expect(first.updates(id)).toEqual([]);
});

test('the sessions of a revoked token end at once', async ({ stage }) => {
  const agent = stage.agent('plain');
  const daemon = await startDaemon(stage, [agent]);
  const client = await connectSocket(daemon, createToken(stage, 'gone'));
  await open(client, stage.cwd);
  runCommand(stage, 'token', 'revoke', 'gone');
  expect((await client.closed).code).toBe(1008);
  await agent.gone();
});

test('session/attach and session/detach are offered only if they are switched on, with updates for those who use them', async ({
  stage,
}) => {
  const daemon = await startDaemon(stage, one, { config: { network_clients: { session_attach: true } } });
  const token = createToken(stage, 'laptop');
  const plain = await connectSocket(daemon, token);
  const aware = await connectSocket(daemon, token);
  expect(aware.seen[0]?.msg.result.agentCapabilities.sessionCapabilities.attach).toEqual({});
  const { id } = await open(plain, stage.cwd);
  await prompt(plain, id, 'count 3');
  expect((await aware.refused('session/attach', { sessionId: 'nowhere' })).code).toBe(-32001);
  const attached = await aware.call('session/attach', { sessionId: id });
  expect(attached).toMatchObject({ sessionId: id, historyPolicy: 'full', connectedClients: 2 });
  expect(aware.agentText(id)).toBe(numbers(3));
  await prompt(plain, id, 'count 4');
  const done = await aware.got('session/update', ({ update }) => update.sessionUpdate === 'turn_complete');
  expect(done.msg.params.update.stopReason).toBe('end_turn');
  expect(aware.updates(id, 'prompt_received')).toHaveLength(1);
  expect(plain.updates(id, 'turn_complete')).toEqual([]);
  expect(await aware.call('session/detach', { sessionId: id })).toEqual({ sessionId: id, status: 'detached' });
  expect(await aware.call('session/detach', { sessionId: id })).toEqual({ sessionId: id, status: 'detached' });
  await prompt(plain, id, 'count 5');
  expect(aware.agentText(id)).toBe(numbers(3) + numbers(4));
});

test('a cancel ends the running turn and what the same client has queued; a prompt of another client waits on and is shown when it begins', async ({
  stage,
}) => {
  const daemon = await startDaemon(stage, one);
  const token = createToken(stage, 'laptop');
  const [first, second] = [await connectSocket(daemon, token), await connectSocket(daemon, token)];
  const { id } = await open(first, stage.cwd);
  await load(second, id, stage);
  const running = prompt(second, id, 'wait');
  await first.until(() => first.agentText(id) === 'waiting;');
  const queued = [prompt(first, id, 'count 2'), prompt(first, id, 'count 4')];
  await first.call('session/list', {}); // the prompts are in the proxy before the next one
  const waiting = prompt(second, id, 'count 3');
  await second.call('session/list', {});
  expect(userText(second, id)).toBe('');
  first.notify('session/cancel', { sessionId: id });
  expect((await Promise.all(queued)).map(({ result }) => result.stopReason)).toEqual(['cancelled', 'cancelled']);
  expect((await running).result.stopReason).toBe('cancelled');
  expect((await waiting).result.stopReason).toBe('end_turn');
  expect(first.agentText(id)).toContain(numbers(3));
  expect(first.agentText(id)).not.toContain(numbers(4));
  expect(userText(first, id)).toBe('waitcount 3');
  expect(userText(second, id)).toBe('');
});
