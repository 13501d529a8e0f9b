// Requests that cross on one session, such as a load and a close, or a change of agent and its cancel. The client's view always matches the final state.
import { expect, test } from 'vitest';
import type { AgentOptions } from '../../src/agents/options.ts';
import { type Clock, systemClock } from '../../src/proxy/context.ts';
import { CAPABILITIES, choosing, open, type Peer, prompt, Refusal, UNANSWERED } from '../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { connectInProcess } from '../faults/in-process.ts';
import { createMemoryLog } from '../sim/stores.ts';
import { type Actor, able, CWD, cancelled, chunk, connected, connection, end } from './actors.ts';

test('a load whose session is closed before it is answered is cancelled, and its late answer does not take the id of a newer session', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  await client.call('session/close', { sessionId: id });
  expect((await load).error.code).toBe(-32800);
  const minted = await open(client, CWD, 'right');
  expect(minted.id).toBe(id);
  left.reply(asked.msg, {});
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toBe('right heard hello');
});

test('requests after a close wait for its answer: a load reopens the session, and prompts after it reach the session', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  left.on('session/list', () => ({ sessions: [{ sessionId: id, cwd: CWD }] }));
  left.on('session/close', () => UNANSWERED);
  const close = client.request('session/close', { sessionId: id });
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const turn = prompt(client, id, 'hello');
  const asked = await left.got('session/close');
  expect([left.all('session/load'), left.all('session/prompt')]).toEqual([[], []]);
  left.reply(asked.msg, {});
  expect([(await close).result, (await load).error, (await turn).result]).toEqual([{}, undefined, end]);
  const order = left.seen.map(({ msg }) => msg.method).filter((method) => method !== 'session/list');
  expect(order.slice(-3)).toEqual(['session/close', 'session/load', 'session/prompt']);
});

test('a prompt after a close that is cancelled ends cancelled and never reaches the agent', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  left.on('session/close', () => UNANSWERED);
  const close = client.request('session/close', { sessionId: id });
  const turn = prompt(client, id, 'hello');
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result).toEqual(cancelled);
  left.reply((await left.got('session/close')).msg, {});
  await close;
  expect(left.all('session/prompt')).toEqual([]);
});

test('a prompt on a session whose agent is still being looked up is cancelled with that session and never reaches the agent', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const client = await connected(agents);
  left.on('session/list', () => UNANSWERED);
  const [turn, other] = [prompt(client, 'old', 'hello'), prompt(client, 'older', 'hello')];
  const first = await left.got('session/list');
  const second = await left.until(({ method, id }) => method === 'session/list' && id !== first.msg.id);
  client.notify('session/cancel', { sessionId: 'old' });
  expect((await turn).result).toEqual(cancelled);
  for (const { msg } of [first, second]) left.reply(msg, { sessions: ['old', 'older'].map((sessionId) => ({ sessionId, cwd: CWD })) });
  expect((await other).result).toEqual(end);
  expect(left.all('session/prompt').map(({ msg }) => msg.params.sessionId)).toEqual(['older']);
});

