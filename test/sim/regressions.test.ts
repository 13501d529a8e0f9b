// Races that seeds of the simulator have found, each as its shortest conversation. The seed is in the comment.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { choosing, type Json, open, UNANSWERED } from '../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { type Actor, able, CWD, connected, connection } from '../proxy/actors.ts';
import { memoryEnforcement } from '../proxy/memory-enforcement.ts';
import { createMemoryLog } from './stores.ts';

const elicitation = (sessionId: string, elicitationId: string): Json => ({
  ...{ sessionId, elicitationId, mode: 'url', url: 'https://example.com', message: 'Sign in' },
});
const completed = (peer: { all(method: string): readonly { readonly msg: Json }[] }): readonly string[] =>
  peer.all('elicitation/complete').map(({ msg }) => msg.params.elicitationId);

// 77001024
test('an agent that uses an elicitation id twice completes its own two, and never the one of another agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('elicitation/create', () => ({ action: 'accept' }));
  const ask = async (agent: Actor) => {
    const { id } = await open(client, CWD, agent.name);
    await agent.call('elicitation/create', elicitation(id, 'e1'));
  };
  for (const agent of [left, right, right]) await ask(agent);
  expect(client.all('elicitation/create').map(({ msg }) => msg.params.elicitationId)).toEqual(['e1', 'e1~right', 'e1~right']);
  for (let left = 3; left > 0; left--) right.notify('elicitation/complete', { elicitationId: 'e1' });
  await ask(right); // behind all of that, under a name that is free again
  expect(completed(client)).toEqual(['e1~right', 'e1~right']);
  left.notify('elicitation/complete', { elicitationId: 'e1' });
  await client.got('elicitation/complete', ({ elicitationId }) => elicitationId === 'e1');
});

test('a single agent may complete an unknown elicitation', async () => {
  const only = able('only');
  const client = await connected([only]);
  await open(client, CWD);
  only.notify('elicitation/complete', { elicitationId: 'e1' });
  await client.got('elicitation/complete', ({ elicitationId }) => elicitationId === 'e1');
});

// 77002559
test('a client that disconnects before the line feed of a session/new starts no agent and opens no session', async () => {
  const [left, right] = [able('left'), able('right')];
  const toProxy = new PassThrough();
  const { client, connection: proxy } = await connection([left, right], {}, { fromClient: toProxy });
  await open(client, CWD, 'left');
  const params = { cwd: CWD, mcpServers: [], ...choosing('right') };
  const before = left.seen.length + right.seen.length;
  toProxy.end(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'session/new', params }));
  const { msg } = await client.until(({ id }) => id === 'last');
  expect(msg.error.message).toContain('shutting down');
  await proxy.ended;
  expect(left.seen.length + right.seen.length).toBe(before);
  await proxy.stop();
});

// 79015420
test.each([1, 2])('an elicitation that a cancel has answered is withdrawn once its session closes, with %i agents', async (count) => {
  // It cannot close: the session ends here at once.
  const { sessionCapabilities, ...capabilities } = ALL_CAPABILITIES as Json;
  const { close: _, ...others } = sessionCapabilities;
  const left = able('left', { ...capabilities, sessionCapabilities: count === 1 ? sessionCapabilities : others });
  const client = await connected([left, able('right')].slice(0, count));
  client.on('elicitation/create', () => UNANSWERED);
  const { id } = await open(client, CWD, count === 1 ? undefined : 'left');
  const answer = left.request('elicitation/create', { sessionId: id, mode: 'form', message: 'who?', requestedSchema: {} });
  const { msg } = await client.got('elicitation/create');
  client.notify('session/cancel', { sessionId: id });
  expect((await answer).result).toEqual({ action: 'cancel' });
  expect(client.all('$/cancel_request')).toEqual([]);
  await client.call('session/close', { sessionId: id });
  expect(client.all('$/cancel_request').map((one) => one.msg.params)).toEqual([{ requestId: msg.id }]);
});

