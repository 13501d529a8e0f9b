// Valid frames at the wrong time, with the wrong id or for the wrong session.
import { expect } from 'vitest';
import { open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { noticed, test } from './setup.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] };
const ALLOWED = { outcome: { outcome: 'selected', optionId: 'yes' } };
const CANCELLED = { outcome: { outcome: 'cancelled' } };

test.concurrent('row 14: an id of the client that is still in use is refused, and its first request is unaffected', async ({ stage }) => {
  const [one, two] = [stage.agent('one', { turn: () => UNANSWERED }), stage.agent('two')];
  const client = await stage.connect([one, two]);
  const [a, b] = [await open(client, stage.cwd, 'one'), await open(client, stage.cwd, 'two')];
  void prompt(client, a.id, 'first', 'same');
  const first = await one.got('session/prompt');
  expect(await prompt(client, b.id, 'second', 'same')).toMatchObject({ id: 'same', error: { code: -32600 } });
  expect(two.all('session/prompt')).toEqual([]);
  const from = client.seen.length;
  one.reply(first.msg, { stopReason: 'end_turn' });
  expect((await client.until((msg) => msg.id === 'same', from)).msg.result).toEqual({ stopReason: 'end_turn' });
  expect((await prompt(client, b.id, 'third', 'same')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 14: two agents that send requests with the same id each get their own answer', async ({ stage }) => {
  const agents = [stage.agent('one'), stage.agent('two')];
  const client = await stage.connect(agents);
  const sessions = [await open(client, stage.cwd, 'one'), await open(client, stage.cwd, 'two')];
  client.on('fs/read_text_file', ({ sessionId }) => ({ content: `for ${sessionId}` }));
  const answers = agents.map((agent, n) => agent.call('fs/read_text_file', { sessionId: sessions[n]?.id, path: '/x' }, 1));
  expect(await Promise.all(answers)).toEqual(sessions.map(({ id }) => ({ content: `for ${id}` })));
});

test.concurrent('row 15: responses to no request, and second responses, are dropped on both sides, and counted', async ({ stage }) => {
  const agent = stage.agent('one', { turn: () => UNANSWERED });
  const client = await stage.connect([agent], { args: ['--log-level', 'debug'] });
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'go', 'turn');
  const { msg } = await agent.got('session/prompt');
  for (const stray of [99999, 'nobody', null]) agent.send({ jsonrpc: '2.0', id: stray, result: {} });
  for (const stopReason of ['end_turn', 'refusal']) agent.reply(msg, { stopReason });
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });

  const received = agent.request('session/request_permission', { sessionId: id, ...PERMISSION }, 'q');
  const request = await client.got('session/request_permission');
  for (const stray of [99999, 'q', null]) client.send({ jsonrpc: '2.0', id: stray, result: {} });
  for (const optionId of ['yes', 'no']) client.reply(request.msg, { outcome: { outcome: 'selected', optionId } });
  expect((await received).result).toEqual(ALLOWED);

  agent.on('_x/echo', () => ({}));
  await client.call('_x/echo', { sessionId: id });
  expect([client.answersTo('turn').length, agent.answersTo('q').length]).toEqual([1, 1]);
  for (const peer of [client, agent]) for (const stray of [99999, 'nobody', null]) expect(peer.answersTo(stray)).toEqual([]);
  await client.close();
  expect(client.stderr()).toContain('not passed on in this connection: 8 unexpected answers');
});

test.concurrent('row 16: a response with both or neither of result and error counts as -32603', async ({ stage }) => {
  const agent = stage.agent('odd');
  const client = await stage.connect([agent, stage.agent('well')]);
  const { id } = await open(client, stage.cwd, 'odd');
  const both = { result: {}, error: { code: 1, message: 'x' } };
  for (const [n, members] of [both, {}].entries()) {
    agent.on('session/prompt', (_params, msg) => {
      agent.send({ jsonrpc: '2.0', id: msg.id, ...members });
      return UNANSWERED;
    });
    const { error } = await prompt(client, id, 'go', `p${n}`);
    expect(error).toMatchObject({ code: -32603, data: { agent: 'odd' } });
    expect(error.message).toContain('session/prompt');

    const from = client.seen.length;
    const received = agent.request('fs/read_text_file', { sessionId: id, path: '/x' }, `q${n}`);
    const { msg } = await client.got('fs/read_text_file', undefined, from);
    client.send({ jsonrpc: '2.0', id: msg.id, ...members });
    expect((await received).error.code).toBe(-32603);
  }
});

test.concurrent('row 17: unknown methods pass to where they belong, and are refused where that is ambiguous', async ({ stage }) => {
  const [one, two] = [stage.agent('one'), stage.agent('two')];
  two.on('future/method', ({ x }) => ({ x }));
  const client = await stage.connect([one, two]);
  const { id } = await open(client, stage.cwd, 'two');
  expect(await client.call('future/method', { sessionId: id, x: 1 })).toEqual({ x: 1 });
  expect(await client.refused('future/method', { x: 1 })).toMatchObject({ code: -32601 });
  expect(await client.refused('session/unheard_of', { sessionId: id })).toMatchObject({
    code: -32601,
    message: 'Method not found: session/unheard_of',
  });
  expect(one.all('future/method')).toEqual([]);

  const lines = [
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${id}","update":{"sessionUpdate":"hologram","_x":[1.0,2]},"_y":null}}`,
    `{"jsonrpc":"2.0","method":"future/happened","params":{"sessionId":"${id}","big":9007199254740993},"_z":{}}`,
  ];
  for (const line of lines) {
    two.line(line);
    expect((await client.until((_msg, seen) => seen.line === line)).line).toBe(line);
  }
});