test('after a failed load, waiting requests look up their session again', async () => {
  const left = able('left', { ...ALL_CAPABILITIES, loadSession: false });
  const client = await connected([left, able('right', {})]);
  left.on('session/list', () => ({ sessions: [{ sessionId: 'old', cwd: CWD }] }));
  const load = client.request('session/load', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  const resume = client.request('session/resume', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  expect((await load).error.message).toContain('does not support session/load');
  expect((await resume).error).toBeUndefined();
  expect((await prompt(client, 'old', 'hello')).result).toEqual(end);
});

test('an agent that creates a session under the id it is asked to load has one session, and both requests are answered', async () => {
  const left = able('left', { loadSession: true });
  const client = await connected([left, able('right', {})]);
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 's1', cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  expect((await open(client, CWD, 'left')).id).toBe('s1');
  left.reply(asked.msg, {});
  expect((await load).error).toBeUndefined();
  expect((await prompt(client, 's1', 'hello')).result).toEqual(end);
});

test('a session that its agent announces during the lookup is replayed at once, even while another is being opened', async () => {
  const left = able('left', { loadSession: true, sessionCapabilities: { list: {} } });
  const client = await connected([left, able('right', {})]);
  for (const method of ['session/new', 'session/list', 'session/load']) left.on(method, () => UNANSWERED);
  const opening = client.request('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') });
  const load = client.request('session/load', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  const listed = await left.got('session/list');
  void left.request('session/request_permission', { sessionId: 'own', toolCall: { toolCallId: 't' }, options: [] });
  await client.got('session/request_permission');
  left.reply(listed.msg, { sessions: [] });
  const asked = await left.got('session/load');
  for (const words of ['one ', 'two']) left.notify('session/update', { sessionId: 'own', update: chunk(words) });
  left.reply(asked.msg, {});
  expect((await load).error).toBeUndefined();
  expect(client.agentText('own')).toBe('one two');
  left.reply((await left.got('session/new')).msg, { sessionId: 's2' });
  expect((await opening).result.sessionId).toBe('s2');
});

test('an unknown id belongs to the agent whose list shows it meanwhile, and agents that could only be tried are not asked', async () => {
  const lister = { sessionCapabilities: { list: {}, resume: {} } };
  const [left, right, silent] = [able('left', { loadSession: true }), able('right', lister), able('silent', lister)];
  const client = await connected([left, right, silent]);
  silent.on('session/list', () => UNANSWERED);
  const resume = client.request('session/resume', { sessionId: 'x', cwd: CWD, mcpServers: [] });
  const probed = await silent.got('session/list');
  await right.got('session/list');
  right.on('session/list', () => ({ sessions: [{ sessionId: 'x', cwd: CWD }] }));
  const list = client.request('session/list', {});
  silent.reply((await silent.got('session/list', undefined, probed.index + 1)).msg, { sessions: [] });
  expect((await list).result.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(['x']);
  silent.reply(probed.msg, { sessions: [] });
  expect((await resume).error).toBeUndefined();
  expect([left.all('session/load'), right.all('session/resume').length]).toEqual([[], 1]);
  right.notify('session/update', { sessionId: 'x', update: chunk('mine') });
  expect((await prompt(client, 'x', 'hello')).result).toEqual(end);
  expect(client.agentText('x')).toBe('mineright heard hello');
});

test("an id that an agent is being asked for is reserved: another agent's session with that id, listed or announced meanwhile, gets an alias", async () => {
  const [left, right] = [able('left', { loadSession: true }), able('right', { sessionCapabilities: { list: {} } })];
  const log = createMemoryLog();
  const { client } = await connection([left, right], {}, { log });
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 'x', cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  right.on('session/list', () => ({ sessions: [{ sessionId: 'x', cwd: CWD }] }));
  const { sessions } = await client.call('session/list', {});
  expect(sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(['x~right']);
  expect([...log.records().keys()]).toEqual(['x~right']); // it is not known yet whether left has a session with that id
  right.notify('session/update', { sessionId: 'x', update: chunk('of right') });
  await client.until(({ params }) => params?.sessionId === 'x~right');
  left.reply(asked.msg, {});
  expect((await load).error).toBeUndefined();
  expect((await prompt(client, 'x', 'hello')).result).toEqual(end);
  expect([client.agentText('x'), client.agentText('x~right')]).toEqual(['left heard hello', 'of right']);
  expect(log.records().get('x')?.agent).toBe('left');
});

test('a session that its agent renames has only the new id: the id of an ended session does not lead to it', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  await open(client, CWD, 'left');
  expect((await open(client, CWD, 'right')).id).toBe('s1~right');
  await client.call('session/close', { sessionId: 's1~right' });
  right.on('session/list', () => ({ sessions: [{ sessionId: 's1', cwd: CWD }] }));
  await client.call('session/list', {}); // right's is s1~right again
  await client.call('session/delete', { sessionId: 's1' });
  expect((await client.refused('session/load', { sessionId: 's1', cwd: CWD, mcpServers: [] })).code).toBe(-32002);
  expect((await client.request('session/load', { sessionId: 's1~right', cwd: CWD, mcpServers: [] })).error).toBeUndefined();
  expect([left.all('session/load'), right.all('session/load').length]).toEqual([[], 1]);
});

test('with one agent and a process per session, an unknown method reaches the process of the session that it names', async () => {
  const processes: Actor[] = [];
  const agents: Record<string, AgentOptions> = { only: { command: 'only', isolation: 'session' } };
  const { client } = connectInProcess({
    agents,
    launch() {
      const actor = able(`process ${processes.length}`);
      const number = processes.push(actor);
      actor.on('session/new', () => ({ sessionId: `of process ${number}` }));
      actor.on('_vendor/do', () => ({ number }));
      return actor.launch();
    },
  });
  await client.call('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES });
  await open(client, CWD);
  const second = await open(client, CWD);
  expect(await client.call('_vendor/do', { sessionId: second.id })).toEqual({ number: 2 });
  client.notify('_vendor/note', { sessionId: second.id });
  expect((await (processes[1] as Peer).got('_vendor/note')).msg.params).toEqual({ sessionId: second.id });
});

test("a session created by an agent that the client cannot load keeps its id, and another agent's session gets an alias", async () => {
  const [left, right] = [able('left', {}), able('right')];
  const client = await connected([left, right]);
  await open(client, CWD, 'left');
  const asked = left.request('session/request_permission', { sessionId: 'own', toolCall: { toolCallId: 't' }, options: [] });
  const agentRequest = await client.got('session/request_permission');
  expect(agentRequest.msg.params.sessionId).toBe('own');
  await client.refused('session/load', { sessionId: 'own', cwd: CWD, mcpServers: [] });
  right.on('session/new', () => ({ sessionId: 'own' }));
  expect((await open(client, CWD, 'right')).id).not.toBe('own');
  client.reply(agentRequest.msg, { outcome: { outcome: 'cancelled' } });
  expect((await asked).result).toEqual({ outcome: { outcome: 'cancelled' } });
});

test('a load without mcpServers is completed however its session id is spelled, even after it has waited', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  const first = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  client.line(`{"jsonrpc":"2.0","id":"spelled","method":"session/load","params":{"sessionId":"\\u0073${id.slice(1)}","cwd":"${CWD}"}}`);
  await client.call('session/list', {}); // the round trip: it has arrived
  left.on('session/load', () => ({}));
  left.reply(asked.msg, {});
  expect((await first).error).toBeUndefined();
  expect((await client.until(({ id }) => id === 'spelled')).msg.error).toBeUndefined();
  expect(left.all('session/load').map(({ msg }) => msg.params)).toEqual([
    { sessionId: id, cwd: CWD, mcpServers: [] },
    { sessionId: id, cwd: CWD, mcpServers: [] },
  ]);
});

test("a bug triggered by a waiting frame fails only that frame, not the frames after it nor the agent's response", async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  let isBroken = false;
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      if (!isBroken) return systemClock.after(ms, callback);
      isBroken = false;
      throw new Error('no timer');
    },
  };
  const { client, notices } = await connection(agents, {}, { clock });
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  const turns = [prompt(client, id, 'one'), prompt(client, id, 'two')] as const;
  await client.call('session/list', {}); // the round trip: both have arrived
  isBroken = true;
  left.reply(asked.msg, {});
  expect((await load).error).toBeUndefined();
  expect((await turns[0]).error.message).toContain('Internal error in session/prompt (no timer)');
  expect((await turns[1]).result).toEqual(end);
  expect(notices).toEqual(['failed on session/prompt: no timer']);
});