// 79018870
test.each([1, 2])("the policy's own permission request is withdrawn when its session closes, with %i agents", async (count) => {
  const { enforcement } = memoryEnforcement({ default: 'ask' });
  const left = able('left');
  const { client } = await connection([left, able('right')].slice(0, count), {}, { enforcement });
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, count === 1 ? undefined : 'left');
  const answer = left.refused('fs/write_text_file', { sessionId: id, path: `${CWD}/a`, content: 'a' });
  const { msg } = await client.got('session/request_permission');
  await client.call('session/close', { sessionId: id });
  expect((await answer).message).toContain('denied by policy');
  expect(client.all('$/cancel_request').map((one) => one.msg.params)).toEqual([{ requestId: msg.id }]);
});

// 90008679
test.each(['session/close', 'session/delete'])(
  'a %s behind two loads ends the session, though the first load fails, and the second never reaches the agent',
  async (method) => {
    const { sessionCapabilities } = ALL_CAPABILITIES as Json;
    const capabilities = { sessionCapabilities: { ...sessionCapabilities, list: undefined } };
    const left = able('left', capabilities);
    const log = createMemoryLog();
    log.append({ sessionId: 'old', agent: 'left', nativeId: 'old', cwd: CWD, at: '2026' });
    const { client } = await connection([able('right'), left], {}, { log });
    await open(client, CWD, 'left');
    left.on('initialize', () => UNANSWERED);
    const before = left.seen.length;
    left.exit({ kind: 'exited', code: 1, signal: null });
    const params = { sessionId: 'old', cwd: CWD, mcpServers: [] };
    const load = client.request('session/load', params);
    const resume = client.request('session/resume', params);
    const end = client.request(method, { sessionId: 'old' });
    const { msg } = await left.got('initialize', undefined, before);
    left.reply(msg, { protocolVersion: 1, agentCapabilities: capabilities });
    expect((await load).error.message).toContain('does not support session/load');
    expect((await resume).error.code).toBe(-32800);
    expect((await end).error).toBeUndefined();
    expect(left.all('session/resume')).toEqual([]);
    expect((await left.refused('fs/read_text_file', { sessionId: 'old', path: `${CWD}/a` })).code).toBe(-32002);
  },
);

// 90216836, 90206033
test('an elicitation about a prompt of a session that was closed and is in use again ends with the latter', async () => {
  const { sessionCapabilities } = ALL_CAPABILITIES as Json;
  const left = able('left', { sessionCapabilities: { ...sessionCapabilities, close: undefined } });
  left.on('session/prompt', () => UNANSWERED);
  const { client } = await connection([left, able('right')], {}, { log: createMemoryLog() });
  client.on('elicitation/create', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  void client.request('session/prompt', { sessionId: id, prompt: [] });
  const { msg } = await left.got('session/prompt');
  await client.call('session/close', { sessionId: id });
  await client.call('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  const form = { sessionId: id, requestId: msg.id, mode: 'form', message: 'who?', requestedSchema: {} };
  const answer = left.request('elicitation/create', form);
  const agentRequest = await client.got('elicitation/create');
  await client.call('session/close', { sessionId: id });
  expect((await answer).result).toEqual({ action: 'cancel' });
  expect(client.all('$/cancel_request').map((one) => one.msg.params)).toEqual([{ requestId: agentRequest.msg.id }]);
});

// 658892
test('a tool call that an agent reports with the history, behind its answer to session/load, fails when the agent exits', async () => {
  const only = able('only');
  const client = await connected([only]);
  await client.call('session/load', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  const update = (one: Json) => only.notify('session/update', { sessionId: 'old', update: one });
  update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'build it' } });
  update({ sessionUpdate: 'tool_call', toolCallId: 'done', title: 'Look', status: 'completed' });
  update({ sessionUpdate: 'tool_call', toolCallId: 'open', title: 'Build', status: 'in_progress' });
  await client.got('session/update', ({ update: { toolCallId } }) => toolCallId === 'open');
  only.exit({ kind: 'exited', code: 1, signal: null });
  await client.got('session/update', ({ update: { sessionUpdate } }) => sessionUpdate === 'tool_call_update');
  const ended = client.all('session/update').flatMap(({ msg: { params } }) => (params.update.status === 'failed' ? [params.update] : []));
  expect(ended).toEqual([{ sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'failed' }]);
});