test.concurrent('row 18: an unknown session is refused by its id, and no agent sees it', async ({ stage }) => {
  const agents = [stage.agent('one'), stage.agent('two')];
  const client = await stage.connect(agents);
  await open(client, stage.cwd, 'one');
  const methods = ['session/prompt', 'session/load', 'session/resume', 'session/close', 'session/set_mode', '_x/own'];
  for (const method of methods) {
    const error = await client.refused(method, { sessionId: 'nobody-1', cwd: stage.cwd, mcpServers: [], prompt: [], modeId: 'm' });
    expect([method, error.code]).toEqual([method, -32002]);
    expect(error.message).toContain('nobody-1');
  }
  client.notify('session/cancel', { sessionId: 'nobody-1' });
  await client.call('session/list', {});
  const named = agents.flatMap(({ seen }) => seen).filter(({ line }) => line.includes('nobody-1'));
  expect(named).toEqual([]);
});

test.concurrent('row 18: an agent cannot reach a session of another agent by naming it', async ({ stage }) => {
  const [one, two] = [stage.agent('one'), stage.agent('two')];
  const client = await stage.connect([one, two]);
  const [a, b] = [await open(client, stage.cwd, 'one'), await open(client, stage.cwd, 'two')];
  client.on('fs/read_text_file', ({ sessionId }) => ({ content: sessionId }));
  two.sendText(a.id, 'I am one');
  two.update(a.id, { sessionUpdate: 'tool_call', toolCallId: 't', title: 'spoofed' });
  void two.request('session/request_permission', { sessionId: a.id, ...PERMISSION });
  await two.call('fs/read_text_file', { sessionId: b.id, path: '/x' });
  expect(client.agentText(a.id)).toBe('');
  expect(client.updates(a.id, 'tool_call')).toEqual([]);
  expect(client.all('session/request_permission', ({ sessionId }) => sessionId === a.id)).toEqual([]);
});

test.concurrent('row 22: a cancel answers the pending requests cancelled, once, and late updates still arrive before the end of the turn', async ({
  stage,
}) => {
  const agent = stage.agent('one', { turn: () => UNANSWERED });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'go', 'turn');
  const { msg } = await agent.got('session/prompt');
  const permission = agent.request('session/request_permission', { sessionId: id, ...PERMISSION }, 'permission');
  const form = agent.request('elicitation/create', { sessionId: id, mode: 'form', message: 'm', requestedSchema: {} }, 'form');
  const requests = [await client.got('session/request_permission'), await client.got('elicitation/create')];
  client.notify('session/cancel', { sessionId: id });
  expect((await permission).result).toEqual(CANCELLED);
  expect((await form).result).toEqual({ action: 'cancel' });
  for (const request of requests) client.reply(request.msg, ALLOWED); // the user clicked at the same moment
  agent.sendText(id, 'late');
  agent.reply(msg, { stopReason: 'cancelled' });
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  expect(client.agentText(id)).toBe('late');
  agent.on('_x/echo', () => ({}));
  await client.call('_x/echo', { sessionId: id });
  expect([agent.answersTo('permission').length, agent.answersTo('form').length, client.answersTo('turn').length]).toEqual([1, 1, 1]);
});

test.concurrent('row 22: a cancel that crosses the end of its turn changes nothing', async ({ stage }) => {
  const agent = stage.agent('one');
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'go', 'turn');
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result.stopReason).toBe('end_turn');
  expect((await prompt(client, id, 'next')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.answersTo('turn')).toHaveLength(1);
});

test.concurrent('row 22: a cancelled turn that an agent does not end is ended by the proxy, and its late response is dropped', async ({
  stage,
}) => {
  const agent = stage.agent('stalled', { turn: (_session, text) => (text === 'hang' ? UNANSWERED : { stopReason: 'end_turn' }) });
  const client = await stage.connect({ stalled: { ...agent.server, timeouts: { cancel_ms: 100 } } });
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'hang', 'turn');
  const { msg } = await agent.got('session/prompt');
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  agent.reply(msg, { stopReason: 'end_turn' });
  expect((await prompt(client, id, 'next')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.answersTo('turn')).toHaveLength(1);
});

test.concurrent('row 22: a prompt that is cancelled while its session is being recovered ends cancelled, and never runs', async ({
  stage,
}) => {
  const agent = stage.agent('sick');
  const client = await stage.connect({ sick: { ...agent.server, timeouts: { cancel_ms: 200 } } });
  const { id } = await open(client, stage.cwd);
  agent.exit();
  await noticed(client, '"sick" exited');
  agent.on('session/resume', () => UNANSWERED);
  agent.on('_x/behind', () => ({}));
  const turn = prompt(client, id, 'rm -rf', 'turn');
  const resume = await agent.got('session/resume');
  client.notify('session/cancel', { sessionId: id });
  await client.call('_x/behind');
  agent.reply(resume.msg, {});
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  expect(agent.all('session/prompt')).toEqual([]);
});