test('a load that is cancelled between two agents ends at once, and the agent that has answered is not started to be told', async () => {
  const { sessionCapabilities: _, ...tried } = ALL_CAPABILITIES;
  const [left, right] = [able('left', tried), able('right', tried)];
  left.on('session/load', ({ sessionId }) => {
    throw new Refusal(-32002, `there is no ${sessionId}`);
  });
  const client = (await connection([left, right], { isolation: 'session' })).client;
  right.on('initialize', () => UNANSWERED);
  right.exit({ kind: 'exited', code: 1, signal: null });
  const load = client.request('session/load', { sessionId: 'nowhere', cwd: CWD, mcpServers: [] }, 'wanted');
  await right.until(({ method }) => method === 'initialize', right.seen.length);
  const starts = left.all('initialize').length;
  client.notify('$/cancel_request', { requestId: 'wanted' });
  expect((await load).error.code).toBe(-32800);
  expect([left.all('initialize').length, left.all('$/cancel_request')]).toEqual([starts, []]);
});

const WITHOUT_DELETE = { ...ALL_CAPABILITIES.sessionCapabilities, delete: undefined };

test.each([
  ['session/close', WITHOUT_DELETE],
  ['session/cancel', { ...WITHOUT_DELETE, close: undefined }],
])('a session that is deleted at an agent without delete ends there by %s, with its running turn', async (method, sessionCapabilities) => {
  const left = able('left', { ...ALL_CAPABILITIES, sessionCapabilities });
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  left.on('session/prompt', () => UNANSWERED);
  const turn = prompt(client, id, 'hello');
  const file = left.request('fs/read_text_file', { sessionId: id, path: '/work/a' });
  const asked = await client.got('fs/read_text_file');
  await client.call('session/delete', { sessionId: id });
  expect((await turn).result).toEqual(cancelled);
  expect((await left.got(method)).msg.params).toEqual({ sessionId: id });
  expect((await file).error.code).toBe(-32002);
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: asked.msg.id });
  expect(left.all('session/delete')).toEqual([]);
});

test.each(['is done', 'fails'])('requests that a close overtook wait in the proxy until it ends: the close %s', async (how) => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  for (const method of ['session/resume', 'session/close']) left.on(method, () => UNANSWERED);
  const first = client.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] }); // waits for the first
  const turns = ['one', 'two'].map((text) => prompt(client, id, text));
  const resumed = await left.got('session/resume');
  const close = client.request('session/close', { sessionId: id });
  const behind = prompt(client, id, 'three');
  const closed = await left.got('session/close');
  left.reply(resumed.msg, {});
  expect((await first).error).toBeUndefined();
  const isDone = how === 'is done';
  if (isDone) left.reply(closed.msg, {});
  else left.send({ jsonrpc: '2.0', id: closed.msg.id, error: { code: -32603, message: 'not now' } });
  expect((await close).error === undefined).toBe(isDone);
  expect((await load).error?.code).toBe(isDone ? -32800 : undefined);
  for (const turn of turns) expect((await turn).result).toEqual(isDone ? cancelled : end);
  expect((await behind).error?.code).toBe(isDone ? -32002 : undefined);
  const words = isDone ? [] : ['one', 'two', 'three'];
  expect(left.all('session/prompt').map(({ msg }) => msg.params.prompt[0].text)).toEqual(words);
  expect(left.all('session/load')).toHaveLength(isDone ? 0 : 1);
});

test('a load that finds its session while it is being closed ends with it and never reaches the agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  for (const method of ['session/list', 'session/close']) left.on(method, () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  const probed = await left.got('session/list');
  const list = client.request('session/list', {});
  const listed = await left.got('session/list', undefined, probed.index + 1);
  left.reply(listed.msg, { sessions: [{ sessionId: 'old', cwd: CWD }] });
  await list;
  const close = client.request('session/close', { sessionId: 'old' });
  const closed = await left.got('session/close');
  left.reply(probed.msg, { sessions: [{ sessionId: 'old', cwd: CWD }] });
  left.reply(closed.msg, {});
  expect([(await close).result, (await load).error.code]).toEqual([{}, -32800]);
  expect(left.all('session/load')).toEqual([]);
});

test.each(['session/close', 'session/delete'])('a load that is answered after a %s leaves no session open at its agent', async (method) => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  await client.call(method, { sessionId: id });
  expect((await load).error.code).toBe(-32800);
  const before = left.all('session/close').length;
  left.reply(asked.msg, {});
  await open(client, CWD, 'left'); // a round trip
  expect(left.all('session/close')).toHaveLength(before + 1);
});
